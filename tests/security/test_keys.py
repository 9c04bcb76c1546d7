"""API keys: made, used, rotated, revoked, expired; and every way in which one can be wrong."""

import datetime as dt
import hashlib

import pytest

from docrail.dag.values.json_values import Json
from docrail.services.access.models import RESERVED, Principal, Scope
from tests.security.callers import Guarded, dsn, guarded, serve_guarded

__all__ = ["dsn", "guarded"]

ADMIN = Principal("default", "tests", frozenset(Scope))


async def create(guarded: Guarded, **wanted: Json) -> Json:
    made = await guarded.ask(await guarded.key(), "POST", "/v1/keys", json={"name": "erp", "scopes": ["read"]} | wanted)
    assert made.status_code == 201, made.text
    return made.json()


async def status(guarded: Guarded, key: str | None) -> int:
    return (await guarded.ask(key, "GET", "/v1/me")).status_code


async def test_a_key_says_who_calls_and_what_they_may_do(guarded: Guarded) -> None:
    made = await create(guarded, name="Ann  Lee", scopes=["read", "submit"])
    me = (await guarded.ask(made["key"], "GET", "/v1/me")).json()
    assert me == {
        "name": "ann lee",
        "tenant": "default",
        "scopes": ["submit", "read"],
        "authenticated_by": "key",
        "key_id": made["details"]["key_id"],
        "operator": True,
    }


async def test_only_a_hash_of_the_secret_is_stored(guarded: Guarded) -> None:
    made = await create(guarded)
    secret = made["key"].rpartition("_")[2]
    assert len(bytes.fromhex(secret)) * 8 >= 256
    row = await guarded.service.app.db.fetchrow("SELECT * FROM api_keys WHERE key_id = $1", made["details"]["key_id"])
    assert row is not None
    assert row["secret_sha256"] == hashlib.sha256(secret.encode()).digest()
    assert secret not in str(dict(row))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: key[:-1] + ("0" if key[-1] != "0" else "1"),
        lambda key: key[:-1],
        lambda key: key + "0",
        lambda key: key.upper(),
        lambda key: f"docrail_{'0' * 16}_{key.rpartition('_')[2]}",
        lambda key: "docrail_",
        lambda key: "docrail__",
        lambda key: "anything",
        lambda key: "eyJhbGciOiJub25lIn0.e30.",
        lambda key: key.replace("docrail_", ""),
    ],
)
async def test_a_wrong_key_is_refused_without_saying_what_is_wrong_with_it(guarded: Guarded, spoil: object) -> None:
    assert callable(spoil)
    key = (await create(guarded))["key"]
    refused = await guarded.ask(spoil(key), "GET", "/v1/me")
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.headers["content-type"] == "application/problem+json"
    assert key.split("_")[2] not in refused.text


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "docrail_x"])
async def test_a_header_that_is_no_bearer_token_is_refused(guarded: Guarded, header: str) -> None:
    refused = await guarded.service.http.get("/v1/me", headers={"Authorization": header})
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")


async def test_a_request_without_credentials_is_refused_with_how_to_give_them(guarded: Guarded) -> None:
    refused = await guarded.ask(None, "GET", "/v1/me")
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert "Authorization: Bearer docrail_" in refused.json()["detail"]


async def test_a_revoked_key_is_refused_at_once_by_every_process(guarded: Guarded, dsn: str) -> None:
    async with serve_guarded(guarded.service.settings) as other:
        made = await create(guarded)
        assert (await Guarded(other).ask(made["key"], "GET", "/v1/me")).status_code == 200
        revoked = await guarded.ask(await guarded.key(), "DELETE", f"/v1/keys/{made['details']['key_id']}")
        assert revoked.json()["revoked_by"] == "ann"
        for each in (guarded, Guarded(other)):
            refused = await each.ask(made["key"], "GET", "/v1/me")
            assert refused.status_code == 401
            assert "was revoked" in refused.json()["detail"]


async def test_what_became_of_a_key_is_shown_to_its_holder_only(guarded: Guarded) -> None:
    made = await create(guarded)
    await guarded.ask(await guarded.key(), "DELETE", f"/v1/keys/{made['details']['key_id']}")
    guessed = made["key"][:-64] + "0" * 64
    assert "revoked" not in (await guarded.ask(guessed, "GET", "/v1/me")).text


async def test_an_expired_key_is_refused(guarded: Guarded) -> None:
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    made = await create(guarded, expires_at=soon.isoformat())
    assert await status(guarded, made["key"]) == 200
    await guarded.service.app.db.execute(
        "UPDATE api_keys SET expires_at = now() WHERE key_id = $1", made["details"]["key_id"]
    )
    refused = await guarded.ask(made["key"], "GET", "/v1/me")
    assert refused.status_code == 401
    assert "expired" in refused.json()["detail"]


