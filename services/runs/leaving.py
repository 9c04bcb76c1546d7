"""Move a run that shares a workflow with others to a workflow of its own, exactly once and with what it has done.

The chunk stops the run's work first, then its state starts the run's own workflow, whose id admits only one. A crash in
between leaves a run that has left its chunk: whoever looks for it next, or its batch, completes the move. A run that
has ended in the chunk ends in its own workflow at once, in the same state.
"""

from temporalio.client import WorkflowHandle, WorkflowQueryFailedError
from temporalio.common import WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from docrail.dag.engine.plan import plan_of
from docrail.dag.engine.saved_state import StatePiece, joined, stopped
from docrail.dag.language.definition import Definition
from docrail.dag.values.json_values import Json
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, WORKER_TIMEOUT, engine_errors, worker_errors
from docrail.services.errors import NotFound
from docrail.services.runs.priority import priority_of
from docrail.services.runs.repository import load_chunked, mark_moved
from docrail.services.runs.saved import kept
from docrail.services.runs.starting import start_workflow
from docrail.workflows.contract.names import LEAVE, SAVED, DocumentChunkRequest, document_chunk_id

Handle = WorkflowHandle[object, object]


async def move_out(app: App, tenant_id: str, run_id: str) -> bool:
    """Give the run a workflow of its own, and return whether it was in a chunk until now. Safe to repeat.

    Raises: NotFound (its chunk has not started, or Temporal has deleted it), Unavailable.
    """
    row = None if "~" in run_id else await load_chunked(app.db, tenant_id, run_id)
    if row is None or row.moved_at is not None:
        return False
    handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, row.chunk_id))
    await _leave(handle, run_id)
    request = await _request_of(app, handle, run_id)
    [run] = (each for each in request.runs if each.run_id == run_id)
    state = stopped(plan_of(request.definition, request.semantics), await _saved(handle, run_id))
    alone = await kept(app, request.request_of(run).model_copy(update={"resumed": state}))
    definition = Definition.model_validate(request.definition)
    wanted = run.memo.get("priority")
    order = priority_of(definition, tenant_id, run.inputs, wanted, highest=request.highest_priority)
    await start_workflow(app, alone, run.memo, order, WorkflowIDReusePolicy.REJECT_DUPLICATE)
    await mark_moved(app.db, tenant_id, run_id)
    return True


async def _leave(handle: Handle, run_id: str) -> None:
    """Have the chunk stop the run's work. A chunk that has ended has no work. Raises: Unavailable."""
    with engine_errors("run", run_id), worker_errors():
        try:
            await handle.execute_update(LEAVE, run_id, rpc_timeout=WORKER_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise


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
