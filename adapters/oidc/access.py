"""Define how an issuer is used. Light to import: every command reads the settings."""

import base64
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def checked_issuer_url(url: str) -> str:
    """Return the URL if it is https, or http on this machine. Raises: ValueError."""
    parsed = urlsplit(url)
    if parsed.scheme != "https" and not (parsed.scheme == "http" and parsed.hostname in LOOPBACK):
        raise ValueError("expected https://, or http:// on this machine")
    if not parsed.hostname or parsed.username or parsed.fragment:
        raise ValueError("expected https://, a host and a path")
    return url


@dataclass(frozen=True, slots=True)
class IssuerAccess:
    """How an issuer is used. Without an audience no bearer tokens are accepted, without a client no one signs in."""

    issuer: str
    audience: str | None = None
    jwks_url: str | None = None
    """Where the keys are; None: where the issuer says."""
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    allowed_hosts: Sequence[str] = ()
    """Other hosts that are not public, and that the issuer's endpoints may be on."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """The random values of one sign-in, known to the browser that began it (RFC 7636, RFC 9700)."""

    state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def challenge(self) -> str:
        """Return the code challenge S256."""
        digest = hashlib.sha256(self.verifier.encode("ascii")).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
