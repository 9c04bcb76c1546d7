"""The guard: which addresses a call may go to, however they are written, and what an operator can allow."""

import ipaddress

import pytest

from docrail.adapters.http.addresses import AllowedHosts, RefusedAddressError, plain, why_not_public

NOTHING = AllowedHosts()


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "a loopback address"),
        ("127.255.0.9", "a loopback address"),
        ("::1", "a loopback address"),
        ("0.0.0.0", "the unspecified address"),
        ("::", "the unspecified address"),
        ("10.1.2.3", "a private address"),
        ("172.16.0.1", "a private address"),
        ("192.168.1.1", "a private address"),
        ("100.64.0.1", "a private address"),
        ("fd12::1", "a private address"),
        ("fec0::1", "a private address"),
        ("192.0.2.1", "a private address"),
        ("198.18.0.1", "a private address"),
        ("2001:db8::1", "a private address"),
        ("169.254.1.1", "a link-local address"),
        ("fe80::1", "a link-local address"),
        ("224.0.0.1", "a multicast address"),
        ("ff02::1", "a multicast address"),
        ("240.0.0.1", "a reserved address"),
        ("255.255.255.255", "a reserved address"),
        ("169.254.169.254", "a cloud's metadata service"),
        ("fd00:ec2::254", "a cloud's metadata service"),
        ("100.100.100.200", "a cloud's metadata service"),
        ("168.63.129.16", "a cloud's metadata service"),
        ("::ffff:127.0.0.1", "a loopback address"),
        ("::ffff:10.0.0.1", "a private address"),
        ("::ffff:169.254.169.254", "a cloud's metadata service"),
        ("::127.0.0.1", "a loopback address"),
        ("64:ff9b::a00:1", "a private address"),
        ("64:ff9b::a9fe:a9fe", "a cloud's metadata service"),
        ("2002:7f00:1::", "a loopback address"),
        ("2001:0:4136:e378:8000:63bf:f5ff:fffe", "a private address"),
    ],
)
def test_private_addresses_are_refused_by_kind(address: str, why: str) -> None:
    assert why_not_public(ipaddress.ip_address(address)) == why
    with pytest.raises(RefusedAddressError, match="DOCRAIL_ALLOWED_HOSTS"):
        NOTHING.check("innocent.example", 443, ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_pass(address: str) -> None:
    assert why_not_public(ipaddress.ip_address(address)) is None
    NOTHING.check("shop.example", 443, ipaddress.ip_address(address))


def test_the_end_of_a_tunnel_is_what_counts() -> None:
    assert plain(ipaddress.ip_address("2002:a00:1::")) == ipaddress.ip_address("10.0.0.1")
    assert plain(ipaddress.ip_address("::1")) == ipaddress.ip_address("::1")


@pytest.mark.parametrize(
    ("entry", "host", "port", "address"),
    [
        ("erp.internal", "erp.internal", 443, "10.0.0.5"),
        ("ERP.internal", "erp.INTERNAL.", 80, "10.0.0.5"),
        ("erp.internal:8443", "erp.internal", 8443, "127.0.0.1"),
        ("*.internal", "a.b.internal", 80, "192.168.0.9"),
        ("10.20.0.0/16", "whatever.example", 80, "10.20.3.4"),
        ("10.20.3.4", "10.20.3.4", 80, "10.20.3.4"),
        ("10.20.3.4:8080", "10.20.3.4", 8080, "10.20.3.4"),
        ("127.0.0.0/8", "mapped.example", 80, "::ffff:127.0.0.1"),
        ("::1", "::1", 80, "::1"),
        ("[::1]:9000", "::1", 9000, "::1"),
        ("fd00::/8", "fd12::1", 80, "fd12::1"),
        ("169.254.169.254/32", "169.254.169.254", 80, "169.254.169.254"),
    ],
)
def test_an_entry_opens_what_it_names(entry: str, host: str, port: int, address: str) -> None:
    AllowedHosts.parse([entry]).check(host, port, ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("entry", "host", "port", "address"),
    [
        ("erp.internal", "erp.internal.example", 443, "10.0.0.5"),
        ("erp.internal", "xerp.internal", 443, "10.0.0.5"),
        ("erp.internal:8443", "erp.internal", 443, "10.0.0.5"),
        ("*.internal", "internal", 80, "10.0.0.5"),
        ("*.internal", "evilinternal", 80, "10.0.0.5"),
        ("10.20.0.0/16", "10.21.0.1", 80, "10.21.0.1"),
        ("10.20.3.4:8080", "10.20.3.4", 80, "10.20.3.4"),
        ("erp.internal", "erp.internal", 80, "169.254.169.254"),
        ("erp.internal", "erp.internal", 80, "fe80::1"),
    ],
)
def test_an_entry_opens_nothing_else(entry: str, host: str, port: int, address: str) -> None:
    with pytest.raises(RefusedAddressError):
        AllowedHosts.parse([entry]).check(host, port, ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("entry", "reported"),
    [
        ("10.20.3.4/16", "for the network write 10.20.0.0/16"),
        ("http://erp.internal", "is none of: a host"),
        ("erp.internal:0", "0 is not a port"),
        ("erp.internal:99999", "99999 is not a port"),
        ("*", "is none of: a host"),
        ("", "is none of: a host"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused(entry: str, reported: str) -> None:
    with pytest.raises(ValueError, match=reported):
        AllowedHosts.parse([entry])
