"""People of an identity provider call the API with its tokens, or sign in with a browser."""

import datetime as dt
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from docrail.services.access.service import list_tenants
from tests.api.service import Service
from tests.oidc_issuer import CLIENT, LoopbackIssuer
from tests.single_sign_on import (
    api,
    browser,
    callback_of,
    cookies_of,
    issuer,
    me,
    serve_sso,
    sign_in,
    trusting,
    url_of,
)

__all__ = ["api", "issuer", "trusting"]


async def test_a_token_says_who_calls_and_what_they_may_do(api: Service, issuer: LoopbackIssuer) -> None:
    assert (await me(api, issuer.token())).json() == {
        "name": "ann",
        "tenant": "default",
        "scopes": ["read", "review"],
        "authenticated_by": "token",
        "key_id": None,
        "operator": True,
    }


async def test_a_token_permits_what_its_roles_do(api: Service, issuer: LoopbackIssuer) -> None:
    headers = {"Authorization": f"Bearer {issuer.token()}"}
    assert (await api.http.get("/v1/reviews", headers=headers)).status_code == 200
    refused = await api.http.get("/v1/keys", headers=headers)
    assert (refused.status_code, refused.json()["scope"]) == (403, "admin")


async def test_the_tenant_and_the_name_come_from_the_claims_that_the_operator_names(
    api: Service, issuer: LoopbackIssuer
) -> None:
    changes = {"oidc_tenant_claim": "org.id", "oidc_name_claim": "upn", "oidc_scope_claim": "scope"}
    issuer.person = {"sub": "1", "upn": "Bob@Example.org", "org": {"id": "globex"}, "scope": "openid clerks"}
    async with serve_sso(api.settings, issuer, **changes) as service:
        shown = (await me(service, issuer.token())).json()
    assert (shown["name"], shown["tenant"], shown["scopes"]) == ("bob@example.org", "globex", ["read", "review"])


async def test_a_person_signs_in_with_a_browser(api: Service, issuer: LoopbackIssuer) -> None:
    async with browser() as client:
        signed_in = await sign_in(client, api)
        assert signed_in.status_code == 200
        shown = (await client.get(f"{url_of(api)}/v1/me")).json()
        assert (shown["name"], shown["authenticated_by"]) == ("ann", "session")
        assert shown["scopes"] == ["read", "review"]


async def test_the_issuer_learns_no_more_than_it_needs(api: Service, issuer: LoopbackIssuer) -> None:
    async with browser() as client:
        begun = await client.get(f"{url_of(api)}/v1/session/oidc")
    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert begun.headers["location"].startswith(f"{issuer.url}/authorize?")
    assert asked["client_id"] == [CLIENT]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{url_of(api)}/v1/session/oidc/callback"]
    assert asked.keys() == {
        *("response_type", "client_id", "redirect_uri", "scope"),
        *("state", "nonce", "code_challenge", "code_challenge_method"),
    }


async def test_signing_out_ends_the_session(api: Service, issuer: LoopbackIssuer) -> None:
    async with browser() as client:
        await sign_in(client, api)
        kept = {"Cookie": f"docrail_session={client.cookies['docrail_session']}"}
        same_origin = {"Sec-Fetch-Site": "same-origin"}
        assert (await client.delete(f"{url_of(api)}/v1/session", headers=same_origin)).status_code == 204
        assert (await client.get(f"{url_of(api)}/v1/me")).status_code == 401
        assert (await client.get(f"{url_of(api)}/v1/me", headers=kept)).status_code == 401


async def test_the_sessions_cookie_is_strict_and_a_page_leads_on(api: Service, issuer: LoopbackIssuer) -> None:
    """A browser sends a Strict cookie with no redirect that another site began, but with a page's own refresh."""
    async with browser() as client:
        signed_in = await sign_in(client, api, "/v1/reviews?status=open")
    cookie = cookies_of(signed_in)["docrail_session"].lower()
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert (signed_in.status_code, "location" in signed_in.headers) == (200, False)
    assert re.findall(r'content="0; url=(.*?)"', signed_in.text) == ["/v1/reviews?status=open"]
    assert "script" not in signed_in.text
    assert signed_in.headers["cache-control"] == "no-store"
    assert signed_in.headers["referrer-policy"] == "no-referrer"


