"""File maintenance compacts every tenant's lake and deletes unused files, and only those, by a schedule."""

import asyncio
import datetime as dt
import os
import re
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from temporalio.activity import _Definition as ActivityDefinition
from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.client import Client, WorkflowHandle, WorkflowHistory
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Replayer

from docrail.activities.internal.maintenance import maintenance_activities
from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import ALL_ROWS
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobMissing, BlobRef, BlobStore, blob_path
from docrail.adapters.store.folders import LocalFolder, local_root
from docrail.adapters.store.values import ValueStore
from docrail.adapters.temporal.connection import Connection
from docrail.adapters.temporal.draining import working
from docrail.services.app import Keeping
from docrail.services.documents.repository.page_images import keep_image, load_image
from docrail.services.documents.service import mark_original_removed
from docrail.services.fleet.store_identity import WrongStore, claim_store
from docrail.services.lake.files import Lake
from docrail.services.maintenance.retention import OPEN, remove_originals
from docrail.services.maintenance.service import MaintenanceIncomplete, apply_schedule, run_maintenance, schedule_id
from docrail.services.metrics import Metrics
from docrail.services.runs.repository import load_cached, save_cached
from docrail.services.tools import Outside, Tools
from docrail.worker import assemble_worker, workflow_runner
from docrail.workflows.contract.messages import MaintenanceReport, MaintenanceRequest
from docrail.workflows.contract.names import DOCUMENT, TENANT
from docrail.workflows.maintenance import Maintenance
from tests.disks import SmallDisk, small_disk
from tests.postgres import COMMITTING, dsn, migrated_database, new_document_id, pool, upload
from tests.services.lakes import of_month, save, seen
from tests.stack import Servers, eventually

__all__ = ["dsn", "pool", "small_disk"]

RECORDED = Path(__file__).parent / "round_over_the_files.json"
AGES_AGO = time.time() - 2.5 * 86_400
KEEPING = Keeping(dt.timedelta(hours=1), values_days=1, originals_days=1)


@pytest.fixture
def tools(tmp_path: Path, pool: asyncpg.Pool) -> Tools:
    stores = BlobStore(tmp_path / "blobs"), ValueStore(tmp_path / "values"), Lake(tmp_path / "lake")
    return Tools(pool, *stores, DocumentReader(), Metrics(), Outside(), KEEPING)


@pytest.fixture
async def client(embedded: Servers) -> Client:
    return await Client.connect(embedded.temporal_address, data_converter=pydantic_data_converter)


@pytest.fixture
async def queue(client: Client, tools: Tools, tmp_path: Path) -> AsyncIterator[str]:
    """Yield a task queue whose worker runs file maintenance only, in the sandbox."""
    name = f"maintenance-{uuid.uuid4().hex}"
    activities = maintenance_activities(tools, LocalFolder(tmp_path))
    async with working([assemble_worker(client, name, [Maintenance], activities, sandboxed=True)]):
        yield name


async def do_round(embedded: Servers, queue: str) -> MaintenanceReport:
    return await run_maintenance(Connection(embedded.temporal_address), queue)


async def replay(history: WorkflowHistory) -> None:
    replayer = Replayer(
        workflows=[Maintenance],
        data_converter=pydantic_data_converter,
        workflow_runner=workflow_runner(sandboxed=True),
    )
    await replayer.replay_workflow(history)


async def test_a_round_compacts_every_tenant_once_and_replays(
    embedded: Servers, client: Client, queue: str, tools: Tools, request: pytest.FixtureRequest
) -> None:
    for tenant in ("acme", "globex"):
        for number in range(3):
            await save(tools.lake, of_month(f"doc_{number}", "2026-11"), tenant=tenant)
    report = await do_round(embedded, queue)
    assert (report.tenants, report.compacted.files, report.compacted.parts, report.failed) == (2, 6, 2, ())
    history = await client.get_workflow_handle(f"{schedule_id(queue)}.now").fetch_history()
    if request.config.getoption("--record-histories"):
        RECORDED.write_text(re.sub(r'"identity": ?"[^"]*"', '"identity": "recorded"', history.to_json()))
    await replay(history)
    assert (await do_round(embedded, queue)).compacted.files == 0
    assert tools.metrics.registry.get_sample_value("docrail_lake_files_compacted_total") == 6
    assert tools.metrics.registry.get_sample_value("docrail_lake_compaction_seconds_count") == 4


