"""The quota of open runs, of a tenant and of its keys: it holds for starts at once, and for whatever a key causes."""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import ScheduleActionStartWorkflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal, Scope
from docrail.services.errors import QuotaExceeded
from docrail.services.intake.service import start_waiting_documents
from docrail.services.quotas.models import Quota
from docrail.services.runs import room
from docrail.services.runs.recent_starts import lock_starts
from docrail.services.runs.room import take_room
from docrail.services.triggers.firing import fire
from docrail.services.triggers.mailbox import MailAccess
from docrail.services.triggers.service import order_of
from docrail.workflows.contract.messages import TriggerPass, TriggerRequest
from docrail.workflows.contract.names import KEY, TENANT, WORKFLOW_TYPE, child_run_id, workflow_id
from tests.api.service import HELLO, SLOW, work
from tests.security.callers import Guarded, dsn, guarded, serve_guarded
from tests.security.test_quotas import allow, check_exceeded, key_of, upload
from tests.stack import Servers, eventually

__all__ = ["dsn", "guarded"]

FAILS: Json = {
    "id": "fails",
    "steps": [{"id": "fail", "handler": "fail", "config": {"times": 99, "error": "ValueError"}}],
}
OUTER: Json = {"id": "outer", "steps": [{"id": "inner", "workflow": {"id": "slow"}}]}


@pytest.fixture(scope="module")
async def working(guarded: Guarded) -> AsyncIterator[Guarded]:
    """The API with a worker."""
    async with work(guarded.service.settings):
        yield guarded


def named() -> str:
    return f"t{uuid.uuid4().hex[:8]}"


def id_of(key: str) -> str:
    return key.split("_")[1]


async def publish(guarded: Guarded, key: str, *definitions: Json) -> None:
    for definition in definitions:
        (await guarded.ask(key, "POST", "/v1/definitions", json={"definition": definition})).raise_for_status()


async def start(guarded: Guarded, by: str, definition: str = "slow", **order: Json) -> httpx.Response:
    return await guarded.ask(by, "POST", "/v1/runs", json={"definition": definition, **order})


async def causer(guarded: Guarded, tenant: str, run_id: str) -> str | None:
    """Return the id of the key that caused a run."""
    handle = guarded.service.app.temporal.get_workflow_handle(workflow_id(tenant, run_id))
    return (await handle.describe()).typed_search_attributes.get(KEY)


