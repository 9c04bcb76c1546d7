"""Which requests a foreign web page may have sent: the table of decisions."""

import pytest

from docrail.adapters.http.browsers import Hosts, Reason, refusal

LOCAL = Hosts.of("127.0.0.1")
OPEN = Hosts.of("0.0.0.0", ["docrail.internal"], "https://docrail.example/base")
EVIL = "http://evil.example"


def judged(hosts: Hosts, method: str, host: str, **headers: str) -> Reason | None:
    refused = refusal(method, given(host, **headers), hosts)
    return refused and refused[0]


def given(host: str, **headers: str) -> dict[str, list[str]]:
    return {name.replace("_", "-"): [value] for name, value in headers.items()} | {"host": [host]}


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:8000", "[::1]:8000", "localhost."])
def test_loopback_is_known_by_its_names(host: str) -> None:
    assert judged(LOCAL, "GET", host) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.5",
        "",
        "a b",
        "127.0.0.1@evil.example",
        "[::1]evil.example",
        "2130706433",
        "0x7f.1",
        "localhost:8000:80",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_every_other_name_is_unknown(host: str, method: str) -> None:
    assert judged(LOCAL, method, host) == "unknown-host"


@pytest.mark.parametrize("host", ["docrail.internal:8000", "docrail.example", "10.0.0.5:8000", "[fe80::1]:8000"])
def test_on_all_addresses_the_configured_names_and_every_ip_address_are_known(host: str) -> None:
    assert judged(OPEN, "GET", host) is None
    assert judged(OPEN, "GET", f"x{host}") == "unknown-host"


def test_the_address_that_is_listened_on_is_known() -> None:
    assert judged(Hosts.of("192.168.1.7"), "GET", "192.168.1.7:8000") is None
    assert judged(Hosts.of("fd00::7"), "GET", "[fd00::7]:8000") is None
    assert judged(Hosts.of("192.168.1.7"), "GET", "192.168.1.8:8000") == "unknown-host"


def test_a_request_without_a_host_is_not_a_browsers() -> None:
    assert refusal("POST", {}, LOCAL) is None


def test_a_second_host_is_judged_too() -> None:
    assert refusal("GET", {"host": ["localhost", "evil.example"]}, LOCAL) == ("unknown-host", "evil.example")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "UNHEARD"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": EVIL},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:3000"},  # another server on this machine
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:8000.evil.example"},
        {"origin": "file://"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "unheard-of"},
        {"origin": EVIL, "sec_fetch_site": "same-origin"},
        {"origin": "http://127.0.0.1:8000", "sec_fetch_site": "cross-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(method: str, headers: dict[str, str]) -> None:
    assert judged(LOCAL, method, "127.0.0.1:8000", **headers) == "cross-site"
    assert judged(LOCAL, "GET", "127.0.0.1:8000", **headers) is None
    assert refusal(method, given("127.0.0.1:8000", **headers), LOCAL, signed=True) is None


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("127.0.0.1:8000", {}),
        ("127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}),
        ("127.0.0.1:8000", {"origin": "http://127.0.0.1:8000", "sec_fetch_site": "same-origin"}),
        ("127.0.0.1:8000", {"sec_fetch_site": "none"}),
        ("localhost", {"origin": "http://localhost"}),
        ("LOCALHOST:80", {"origin": "http://localhost"}),
        ("docrail.example", {"origin": "https://docrail.example"}),
        ("docrail.example:443", {"origin": "https://docrail.example"}),
        ("10.0.0.5:8000", {"origin": "https://docrail.example"}),  # a proxy replaced the host
    ],
)
def test_programs_and_the_servers_own_pages_pass(host: str, headers: dict[str, str]) -> None:
    assert judged(OPEN, "POST", host, **headers) is None
