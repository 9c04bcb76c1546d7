"""Single documents that arrive together share a workflow, each exactly one, and from outside have runs as any other."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services import gathering
from docrail.services.app import App
from docrail.services.documents.models import Document
from docrail.services.documents.service import mark_read_again
from docrail.services.errors import Unavailable
from docrail.services.intake.chunks import start_together
from docrail.services.intake.service import note_ended_documents, start_waiting_documents
from docrail.services.runs import chunks
from docrail.services.runs.repository import load_chunked
from docrail.services.runs.views import chunked_reports
from docrail.services.runs.views.chunked_reports import UNANSWERED
from docrail.services.runs.views.reports import DELETED
from docrail.workflows.contract.names import document_chunk_id
from tests.api.service import Service, serve, settings_for
from tests.api.test_batches import QUICK, publish
from tests.api.test_grouped_batches import FAILING, SLOW_ONE, chunk_of, count_workflows, has_workflow
from tests.api.test_unanswered_runs import delete_workflow
from tests.stack import Servers, eventually


@pytest.fixture
def shares(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gather uploads as soon as one meets another."""
    monkeypatch.setattr(service.app.gatherings, "share_from", 1)
    monkeypatch.setattr(service.app.gatherings, "_met", {})


pytestmark = pytest.mark.usefixtures("shares")


async def upload(http: httpx.AsyncClient, definition: str, number: int, key: str | None = None) -> Json:
    files = {"file": (f"{number}.txt", f"{definition} {number}".encode(), "text/plain")}
    headers = {} if key is None else {"Idempotency-Key": key}
    response = await http.post("/v1/documents", files=files, data={"definition": definition}, headers=headers)
    assert response.status_code == 202, response.text
    return response.json()


async def upload_at_once(http: httpx.AsyncClient, definition: str, count: int) -> list[Json]:
    return await asyncio.gather(*(upload(http, definition, number) for number in range(count)))


async def rows_of(service: Service, documents: Sequence[Json]) -> dict[str, Mapping[str, Any]]:
    query = "SELECT * FROM chunked_runs WHERE document_id = ANY ($1)"
    found = await service.pool.fetch(query, [each["document_id"] for each in documents])
    return {row["document_id"]: dict(row) for row in found}


async def in_chunks(service: Service, documents: Sequence[Json]) -> list[Json]:
    rows = await rows_of(service, documents)
    return [each for each in documents if each["document_id"] in rows and not rows[each["document_id"]]["moved_at"]]


async def until_recorded(service: Service, documents: Sequence[Json]) -> None:
    """Wait until the chunks have recorded the ends of the documents' runs."""

    async def all_recorded() -> bool:
        return all(row["status"] for row in (await rows_of(service, documents)).values())

    await eventually(all_recorded, "the chunks to record the ends")


async def until_ended(service: Service, documents: Sequence[Json]) -> Counter[str]:
    """Wait until the ends of the documents are known, without looking at their runs; return them."""
    query = "SELECT ended_as FROM documents WHERE document_id = ANY ($1) AND ended_as IS NOT NULL"

    async def all_ended() -> bool:
        await note_ended_documents(service.app, older_than_seconds=0)
        return len(await service.pool.fetch(query, ids)) == len(ids)

    ids = [each["document_id"] for each in documents]
    await eventually(all_ended, "the documents' ends")
    return Counter(row["ended_as"] for row in await service.pool.fetch(query, ids))


async def test_documents_that_arrive_together_share_a_workflow_that_records_their_ends(
    http: httpx.AsyncClient, service: Service
) -> None:
    definition = await publish(http, FAILING)
    documents = await upload_at_once(http, definition, 8)
    assert all(each["run_id"] and each["run_started_at"] for each in documents)
    shared = await in_chunks(service, documents)
    assert len(shared) >= 6, "the first may start before others come"
    await until_recorded(service, shared)
    assert await until_ended(service, documents) == {"completed": 7, "failed": 1}
    assert not any([await has_workflow(service, each["run_id"]) for each in shared])


