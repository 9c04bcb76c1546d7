"""The client for addresses that definitions name, against real servers on loopback."""

import datetime as dt
import ipaddress
import ssl
import time
from collections.abc import Sequence
from email.utils import format_datetime

import pytest
from trustme import CA

from docrail.adapters.http.addresses import Address, AllowedHosts, RefusedAddressError
from docrail.adapters.http.client import HttpClient, Outgoing, Resolver, read_json
from docrail.adapters.http.errors import (
    MAX_RETRY_AFTER_SECONDS,
    AnswerUnusableError,
    OutgoingTimeoutError,
    RequestRefusedError,
    TryAgainLaterError,
    UnreachableError,
    seconds_of,
)
from tests.loopback import Reply, loopback, reply_json

LOOPBACK = AllowedHosts.parse(["127.0.0.0/8", "::1"])
CLIENT = HttpClient(LOOPBACK)


def names(**addresses: str | Sequence[str]) -> Resolver:
    """Return a resolver that knows the hosts of `.test`; each look-up gives the next of a list's answers."""

    async def resolve(host: str, _port: int) -> Sequence[Address]:
        known = addresses[host.removesuffix(".test")]
        texts = known.split() if isinstance(known, str) else known
        return [ipaddress.ip_address(text) for text in texts]

    return resolve


async def test_it_sends_what_it_is_reported_and_returns_what_comes_back() -> None:
    async with loopback(reply_json({"a": 1}, 201, X_Request_Id="r1")) as server:
        answer = await CLIENT.send(Outgoing("POST", f"{server.url}/a?b=c", {"X-Own": "1"}, b"hello"))
    [asked] = server.asked
    assert (asked.method, asked.target, asked.body) == ("POST", "/a?b=c", b"hello")
    assert asked.headers["x-own"] == "1"
    assert asked.headers["host"] == f"127.0.0.1:{server.port}"
    assert asked.headers["accept-encoding"] == "identity"
    assert (answer.status, answer.body, answer.complete) == (201, b'{"a": 1}', True)
    assert answer.headers["x-request-id"] == "r1"
    assert answer.is_json


async def test_loopback_is_refused_unless_it_is_allowed() -> None:
    async with loopback() as server:
        for url in (server.url, f"http://localhost:{server.port}", f"http://2130706433:{server.port}"):
            with pytest.raises(RefusedAddressError, match="is a loopback address"):
                await HttpClient().send(Outgoing("GET", url))
    assert server.asked == []


@pytest.mark.parametrize("written", ["127.1", "0x7f000001", "017700000001", "[::ffff:127.0.0.1]", "[::1]"])
async def test_loopback_is_refused_however_it_is_written(written: str) -> None:
    with pytest.raises(RefusedAddressError, match="a loopback address"):
        await HttpClient().send(Outgoing("GET", f"http://{written}:1/"))


async def test_a_name_that_leads_inside_is_refused() -> None:
    client = HttpClient(resolver=names(inside="10.0.0.7"))
    with pytest.raises(RefusedAddressError, match=r"inside\.test is refused: its address 10\.0\.0\.7 is a private"):
        await client.send(Outgoing("GET", "https://inside.test/"))


