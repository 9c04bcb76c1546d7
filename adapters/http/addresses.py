"""Decide which addresses outgoing calls may reach: public ones, and those that the operator has allowed."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from docrail.adapters.http.errors import WorkerNotConfiguredError

Address = IPv4Address | IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

METADATA = frozenset(
    map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)
"""Metadata services that hand out a machine's credentials: AWS, Google and Azure, AWS over IPv6, Alibaba, Azure's
agent, Oracle."""

SHARED = ipaddress.ip_network("100.64.0.0/10")
"""Carrier-grade NAT (RFC 6598): internal, although `ipaddress` does not call it private."""

NAT64 = ipaddress.ip_network("64:ff9b::/96")
COMPATIBLE = ipaddress.ip_network("::/96")
"""IPv6 networks whose last 32 bits are an IPv4 address (RFC 6052; RFC 4291, deprecated but still routed)."""

MAX_PORT = 65_535

_NAME = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?")
_WITH_PORT = re.compile(r"(?P<host>[^:]+|\[[^\]]+\]):(?P<port>[0-9]{1,5})")


class RefusedAddressError(WorkerNotConfiguredError):
    """The address is blocked on this worker; an operator may allow the host."""

    def __init__(self, host: str, why: str) -> None:
        reached = "outgoing calls reach public addresses, and what DOCRAIL_ALLOWED_HOSTS names"
        super().__init__(f"the host {host} is refused: {why}; {reached}")
        self.host = host


@dataclass(frozen=True, slots=True)
class _Entry:
    """One allowed host name (with `*.` in front: every name below it) or network, on every port or on one."""

    target: str | Network
    port: int | None

    def covers(self, host: str, port: int, address: Address) -> bool:
        if self.port not in (None, port):
            return False
        if not isinstance(self.target, str):
            return address in self.target
        named = host.endswith(self.target[1:]) if self.target.startswith("*.") else host == self.target
        return named and not _is_only_by_network(address)


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Non-public hosts that outgoing calls may reach. Empty: none."""

    entries: tuple[_Entry, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "AllowedHosts":
        """Parse `erp.internal`, `*.internal`, `10.20.0.0/16` or `10.20.3.4`, each with or without a port (`:8443`).

        Raises: ValueError, naming the entry.
        """
        return cls(tuple(map(_entry, texts)))

    def check(self, host: str, port: int, address: Address) -> None:
        """Check a connection to `address`, to which `host` resolves. Raises: RefusedAddressError."""
        address = plain(address)
        why = why_not_public(address)
        if why is None:
            return
        name = host.lower().rstrip(".")
        if not any(entry.covers(name, port, address) for entry in self.entries):
            subject = "it" if host == str(address) else f"its address {address}"
            raise RefusedAddressError(host, f"{subject} is {why}")


def why_not_public(address: Address) -> str | None:
    """Return the kind of a non-public address; None if it is public."""
    address = plain(address)
    if address in METADATA:
        return "a cloud's metadata service"
    kinds: Mapping[str, bool] = {
        "the unspecified address": address.is_unspecified,
        "a loopback address": address.is_loopback,
        "a link-local address": address.is_link_local,
        "a multicast address": address.is_multicast,
        "a reserved address": address.is_reserved,
        "a private address": address.is_private or address in SHARED or getattr(address, "is_site_local", False),
    }
    return next((kind for kind, true in kinds.items() if true), None if address.is_global else "no public address")


def plain(address: Address) -> Address:
    """Return the IPv4 address embedded in an IPv6 address, if there is one: that is where packets go."""
    if isinstance(address, IPv4Address):
        return address
    if address.teredo is not None:
        return address.teredo[1]
    carried = address.ipv4_mapped or address.sixtofour
    if carried is None and (address in NAT64 or (address in COMPATIBLE and int(address) > 1)):
        carried = IPv4Address(int(address) & 0xFFFF_FFFF)
    return carried or address


def _is_only_by_network(address: Address) -> bool:
    """Check whether only a network entry can allow the address: DNS control must not give access to credentials."""
    return address in METADATA or address.is_link_local or address.is_multicast or address.is_unspecified


def _entry(text: str) -> _Entry:
    found = _WITH_PORT.fullmatch(text)
    host, port = (found["host"].strip("[]"), int(found["port"])) if found else (text.strip("[]"), None)
    if port is not None and not 0 < port <= MAX_PORT:
        raise ValueError(f"{text!r}: {port} is not a port")
    try:
        return _Entry(ipaddress.ip_network(host), port)
    except ValueError as error:
        if "host bits" in str(error):
            network = ipaddress.ip_network(host, strict=False)
            raise ValueError(f"{text!r} is an address within a network; for the network write {network}") from None
    name = host.lower().rstrip(".")
    if not _NAME.fullmatch(name):
        expected = "a host (erp.internal, *.internal), a host and port (erp.internal:8443) or a network (10.20.0.0/16)"
        raise ValueError(f"{text!r} is none of: {expected}")
    return _Entry(name, port)