async def test_the_end_of_a_first_run_that_is_recorded_late_leaves_a_document_that_is_read_again_open(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = asyncio.Event()

    async def record_late(*args: Any) -> int:
        await recorded.wait()
        return await chunks.record_ends(*args)

    monkeypatch.setattr("docrail.activities.internal.chunk_ends.record_ends", record_late)
    documents = await upload_at_once(http, await publish(http, QUICK), 6)
    again, *_ = shared = await in_chunks(service, documents)
    await mark_read_again(service.pool, "default", again["document_id"])
    assert {row["status"] for row in (await rows_of(service, shared)).values()} == {None}
    recorded.set()
    await until_recorded(service, shared)
    query = "SELECT document_id FROM documents WHERE document_id = ANY ($1) AND ended_as IS NULL"
    still_open = await service.pool.fetch(query, [each["document_id"] for each in shared])
    assert [row["document_id"] for row in still_open] == [again["document_id"]]


async def test_one_after_the_other_each_starts_alone_and_at_once(http: httpx.AsyncClient, service: Service) -> None:
    definition = await publish(http, QUICK)
    documents = [await upload(http, definition, number) for number in range(4)]
    assert await rows_of(service, documents) == {}
    assert all([await has_workflow(service, each["run_id"]) for each in documents])


async def test_a_run_is_reported_from_its_chunk_as_after_it_has_moved(
    http: httpx.AsyncClient, service: Service
) -> None:
    definition = await publish(http, FAILING)
    documents = await upload_at_once(http, definition, 6)
    await until_ended(service, documents)
    for each in await in_chunks(service, documents):
        path = f"/v1/runs/{each['run_id']}"
        before = (await http.get(path)).json()
        assert not await has_workflow(service, each["run_id"])
        assert each["run_id"] not in before["history_url"]
        (await http.get(f"{path}/explain")).raise_for_status()
        assert await has_workflow(service, each["run_id"])
        assert comparable(before) == comparable((await http.get(path)).json())


def comparable(report: Json) -> Json:
    """Return a report without where its history is."""
    return {name: value for name, value in report.items() if name != "history_url"}


async def test_a_run_in_progress_is_reported_from_its_chunk_and_is_not_interrupted(
    http: httpx.AsyncClient, service: Service
) -> None:
    definition = await publish(http, SLOW_ONE)
    documents = await upload_at_once(http, definition, 6)
    [slow] = [each for each in documents if each["file_name"] == "1.txt"]
    assert slow in await in_chunks(service, documents)

    async def naps() -> bool:
        report = (await http.get(f"/v1/runs/{slow['run_id']}")).json()
        return any("attempt 1" in why for why in report["steps"]["nap"]["why"])

    await eventually(naps, "the current attempt to be shown")
    assert not await has_workflow(service, slow["run_id"])
    aborted = await http.post(f"/v1/runs/{slow['run_id']}/abort", json={"reason": "enough"})
    assert aborted.status_code == 200, aborted.text
    assert (await service.ended(slow["run_id"]))["status"] == "aborted"
    assert await count_workflows(service, slow["run_id"]) == 1


async def test_a_repeated_upload_has_the_same_run(http: httpx.AsyncClient, service: Service) -> None:
    definition = await publish(http, QUICK)
    keys = [f"{definition}-{number}" for number in range(4)]
    first = await asyncio.gather(*(upload(http, definition, n, key) for n, key in enumerate(keys)))
    again = await asyncio.gather(*(upload(http, definition, n, key) for n, key in enumerate(keys)))
    assert [each["run_id"] for each in first] == [each["run_id"] for each in again]
    shared = await in_chunks(service, first)
    assert shared
    assert not any([await has_workflow(service, each["run_id"]) for each in shared])


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """Hold the gathered documents back until the event is set, as if this process hung."""
    opened, has_held = asyncio.Event(), asyncio.Event()

    async def held(*args: Any) -> Mapping[str, Document]:
        has_held.set()
        await opened.wait()
        return await start_together(*args)

    monkeypatch.setattr("docrail.services.intake.starting.start_together", held)
    yield opened
    assert has_held.is_set()


async def stored(service: Service, definition: str, count: int) -> list[Json]:
    """Wait until documents are stored, and return them."""
    query = "SELECT document_id, run_id, file_name FROM documents WHERE definition LIKE $1 ORDER BY file_name"

    async def are_there() -> bool:
        return len(await service.pool.fetch(query, f"{definition}%")) == count

    await eventually(are_there, "the documents to be stored")
    return [dict(row) for row in await service.pool.fetch(query, f"{definition}%")]


async def test_a_document_that_another_process_starts_meanwhile_runs_alone(
    http: httpx.AsyncClient, service: Service, gate: asyncio.Event
) -> None:
    """The sweep of another process, or an upload with the same key to it, comes before this one's chunk has rows."""
    definition = await publish(http, QUICK)
    uploads = [asyncio.create_task(upload(http, definition, number, f"{definition}-{number}")) for number in range(6)]
    documents = await stored(service, definition, 6)
    again = await upload(http, definition, 5, f"{definition}-5")
    assert again["run_started_at"]
    gate.set()
    assert [each["run_id"] for each in await asyncio.gather(*uploads)] == [each["run_id"] for each in documents]
    shared = await in_chunks(service, documents)
    assert 2 <= len(shared) <= 5
    assert again["document_id"] not in [each["document_id"] for each in shared]
    assert await until_ended(service, documents) == {"completed": 6}
    for each in documents:
        assert await has_workflow(service, each["run_id"]) is (each not in shared)


async def test_the_sweep_and_a_chunk_that_starts_late_start_each_run_once(
    http: httpx.AsyncClient, service: Service, gate: asyncio.Event
) -> None:
    definition = await publish(http, QUICK)
    uploads = [asyncio.create_task(upload(http, definition, number)) for number in range(5)]
    documents = await stored(service, definition, 5)
    await start_waiting_documents(service.app, older_than_seconds=0)
    gate.set()
    await asyncio.gather(*uploads)
    assert await in_chunks(service, documents) == []
    assert await until_ended(service, documents) == {"completed": 5}
    assert [await count_workflows(service, each["run_id"]) for each in documents] == [1] * 5


async def test_a_chunk_that_was_not_started_is_started_by_the_sweep_and_by_a_repeated_upload(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies between the rows and the workflow, or Temporal is unavailable there."""
    start = chunks._start  # noqa: SLF001

    async def unavailable(*_: Any, **__: Any) -> None:
        raise Unavailable("Temporal", "planted")

    monkeypatch.setattr(chunks, "_start", unavailable)
    definition = await publish(http, QUICK)
    documents = await asyncio.gather(*(upload(http, definition, n, f"{definition}-{n}") for n in range(6)))
    shared = await in_chunks(service, documents)
    assert shared
    assert not any(each["run_started_at"] for each in shared), "they are stored, and start later"
    monkeypatch.setattr(chunks, "_start", start)
    number = documents.index(shared[0])
    assert (await upload(http, definition, number, f"{definition}-{number}"))["run_started_at"]
    assert await start_waiting_documents(service.app, older_than_seconds=0) >= len(shared) - 1
    assert await until_ended(service, documents) == {"completed": 6}
    assert not any([await has_workflow(service, each["run_id"]) for each in shared])


async def test_a_client_that_goes_does_not_hold_up_the_others(
    http: httpx.AsyncClient, service: Service, gate: asyncio.Event
) -> None:
    definition = await publish(http, QUICK)
    uploads = [asyncio.create_task(upload(http, definition, number)) for number in range(6)]
    documents = await stored(service, definition, 6)
    for number in (1, 3):
        uploads[number].cancel()
    await asyncio.sleep(0.05)
    gate.set()
    found = await asyncio.gather(*uploads, return_exceptions=True)
    assert sum(isinstance(each, asyncio.CancelledError) for each in found) == 2
    await start_waiting_documents(service.app, older_than_seconds=0)
    assert await until_ended(service, documents) == {"completed": 6}


async def test_the_runs_of_a_chunk_that_is_ended_by_force_go_on_alone(
    http: httpx.AsyncClient, service: Service
) -> None:
    definition = await publish(http, SLOW_ONE)
    documents = await upload_at_once(http, definition, 6)
    [slow] = [each for each in documents if each["file_name"] == "1.txt"]
    assert slow in await in_chunks(service, documents)
    chunk = document_chunk_id("default", await chunk_of(service, slow["run_id"]))
    await service.app.temporal.get_workflow_handle(chunk).terminate()
    others = [each for each in documents if each is not slow]
    assert await until_ended(service, others) == {"completed": 5}
    await eventually(lambda: has_workflow(service, slow["run_id"]), "the run to go on alone")
    place = await load_chunked(service.pool, "default", slow["run_id"])
    assert place is not None
    assert place.moved_at is not None
    assert (await http.post(f"/v1/runs/{slow['run_id']}/abort", json={"reason": "enough"})).status_code == 200
    assert await until_ended(service, [slow]) == {"aborted": 1}


async def test_a_document_whose_chunk_temporal_has_deleted_counts_as_failed(
    http: httpx.AsyncClient, service: Service
) -> None:
    definition = await publish(http, SLOW_ONE)
    documents = await upload_at_once(http, definition, 6)
    [slow] = [each for each in documents if each["file_name"] == "1.txt"]
    assert slow in await in_chunks(service, documents)
    await delete_workflow(service, document_chunk_id("default", await chunk_of(service, slow["run_id"])))
    assert await until_ended(service, [slow]) == {"failed": 1}
    report = (await http.get(f"/v1/runs/{slow['run_id']}")).json()
    assert (report["status"], report["why"]) == ("failed", [DELETED])


async def test_a_run_in_a_chunk_shows_its_status_while_no_worker_answers(
    embedded: Servers, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked_reports, "REPORT_TIMEOUT", timedelta(seconds=0.2))
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as served:
        monkeypatch.setattr(served.app.gatherings, "share_from", 1)
        documents = await upload_at_once(served.http, await publish(served.http, QUICK), 6)
        first = (await in_chunks(served, documents))[0]
        report = (await served.http.get(f"/v1/runs/{first['run_id']}")).json()
    assert (report["run_id"], report["status"], report["why"]) == (first["run_id"], "running", [UNANSWERED])


async def test_a_run_that_is_requested_by_its_document_is_the_one_in_the_chunk(
    http: httpx.AsyncClient, service: Service
) -> None:
    definition = await publish(http, QUICK)
    documents = await upload_at_once(http, definition, 6)
    first = (await in_chunks(service, documents))[0]
    document_id = first["document_id"]
    order = {"definition": definition, "key": document_id, "inputs": {"document_id": document_id}}
    started = await http.post("/v1/runs", json=order)
    assert (started.json()["run_id"], started.json()["created"]) == (first["run_id"], False), started.text
    assert await count_workflows(service, first["run_id"]) == 1
    assert await until_ended(service, documents) == {"completed": 6}


async def test_documents_whose_inputs_are_too_large_together_run_alone(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MAX_REQUEST_BYTES", 1_000)
    definition = await publish(http, QUICK)
    documents = await upload_at_once(http, definition, 6)
    assert all(each["run_started_at"] for each in documents)
    assert await until_ended(service, documents) == {"completed": 6}
    assert await in_chunks(service, documents) == []


async def test_a_first_run_that_is_requested_before_its_chunk_is_in_none(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = await publish(http, QUICK)
    requested: list[str] = []

    async def start_later(app: App, tenant_id: str, document_ids: Sequence[str]) -> Mapping[str, Document]:
        order = {"definition": definition, "key": document_ids[0], "inputs": {"document_id": document_ids[0]}}
        requested.append((await http.post("/v1/runs", json=order)).raise_for_status().json()["run_id"])
        return await start_together(app, tenant_id, document_ids)

    monkeypatch.setattr("docrail.services.intake.starting.start_together", start_later)
    await upload_at_once(http, definition, 6)
    assert [await has_workflow(service, run_id) for run_id in requested] == [True] * len(requested)
    place = await load_chunked(service.pool, "default", requested[0])
    assert place is not None
    assert place.moved_at is not None


async def test_definitions_with_turns_of_their_own_run_alone(http: httpx.AsyncClient, service: Service) -> None:
    priority = {"fairness_key": "{{ inputs.document_id }}"}
    definition = await publish(http, {**QUICK, "priority": priority})
    documents = await upload_at_once(http, definition, 4)
    assert all(each["run_started_at"] for each in documents)
    assert await in_chunks(service, documents) == []


async def test_a_gathering_starts_as_soon_as_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "GATHER_SECONDS", 3600.0)
    begun: list[Sequence[str]] = []

    async def start(ids: Sequence[str]) -> Mapping[str, Document]:
        begun.append([*ids])
        return {}

    found = gathering.Gatherings(1)
    joins = [found.join("t", str(number), start, most=3) for number in range(6)]
    await asyncio.wait_for(asyncio.gather(*joins), 5)
    assert begun == [["0", "1", "2"], ["3", "4", "5"]]


@pytest.mark.parametrize(("share_from", "count", "are_many"), [(0, 9, False), (3, 3, False), (3, 4, True)])
def test_only_uploads_that_meet_others_count(share_from: int, count: int, *, are_many: bool) -> None:
    found = gathering.Gatherings(share_from)
    for _ in range(9):
        with found.upload("t"):
            pass
    assert not found.are_many("t")
    uploads = [found.upload("t") for _ in range(count)]
    for each in uploads:
        each.__enter__()
    assert found.are_many("t") is are_many
    assert not found.are_many("other")
