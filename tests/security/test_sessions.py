"""Browser sessions: signing in and out, what the cookie allows, and that other sites cannot use it."""

import re

import httpx
import pytest

from tests.security.callers import Guarded, dsn, guarded

__all__ = ["dsn", "guarded"]

HOME = {"Sec-Fetch-Site": "same-origin"}


async def sign_in(guarded: Guarded, key: str | None = None) -> dict[str, str]:
    """Return the headers of a browser that has signed in."""
    guarded.service.http.cookies.clear()
    signed = await guarded.service.http.post("/v1/session", json={"key": key or await guarded.key()})
    assert signed.status_code == 201, signed.text
    return {"Cookie": cookie_of(signed)}


def cookie_of(answer: httpx.Response) -> str:
    return answer.headers["set-cookie"].partition(";")[0]


async def me(guarded: Guarded, headers: dict[str, str]) -> httpx.Response:
    guarded.service.http.cookies.clear()
    return await guarded.service.http.get("/v1/me", headers=headers)


async def post(guarded: Guarded, headers: dict[str, str], **more: str) -> httpx.Response:
    guarded.service.http.cookies.clear()
    wanted = {"name": "erp", "scopes": ["read"]}
    return await guarded.service.http.post("/v1/keys", json=wanted, headers={**headers, **more})


async def age(guarded: Guarded, headers: dict[str, str], column: str, interval: str) -> None:
    """Make a session older."""
    session = (await me(guarded, headers)).json()
    statement = f"UPDATE sessions SET {column} = {column} - $2::text::interval WHERE key_id = $1"
    await guarded.service.app.db.execute(statement, session["key_id"], interval)


async def test_a_key_opens_a_session_in_a_cookie_that_no_script_reads(guarded: Guarded) -> None:
    key = await guarded.key(name="bob")
    signed = await guarded.service.http.post("/v1/session", json={"key": key})
    attributes = signed.headers["set-cookie"].lower().split("; ")
    assert {"httponly", "samesite=strict", "path=/"} <= set(attributes)
    assert "secure" not in attributes
    assert (signed.json()["name"], signed.json()["authenticated_by"]) == ("bob", "key")
    shown = (await me(guarded, {"Cookie": cookie_of(signed)})).json()
    assert (shown["name"], shown["authenticated_by"], shown["key_id"]) == ("bob", "session", key.split("_")[1])


async def test_only_a_hash_of_the_cookie_is_stored(guarded: Guarded) -> None:
    value = (await sign_in(guarded))["Cookie"].partition("=")[2]
    assert re.fullmatch("[0-9a-f]{64}", value)
    rows = await guarded.service.app.db.fetch("SELECT * FROM sessions")
    assert value not in str([dict(row) for row in rows])


async def test_a_wrong_key_opens_no_session(guarded: Guarded) -> None:
    refused = await guarded.service.http.post("/v1/session", json={"key": "docrail_0_0"})
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "SELF"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {},
    ],
)
async def test_a_cookie_changes_nothing_unless_a_page_of_the_api_sent_it(
    guarded: Guarded, headers: dict[str, str]
) -> None:
    cookie, own = await sign_in(guarded), str(guarded.service.http.base_url).rstrip("/")
    sent = {name: own if value == "SELF" else value for name, value in headers.items()}
    count = "SELECT count(*) FROM api_keys"
    before = await guarded.service.app.db.fetchval(count)
    refused = await post(guarded, cookie, **sent)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/cross-site")
    assert await guarded.service.app.db.fetchval(count) == before
    assert (await me(guarded, cookie | {"Sec-Fetch-Site": "same-origin"})).status_code == 200


async def test_a_page_of_the_api_may_change_things(guarded: Guarded) -> None:
    cookie, own = await sign_in(guarded), str(guarded.service.http.base_url).rstrip("/")
    assert (await post(guarded, cookie, **HOME)).status_code == 201
    assert (await post(guarded, cookie, Origin=own)).status_code == 201


