"""Callback URLs: who holds one may answer one waiting step of one run, until a time; nothing else tells who calls.

A token is what it is about and an HMAC over that, so nothing is kept of it. Whether the step still takes an answer, and
only the first one, is for the run to say.
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass, field

from docrail.adapters.http.errors import WorkerNotConfiguredError
from docrail.workflows.contract.messages import AttemptRequest

MIN_KEY_LENGTH = 32
"""Characters of a key: 128 bits even if they are hexadecimal digits."""

MAX_TOKEN_LENGTH = 4096
"""A run inside twenty others has an id of 1,500 characters."""

SLACK_SECONDS = 7 * 86_400.0
"""How much longer than its step waits a URL is good: the wait begins later than the message goes out."""

LONGEST_SECONDS = 366 * 86_400.0
"""How long a URL is good whose step waits without an end."""

_DOMAIN = b"docrail callback 1\0"
"""Makes a signature by this key one of ours: the key may sign other things one day."""


class NoCallbacksError(WorkerNotConfiguredError):
    """A step asks for a callback URL, and this worker cannot make one."""


class BadTokenError(ValueError):
    """Not a token of ours, or not as we made it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a token says: who may answer what. Times are seconds since the epoch."""

    tenant_id: str
    run_id: str
    step_id: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class CallbackKeys:
    """Signs with the first key and accepts each: a key is replaced by putting a new one before it."""

    keys: tuple[str, ...] = field(default=(), repr=False)

    def sign(self, claim: Claim) -> str:
        """Return the token that says so. Raises: NoCallbacksError."""
        if not self.keys:
            raise NoCallbacksError("no key signs callback URLs: set DOCRAIL_CALLBACK_KEY, the same for API and workers")
        said = json.dumps(
            [claim.tenant_id, claim.run_id, claim.step_id, claim.expires_at], separators=(",", ":"), ensure_ascii=False
        ).encode()
        return f"{_encode(said)}.{_encode(_mac(self.keys[0], said))}"

    def read(self, token: str) -> Claim:
        """Return what a token says that one of the keys has signed; it may have expired. Raises: BadTokenError."""
        if len(token) > MAX_TOKEN_LENGTH:
            raise BadTokenError
        said, signature = map(_decode, token.partition(".")[::2])
        matches = [hmac.compare_digest(_mac(key, said), signature) for key in self.keys]
        if not any(matches):
            raise BadTokenError
        return Claim(*json.loads(said))


@dataclass(frozen=True, slots=True)
class CallbackUrls:
    """Makes the URLs. Without an address or a key, a step that asks for one fails and says what is missing."""

    public_url: str | None = None
    keys: CallbackKeys = field(default_factory=CallbackKeys)

    def of(self, call: AttemptRequest, *, asked_at: float) -> dict[str, str]:
        """Return the URLs that a call asks for, by their placeholders; the same at every attempt.

        `asked_at`: when the step was scheduled, in seconds since the epoch. Raises: NoCallbacksError.
        """
        if call.callbacks and not self.public_url:
            raise NoCallbacksError("callback URLs need the address at which others reach the API: DOCRAIL_PUBLIC_URL")
        urls = {}
        for callback in sorted(
            call.callbacks, key=lambda callback: -len(callback.placeholder)
        ):  # one may begin another
            waits = callback.timeout_seconds
            good_for = LONGEST_SECONDS if waits is None else waits + SLACK_SECONDS
            claim = Claim(call.tenant_id, callback.run_id, callback.step_id, int(asked_at + good_for))
            base = (self.public_url or "").rstrip("/")
            urls[callback.placeholder] = f"{base}/v1/callbacks/{self.keys.sign(claim)}"
        return urls


def parse_keys(text: str) -> tuple[str, ...]:
    """Return the keys that a setting lists with commas between them. Raises: ValueError, which never tells one."""
    keys = tuple(filter(None, map(str.strip, text.split(","))))
    if short := [number for number, key in enumerate(keys, start=1) if len(key) < MIN_KEY_LENGTH]:
        raise ValueError(f"key {short[0]} has fewer than {MIN_KEY_LENGTH} characters; `openssl rand -hex 32` makes one")
    return keys


def _mac(key: str, said: bytes) -> bytes:
    return hmac.digest(key.encode(), _DOMAIN + said, hashlib.sha256)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise BadTokenError from None
    if _encode(data) != text:  # base64 can be written in several ways; ours is one
        raise BadTokenError
    return data