async def test_the_console_is_where_a_person_goes_who_asked_for_no_page(api: Service, issuer: LoopbackIssuer) -> None:
    async with browser() as client:
        assert re.findall(r'content="0; url=(.*?)"', (await sign_in(client, api)).text) == ["/"]


async def test_a_public_url_is_where_the_provider_sends_people_back(api: Service, issuer: LoopbackIssuer) -> None:
    public = {"public_url": "https://docs.example/docrail"}
    async with serve_sso(api.settings, issuer, **public) as service, browser() as client:
        begun = await client.get(f"{url_of(service)}/v1/session/oidc")
        asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert asked["redirect_uri"] == ["https://docs.example/docrail/v1/session/oidc/callback"]


async def test_without_a_client_there_is_no_sign_in(api: Service, issuer: LoopbackIssuer) -> None:
    async with serve_sso(api.settings, issuer, oidc_client_id=None) as service:
        for path in ("", "/callback"):
            refused = await service.http.get(f"/v1/session/oidc{path}")
            assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
        assert (await me(service, issuer.token())).status_code == 200


async def test_an_unreachable_issuer_is_503_without_its_address(api: Service, issuer: LoopbackIssuer) -> None:
    issuer.status = 500
    async with serve_sso(api.settings, issuer) as service, browser() as client:
        begun = await client.get(f"{url_of(service)}/v1/session/oidc")
        for refused in (begun, await me(service, issuer.token())):
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
            assert issuer.url not in refused.text


async def test_one_browser_can_begin_again(api: Service, issuer: LoopbackIssuer) -> None:
    async with browser() as client:
        await callback_of(client, api)
        assert (await sign_in(client, api)).status_code == 200


@pytest.mark.parametrize("way", ["token", "session"])
async def test_the_first_person_of_a_tenant_finds_the_shipped_definitions(
    api: Service, issuer: LoopbackIssuer, way: str
) -> None:
    """No key was ever made for the tenant, so no command has published them."""
    issuer.person |= {"sub": f"1-{way}", "org": f"by-{way}"}
    async with serve_sso(api.settings, issuer, oidc_tenant_claim="org") as service, browser() as client:
        if way == "session":
            assert (await sign_in(client, service)).status_code == 200
        headers = {"Authorization": f"Bearer {issuer.token()}"} if way == "token" else {}
        for _ in range(2):
            listed = await client.get(f"{url_of(service)}/v1/definitions", headers=headers)
            assert "invoice" in [each["definition_id"] for each in listed.json()["definitions"]]
            moves = (await client.get(f"{url_of(service)}/v1/definitions/invoice/moves", headers=headers)).json()
            assert len(moves["moves"]) == 1, "published once"
        assert f"by-{way}" in await list_tenants(service.app.db), "the next release is published for it, too"


async def test_a_session_ends_when_the_roles_of_its_sign_in_are_too_old(api: Service, issuer: LoopbackIssuer) -> None:
    """The next sign-in has the roles that the person has then."""
    async with serve_sso(api.settings, issuer, oidc_session_minutes=30) as service, browser() as client:
        assert (await sign_in(client, service)).status_code == 200
        left = "SELECT expires_at - now() FROM sessions WHERE issuer IS NOT NULL ORDER BY created_at DESC LIMIT 1"
        lasting: dt.timedelta = await service.app.db.fetchval(left)
        assert dt.timedelta(minutes=29) < lasting <= dt.timedelta(minutes=30)
        await service.app.db.execute("UPDATE sessions SET expires_at = now() WHERE issuer IS NOT NULL")
        issuer.person["roles"] = []
        assert (await client.get(f"{url_of(service)}/v1/me")).status_code == 401
        assert (await sign_in(client, service)).status_code == 403
        assert (await client.get(f"{url_of(service)}/v1/me")).status_code == 401