async def test_another_site_cannot_sign_a_browser_in(guarded: Guarded) -> None:
    key = await guarded.key()
    refused = await guarded.service.http.post(
        "/v1/session", json={"key": key}, headers={"Origin": "http://evil.example"}
    )
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/cross-site")


async def test_the_cookie_is_replaced_every_hour_of_use_and_the_former_one_ends(guarded: Guarded) -> None:
    cookie = await sign_in(guarded)
    await age(guarded, cookie, "rotated_at", "61 minutes")
    lost = await guarded.service.http.get("/v1/runs/hello.none", headers=cookie)
    assert lost.status_code == 404  # with a refusal too
    new = {"Cookie": cookie_of(lost)}
    assert new != cookie
    assert [(await me(guarded, each)).status_code for each in (cookie, new)] == [200, 200]  # requests under way
    await age(guarded, new, "rotated_at", "2 minutes")
    ended = await me(guarded, cookie)
    assert ended.status_code == 401
    assert "Max-Age=0" in ended.headers["set-cookie"]
    assert (await me(guarded, new)).status_code == 200


async def test_a_session_ends_after_a_day_even_if_it_is_used(guarded: Guarded) -> None:
    cookie = await sign_in(guarded)
    await age(guarded, cookie, "expires_at", "13 hours")
    assert (await me(guarded, cookie)).status_code == 401


@pytest.mark.parametrize("used", ["1 minute", "61 minutes"])
async def test_signing_out_ends_the_session_also_when_its_cookie_was_to_be_replaced(
    guarded: Guarded, used: str
) -> None:
    key = await guarded.key(tenant="leaving")
    cookie = await sign_in(guarded, key)
    await age(guarded, cookie, "rotated_at", used)
    out = await guarded.service.http.delete("/v1/session", headers=cookie | HOME)
    assert out.status_code == 204
    assert ["Max-Age=0" in value for value in out.headers.get_list("set-cookie")] == [True]
    assert (await me(guarded, cookie)).status_code == 401
    assert (await guarded.ask(key, "GET", "/v1/sessions")).json()["sessions"] == []


async def test_signing_in_again_ends_the_session_before(guarded: Guarded) -> None:
    first = await sign_in(guarded)
    await guarded.service.http.post("/v1/session", json={"key": await guarded.key()}, headers=first | HOME)
    assert (await me(guarded, first)).status_code == 401


async def test_a_session_ends_with_its_key(guarded: Guarded) -> None:
    key, admin = await guarded.key(), await guarded.key()
    cookie = await sign_in(guarded, key)
    await guarded.ask(admin, "DELETE", f"/v1/keys/{key.split('_')[1]}")
    assert (await me(guarded, cookie)).status_code == 401


async def test_a_session_ends_when_its_key_expires(guarded: Guarded) -> None:
    key = await guarded.key()
    cookie = await sign_in(guarded, key)
    assert (await me(guarded, cookie)).status_code == 200
    await change_key(guarded, key, "expires_at = now()")
    assert (await me(guarded, cookie)).status_code == 401


async def test_a_session_may_do_what_its_key_may_now(guarded: Guarded) -> None:
    key = await guarded.key()
    cookie = await sign_in(guarded, key) | HOME
    assert (await post(guarded, cookie)).status_code == 201
    await change_key(guarded, key, "scopes = '{read}'")
    assert (await me(guarded, cookie)).json()["scopes"] == ["read"]
    refused = await post(guarded, cookie)
    assert (refused.status_code, refused.json()["scope"]) == (403, "admin")


@pytest.mark.parametrize(("overlap_hours", "status"), [(0, 401), (24, 200)])
async def test_a_session_ends_with_the_secret_that_opened_it(guarded: Guarded, overlap_hours: int, status: int) -> None:
    key, admin = await guarded.key(), await guarded.key()
    cookie = await sign_in(guarded, key)
    path = f"/v1/keys/{key.split('_')[1]}/rotate"
    rotated = await guarded.ask(admin, "POST", path, json={"overlap_hours": overlap_hours})
    assert (await me(guarded, cookie)).status_code == status
    assert (await me(guarded, await sign_in(guarded, rotated.json()["key"]))).status_code == 200
    await change_key(guarded, key, "previous_until = now()")
    assert (await me(guarded, cookie)).status_code == 401


