"""Move a run that shares a workflow with others to a workflow of its own, exactly once and with what it has done.

The chunk stops the run's work first, then its state starts the run's own workflow, whose id admits only one. A crash in
between leaves a run that has left its chunk: whoever looks for it next, or its batch, completes the move. A run that
has ended in the chunk ends in its own workflow at once, in the same state.

A chunk whose workflow task keeps failing is ended by force. A run whose state cannot be rebuilt after that starts
again: its calls have the identities that they had.
"""

import logging
from contextlib import suppress

from temporalio.client import WorkflowExecutionStatus, WorkflowHandle, WorkflowQueryFailedError
from temporalio.common import WorkflowIDReusePolicy

from docrail.dag.engine.plan import plan_of
from docrail.dag.engine.saved_state import StatePiece, joined, stopped
from docrail.dag.language.definition import Definition
from docrail.dag.values.json_values import Json
from docrail.services.app import App
from docrail.services.engine import (
    RPC_TIMEOUT,
    WORKER,
    WORKER_TIMEOUT,
    engine_errors,
    failed_tasks,
    is_not_ready,
    worker_errors,
)
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.priority import priority_of
from docrail.services.runs.repository import load_chunked, mark_moved
from docrail.services.runs.saved import kept
from docrail.services.runs.starting import start_workflow
from docrail.workflows.contract.names import LEAVE, SAVED, DocumentChunkRequest, document_chunk_id

Handle = WorkflowHandle[object, object]

MOST_FAILURES = 3
"""Failures in a row of a chunk's workflow task, within about half a minute, after which the chunk is ended."""

log = logging.getLogger(__name__)


async def move_out(app: App, tenant_id: str, run_id: str) -> bool:
    """Give the run a workflow of its own, and return whether it was in a chunk until now. Safe to repeat.

    Raises: NotFound (its chunk has not started, or Temporal has deleted it), Unavailable.
    """
    row = None if "~" in run_id else await load_chunked(app.db, tenant_id, run_id)
    if row is None or row.moved_at is not None:
        return False
    handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, row.chunk_id))
    await _leave(app, tenant_id, row.chunk_id, run_id)
    request = await _request_of(app, handle, run_id)
    [run] = (each for each in request.runs if each.run_id == run_id)
    saved = await _rebuilt(handle, run_id)
    state = None if saved is None else stopped(plan_of(request.definition, request.semantics), saved)
    alone = await kept(app, request.request_of(run).model_copy(update={"resumed": state}))
    definition = Definition.model_validate(request.definition)
    wanted = run.memo.get("priority")
    order = priority_of(definition, tenant_id, run.inputs, wanted, highest=request.highest_priority)
    await start_workflow(app, alone, run.memo, order, WorkflowIDReusePolicy.REJECT_DUPLICATE)
    await mark_moved(app.db, tenant_id, [run_id])
    return True


async def end_stuck(app: App, tenant_id: str, chunk_id: str) -> bool:
    """End a chunk whose workflow task keeps failing, so that its runs move out; return whether it is not running then.

    Raises: NotFound, Unavailable.
    """
    handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, chunk_id))
    with engine_errors("chunk", chunk_id):
        found = await handle.describe(rpc_timeout=RPC_TIMEOUT)
    if found.status is not WorkflowExecutionStatus.RUNNING:
        return True
    failures = failed_tasks(found)
    if failures < MOST_FAILURES:
        return False
    reason = f"its workflow task has failed {failures} times in a row: its runs go on in workflows of their own"
    with suppress(NotFound), engine_errors("chunk", chunk_id):  # another call has just ended it
        await handle.terminate(reason=reason, rpc_timeout=RPC_TIMEOUT)
    log.warning("chunk %s was ended: %s", chunk_id, reason)
    return True


async def _leave(app: App, tenant_id: str, chunk_id: str, run_id: str) -> None:
    """Have the chunk stop the run's work. A chunk that has ended has no work. Raises: Unavailable."""
    handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, chunk_id))
    try:
        with engine_errors("run", run_id), worker_errors():
            await handle.execute_update(LEAVE, run_id, rpc_timeout=WORKER_TIMEOUT)
    except NotFound:
        pass
    except Unavailable:
        if not await end_stuck(app, tenant_id, chunk_id):
            raise


async def _rebuilt(handle: Handle, run_id: str) -> dict[str, Json] | None:
    """Return the run's state; None if its chunk was ended by force and none can rebuild it. Raises: Unavailable."""
    try:
        return await _saved(handle, run_id)
    except WorkflowQueryFailedError as error:
        refusal = Unavailable(WORKER, str(error))
    except Unavailable as error:
        if not is_not_ready(error):
            raise
        refusal = error
    with engine_errors("run", run_id):
        status = (await handle.describe(rpc_timeout=RPC_TIMEOUT)).status
    if status in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED):
        raise refusal
    log.warning("run %s starts again, as its state cannot be rebuilt: %s", run_id, refusal)
    return None


async def _request_of(app: App, handle: Handle, run_id: str) -> DocumentChunkRequest:
    with engine_errors("run", run_id):
        first = await anext(handle.fetch_history_events(page_size=1, rpc_timeout=RPC_TIMEOUT), None)
    if first is None:
        raise NotFound("run", run_id)
    payloads = first.workflow_execution_started_event_attributes.input.payloads
    [request] = await app.temporal.data_converter.decode(payloads, [DocumentChunkRequest])
    assert isinstance(request, DocumentChunkRequest)
    return request


async def _saved(handle: Handle, run_id: str) -> dict[str, Json]:
    """Return the run's state, which a worker rebuilds from the chunk's history. Raises: Unavailable."""
    with engine_errors("run", run_id), worker_errors():
        try:
            return await _ask(handle, run_id)
        except WorkflowQueryFailedError:  # too large for one response
            pieces = list[StatePiece]()
            count = 1
            while len(pieces) < count:
                answer = await _ask(handle, run_id, len(pieces))
                pieces.append(StatePiece(tuple(answer["path"]), answer["part"]))
                count = answer["count"]
            return joined(pieces)


async def _ask(handle: Handle, *args: Json) -> dict[str, Json]:
    answer: dict[str, Json] = await handle.query(SAVED, args=args, rpc_timeout=WORKER_TIMEOUT)
    return answer