async def test_a_round_with_a_new_history_continues_after_its_last_tenant(
    client: Client, queue: str, tools: Tools
) -> None:
    for tenant in ("acme", "globex"):
        await save(tools.lake, of_month("doc_1", "2026-11"), tenant=tenant)
    request = MaintenanceRequest(after_tenant="acme", so_far=MaintenanceReport(tenants=1))
    report = await client.execute_workflow(Maintenance.run, request, id=queue, task_queue=queue)
    assert (report.tenants, report.compacted.files) == (2, 1)
    assert tools.lake.of("acme").folders("compacted") == []


async def test_a_recorded_round_replays() -> None:
    await replay(WorkflowHistory.from_json("round", RECORDED.read_text()))


EXPIRING = {
    "step_cache": "INSERT INTO step_cache (tenant_id, cache_key, handler, output, expires_at) "
    "SELECT $1, encode(sha256($2::text::bytea), 'hex'), 'echo', '1', now() + $3::interval",
    "reading_leases": "INSERT INTO reading_leases (tenant_id, work_key, holder, expires_at) "
    "SELECT $1, $2::text, 'me', now() - interval '1 day' + $3::interval",
    "sessions": "INSERT INTO sessions (session_id, tenant_id, name, scopes, secret_sha256, expires_at) "
    "SELECT 'ses_' || left(md5($1 || $2::text), 16), $1, 'ann', '{read}', sha256(($1 || $2::text)::bytea), "
    "now() - interval '30 days' + $3::interval",
    "quota_days": "INSERT INTO quota_days (tenant_id, key_id, quota, day, used) "
    "SELECT $1, $2::text, 'documents_per_day', (now() AT TIME ZONE 'UTC' + $3::interval)::date, 1",
}


