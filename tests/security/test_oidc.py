"""Tokens and sign-ins of attackers against an API that trusts an issuer on loopback."""

import asyncio
import hmac
import json
import logging
import secrets
import time
import warnings
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.errors import SecurityWarning
from joserfc.jwk import KeySet, OctKey, OKPKey, RSAKey

from docrail.adapters.oidc.errors import TokenRefusedError
from docrail.adapters.oidc.issuer import MOST_REDEMPTIONS
from docrail.adapters.oidc.tokens import LEEWAY_SECONDS, usable_keys, verify_signature
from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.oidc_issuer import AUDIENCE, CLIENT, HOUR_SECONDS, LoopbackIssuer, encoded, new_key, raw
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
from tests.stack import eventually

__all__ = ["api", "issuer", "trusting"]

LATER = HOUR_SECONDS


def with_hs256(issuer: LoopbackIssuer) -> str:
    """Return a token whose secret is the issuer's public key, which everyone can read."""
    key = issuer.keys[0]
    assert not isinstance(key, OctKey)
    header = {"alg": "HS256", "typ": "at+jwt", "kid": "first"}
    signed = f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(issuer.claims()).encode())}"
    return f"{signed}.{encoded(hmac.digest(key.as_bytes(private=False), signed.encode(), 'sha256'))}"


def without_algorithm(issuer: LoopbackIssuer, spelled: str = "none") -> str:
    header = {"alg": spelled, "typ": "at+jwt", "kid": issuer.keys[0].kid}
    return raw(header, json.dumps(issuer.claims()).encode())


def with_key_of_its_own(issuer: LoopbackIssuer) -> str:
    """Return a token that brings the key to verify it with."""
    own = new_key("first")
    return issuer.token(key=own, header={"jwk": own.as_dict(private=False), "kid": "first"})


def with_key_address(issuer: LoopbackIssuer) -> str:
    return issuer.token(key=new_key("own"), header={"jku": f"{issuer.url}/own", "x5u": f"{issuer.url}/own"})


def with_two_audiences(issuer: LoopbackIssuer) -> str:
    """Return a signed token with a claim given twice."""
    twice = json.dumps(issuer.claims(aud="another-api"))[:-1] + f', "aud": "{AUDIENCE}"}}'
    return issuer.sign(twice.encode())


def tampered(issuer: LoopbackIssuer) -> str:
    header, _, signature = issuer.token().split(".")
    return f"{header}.{encoded(json.dumps(issuer.claims(roles=['admins'])).encode())}.{signature}"


