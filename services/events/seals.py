"""Seal a tenant's positions, which are the ids of its events (ADR 39).

A position names transactions of the whole database: in clear, a tenant would see how busy all others are. Each tenant
has a key of its own, so that the id of another tenant's event is none. All ids have the same length, as that of a
position grows with the transactions that are open.
"""

import base64
import binascii
import os
from typing import TYPE_CHECKING

from docrail.services.events.models import Position, position_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES, NONCE_BYTES, TAG_BYTES = 32, 12, 16
"""The nonce is random, and so safe for 2^32 ids of one key (NIST SP 800-38D, 8.3)."""
BLOCK_BYTES = 512
"""A position is padded to a multiple of this: enough for 40 open transactions."""


class Seal:
    """Makes and opens the ids of one tenant's events."""

    def __init__(self, key: bytes) -> None:
        self._cipher = _cipher_of(key)

    def id_of(self, position: Position) -> str:
        """Return the id of an event from which a client resumes at the position; another one each time."""
        text, nonce = str(position).encode(), os.urandom(NONCE_BYTES)
        padded = text.ljust(-len(text) // BLOCK_BYTES * -BLOCK_BYTES)
        return base64.urlsafe_b64encode(nonce + self._cipher.encrypt(nonce, padded, None)).decode()

    def position_of(self, id_: str) -> Position | None:
        """Return the position that an id seals; None if it is not one of this tenant's."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # as in _cipher_of

        try:
            sealed = base64.b64decode(id_, altchars=b"-_", validate=True)
            padded = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None)
        except (binascii.Error, InvalidTag, ValueError):
            return None
        return position_of(padded.decode().rstrip())


def new_key() -> bytes:
    """Return the key of a tenant."""
    return os.urandom(KEY_BYTES)


def _cipher_of(key: bytes) -> "AESGCM":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # 8 MB, unless someone listens

    return AESGCM(key)