@pytest.mark.parametrize("table", EXPIRING)
async def test_a_round_deletes_the_expired_rows_of_silent_tenants(
    embedded: Servers, queue: str, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr("docrail.adapters.postgres.pool.MOST_DELETED", 2)
    for tenant in ("silent", "still"):
        for number, valid_for in enumerate((*(-dt.timedelta(days=2),) * 3, dt.timedelta(hours=1))):
            await pool.execute(EXPIRING[table], tenant, f"{number}", valid_for)
    left = f"SELECT tenant_id FROM {table} WHERE tenant_id IN ('silent', 'still') ORDER BY 1"  # names of this test
    try:
        report = await do_round(embedded, queue)
        assert (report.removed_rows >= 6, report.failed) == (True, ())
        assert [row["tenant_id"] for row in await pool.fetch(left)] == ["silent", "still"]
    finally:
        await pool.execute(f"DELETE FROM {table} WHERE tenant_id IN ('silent', 'still')")


async def test_a_failure_for_one_tenant_does_not_stop_the_others(embedded: Servers, queue: str, tools: Tools) -> None:
    for tenant in ("acme", "globex"):
        await save(tools.lake, of_month("doc_1", "2026-11"), tenant=tenant)
    tools.lake.of("acme").write("compacted/manifest.json", b"{}}")
    with pytest.raises(MaintenanceIncomplete, match=r"could not do: tenant acme: .* is not a manifest"):
        await do_round(embedded, queue)
    assert tools.lake.of("globex").folders("compacted") == ["issue_month=2026-11"]


async def test_a_store_that_is_not_mounted_any_more_is_left_alone(
    embedded: Servers, client: Client, tools: Tools, tmp_path: Path
) -> None:
    """Otherwise every old original, whose file is missing there, would be recorded as deleted."""
    name, folder = f"maintenance-{uuid.uuid4().hex}", tmp_path / "mounted"
    async with migrated_database(embedded.dsn) as own_dsn, await open_pool(own_dsn, rows=ALL_ROWS) as own:
        await claim_store(own, LocalFolder(folder))
        sha256 = (await BlobStore(LocalFolder(folder / "blobs")).put(b"an original")).sha256
        await _received(own, sha256, days_ago=3)
        folder.rename(tmp_path / "elsewhere")
        unmounted = replace(tools, db=own, blobs=BlobStore(folder / "blobs"), lake=Lake(folder / "lake"))
        activities = maintenance_activities(unmounted, LocalFolder(folder))
        async with working([assemble_worker(client, name, [Maintenance], activities, sandboxed=False)]):
            with pytest.raises(MaintenanceIncomplete, match="has no file 'store-id': it is not mounted"):
                await do_round(embedded, name)
        for each in activities:
            if ActivityDefinition.must_from_callable(each).name not in ("remove_expired_rows", "look_after_lake"):
                with pytest.raises(WrongStore):
                    await ActivityEnvironment(client=client).run(each)
        assert await own.fetchval("SELECT original_removed_at FROM documents WHERE sha256 = $1", sha256) is None


async def test_cancelling_stops_the_work_at_its_next_file(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(*_: object, beat: Callable[[], None], **__: object) -> None:
        began.set()
        go_on.wait(10)
        beat()
        pytest.fail("went on")

    monkeypatch.setattr("docrail.services.lake.compaction.compact", slow)
    monkeypatch.setattr("docrail.activities.internal.maintenance.BEAT_SECONDS", 0.01)
    environment, heard = ActivityEnvironment(), asyncio.Event()
    environment.on_heartbeat = lambda *_: heard.set()
    look_after = maintenance_activities(tools, LocalFolder(tmp_path))[1]
    working = asyncio.create_task(environment.run(look_after, "acme"))
    assert await asyncio.to_thread(began.wait, 10)
    await asyncio.wait_for(heard.wait(), 10)
    environment.cancel()
    await asyncio.sleep(0)  # the cancel is delivered when the activity's task has its next turn, which is this one
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await working


async def test_a_schedule_is_created_changed_and_deleted(embedded: Servers, client: Client) -> None:
    connection, queue = Connection(embedded.temporal_address), f"q-{uuid.uuid4().hex}"
    assert await apply_schedule(connection, queue, "") == ""
    assert "30 2 * * *" in await apply_schedule(connection, queue, "30 2 * * *")
    handle = client.get_schedule_handle(schedule_id(queue))
    await handle.pause(note="a migration")
    assert await apply_schedule(connection, queue, "15 4 * * *") == ""
    described = (await handle.describe()).schedule
    assert described.state.paused
    assert [(at.hour[0].start, at.minute[0].start) for at in described.spec.calendars] == [(4, 15)]
    assert await apply_schedule(connection, queue, "") != ""
    with pytest.raises(RPCError):
        await handle.describe()


async def test_the_schedule_starts_rounds(embedded: Servers, client: Client, queue: str, tools: Tools) -> None:
    await save(tools.lake, of_month("doc_1", "2026-11"))
    await apply_schedule(Connection(embedded.temporal_address), queue, "0 3 1 1 *")
    handle = client.get_schedule_handle(schedule_id(queue))
    await handle.trigger()
    await eventually(lambda: tools.lake.of("acme").stat("compacted/manifest.json") is not None, "the lake is compacted")
    assert seen(tools.lake).keys() == {"doc_1"}
    await handle.delete()


def _attributes(tenant_id: str, document_id: str) -> TypedSearchAttributes:
    return TypedSearchAttributes([SearchAttributePair(TENANT, tenant_id), SearchAttributePair(DOCUMENT, document_id)])


async def _until_listed(client: Client, workflow_id: str) -> None:
    async def listed() -> bool:
        query = f"WorkflowId = '{workflow_id}' AND ExecutionStatus = 'Running'"
        return (await client.count_workflows(query)).count == 1

    await eventually(listed, "Temporal lists the run")


async def _received(pool: asyncpg.Pool, sha256: str, *, days_ago: int) -> None:
    document = await upload(pool, tenant_id=COMMITTING, document_id=new_document_id(), blob=BlobRef(sha256, 1))
    await pool.execute(
        "UPDATE documents SET received_at = now() - make_interval(days => $2), run_started_at = now() "
        "WHERE document_id = $1",
        document.document_id,
        days_ago,
    )


def is_stored(tools: Tools, sha256: str) -> bool:
    return tools.blobs.folder.stat(blob_path(sha256)) is not None


def age(store: ValueStore | BlobStore) -> None:
    for path in local_root(store.folder).rglob("*"):
        if path.is_file():
            os.utime(path, (AGES_AGO, AGES_AGO))


async def test_values_go_that_no_open_run_leads_to(
    embedded: Servers, client: Client, queue: str, tools: Tools, pool: asyncpg.Pool
) -> None:
    inner = await tools.values.put("acme", "inner" * 10)
    outer = await tools.values.put("acme", {"deep": [inner.to_json()]})
    gone, cached, renewed = [await tools.values.put("acme", name * 10) for name in ("gone", "cached", "renewed")]
    other_tenants = await tools.values.put("globex", {"deep": [inner.to_json()]})
    age(tools.values)
    young = await tools.values.put("acme", "young")
    await tools.values.put("acme", "renewed" * 10)
    key = uuid.uuid4().hex * 2
    await save_cached(pool, COMMITTING, key, "echo", cached.to_json(), 86_400)
    await pool.execute("UPDATE step_cache SET made_at = now() - interval '3 days' WHERE cache_key = $1", key)
    run = await client.start_workflow(
        "Run",
        {"input": {"big": outer.at(("deep",)).to_json()}},
        id=f"run-{uuid.uuid4().hex}",
        task_queue="no-workers",
        search_attributes=_attributes("acme", "doc_1"),
    )
    await _until_listed(client, run.id)
    try:
        assert (await do_round(embedded, queue)).removed_values == 3
        for part in (inner, outer, renewed, young):
            await tools.values.get("acme", part.sha256)
        for tenant, part in (("acme", gone), ("acme", cached), ("globex", other_tenants)):
            with pytest.raises(BlobMissing):
                await tools.values.get(tenant, part.sha256)
        assert await load_cached(pool, COMMITTING, key, 10**7) is None
    finally:
        await run.terminate()


async def test_old_originals_that_are_not_in_use_are_deleted(
    embedded: Servers, client: Client, queue: str, tools: Tools, pool: asyncpg.Pool
) -> None:
    kept: dict[str, str] = {}
    for name in ("old", "young", "twice", "in review", "running"):
        reference = await tools.blobs.put(uuid.uuid4().bytes + name.encode())
        kept[name] = reference.sha256
        await _received(pool, reference.sha256, days_ago=0 if name == "young" else 3)
    await _received(pool, kept["twice"], days_ago=0)
    await pool.execute(
        "INSERT INTO reviews (document_id, tenant_id, review_id, run_id, priority, parts, reasons, summary, due_at) "
        "SELECT document_id, tenant_id, document_id, 'r', 1, '{}', '[]', '{}', now() FROM documents WHERE sha256 = $1",
        kept["in review"],
    )
    age(tools.blobs)
    await tools.blobs.put(b"young")
    document_id = await pool.fetchval("SELECT document_id FROM documents WHERE sha256 = $1", kept["running"])
    run = await client.start_workflow(
        "Run",
        {},
        id=f"run-{uuid.uuid4().hex}",
        task_queue="no-workers",
        search_attributes=_attributes(COMMITTING, document_id),
    )
    await _until_listed(client, run.id)
    try:
        assert (await do_round(embedded, queue)).removed_originals >= 1
        for name, sha256 in kept.items():
            marked = await pool.fetchval(
                "SELECT bool_or(original_removed_at IS NOT NULL) FROM documents WHERE sha256 = $1", sha256
            )
            assert (name, is_stored(tools, sha256), marked) == (
                name,
                name != "old",
                name == "old",
            )
    finally:
        await run.terminate()


async def test_an_original_stays_that_an_open_run_names_in_its_inputs(
    client: Client, tools: Tools, pool: asyncpg.Pool
) -> None:
    reference = await tools.blobs.put(uuid.uuid4().bytes)
    await _received(pool, reference.sha256, days_ago=3)
    document_id = await pool.fetchval("SELECT document_id FROM documents WHERE sha256 = $1", reference.sha256)
    age(tools.blobs)
    run = await client.start_workflow(
        "Run",
        {"inputs": {"document_id": document_id}},
        id=f"run-{uuid.uuid4().hex}",
        task_queue="no-workers",
    )
    await _until_listed(client, run.id)
    try:
        await remove_originals(tools, client)
        assert is_stored(tools, reference.sha256)
    finally:
        await run.terminate()


def test_open_is_every_status_but_those_in_which_a_run_has_ended() -> None:
    prefix = "WORKFLOW_EXECUTION_STATUS_"
    names = {status.name.removeprefix(prefix).replace("_", "") for status in WorkflowExecutionStatus.DESCRIPTOR.values}
    ended = {name.upper() for name in re.findall(r"'(\w+)'", OPEN)}
    assert names - ended == {"UNSPECIFIED", "RUNNING", "PAUSED"}


async def test_all_old_originals_go_in_one_round_past_those_that_stay(
    client: Client, tools: Tools, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docrail.services.maintenance.retention.BATCH", 2)
    stored = [(await tools.blobs.put(uuid.uuid4().bytes)).sha256 for _ in range(7)]
    age(tools.blobs)
    for number, sha256 in enumerate(stored):
        await _received(pool, sha256, days_ago=1000 if number < 5 else 900)
    await pool.execute("UPDATE documents SET received_at = '2020-01-01' WHERE sha256 = ANY($1)", stored[:5])
    for sha256 in stored:
        await keep_image(tools.blobs.folder, sha256, 1, "full", b"a page")
    for sha256 in stored[:3]:  # put again meanwhile, so they stay, and are the first in line
        os.utime(local_root(tools.blobs.folder) / blob_path(sha256))
    assert await remove_originals(tools, client) >= 4
    assert [is_stored(tools, sha256) for sha256 in stored] == [True] * 3 + [False] * 4
    pictures = [await load_image(tools.blobs.folder, sha256, 1) for sha256 in stored]
    assert pictures == [b"a page"] * 3 + [None] * 4


async def test_uploading_deleted_bytes_again_stores_them_again(pool: asyncpg.Pool) -> None:
    sha256 = uuid.uuid4().hex * 2
    await _received(pool, sha256, days_ago=3)
    await _received(pool, sha256, days_ago=0)
    await mark_original_removed(pool, sha256, dt.datetime.now(dt.UTC) - dt.timedelta(days=1))
    rows = await pool.fetch(
        "SELECT original_removed_at IS NOT NULL AS gone FROM documents WHERE sha256 = $1 ORDER BY received_at", sha256
    )
    assert [row["gone"] for row in rows] == [True, False]


async def test_values_that_are_kept_for_ever_are_not_read(
    embedded: Servers, client: Client, tools: Tools, tmp_path: Path
) -> None:
    for_ever = Tools(tools.db, tools.blobs, tools.values, tools.lake, tools.reader, tools.metrics)
    part = await tools.values.put("acme", "x" * 100)
    age(tools.values)
    name = f"maintenance-{uuid.uuid4().hex}"
    activities = maintenance_activities(for_ever, LocalFolder(tmp_path))
    async with working([assemble_worker(client, name, [Maintenance], activities, sandboxed=False)]):
        assert (await do_round(embedded, name)).removed_values == 0
    await tools.values.get("acme", part.sha256)


async def test_a_round_on_a_full_disk_succeeds_when_there_is_space_again(
    embedded: Servers, client: Client, queue: str, tools: Tools, small_disk: SmallDisk
) -> None:
    on_small_disk = replace(tools, lake=Lake(small_disk.root / "lake"))
    await save(on_small_disk.lake, of_month("doc_1", "2026-11"))
    small_disk.fill()
    name = f"maintenance-{uuid.uuid4().hex}"
    activities = maintenance_activities(on_small_disk, LocalFolder(small_disk.root))
    async with working([assemble_worker(client, name, [Maintenance], activities, sandboxed=False)]):
        round_ = asyncio.create_task(do_round(embedded, name))
        handle = client.get_workflow_handle(f"{schedule_id(name)}.now")
        await eventually(lambda: _is_tried_again(handle), "the round met the full disk")
        assert [file for file in small_disk.files() if "compacted" in file] == []
        small_disk.free()
        assert (await round_).compacted.files == 1
    assert seen(on_small_disk.lake).keys() == {"doc_1"}


async def _is_tried_again(handle: WorkflowHandle[Any, Any]) -> bool:
    try:
        pending = (await handle.describe()).raw_description.pending_activities
    except RPCError:  # it has not begun yet
        return False
    return any("No space left" in activity.last_failure.message for activity in pending)