async def test_a_session_of_the_secret_before_a_rotation_ends_with_that_secret(guarded: Guarded) -> None:
    """Also one that was opened after the rotation: otherwise a day of overlap would be half a day longer."""
    old, admin = await guarded.key(), await guarded.key()
    path = f"/v1/keys/{old.split('_')[1]}/rotate"
    new = (await guarded.ask(admin, "POST", path, json={"overlap_hours": 24})).json()["key"]
    of_old, of_new = await sign_in(guarded, old), await sign_in(guarded, new)
    assert [(await me(guarded, each)).status_code for each in (of_old, of_new)] == [200, 200]
    await change_key(guarded, old, "previous_until = now()")
    assert [(await me(guarded, each)).status_code for each in (of_old, of_new)] == [401, 200]


async def test_the_session_of_a_secret_does_not_outlive_a_second_rotation(guarded: Guarded) -> None:
    first, admin = await guarded.key(), await guarded.key()
    path = f"/v1/keys/{first.split('_')[1]}/rotate"
    cookie = await sign_in(guarded, first)
    second = (await guarded.ask(admin, "POST", path, json={"overlap_hours": 24})).json()["key"]
    of_second = await sign_in(guarded, second)
    await guarded.ask(admin, "POST", path, json={"overlap_hours": 24})
    assert (await guarded.ask(first, "GET", "/v1/me")).status_code == 401
    assert [(await me(guarded, each)).status_code for each in (cookie, of_second)] == [401, 200]


@pytest.mark.parametrize("change", ["revoked_at = now()", "expires_at = now()", "secret_sha256 = sha256('another')"])
async def test_a_session_that_ended_with_its_key_is_not_listed(guarded: Guarded, change: str) -> None:
    admin, key = await guarded.key(tenant="listed"), await guarded.key(tenant="listed", name="bob")
    await sign_in(guarded, key)

    async def listed() -> list[str]:
        sessions = (await guarded.ask(admin, "GET", "/v1/sessions")).json()["sessions"]
        return [each["session_id"] for each in sessions if each["key_id"] == key.split("_")[1]]

    assert len(await listed()) == 1
    await change_key(guarded, key, change)
    assert await listed() == []


async def change_key(guarded: Guarded, key: str, change: str) -> None:
    """Change a key as no route does: in the database."""
    await guarded.service.app.db.execute(f"UPDATE api_keys SET {change} WHERE key_id = $1", key.split("_")[1])


async def test_an_admin_ends_the_sessions_of_its_own_tenant_only(guarded: Guarded) -> None:
    theirs = await sign_in(guarded, await guarded.key(tenant="globex", name="carl"))
    key = await guarded.key(tenant="acme")
    own = await sign_in(guarded, key)
    listed = (await guarded.ask(key, "GET", "/v1/sessions")).json()["sessions"]
    assert [(each["name"], each["tenant"]) for each in listed] == [("ann", "acme")]
    row = await guarded.service.app.db.fetchrow("SELECT session_id FROM sessions WHERE name = 'carl'")
    assert row is not None
    assert (await guarded.ask(key, "DELETE", f"/v1/sessions/{row['session_id']}")).status_code == 404
    assert (await me(guarded, theirs)).status_code == 200
    ended = await guarded.ask(key, "DELETE", f"/v1/sessions/{listed[0]['session_id']}")
    assert ended.json()["revoked_at"] is not None
    assert (await me(guarded, own)).status_code == 401


async def test_a_header_comes_before_a_cookie(guarded: Guarded) -> None:
    cookie = await sign_in(guarded)
    key = await guarded.key(name="bob")
    shown = await me(guarded, cookie | {"Authorization": f"Bearer {key}"})
    assert (shown.json()["name"], shown.json()["authenticated_by"]) == ("bob", "key")
    assert (await post(guarded, cookie, Authorization=f"Bearer {key}")).status_code == 201