async def test_a_rotated_key_has_two_secrets_until_the_overlap_ends(guarded: Guarded) -> None:
    made, admin = await create(guarded), await guarded.key()
    path = f"/v1/keys/{made['details']['key_id']}/rotate"
    rotated = (await guarded.ask(admin, "POST", path)).json()
    until = dt.datetime.fromisoformat(rotated["details"]["previous_until"])
    left = until - dt.datetime.now(dt.UTC)
    assert dt.timedelta(hours=23) < left <= dt.timedelta(hours=24)
    assert [await status(guarded, each) for each in (made["key"], rotated["key"])] == [200, 200]
    third = (await guarded.ask(admin, "POST", path, json={"overlap_hours": 0})).json()
    keys = (made["key"], rotated["key"], third["key"])
    assert [await status(guarded, each) for each in keys] == [401, 401, 200]


async def test_a_revoked_key_cannot_be_rotated(guarded: Guarded) -> None:
    made, admin = await create(guarded), await guarded.key()
    path = f"/v1/keys/{made['details']['key_id']}"
    await guarded.ask(admin, "DELETE", path)
    refused = await guarded.ask(admin, "POST", f"{path}/rotate")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")


async def test_the_last_use_is_written_once_a_minute(guarded: Guarded) -> None:
    made, db = await create(guarded), guarded.service.app.db
    key_id = made["details"]["key_id"]

    async def last_use() -> tuple[dt.datetime, str]:
        row = await db.fetchrow("SELECT last_used_at, xmin::text FROM api_keys WHERE key_id = $1", key_id)
        assert row is not None
        return row["last_used_at"], row["xmin"]

    assert (await last_use())[0] is None
    await status(guarded, made["key"])
    first = await last_use()
    assert first[0] is not None
    for _ in range(3):
        await status(guarded, made["key"])
    assert await last_use() == first
    await db.execute("UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE key_id = $1", key_id)
    await status(guarded, made["key"])
    assert (await last_use())[0] > first[0]


@pytest.mark.parametrize("name", [*sorted(RESERVED), "DocRail", " SLA-watch"])
async def test_a_name_of_docrail_itself_is_refused(guarded: Guarded, name: str) -> None:
    refused = await guarded.ask(
        await guarded.key(), "POST", "/v1/keys", json={"name": name.strip(), "scopes": ["read"]}
    )
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "name")


@pytest.mark.parametrize(
    "wanted",
    [
        {"name": "a\tb"},
        {"name": "-"},
        {"name": "x" * 65},
        {"scopes": []},
        {"scopes": ["root"]},
        {"expires_at": "2001-01-01T00:00:00Z"},
        {"expires_at": 4_000_000_000},
        {"tenant": "other"},
    ],
)
async def test_a_key_with_wrong_properties_is_not_created(guarded: Guarded, wanted: Json) -> None:
    admin = await guarded.key()
    count = "SELECT count(*) FROM api_keys"
    before = await guarded.service.app.db.fetchval(count)
    refused = await guarded.ask(admin, "POST", "/v1/keys", json={"name": "erp", "scopes": ["read"]} | wanted)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    assert await guarded.service.app.db.fetchval(count) == before


async def test_an_admin_sees_and_changes_the_keys_of_its_own_tenant_only(guarded: Guarded) -> None:
    theirs = await guarded.key(tenant="globex", name="carl")
    key_id = theirs.split("_")[1]
    admin = await guarded.key(tenant="acme")
    assert key_id not in (await guarded.ask(admin, "GET", "/v1/keys")).text
    for method, path in (("DELETE", f"/v1/keys/{key_id}"), ("POST", f"/v1/keys/{key_id}/rotate")):
        assert (await guarded.ask(admin, method, path)).status_code == 404
    assert await status(guarded, theirs) == 200


async def test_keys_are_listed_in_pages_newest_first_without_their_secrets(guarded: Guarded) -> None:
    keys = [await guarded.key(tenant="pages", name=f"n{number}") for number in range(3)]
    shown, after = [], None
    while True:
        page = await guarded.ask(keys[0], "GET", "/v1/keys", params={"limit": 2} | ({"after": after} if after else {}))
        shown += page.json()["keys"]
        assert not any(key.rpartition("_")[2] in page.text for key in keys)
        if (after := page.json()["after"]) is None:
            break
    assert [key["name"] for key in shown] == ["n2", "n1", "n0"]
