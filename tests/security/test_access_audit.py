"""Keys, sessions, quotas and failed sign-ins are in the audit log of their tenant, with authenticated names."""

from collections.abc import Mapping

import pytest

from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import Json
from docrail.services.access.failed_sign_ins import FailedSignIns
from docrail.services.access.service import create_first_key
from docrail.services.errors import Claimed, NotAdmitted, Unauthenticated
from tests.api.customer import unique
from tests.postgres import migrated_database
from tests.security.callers import Guarded, dsn, guarded
from tests.stack import Servers

__all__ = ["dsn", "guarded"]


async def events(guarded: Guarded, tenant: str) -> list[Json]:
    """Return the tenant's audit log, as its admin sees it, without the creation of the key for that."""
    key = await guarded.key(tenant=tenant, name="auditor")
    verdict = (await guarded.ask(key, "GET", "/v1/audit/verify")).json()
    assert verdict["intact"], verdict
    found = (await guarded.ask(key, "GET", "/v1/audit", params={"limit": 500})).json()["events"]
    return [each for each in found if each["detail"].get("name") != "auditor"]


def acts(found: list[Json]) -> list[tuple[str, str]]:
    return [(each["actor"], each["act"]) for each in found]


async def test_what_is_done_to_keys_is_in_the_audit_log(guarded: Guarded) -> None:
    tenant = unique("keys")
    admin = await guarded.key(tenant=tenant, name="ann")
    made = (await guarded.ask(admin, "POST", "/v1/keys", json={"name": "erp", "scopes": ["submit"]})).json()
    path = f"/v1/keys/{made['details']['key_id']}"
    await guarded.ask(admin, "POST", f"{path}/rotate")
    for _ in range(2):  # the second changes nothing
        await guarded.ask(admin, "DELETE", path)
    found = await events(guarded, tenant)
    assert acts(found) == [
        ("tests", "key_created"),
        ("ann", "key_created"),
        ("ann", "key_rotated"),
        ("ann", "key_revoked"),
    ]
    erp = {"key_id": made["details"]["key_id"], "name": "erp", "scopes": ["submit"], "expires_at": None}
    assert [each["detail"] for each in found[1:]] == [erp] * 3
    assert made["key"].rpartition("_")[2] not in str(found)


async def test_the_first_key_of_a_server_is_in_the_audit_log(embedded: Servers) -> None:
    from docrail.adapters.postgres.pool import open_pool

    async with migrated_database(embedded.dsn) as name:
        pool = await open_pool(name, min_size=1, max_size=1)
        try:
            made = await create_first_key(pool)
            with of_tenant("default"):
                [event] = await pool.fetch("SELECT actor, act, detail FROM audit_events")
        finally:
            await pool.close()
    assert made is not None
    assert (event["actor"], event["act"]) == ("docrail", "key_created")
    assert event["detail"]["key_id"] == made.details.key_id


async def test_a_session_that_an_admin_ends_is_in_the_audit_log(guarded: Guarded) -> None:
    tenant = unique("sessions")
    admin, key = await guarded.key(tenant=tenant, name="ann"), await guarded.key(tenant=tenant, name="bob")
    assert (await guarded.service.http.post("/v1/session", json={"key": key})).status_code == 201
    guarded.service.http.cookies.clear()
    [session] = (await guarded.ask(admin, "GET", "/v1/sessions")).json()["sessions"]
    for _ in range(2):
        ended = await guarded.ask(admin, "DELETE", f"/v1/sessions/{session['session_id']}")
        assert ended.status_code == 200
    last = (await events(guarded, tenant))[-1]
    assert (last["actor"], last["act"]) == ("ann", "session_ended")
    assert last["detail"] == {"session_id": session["session_id"], "name": "bob"}


async def test_changed_quotas_are_in_the_audit_log_of_their_tenant(guarded: Guarded) -> None:
    tenant, operator = unique("quotas"), await guarded.key(name="operator")
    wanted = {"tenant": tenant, "key_id": "0" * 16, "value": 5}
    await guarded.ask(operator, "PUT", "/v1/quotas/documents_per_day", json=wanted)
    query = {"tenant": tenant, "key_id": "0" * 16}
    for _ in range(2):
        await guarded.ask(operator, "DELETE", "/v1/quotas/documents_per_day", params=query)
    found = await events(guarded, tenant)
    assert acts(found) == [("operator", "quota_set"), ("operator", "quota_reset")]
    key = {"quota": "documents_per_day", "key_id": "0" * 16, "tenant_of_actor": "default"}
    assert [each["detail"] for each in found] == [{**key, "value": 5.0}, key]


def failures(found: list[Json]) -> list[Mapping[str, Json]]:
    return [each["detail"] for each in found if each["act"] == "sign_in_failed"]


async def test_a_failed_sign_in_with_a_known_key_is_in_the_audit_log_of_its_tenant(guarded: Guarded) -> None:
    tenant = unique("failing")
    key = await guarded.key(tenant=tenant, name="bob")
    wrong = key[:-64] + "0" * 64
    for _ in range(3):
        assert (await guarded.ask(wrong, "GET", "/v1/me")).status_code == 401
    assert (await guarded.service.http.post("/v1/session", json={"key": wrong})).status_code == 401
    [failure] = failures(await events(guarded, tenant))
    assert (failure["name"], failure["key_id"], failure["address"]) == ("bob", key.split("_")[1], "127.0.0.1")
    assert "the API key is not valid" in failure["why"]
    assert failure["left_out"] == 0


async def test_a_revoked_key_that_is_used_is_in_the_audit_log(guarded: Guarded) -> None:
    tenant = unique("revoked")
    admin, key = await guarded.key(tenant=tenant), await guarded.key(tenant=tenant, name="bob")
    await guarded.ask(admin, "DELETE", f"/v1/keys/{key.split('_')[1]}")
    assert (await guarded.ask(key, "GET", "/v1/me")).status_code == 401
    [failure] = failures(await events(guarded, tenant))
    assert "was revoked" in failure["why"]


async def test_credentials_of_no_one_are_in_the_operators_audit_log_once_a_minute(guarded: Guarded) -> None:
    before = len(failures(await events(guarded, "default")))
    for number in range(5):
        assert (await guarded.ask(f"docrail_{number:016x}_{'0' * 64}", "GET", "/v1/me")).status_code == 401
    assert (await guarded.ask("eyJhbGciOiJub25lIn0.e30.", "GET", "/v1/me")).status_code == 401
    found = failures(await events(guarded, "default"))
    assert len(found) <= before + 1
    assert any("name" not in each for each in found)


@pytest.mark.parametrize("refused", [Unauthenticated("no", Claimed("minutes", "bob")), NotAdmitted(Claimed("minutes"))])
async def test_further_failures_within_a_minute_are_counted(
    guarded: Guarded, refused: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("docrail.services.access.failed_sign_ins.time.monotonic", lambda: now[0])
    seen = FailedSignIns()
    before = failures(await events(guarded, "minutes"))
    for seconds in (0, 1, 2, 61):
        now[0] = 1000.0 + seconds
        with pytest.raises(type(refused)):
            async with seen.recorded(guarded.service.app.db, "192.0.2.1"):
                raise refused
    found = failures(await events(guarded, "minutes"))[len(before) :]
    assert [each["left_out"] for each in found] == [0, 2]