HOSTILE: dict[str, Callable[[LoopbackIssuer], str]] = {
    "alg none": without_algorithm,
    "alg None": lambda issuer: without_algorithm(issuer, "None"),
    "HS256 with the public key": with_hs256,
    "no algorithm": lambda issuer: raw({"kid": "first"}, json.dumps(issuer.claims()).encode()),
    "another key": lambda issuer: issuer.token(key=new_key("first")),
    "unknown kid": lambda issuer: issuer.token(key=new_key("unknown")),
    "swapped kid": lambda issuer: issuer.token(header={"kid": "second"}),
    "swapped kid and algorithm": lambda issuer: issuer.token(header={"kid": "second"}, key=new_key("x", "RSA")),
    "jwk in the header": with_key_of_its_own,
    "jku in the header": with_key_address,
    "unknown crit": lambda issuer: issuer.token(header={"crit": ["exp"], "exp": 1}),
    "changed claims": tampered,
    "no signature": lambda issuer: issuer.token().rpartition(".")[0] + ".",
    "two parts": lambda issuer: issuer.token().rpartition(".")[0],
    "five parts": lambda issuer: issuer.token() + ".a.b",
    "wrong issuer": lambda issuer: issuer.token(iss="https://evil.example"),
    "issuer with a slash": lambda issuer: issuer.token(iss=issuer.url + "/"),
    "no issuer": lambda issuer: issuer.token(iss=None),
    "wrong audience": lambda issuer: issuer.token(aud="another-api"),
    "audience of the client": lambda issuer: issuer.token(aud=CLIENT),
    "other audiences": lambda issuer: issuer.token(aud=["a", "b"]),
    "no audience": lambda issuer: issuer.token(aud=None),
    "audience as an object": lambda issuer: issuer.token(aud={AUDIENCE: True}),
    "expired": lambda issuer: issuer.token(exp=int(time.time()) - LEEWAY_SECONDS - 1),
    "no expiry": lambda issuer: issuer.token(exp=None),
    "expiry as text": lambda issuer: issuer.token(exp="4000000000"),
    "expiry that is not a number": lambda issuer: issuer.token(exp=float("nan")),
    "not yet valid": lambda issuer: issuer.token(nbf=int(time.time()) + LATER),
    "issued in the future": lambda issuer: issuer.token(iat=int(time.time()) + LATER),
    "no subject": lambda issuer: issuer.token(sub=None),
    "subject as a number": lambda issuer: issuer.token(sub=4711),
    "ID token": lambda issuer: issuer.token(header={"typ": "JWT"}, nonce="n"),
    "Keycloak's refresh token": lambda issuer: issuer.token(header={"typ": "JWT"}, typ="Refresh"),
    "logout token": lambda issuer: issuer.token(header={"typ": "logout+jwt"}),
    "token bound to its sender": lambda issuer: issuer.token(cnf={"jkt": "x"}),
    "claims given twice": with_two_audiences,
    "claims in a list": lambda issuer: issuer.sign(json.dumps([issuer.claims()]).encode()),
    "no claims": lambda issuer: issuer.sign(b""),
    "claims nested too deeply": lambda issuer: issuer.sign(b'{"a":' * 4_000 + b"1" + b"}" * 4_000),
    "header that is a list": lambda issuer: raw(["alg"], json.dumps(issuer.claims()).encode(), b"x"),
    "header that is text": lambda issuer: raw("alg", json.dumps(issuer.claims()).encode(), b"x"),
    "crit that is a number": lambda issuer: raw({"alg": "ES256", "crit": 5}, b"{}", b"x"),
    "kid that is an object": lambda issuer: raw({"alg": "ES256", "kid": {}}, b"{}", b"x"),
    "alg that is a list": lambda issuer: raw({"alg": ["ES256"], "kid": "first"}, b"{}", b"x"),
    "no token": lambda _: "x",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_token_is_refused(
    api: Service, issuer: LoopbackIssuer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    token = HOSTILE[name](issuer)
    assert (await me(api, issuer.token())).status_code == 200  # the keys are known
    with caplog.at_level(logging.DEBUG):
        refused = await me(api, token)
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert "docrail" in refused.headers["www-authenticate"]
    parts = [part for part in token.split(".") if len(part) > 8]
    assert not any(part in caplog.text or part in refused.text for part in parts)
    assert "refused a bearer token" in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        {"header": {"typ": None}},
        {"header": {"typ": "JWT"}},
        {"header": {"typ": "application/at+jwt"}},
        {"header": {"unknown": "ignored"}},
        {"aud": ["another-api", AUDIENCE]},
        {"exp": int(time.time()) + LATER, "nbf": int(time.time()) + LEEWAY_SECONDS // 2},
        {"typ": "Bearer"},
    ],
)
async def test_what_issuers_really_send_is_accepted(api: Service, issuer: LoopbackIssuer, change: Json) -> None:
    assert (await me(api, issuer.token(**change))).status_code == 200


HEADERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "x5c", "a"]), inner, max_size=5)
    ),
    max_leaves=12,
)
KEYS = KeySet([new_key("first"), new_key("second", "RSA")])


@given(header=HEADERS, payload=st.binary(max_size=40), signature=st.binary(max_size=70))
def test_whatever_a_header_is_the_token_is_refused_and_nothing_breaks(
    header: Json, payload: bytes, signature: bytes
) -> None:
    with pytest.raises(TokenRefusedError):
        verify_signature(raw(header, payload, signature), KEYS)


@given(token=st.text(max_size=60))
def test_whatever_a_token_is_it_is_refused_and_nothing_breaks(token: str) -> None:
    with pytest.raises(TokenRefusedError):
        verify_signature(token, KEYS)


def test_weak_and_foreign_keys_of_the_issuer_verify_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        weak = RSAKey.generate_key(1024, {"kid": "weak"}).as_dict(private=False)
    secret = OctKey.generate_key(256, {"kid": "secret"}).as_dict(private=True)
    encrypting = new_key("enc").as_dict(private=False) | {"use": "enc"}
    malformed: list[Json] = [
        {},
        {"kty": "RSA"},
        {"kty": "new"},
        {"kty": "EC", "crv": "P-256", "x": 1, "y": {}},
        5,
        None,
    ]
    good = OKPKey.generate_key("Ed25519", {"kid": "good"}).as_dict(private=False)
    assert [key.kid for key in usable_keys([weak, secret, encrypting, *malformed, good])] == ["good"]


