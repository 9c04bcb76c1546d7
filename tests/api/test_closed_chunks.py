"""The sweep completes chunks that did not record the ends of their runs, however many others never answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from docrail.services.engine import WORKER
from docrail.services.errors import Unavailable
from docrail.services.runs import chunks, closed_chunks
from docrail.services.runs.closed_chunks import CHUNKS_AT_ONCE, complete_chunks
from docrail.services.runs.models import StoredChunkedRun
from docrail.services.runs.repository import insert_chunked, mark_moved
from docrail.workflows.contract.names import DOCUMENT_CHUNK_TYPE, DocumentChunkReport, document_chunk_id
from tests.api.customer import unique
from tests.api.service import Service, serve, settings_for, work
from tests.api.test_batches import QUICK, publish
from tests.api.test_shared_uploads import in_chunks, rows_of, shares, upload_at_once
from tests.stack import Servers, eventually

__all__ = ["shares"]

FIRST = "a-first-tenant"


@pytest.fixture
async def silent(service: Service) -> AsyncIterator[None]:
    """Give many chunks without a worker, before all others in the order of tenants."""
    rows = [StoredChunkedRun(f"{unique('d')}.doc", unique("silent"), "doc", 1) for _ in range(4 * CHUNKS_AT_ONCE)]
    await insert_chunked(service.pool, FIRST, rows)
    temporal = service.app.temporal
    names = [document_chunk_id(FIRST, row.chunk_id) for row in rows]
    await asyncio.gather(
        *(temporal.start_workflow(DOCUMENT_CHUNK_TYPE, id=name, task_queue="no-worker") for name in names)
    )
    yield
    await mark_moved(service.pool, FIRST, [row.run_id for row in rows])
    await asyncio.gather(*(temporal.get_workflow_handle(name).terminate() for name in names))


@pytest.mark.usefixtures("shares", "silent")
async def test_chunks_that_never_answer_do_not_keep_the_sweep_from_the_others(
    http: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_ends, clock, is_over = closed_chunks.load_ends, SimpleNamespace(now=0.0), asyncio.Event()

    async def load_late(app: Any, tenant_id: str, chunk_id: str) -> DocumentChunkReport:
        if tenant_id == FIRST:
            clock.now += 10
            raise Unavailable(WORKER, "no worker answered in time")
        return await load_ends(app, tenant_id, chunk_id)

    async def record_late(*args: Any) -> int:
        await is_over.wait()
        return await chunks.record_ends(*args)

    monkeypatch.setattr(closed_chunks, "load_ends", load_late)
    monkeypatch.setattr(closed_chunks, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr("docrail.activities.internal.chunk_ends.record_ends", record_late)
    shared = await in_chunks(service, await upload_at_once(http, await publish(http, QUICK), 6))

    async def are_recorded() -> bool:
        await complete_chunks(service.app, older_than_seconds=0, within_seconds=30)
        return all(row["status"] for row in (await rows_of(service, shared)).values())

    await eventually(are_recorded, "the ends of the chunks that answer")
    is_over.set()
    assert clock.now


async def test_the_result_of_a_chunk_is_recorded_without_a_worker(
    embedded: Servers, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for one that no worker can replay any more."""

    async def lose(*_: Any) -> int:
        return 0

    monkeypatch.setattr("docrail.activities.internal.chunk_ends.record_ends", lose)
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    async with serve(settings) as served:
        monkeypatch.setattr(served.app.gatherings, "share_from", 1)
        async with work(settings):
            shared = await in_chunks(served, await upload_at_once(served.http, await publish(served.http, QUICK), 6))
            for chunk_id in {row["chunk_id"] for row in (await rows_of(served, shared)).values()}:
                await served.app.temporal.get_workflow_handle(document_chunk_id("default", chunk_id)).result()
        assert {row["status"] for row in (await rows_of(served, shared)).values()} == {None}
        await complete_chunks(served.app, older_than_seconds=0, within_seconds=30)
        assert {row["status"] for row in (await rows_of(served, shared)).values()} == {"completed"}