async def test_a_name_with_one_address_inside_is_refused_whole() -> None:
    client = HttpClient(resolver=names(mixed="1.1.1.1 127.0.0.1"))
    with pytest.raises(RefusedAddressError):
        await client.send(Outgoing("GET", "http://mixed.test/"))


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name whose address changes between two look-ups (DNS rebinding) is looked up once."""
    looked_up: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[Address]:
        looked_up.append(host)
        return [ipaddress.ip_address("127.0.0.1" if len(looked_up) == 1 else "10.0.0.1")]

    async with loopback() as server:
        url = f"http://erp.test:{server.port}/"
        answer = await HttpClient(LOOPBACK, resolver=resolve).send(Outgoing("GET", url))
    assert answer.status == 200
    assert looked_up == ["erp.test"]
    assert server.asked[0].headers["host"] == f"erp.test:{server.port}"


async def test_a_dead_first_address_does_not_hide_the_second() -> None:
    async with loopback() as server:
        client = HttpClient(LOOPBACK, resolver=names(two="::1 127.0.0.1"))
        assert (await client.send(Outgoing("GET", f"http://two.test:{server.port}"))).status == 200


async def test_tls_is_checked_against_the_name_and_not_the_address() -> None:
    authority = CA()
    served, trusting = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("shop.test").configure_cert(served)
    authority.configure_trust(trusting)
    resolver = names(shop="127.0.0.1", other="127.0.0.1")
    async with loopback(reply_json("ok"), tls=served) as server:
        client = HttpClient(LOOPBACK, resolver, trusting)
        assert (await client.send(Outgoing("GET", f"https://shop.test:{server.port}"))).body == b'"ok"'
        with pytest.raises(UnreachableError, match="certificate"):
            await client.send(Outgoing("GET", f"https://other.test:{server.port}"))
        with pytest.raises(UnreachableError, match="certificate"):  # the real roots do not know it
            await HttpClient(LOOPBACK, resolver).send(Outgoing("GET", f"https://shop.test:{server.port}"))


@pytest.mark.parametrize(
    ("url", "reported"),
    [
        ("file:///etc/passwd", "expected http:// or https://"),
        ("gopher://127.0.0.1", "expected http:// or https://"),
        ("ftp://a.example", "expected http:// or https://"),
        ("//a.example", "expected http:// or https://"),
        ("http:///path", "expected http:// or https://"),
        ("http://a b", "expected http:// or https:// and a host"),
        ("http://a.example:99999", "99999 is not a port"),
        ("http://a.example:0", "0 is not a port"),
        ("http://[::1", "is not a URL"),
        ("https://user:word@a.example", "the URL contains a user name or password"),
        ("https://a.example/?key=secret://k", "in headers only"),
    ],
)
async def test_addresses_that_cannot_be_called_are_refused(url: str, reported: str) -> None:
    with pytest.raises(ValueError, match=reported):
        await CLIENT.send(Outgoing("GET", url))


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Connection", "Proxy-Authorization"])
async def test_a_step_does_not_set_how_a_request_travels(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be set by a step"):
        await CLIENT.send(Outgoing("GET", "http://127.0.0.1", {name: "1"}))


async def test_a_header_cannot_smuggle_another_and_its_value_is_not_reported() -> None:
    with pytest.raises(ValueError, match="the header X-Key contains other characters than printable ASCII") as reported:
        await CLIENT.send(Outgoing("GET", "http://127.0.0.1", {"X-Key": "hush\r\nHost: evil"}))
    assert "hush" not in str(reported.value)
    with pytest.raises(ValueError, match="is not a valid header name"):
        await CLIENT.send(Outgoing("GET", "http://127.0.0.1", {"X Key": "1"}))


async def test_a_redirect_of_a_get_is_followed_and_each_hop_is_checked() -> None:
    async with loopback(reply_json("there")) as target:
        async with loopback(Reply(302, headers={"Location": f"{target.url}/next"})) as first:
            answer = await CLIENT.send(Outgoing("GET", first.url, {"Authorization": "Bearer hush"}))
        assert answer.body == b'"there"'
        assert first.asked[0].headers["authorization"] == "Bearer hush"
        assert "authorization" not in target.asked[0].headers  # it was meant for the first host
        async with loopback(Reply(302, headers={"Location": "http://inside.test/"})) as first:
            client = HttpClient(LOOPBACK, names(inside="10.0.0.1", **{"127.0.0.1": "127.0.0.1"}))
            with pytest.raises(RefusedAddressError, match=r"10\.0\.0\.1 is a private address"):
                await client.send(Outgoing("GET", first.url))
        async with loopback(Reply(302, headers={"Location": "file:///etc/passwd"})) as first:
            with pytest.raises(ValueError, match="expected http:// or https://"):
                await CLIENT.send(Outgoing("GET", first.url))


async def test_a_redirect_within_a_host_keeps_its_headers() -> None:
    async with loopback(Reply(307, headers={"Location": "/b"}), Reply()) as server:
        await CLIENT.send(Outgoing("GET", f"{server.url}/a", {"Authorization": "Bearer hush"}))
    assert [(asked.target, asked.headers["authorization"]) for asked in server.asked] == [
        ("/a", "Bearer hush"),
        ("/b", "Bearer hush"),
    ]


async def test_redirects_end() -> None:
    async with loopback(Reply(302, headers={"Location": "/again"})) as server:
        with pytest.raises(AnswerUnusableError, match="redirects more than 5 times"):
            await CLIENT.send(Outgoing("GET", server.url))
    assert len(server.asked) == 6


async def test_a_post_is_not_sent_somewhere_else() -> None:
    async with loopback(Reply(307, headers={"Location": "http://127.0.0.1:1/elsewhere"})) as server:
        answer = await CLIENT.send(Outgoing("POST", server.url, body=b"x"))
    assert answer.status == 307
    reported = answer.refusal()
    assert isinstance(reported, RequestRefusedError)
    assert str(reported).endswith("redirects are followed for GET only; it points to http://127.0.0.1:1")


async def test_a_long_answer_is_cut_at_the_limit() -> None:
    async with loopback(Reply(body=b"x" * 5_000_000)) as server:
        answer = await CLIENT.send(Outgoing("GET", server.url, max_bytes=1000))
    assert (len(answer.body), answer.complete) == (1000, False)


async def test_an_answer_that_unpacks_to_more_is_refused() -> None:
    async with loopback(Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})) as server:
        with pytest.raises(AnswerUnusableError, match="in the encoding 'gzip': expected none"):
            await CLIENT.send(Outgoing("GET", server.url))


async def test_the_whole_exchange_has_one_time_limit() -> None:
    async with loopback(Reply(holds=True)) as server:
        begun = time.monotonic()
        with pytest.raises(OutgoingTimeoutError, match=rf"GET {server.url} gave no whole answer within 0\.2 s"):
            await CLIENT.send(Outgoing("GET", f"{server.url}/?key=hush", timeout_seconds=0.2))
        assert time.monotonic() - begun < 5


async def test_a_broken_or_missing_server_is_unreachable() -> None:
    async with loopback(Reply(body=b"half", missing_bytes=4)) as server:
        with pytest.raises(UnreachableError, match=f"GET {server.url} failed"):
            await CLIENT.send(Outgoing("GET", server.url))
    with pytest.raises(UnreachableError, match="failed: All connection attempts failed"):
        await CLIENT.send(Outgoing("GET", server.url))  # which is closed now
    with pytest.raises(UnreachableError, match=r"nowhere\.invalid has no address"):
        await CLIENT.send(Outgoing("GET", "http://nowhere.invalid"))


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    async with loopback() as server:
        assert (await CLIENT.send(Outgoing("GET", server.url))).status == 200


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_transient_errors_are_reported_as_retry_later(status: int) -> None:
    async with loopback(Reply(status, b"busy", {"Retry-After": "17"})) as server:
        reported = (await CLIENT.send(Outgoing("GET", f"{server.url}/path?key=hush"))).refusal()
    assert isinstance(reported, TryAgainLaterError)
    assert (reported.status, reported.retry_after_seconds) == (status, 17)
    assert str(reported).startswith(f"GET {server.url} answered {status} ")
    assert str(reported).endswith(": busy")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 451])
async def test_permanent_errors_are_reported_as_refused(status: int) -> None:
    async with loopback(Reply(status, b"no\n\nway " * 500)) as server:
        reported = (await CLIENT.send(Outgoing("GET", server.url))).refusal()
    assert isinstance(reported, RequestRefusedError)
    assert reported.status == status
    assert len(str(reported)) < 400
    assert "no way no way" in str(reported)


def in_seconds(seconds: float) -> str:
    return format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *(("120", 120), (" 5 ", 5), ("0", None), ("-3", None), ("soon", None), ("", None), (None, None), ("1.5", None)),
        *(("999999999", MAX_RETRY_AFTER_SECONDS), ("9" * 400, MAX_RETRY_AFTER_SECONDS), ("²", None)),
        ("Fri, 31 Dec 1999 23:59:59 GMT", None),
    ],
)
def test_retry_after_is_a_number_of_seconds(header: str | None, seconds: float | None) -> None:
    assert seconds_of(header) == seconds


def test_retry_after_may_be_a_date() -> None:
    asked = seconds_of(in_seconds(90))
    assert asked is not None
    assert 80 < asked <= 90


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', "[" * 100_000, "'a'"])
def test_an_answer_with_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(AnswerUnusableError, match="answered invalid JSON"):
        read_json(text, "GET https://a.example")


@pytest.mark.parametrize(
    ("kind", "is_json"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("application/problem+json", True),
        ("text/plain", False),
        ("", False),
    ],
)
async def test_json_is_reported_by_its_type(kind: str, is_json: bool) -> None:
    async with loopback(Reply(body="ü".encode("latin-1"), headers={"Content-Type": kind})) as server:
        assert (await CLIENT.send(Outgoing("GET", server.url))).is_json is is_json


@pytest.mark.parametrize("charset", ["; charset=iso-8859-1", "; charset=klingon", ""])
async def test_a_text_is_read_as_it_says_and_never_breaks(charset: str) -> None:
    kind = {"Content-Type": f"text/plain{charset}"}
    async with loopback(Reply(body="ü".encode("latin-1"), headers=kind)) as server:
        text = (await CLIENT.send(Outgoing("GET", server.url))).text()
    assert text == ("ü" if "8859" in charset else "�")