async def test_invented_key_ids_do_not_reach_the_issuer_again_and_again(api: Service, issuer: LoopbackIssuer) -> None:
    async with serve_sso(api.settings, issuer) as service:
        await me(service, issuer.token())
        before = issuer.readings()
        tokens = [issuer.token(header={"kid": f"invented-{number}"}) for number in range(40)]
        answers = await asyncio.gather(*(me(service, token) for token in tokens))
        assert {answer.status_code for answer in answers} == {401}
        assert issuer.readings() == before + 1
        assert (await me(service, issuer.token())).status_code == 200


@pytest.mark.parametrize("roles", [None, [], ["others"], "others", {"clerks": True}, [["clerks"]], 5])
async def test_a_person_without_a_mapped_role_is_not_admitted(
    api: Service, issuer: LoopbackIssuer, roles: Json, caplog: pytest.LogCaptureFixture
) -> None:
    refused = await me(api, issuer.token(roles=roles))
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-admitted")
    assert "no value of roles is in DOCRAIL_OIDC_SCOPES" in caplog.text


@pytest.mark.parametrize("tenant", [None, "", "../other", "A", ["globex"], {"id": "x"}, "x" * 64, "a b"])
async def test_a_person_without_one_tenant_is_not_admitted(
    api: Service, issuer: LoopbackIssuer, tenant: Json, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve_sso(api.settings, issuer, oidc_tenant_claim="org") as service:
        refused = await me(service, issuer.token(org=tenant))
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-admitted")
    assert "org is not the name of one tenant" in caplog.text


async def test_a_person_who_takes_another_name_at_the_issuer_keeps_the_first_one_here(
    api: Service, issuer: LoopbackIssuer
) -> None:
    """Otherwise one person could approve a document twice."""
    for name in ("ann", "bob", "ANN", None):
        assert (await me(api, issuer.token(preferred_username=name))).json()["name"] == "ann"


async def test_no_one_gets_the_name_of_another_person(api: Service, issuer: LoopbackIssuer) -> None:
    await me(api, issuer.token())
    for name in ("Ann", "ann", "aNN"):
        refused = await me(api, issuer.token(sub="subject-eve", preferred_username=name))
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-admitted")
    assert (await me(api, issuer.token())).json()["name"] == "ann"


@pytest.mark.parametrize("name", ["docrail", "SLA-Watch", "straight-through", "policy", "callback", "a\u202eb", "", 5])
async def test_a_name_that_is_reserved_or_cannot_be_shown_gives_way_to_the_sub(
    api: Service, issuer: LoopbackIssuer, name: Json
) -> None:
    sub = secrets.token_hex(8)
    assert (await me(api, issuer.token(sub=sub, preferred_username=name))).json()["name"] == sub


@pytest.mark.parametrize("verified", [False, None, "false"])
async def test_an_address_that_the_issuer_has_not_verified_is_no_name(
    api: Service, issuer: LoopbackIssuer, verified: Json
) -> None:
    claims = {"sub": secrets.token_hex(8), "email": "boss@example.org", "email_verified": verified}
    async with serve_sso(api.settings, issuer, oidc_name_claim="email") as service:
        assert (await me(service, issuer.token(**claims))).json()["name"] == claims["sub"]


@pytest.mark.parametrize("sub", ["docrail", "a\x00b", "ä", " ", "x" * 256])
async def test_a_sub_that_makes_no_name_is_not_admitted(api: Service, issuer: LoopbackIssuer, sub: str) -> None:
    refused = await me(api, issuer.token(sub=sub, preferred_username=None))
    assert refused.status_code == 403


async def test_one_person_has_the_same_name_by_token_and_by_session(api: Service, issuer: LoopbackIssuer) -> None:
    await me(api, issuer.token())
    issuer.person["preferred_username"] = "bob"
    async with browser() as client:
        await sign_in(client, api)
        assert (await client.get(f"{url_of(api)}/v1/me")).json()["name"] == "ann"


async def refused_sign_in(client: httpx.AsyncClient, callback: str) -> httpx.Response:
    refused = await client.get(callback)
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert "docrail_session" not in cookies_of(refused)
    return refused


def changed(url: str, **changes: str) -> str:
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()} | changes
    return urlunsplit(parts._replace(query=urlencode({name: value for name, value in query.items() if value})))


