"""Define how an issuer is used. Light to import: every command reads the settings."""

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
