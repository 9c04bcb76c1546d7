"""Cookies and headers that a neighbouring host, a proxy or an attacker has added."""

import ipaddress
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.service import Service
from tests.oidc_issuer import LoopbackIssuer
from tests.security.callers import Guarded, dsn, guarded
from tests.single_sign_on import api, browser, callback_of, cookies_of, issuer, serve_sso, trusting, url_of

__all__ = ["api", "dsn", "guarded", "issuer", "trusting"]

HTTPS = {"X-Forwarded-Proto": "https"}
PREFIXED = "__Host-docrail_session"


@pytest.fixture
async def https(api: Service, issuer: LoopbackIssuer) -> AsyncIterator[Service]:
    """Yield an API after a proxy that serves https."""
    proxies = (ipaddress.ip_network("127.0.0.1/32"),)
    async with serve_sso(api.settings, issuer, trusted_proxies=proxies) as service:
        yield service


async def session_of(guarded: Guarded) -> str:
    signed = await guarded.service.http.post("/v1/session", json={"key": await guarded.key()})
    guarded.service.http.cookies.clear()
    return signed.headers["set-cookie"].partition(";")[0]


async def me(guarded: Guarded, *headers: tuple[str, str]) -> httpx.Response:
    return await guarded.service.http.get("/v1/me", headers=[*headers])


async def test_two_authorization_headers_are_refused(guarded: Guarded) -> None:
    """A proxy that looks at one of them would let the other pass."""
    good, other = [("Authorization", f"Bearer {await guarded.key()}") for _ in range(2)]
    assert (await me(guarded, good)).status_code == 200
    for headers in ([good, other], [good, good], [good, ("authorization", "Bearer x")]):
        refused = await me(guarded, *headers)
        assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")


async def test_a_wrong_key_is_refused_although_a_session_comes_with_it(guarded: Guarded) -> None:
    cookie = ("Cookie", await session_of(guarded))
    assert (await me(guarded, cookie)).status_code == 200
    assert (await me(guarded, cookie, ("Authorization", "Bearer docrail_0_0"))).status_code == 401


async def test_a_key_counts_and_not_the_session_that_comes_with_it(guarded: Guarded) -> None:
    key = await guarded.key(name="bob")
    shown = await me(guarded, ("Cookie", await session_of(guarded)), ("Authorization", f"Bearer {key}"))
    assert (shown.json()["name"], shown.json()["authenticated_by"]) == ("bob", "key")


@pytest.mark.parametrize("separate", [False, True])
async def test_two_sessions_in_one_request_are_refused(guarded: Guarded, separate: bool) -> None:
    """A neighbouring host can add a cookie of an attacker's session, and which one counts would be chance."""
    first, second = await session_of(guarded), await session_of(guarded)
    sent = [("Cookie", first), ("Cookie", second)] if separate else [("Cookie", f"{first}; {second}")]
    refused = await me(guarded, *sent)
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert (await me(guarded, ("Cookie", f"{first}; {first}"))).status_code == 200


async def test_over_https_cookies_have_a_name_that_neighbouring_hosts_cannot_set(https: Service) -> None:
    async with browser() as client:
        client.headers.update(HTTPS)
        begun = await client.get(f"{url_of(https)}/v1/session/oidc")
        answered = await client.get(begun.headers["location"])
        callback = answered.headers["location"].replace("https://", "http://")
        kept = begun.headers["set-cookie"].partition(";")[0]
        signed_in = await client.get(callback, headers={"Cookie": kept})
    cookies = {name: text.lower() for name, text in cookies_of(signed_in).items()}
    assert cookies.keys() == {PREFIXED, "__Host-docrail_sign_in"}
    assert {"secure", "path=/", "httponly", "samesite=strict"} <= set(cookies[PREFIXED].split("; "))
    assert not any("domain" in text for text in cookies.values())


async def test_over_https_a_cookie_without_the_prefix_is_no_session(https: Service) -> None:
    async with browser() as client:
        await client.get(await callback_of(client, https))
        value = client.cookies["docrail_session"]
    asked = {name: f"{name}={value}" for name in ("docrail_session", PREFIXED)}
    found = {
        name: (await https.http.get("/v1/me", headers=HTTPS | {"Cookie": cookie})).status_code
        for name, cookie in asked.items()
    }
    assert found == {"docrail_session": 401, PREFIXED: 200}


async def test_a_callback_as_a_browser_sends_it_from_another_site_is_accepted(api: Service) -> None:
    from_elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    async with browser() as client:
        assert (await client.get(await callback_of(client, api), headers=from_elsewhere)).status_code == 200