async def test_a_callback_is_useless_in_another_browser(api: Service) -> None:
    """An attacker cannot sign a victim in as the attacker, nor use an address from a log."""
    async with browser() as victim, browser() as attacker:
        callback = await callback_of(attacker, api)
        await refused_sign_in(victim, callback)
        await callback_of(victim, api)
        await refused_sign_in(victim, callback)


async def test_a_callback_works_once(api: Service) -> None:
    async with browser() as client:
        callback = await callback_of(client, api)
        kept = dict(client.cookies)
        assert (await client.get(callback)).status_code == 200
        await refused_sign_in(client, callback)
        client.cookies.update(kept)
        await refused_sign_in(client, callback)


@pytest.mark.parametrize("change", [{"state": "x"}, {"state": ""}, {"code": "x"}, {"code": ""}])
async def test_a_callback_with_another_state_or_code_is_refused_and_the_sign_in_over(
    api: Service, change: dict[str, str]
) -> None:
    async with browser() as client:
        callback = await callback_of(client, api)
        await refused_sign_in(client, changed(callback, **change))
        await refused_sign_in(client, callback)


async def test_what_a_link_says_is_not_repeated(api: Service) -> None:
    async with browser() as client:
        callback = await callback_of(client, api)
        refused = await refused_sign_in(client, changed(callback, code="", error="<b>", error_description="call 555"))
    assert "555" not in refused.text
    assert "<b>" not in refused.text


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": AUDIENCE},
        {"aud": [CLIENT, "other"]},
        {"aud": [CLIENT, "other"], "azp": "other"},
        {"azp": "other"},
        {"iss": "https://evil.example"},
        {"exp": 1},
    ],
)
async def test_an_id_token_of_another_sign_in_or_client_is_refused(
    api: Service, issuer: LoopbackIssuer, change: Json
) -> None:
    issuer.id_token_changes = change
    async with browser() as client:
        await refused_sign_in(client, await callback_of(client, api))


async def test_a_person_without_access_gets_no_session(api: Service, issuer: LoopbackIssuer) -> None:
    issuer.person["roles"] = []
    async with browser() as client:
        refused = await client.get(await callback_of(client, api))
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-admitted")
    assert "docrail_session" not in cookies_of(refused)


@pytest.mark.parametrize(
    "page",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "docs",
        '/"><script>',
        "/a b",
        "/" + "x" * 500,
    ],
)
async def test_a_sign_in_leads_to_no_other_site(api: Service, page: str) -> None:
    refused = await api.http.get("/v1/session/oidc", params={"next": page})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")


async def test_a_cookie_that_another_host_has_set_leads_to_no_other_site(api: Service) -> None:
    async with browser() as client:
        callback = await callback_of(client, api, "/docs")
        cookie = client.cookies["docrail_sign_in"].replace("%2Fdocs", "%2F%2Fevil.example")
        client.cookies.clear()
        signed_in = await client.get(callback, headers={"Cookie": f"docrail_sign_in={cookie}"})
    assert (signed_in.status_code, "evil" in signed_in.text) == (200, False)


async def test_a_sign_in_replaces_the_session_that_the_browser_had(api: Service) -> None:
    """A session that an attacker has planted, or that another person left, does not survive."""
    async with browser() as client:
        await sign_in(client, api)
        planted = client.cookies["docrail_session"]
        await sign_in(client, api)
        assert client.cookies["docrail_session"] != planted
        ended = await client.get(f"{url_of(api)}/v1/me", headers={"Cookie": f"docrail_session={planted}"})
    assert ended.status_code == 401


async def test_invented_codes_keep_few_requests_to_the_issuer_open(api: Service, issuer: LoopbackIssuer) -> None:
    """Anyone can invent codes and cookies; the issuer would take the API for the attacker."""
    cookie = {"Cookie": "docrail_sign_in=state=s&nonce=n&verifier=v"}
    asked = {"state": "s", "code": "invented"}
    async with serve_sso(api.settings, issuer) as service:
        issuer.redeeming.clear()
        flood = [
            asyncio.create_task(service.http.get("/v1/session/oidc/callback", params=asked, headers=cookie))
            for _ in range(2 * MOST_REDEMPTIONS)
        ]
        await eventually(lambda: issuer.open_redemptions >= MOST_REDEMPTIONS, "the first codes to reach the issuer")
        await eventually(lambda: any(each.done() for each in flood), "another to be refused")
        issuer.redeeming.set()
        answers = await asyncio.gather(*flood)
    assert {answer.status_code for answer in answers} == {401, 503}
    assert issuer.most_redemptions == MOST_REDEMPTIONS
