"""Decide whether an incoming request is refused because a foreign web page may have sent it.

Two attacks: a page sends a request to a server on its reader's machine or network (cross-site request), or its own name
is made to resolve to that server's address, so that the browser takes both for one site (DNS rebinding). Programs that
are not browsers send neither `Origin` nor `Sec-Fetch-Site`, and pass.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing. Their answers are protected by the browser: no other site may read them."""
OWN_PAGES = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site for a page of the server itself, and for a person who typed the address."""
DEFAULT_PORTS = {"http": ":80", "https": ":443"}

HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9_.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\]")
_PORT = re.compile(r":[0-9]{0,5}$")

Reason = Literal["unknown-host", "cross-site"]


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names by which a server may be called."""

    names: frozenset[str] = LOOPBACK_NAMES
    any_address: bool = False
    """Whether IP addresses are accepted too: rebinding needs a name."""
    origins: frozenset[str] = frozenset()
    """Origins that are the server's own although its Host header differs, because a proxy replaces it."""

    @classmethod
    def of(cls, listening: str, names: Iterable[str] = (), public_url: str | None = None) -> "Hosts":
        """Return loopback's names, the address listened on, the configured names and the public URL's host."""
        public = urlsplit(public_url or "")
        own = f"[{listening}]" if ":" in listening else listening
        known = {*LOOPBACK_NAMES, own, *names, *filter(None, [_without_port(public.netloc.rpartition("@")[2])])}
        origins = frozenset({_origin(f"{public.scheme}://{public.netloc}")} if public_url else ())
        return cls(frozenset(map(str.lower, known)), listening in ALL_ADDRESSES, origins)

    def accepts(self, host: str) -> bool:
        """Return whether a Host header, with or without a port, names this server."""
        name = _without_port(host.lower()).removesuffix(".")
        return name in self.names or (self.any_address and _is_address(name))


def refusal(
    method: str, headers: Mapping[str, Sequence[str]], hosts: Hosts, *, signed: bool = False
) -> tuple[Reason, str] | None:
    """Return why a request is refused, with the value that was found; None if it is not.

    `headers`: the values by lowercase name. `signed`: its URL is secret, and other sites may call it.
    A request without a Host header passes: every browser sends one.
    """
    for host in headers.get("host", ()):
        if not hosts.accepts(host):
            return "unknown-host", host
    if method in SAFE_METHODS or signed:
        return None
    for site in headers.get("sec-fetch-site", ()):
        if site not in OWN_PAGES:
            return "cross-site", f"Sec-Fetch-Site: {site}"
    own = {host.lower() for host in headers.get("host", ())}
    for origin in headers.get("origin", ()):
        if _origin(origin) not in hosts.origins and not own & _hosts_of(origin):
            return "cross-site", f"Origin: {origin}"
    return None


def _origin(url: str) -> str:
    scheme, _, host = url.lower().partition("://")
    return f"{scheme}://{host.removesuffix(DEFAULT_PORTS.get(scheme, ''))}"


def _hosts_of(origin: str) -> set[str]:
    """Return the Host headers that a page of this origin sends to its own server; none for `null`."""
    scheme, separator, host = _origin(origin).partition("://")
    return {host, host + DEFAULT_PORTS.get(scheme, "")} if separator else set()


def _without_port(host: str) -> str:
    return _PORT.sub("", host)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
