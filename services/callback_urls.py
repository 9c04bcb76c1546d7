"""Sign and verify callback URLs.

A callback URL lets its holder answer one waiting step of one run until it expires; it does not authenticate the caller.
A token consists of the claim and an HMAC over it, so nothing is stored. The run decides whether the step still accepts
an answer; only the first answer counts.
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
"""Minimum length of a key in characters: 128 bits even if all are hexadecimal digits."""

MAX_TOKEN_LENGTH = 4096
"""Upper bound for tokens. A run nested inside twenty others has an id of 1,500 characters."""

SLACK_SECONDS = 7 * 86_400.0
"""Validity of a URL beyond its step's timeout: the wait begins after the message is sent."""

LONGEST_SECONDS = 366 * 86_400.0
"""Validity of a URL whose step has no timeout."""

_DOMAIN = b"docrail callback 1\0"
"""Domain separation for the HMAC, in case the key signs other things later."""


class NoCallbacksError(WorkerNotConfiguredError):
    """A step needs a callback URL, and this worker is not configured to create one."""


class BadTokenError(ValueError):
    """The token was not issued by Docrail or has been altered."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The contents of a token: who may answer which step. Times are seconds since the epoch."""

    tenant_id: str
    run_id: str
    step_id: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class CallbackKeys:
    """Sign with the first key and accept all of them: to rotate a key, put the new one first."""

    keys: tuple[str, ...] = field(default=(), repr=False)

    def sign(self, claim: Claim) -> str:
        """Return the signed token of a claim. Raises: NoCallbacksError."""
        if not self.keys:
            raise NoCallbacksError(
                "there is no key to sign callback URLs: set DOCRAIL_CALLBACK_KEY, the same for the API and all workers"
            )
        payload = json.dumps(
            [claim.tenant_id, claim.run_id, claim.step_id, claim.expires_at], separators=(",", ":"), ensure_ascii=False
        ).encode()
        return f"{_encode(payload)}.{_encode(_mac(self.keys[0], payload))}"

    def read(self, token: str) -> Claim:
        """Return the claim of a token signed with one of the keys; it may have expired. Raises: BadTokenError."""
        if len(token) > MAX_TOKEN_LENGTH:
            raise BadTokenError
        payload, signature = map(_decode, token.partition(".")[::2])
        matches = [hmac.compare_digest(_mac(key, payload), signature) for key in self.keys]
        if not any(matches):
            raise BadTokenError
        return Claim(*json.loads(payload))


@dataclass(frozen=True, slots=True)
class CallbackUrls:
    """Create callback URLs.

    Without a public URL or a key, a step that needs one fails with an error that says which is missing.
    """

    public_url: str | None = None
    keys: CallbackKeys = field(default_factory=CallbackKeys)

    def of(self, call: AttemptRequest, *, asked_at: float) -> dict[str, str]:
        """Return the URLs that a call needs, by placeholder; they are the same for every attempt.

        `asked_at`: when the step was scheduled, in seconds since the epoch. Raises: NoCallbacksError.
        """
        if call.callbacks and not self.public_url:
            raise NoCallbacksError("callback URLs need the public address of the API: set DOCRAIL_PUBLIC_URL")
        urls = {}
        for callback in sorted(
            call.callbacks, key=lambda callback: -len(callback.placeholder)
        ):  # longest first: one may be a prefix of another
            waits = callback.timeout_seconds
            good_for = LONGEST_SECONDS if waits is None else waits + SLACK_SECONDS
            claim = Claim(call.tenant_id, callback.run_id, callback.step_id, int(asked_at + good_for))
            base = (self.public_url or "").rstrip("/")
            urls[callback.placeholder] = f"{base}/v1/callbacks/{self.keys.sign(claim)}"
        return urls


def parse_keys(text: str) -> tuple[str, ...]:
    """Return the keys of a comma-separated setting. Raises: ValueError, which never contains a key."""
    keys = tuple(filter(None, map(str.strip, text.split(","))))
    if short := [number for number, key in enumerate(keys, start=1) if len(key) < MIN_KEY_LENGTH]:
        raise ValueError(
            f"key {short[0]} has fewer than {MIN_KEY_LENGTH} characters; `openssl rand -hex 32` generates one"
        )
    return keys


def _mac(key: str, payload: bytes) -> bytes:
    return hmac.digest(key.encode(), _DOMAIN + payload, hashlib.sha256)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise BadTokenError from None
    if _encode(data) != text:  # base64 has several spellings of the same bytes; accept the canonical one only
        raise BadTokenError
    return data
