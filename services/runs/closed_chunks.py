"""Complete what chunks have left undone: ends that were not recorded, and runs that have left and did not move.

A chunk that works records the ends of its runs itself. This is for one that was ended by force, that keeps failing, or
whose runs had to leave.
"""

import asyncio
import logging
import time
from contextlib import suppress

from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowQueryFailedError

from docrail.adapters.postgres.tenants import all_tenants, of_tenant
from docrail.dag.language.statuses import RunStatus
from docrail.services.app import App
from docrail.services.documents.service import load_documents
from docrail.services.engine import RPC_TIMEOUT, WORKER_TIMEOUT, engine_errors, is_not_ready, worker_errors
from docrail.services.errors import NotFound, OperationError, Unavailable
from docrail.services.runs.chunks import record_ends
from docrail.services.runs.leaving import end_stuck, move_out
from docrail.services.runs.models import OpenChunk, StoredChunkedRun
from docrail.services.runs.repository import list_open_chunks, load_chunk
from docrail.workflows.contract.names import CHUNKED_ENDS, DocumentChunkReport, document_chunk_id

CHUNKS_AT_ONCE = 10
"""Side by side: one that does not answer must not hold up the others."""

MOST_CHUNKS = 10_000
"""Of a sweep: more than it has time for."""

log = logging.getLogger(__name__)


async def complete_chunks(app: App, *, older_than_seconds: float, within_seconds: float) -> int:
    """Complete the chunks of all tenants, and return how many ends of runs were recorded.

    No more are begun after `within_seconds`. One that cannot be completed now is left to the next sweep.
    """
    until, left = time.monotonic() + within_seconds, iter(await _open_chunks(app, older_than_seconds))

    async def complete_some() -> int:
        noted = 0
        while time.monotonic() < until and (chunk := next(left, None)):
            noted += await _complete_if_possible(app, chunk)
        return noted

    return sum(await asyncio.gather(*(complete_some() for _ in range(CHUNKS_AT_ONCE))))


async def load_ends(app: App, tenant_id: str, chunk_id: str) -> DocumentChunkReport:
    """Return how the runs of a chunk that run there no more have ended, or that they have left.

    Raises: NotFound, Unavailable, WorkflowQueryFailedError.
    """
    handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, chunk_id))
    with engine_errors("chunk", chunk_id), worker_errors():
        found: DocumentChunkReport = await handle.query(
            CHUNKED_ENDS, result_type=DocumentChunkReport, rpc_timeout=WORKER_TIMEOUT
        )
    return found


async def _open_chunks(app: App, older_than_seconds: float) -> list[OpenChunk]:
    with all_tenants():
        return await list_open_chunks(app.db, older_than_seconds=older_than_seconds, limit=MOST_CHUNKS)


async def _complete_if_possible(app: App, chunk: OpenChunk) -> int:
    try:
        with of_tenant(chunk.tenant_id):
            return await _complete(app, chunk)
    except OperationError as error:
        log.warning("the ends of chunk %s are not known yet: %s", chunk.chunk_id, error)
    except Exception:
        log.exception("chunk %s cannot be completed", chunk.chunk_id)  # the others are not held up
    return 0


async def _complete(app: App, chunk: OpenChunk) -> int:
    tenant_id, chunk_id = chunk.tenant_id, chunk.chunk_id
    rows = await load_chunk(app.db, tenant_id, chunk_id)
    still_open = [row for row in rows if row.moved_at is None and row.status is None]
    try:
        has_ended = await end_stuck(app, tenant_id, chunk_id)
        known = await _known_ends(app, chunk, has_ended=has_ended)
    except NotFound:
        return await _record_deleted(app, tenant_id, still_open)
    ends = {run_id: status for run_id, status in known.items() if status is not None}
    noted = await record_ends(app, tenant_id, ends)
    for row in still_open:
        has_left = row.run_id in known or has_ended
        if has_left and row.run_id not in ends:
            await move_out(app, tenant_id, row.run_id)
    return noted


async def _known_ends(app: App, chunk: OpenChunk, *, has_ended: bool) -> dict[str, RunStatus | None]:
    """Return the ends of the chunk's runs, None of those that have left; none at all if it cannot be rebuilt."""
    try:
        report = await _load_result(app, chunk) if has_ended else None
        report = report or await load_ends(app, chunk.tenant_id, chunk.chunk_id)
    except WorkflowQueryFailedError:
        return {}
    except Unavailable as error:
        if not is_not_ready(error):
            raise
        return {}
    return {end.run_id: end.status for end in report.ends}


async def _load_result(app: App, chunk: OpenChunk) -> DocumentChunkReport | None:
    """Return what a chunk has returned, without a worker; None if it was ended by force. Raises: Unavailable."""
    handle: WorkflowHandle[object, DocumentChunkReport] = app.temporal.get_workflow_handle(
        document_chunk_id(chunk.tenant_id, chunk.chunk_id), result_type=DocumentChunkReport
    )
    with engine_errors("chunk", chunk.chunk_id), suppress(WorkflowFailureError):
        return await handle.result(rpc_timeout=RPC_TIMEOUT)
    return None


async def _record_deleted(app: App, tenant_id: str, rows: list[StoredChunkedRun]) -> int:
    """Record that runs, whose chunk Temporal has deleted, have failed. One that was never started starts later."""
    documents = await load_documents(app.db, tenant_id, [row.document_id for row in rows])
    started = [row.run_id for row in rows if documents[row.document_id].run_started_at is not None]
    return await record_ends(app, tenant_id, dict.fromkeys(started, RunStatus.FAILED))
