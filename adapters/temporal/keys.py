"""Read the keys that encrypt what goes through Temporal: `id:base64key`, the first of which encrypts."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

KEY_BYTES = 32
"""Of AES-256."""

SETTING = "DOCRAIL_PAYLOAD_KEYS"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_EXPECTED = f"expected ID:KEY, the key {KEY_BYTES} bytes in base64, as `openssl rand -base64 {KEY_BYTES}` prints them"


@dataclass(frozen=True, slots=True)
class PayloadKeys:
    """Keys by id: the first encrypts, all decrypt. None: payloads stay readable. The representation hides them."""

    keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)


NO_KEYS = PayloadKeys()


def parse_payload_keys(text: str) -> PayloadKeys:
    """Return the keys of a text like `2026-11:base64,2026-05:base64`.

    Raises: ValueError, which names an entry by its place and never repeats it.
    """
    keys: dict[str, bytes] = {}
    for number, entry in enumerate(filter(None, map(str.strip, text.split(","))), start=1):
        name, _, key = entry.partition(":")
        if not _ID.fullmatch(name):
            raise ValueError(f"entry {number} has no id of 1 to 32 letters, digits and . _ -: {_EXPECTED}")
        if name in keys:
            raise ValueError(f"entry {number} has the id {name!r} of an earlier one: expected different ids")
        keys[name] = _decoded(key, number)
    return PayloadKeys(keys)


def _decoded(text: str, number: int) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"the key of entry {number} is not base64: {_EXPECTED}") from None
    if len(key) != KEY_BYTES:
        raise ValueError(f"the key of entry {number} has {len(key)} bytes: {_EXPECTED}")
    return key