async def test_of_many_runs_started_at_once_as_many_are_accepted_as_may_be_open(
    guarded: Guarded, embedded: Servers, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = guarded.service.settings.model_copy(update={"data_dir": tmp_path_factory.mktemp("second")})
    tenant = named()
    async with serve_guarded(settings) as other:
        key = await key_of(guarded, tenant)
        await publish(guarded, key, SLOW)
        await allow(guarded, tenant, Quota.RUNS, 3)
        both = [guarded, replace(guarded, service=other)]
        answers = await asyncio.gather(*(start(each, key) for each in both * 10))
    assert sorted(answer.status_code for answer in answers) == [202] * 3 + [429] * 17
    check_exceeded(next(answer for answer in answers if answer.status_code == 429), Quota.RUNS, 3)


async def test_a_key_may_have_fewer_open_runs_than_its_tenant(guarded: Guarded) -> None:
    tenant = named()
    small, large = await key_of(guarded, tenant), await guarded.key(tenant=tenant)
    await publish(guarded, small, SLOW)
    await allow(guarded, tenant, Quota.RUNS, 4)
    await allow(guarded, tenant, Quota.RUNS, 2, id_of(small))
    answers = await asyncio.gather(*(start(guarded, small) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [202] * 2 + [429] * 8
    refused = next(answer for answer in answers if answer.status_code == 429)
    check_exceeded(refused, Quota.RUNS, 2)
    assert id_of(small) in refused.json()["detail"]
    answers = await asyncio.gather(*(start(guarded, large) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [202] * 2 + [429] * 8  # the tenant's
    assert "the tenant" in next(answer for answer in answers if answer.status_code == 429).json()["detail"]


async def test_many_starts_of_a_tenant_leave_the_database_to_others(guarded: Guarded) -> None:
    """Another process holds the lock under which they are counted."""
    tenant, pool = named(), guarded.service.pool
    key, other = await key_of(guarded, tenant), await guarded.key(tenant=named())
    await publish(guarded, key, SLOW)
    await allow(guarded, tenant, Quota.RUNS, 3)
    here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    waiting = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND {here}"

    async def one_waits() -> bool:
        return bool(await pool.fetchval(waiting))

    async with pool.acquire() as connection, connection.transaction():
        await lock_starts(connection, tenant)
        starting = [asyncio.create_task(start(guarded, key)) for _ in range(30)]
        await eventually(one_waits, "the first start")
        async with asyncio.timeout(60):
            answers = [await guarded.ask(other, "GET", "/v1/documents") for _ in range(20)]
        assert {answer.status_code for answer in answers} == {200}
        assert await pool.fetchval(waiting) == 1
    assert sorted(answer.status_code for answer in await asyncio.gather(*starting)) == [202] * 3 + [429] * 27


async def test_a_run_that_has_ended_leaves_its_place(working: Guarded) -> None:
    tenant = named()
    key = await key_of(working, tenant)
    await publish(working, key, HELLO)
    await allow(working, tenant, Quota.RUNS, 1)
    assert (await start(working, key, "hello")).status_code == 202

    async def has_room() -> bool:
        return (await start(working, key, "hello")).status_code == 202

    for _ in range(2):
        await eventually(has_room, "the run before has ended")


async def test_a_start_that_came_to_nothing_leaves_its_place(guarded: Guarded) -> None:
    """A process dies between the count and the start, or Temporal refuses the workflow."""
    tenant = named()
    app, who = guarded.service.app, Principal(tenant, "ann", frozenset(Scope), key_id="0" * 16)
    await allow(guarded, tenant, Quota.RUNS, 1, "0" * 16)
    with of_tenant(tenant):
        await take_room(app, who, "hello.never")
        await take_room(app, who, "hello.never")  # the same one, tried again
        await take_room(app, replace(who, key_id=None), "hello.without")  # no key: only the tenant's quota counts
        with pytest.raises(QuotaExceeded):
            await take_room(app, who, "hello.other")
        moved = "UPDATE recent_starts SET started_at = started_at - interval '1 minute' WHERE tenant_id = $1"
        await guarded.service.pool.execute(moved, tenant)
        await take_room(app, who, "hello.other")
        left = "SELECT array_agg(run_id) FROM recent_starts WHERE tenant_id = $1"
        assert await guarded.service.pool.fetchval(left, tenant) == ["hello.other"]


async def test_a_start_that_temporal_lists_meanwhile_counts_once(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is among those that Temporal did not list before the count, and among those that it lists."""
    tenant, count, late = named(), room.count_listed, list[int]()
    app, who = guarded.service.app, Principal(tenant, "ann", frozenset(Scope))
    await allow(guarded, tenant, Quota.RUNS, 2)

    async def count_later(*of: Any) -> int:
        if not await count(*of):
            mark = TypedSearchAttributes([SearchAttributePair(TENANT, tenant)])
            id_ = workflow_id(tenant, "slow.first")
            await app.temporal.start_workflow(WORKFLOW_TYPE, id=id_, task_queue="no-worker", search_attributes=mark)
            await eventually(lambda: is_listed(*of), "Temporal to list the run")
        late.append(await count(*of))
        return late[-1]

    async def is_listed(*of: Any) -> bool:
        return await count(*of) == 1

    with of_tenant(tenant):
        await take_room(app, who, "slow.first")
        monkeypatch.setattr(room, "count_listed", count_later)
        await take_room(app, who, "slow.second")
        with pytest.raises(QuotaExceeded):
            await take_room(app, who, "slow.third")
    assert late[0] == 1


async def test_an_existing_run_is_found_however_many_are_open(guarded: Guarded) -> None:
    tenant = named()
    key = await key_of(guarded, tenant)
    await publish(guarded, key, SLOW)
    await allow(guarded, tenant, Quota.RUNS, 1)
    answers = await asyncio.gather(*(start(guarded, key, key="same") for _ in range(5)))
    assert {answer.status_code for answer in answers} <= {200, 202}
    assert sum(answer.json()["created"] for answer in answers) == 1
    assert (await start(guarded, key, key="other")).status_code == 429


async def test_ended_runs_started_again_at_once_count_like_new_ones(working: Guarded) -> None:
    tenant = named()
    first, second = await key_of(working, tenant), await working.key(tenant=tenant)
    again: Json = {
        "id": "again",
        "inputs": {"seconds": {"type": "number", "default": 0}},
        "steps": [{"id": "nap", "handler": "sleep", "config": {"seconds": "{{ inputs.seconds }}"}}],
    }
    await publish(working, first, again)
    runs = [(await start(working, first, "again")).json()["run_id"] for _ in range(4)]
    for run_id in runs:
        await ended(working, first, run_id)
    await allow(working, tenant, Quota.RUNS, 2, id_of(second))
    order: Json = {"inputs": {"seconds": 3600}}
    answers = await asyncio.gather(
        *(working.ask(second, "POST", f"/v1/runs/{run_id}/retry", json=order) for run_id in runs)
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 2 + [429] * 2
    [one, *_] = (run_id for run_id, answer in zip(runs, answers, strict=True) if answer.status_code == 200)
    assert await causer(working, tenant, one) == id_of(second)


async def ended(guarded: Guarded, key: str, run_id: str) -> None:
    async def has_ended() -> bool:
        status = (await guarded.ask(key, "GET", f"/v1/runs/{run_id}")).json()["status"]
        return status not in ("running", "waiting", "paused")

    await eventually(has_ended, f"the end of {run_id}")


async def test_a_nested_run_counts_as_the_key_of_the_run_around_it(working: Guarded) -> None:
    tenant = named()
    key = await key_of(working, tenant)
    await publish(working, key, SLOW, OUTER)
    outer = (await start(working, key, "outer")).json()["run_id"]
    inner = child_run_id(outer, "inner")

    async def has_started() -> bool:
        return (await working.ask(key, "GET", f"/v1/runs/{inner}")).status_code == 200

    await eventually(has_started, "the nested run has started")
    assert await causer(working, tenant, inner) == await causer(working, tenant, outer) == id_of(key)


async def test_a_document_counts_as_the_key_that_uploaded_it_whoever_starts_its_run(guarded: Guarded) -> None:
    tenant = named()
    key = await key_of(guarded, tenant)
    at_once = (await upload(guarded, key)).json()
    await allow(guarded, tenant, Quota.RUNS, 0, id_of(key))
    later = (await upload(guarded, key)).json()
    assert (await causer(guarded, tenant, at_once["run_id"]), later["run_started_at"]) == (id_of(key), None)
    await start_waiting_documents(guarded.service.app, older_than_seconds=0)
    waits = await guarded.ask(key, "GET", f"/v1/documents/{later['document_id']}")
    assert waits.json()["run_started_at"] is None  # the sweep has no key, and keeps to that of the document
    await allow(guarded, tenant, Quota.RUNS, 9, id_of(key))
    guarded.service.app.quotas.forget()
    await start_waiting_documents(guarded.service.app, older_than_seconds=0)
    assert await causer(guarded, tenant, later["run_id"]) == id_of(key)


async def test_the_runs_of_a_batch_count_as_the_keys_that_added_their_documents(working: Guarded) -> None:
    tenant = named()
    ordering, adding, retrying = [await working.key(tenant=tenant) for _ in range(3)]
    filed: Json = {"id": "filed", "inputs": {"document_id": {"type": "string"}}, "steps": FAILS["steps"]}
    await publish(working, ordering, filed, {**filed, "id": "invoice"})
    known = (await upload(working, adding)).json()["document_id"]
    body: Json = {"definition": "filed", "document_ids": [known]}
    batch_id = (await working.ask(ordering, "POST", "/v1/batches", json=body)).json()["batch_id"]
    files = {"file": ("a.txt", uuid.uuid4().bytes, "text/plain")}
    path = f"/v1/batches/{batch_id}"
    sent = await working.ask(adding, "POST", f"{path}/documents", files=files, data={"place": "a.txt"})
    assert sent.is_success, sent.text

    async def failed() -> list[Json]:
        found = (await working.ask(ordering, "GET", f"{path}/documents")).json()["documents"]
        return [each for each in found if each["state"] == "failed"]

    async def all_failed() -> bool:
        return len(await failed()) == 2

    await eventually(all_failed, "both runs have failed")
    by_place = {each["place"]: each["run_id"] for each in await failed()}
    assert await causer(working, tenant, by_place[known]) == id_of(ordering)
    assert await causer(working, tenant, by_place["a.txt"]) == id_of(adding)
    (await working.ask(retrying, "POST", f"{path}/retry", json={})).raise_for_status()

    async def were_retried() -> bool:
        causers = [await causer(working, tenant, run_id) for run_id in by_place.values()]
        return causers == [id_of(retrying)] * 2

    await eventually(were_retried, "the runs of the retry")


@pytest.mark.parametrize("batch", [False, True])
async def test_what_a_trigger_starts_counts_as_the_key_that_created_it(
    guarded: Guarded, tmp_path: Path, *, batch: bool
) -> None:
    """A folder stands here for a mailbox too: both upload as the trigger's principal."""
    tenant = named()
    key = await key_of(guarded, tenant)
    order: Json = {"name": named(), "folder": "scans", "every_seconds": 86_400, "definition": "invoice", "batch": batch}
    created = await guarded.ask(key, "POST", "/v1/triggers", json=order)
    assert created.status_code == 201, created.text
    request = await request_of(guarded, tenant, order["name"])
    assert (request.key_id, order_of(request).name) == (id_of(key), order["name"])
    scans = tmp_path / tenant / "scans"
    scans.mkdir(parents=True)
    (scans / "a.xml").write_bytes(uuid.uuid4().bytes)
    os.utime(scans / "a.xml", (0, 0))
    await allow(guarded, tenant, Quota.DOCUMENTS, 1, id_of(key))
    found = TriggerPass(request=request, moment="now")
    assert (await fire(guarded.service.app, tmp_path, MailAccess(), found, lambda: None)).uploaded == 1
    stored = "SELECT key_id FROM documents WHERE tenant_id = $1"
    assert await guarded.service.pool.fetchval(stored, tenant) == id_of(key)
    assert (await upload(guarded, key)).status_code == 429  # the trigger has used the key's documents of today


async def request_of(guarded: Guarded, tenant: str, name: str) -> TriggerRequest:
    """Return what a trigger's schedule gives to each of its passes."""
    app = guarded.service.app
    async for listed in await app.temporal.list_schedules(f'DocrailTenant = "{tenant}"'):
        if listed.id.endswith(f".{name}"):
            action = (await app.temporal.get_schedule_handle(listed.id).describe()).schedule.action
            assert isinstance(action, ScheduleActionStartWorkflow)
            found: list[TriggerRequest] = await app.temporal.data_converter.decode(action.args, [TriggerRequest])
            return found[0]
    raise AssertionError(f"no schedule of {name}")


async def test_a_session_that_a_key_has_opened_counts_as_the_key(guarded: Guarded) -> None:
    tenant = named()
    key = await key_of(guarded, tenant)
    await publish(guarded, key, SLOW)
    signed = await guarded.service.http.post("/v1/session", json={"key": key})
    headers = {"Cookie": signed.headers["Set-Cookie"].partition(";")[0], "Sec-Fetch-Site": "same-origin"}
    started = await guarded.service.http.post("/v1/runs", json={"definition": "slow"}, headers=headers)
    assert await causer(guarded, tenant, started.json()["run_id"]) == id_of(key)


async def test_where_no_key_is_known_only_the_tenants_quota_counts(guarded: Guarded) -> None:
    """Local mode, and people whom an identity provider knows."""
    tenant = named()
    await allow(guarded, tenant, Quota.RUNS, 1, "0" * 16)
    await allow(guarded, tenant, Quota.RUNS, 2)
    app, who = guarded.service.app, Principal(tenant, "ann", frozenset(Scope))
    with of_tenant(tenant):
        for name in ("one", "two"):
            await take_room(app, who, f"hello.{name}")
        with pytest.raises(QuotaExceeded, match="the tenant may have 2 open runs"):
            await take_room(app, who, "hello.three")
