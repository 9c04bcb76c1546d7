"""Load and store the states of runs for retries: the request of an ended run, and the state in which it ended.

A state too large for a workflow's argument is stored in the value store, in pieces.
"""

from temporalio.client import WorkflowExecutionDescription, WorkflowQueryFailedError

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.values import ValueStore
from docrail.dag.engine.dispatch import MAX_CARRIED_BYTES
from docrail.dag.engine.saved_state import PIECES, StatePiece, joined, split, standing_for
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES, part_of
from docrail.services.app import App
from docrail.services.engine import MAX_REQUEST_BYTES, RPC_TIMEOUT, WORKER_TIMEOUT, engine_errors, worker_errors
from docrail.services.errors import TooLarge, Unavailable
from docrail.workflows.contract.names import SAVED, RunRequest, run_id_of, tenant_of


async def keep_state(values: ValueStore, tenant_id: str, state: dict[str, Json]) -> dict[str, Json]:
    """Store the state, durable on return, and return its reference. Raises: OSError."""
    marks: list[Json] = []
    for piece in split(state):
        part = await values.put(tenant_id, {"path": list(piece.path), "part": piece.part})
        marks.append(part.to_json())
    return standing_for(state, marks)


async def load_state(values: ValueStore, tenant_id: str, state: dict[str, Json]) -> dict[str, Json]:
    """Return the state that `state` refers to, or `state` itself if it is not a reference.

    Raises: StorageError (a piece is lost).
    """
    if PIECES not in state:
        return state
    return joined([await load_piece(values, tenant_id, mark) for mark in state[PIECES]])


async def load_piece(values: ValueStore, tenant_id: str, mark: dict[str, Json]) -> StatePiece:
    """Return the piece that `mark` refers to. Raises: StorageError, OSError."""
    part = part_of(mark)
    assert part is not None, "a state's pieces are named by marks of ours"
    kept: dict[str, Json] = (await values.get(tenant_id, part.sha256)).value
    return StatePiece(tuple(kept["path"]), kept["part"])


MAX_STATE_BYTES = MAX_CARRIED_BYTES // 2
"""Largest state that can be retried, as JSON: the new run's history contains it, and needs room for what follows."""


async def request_of(app: App, description: WorkflowExecutionDescription) -> RunRequest:
    """Return the argument of a run from the first event of its history. Raises: NotFound, Unavailable."""
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    with engine_errors("run", run_id_of(description.id)):
        first = await anext(handle.fetch_history_events(page_size=1, rpc_timeout=RPC_TIMEOUT))
    payloads = first.workflow_execution_started_event_attributes.input.payloads
    [request] = await app.temporal.data_converter.decode(payloads, [RunRequest])
    assert isinstance(request, RunRequest)
    return request


async def saved_state(app: App, description: WorkflowExecutionDescription) -> dict[str, Json]:
    """Return the state in which a run ended; a worker replays it. Raises: NotFound, Unavailable, TooLarge."""
    try:
        saved = await _ask(app, description)
    except WorkflowQueryFailedError:  # too large for one response
        saved = await _in_pieces(app, description)
    try:  # a run that was stopped before it had loaded its initial state refers to it
        return await load_state(app.values, tenant_of(description.id), saved)
    except StorageError as error:
        raise Unavailable("the value store", str(error)) from error


async def kept(app: App, request: RunRequest) -> RunRequest:
    """Return the request with its larger states moved to the value store, so that it fits. Raises: Unavailable."""
    tenant_id, resumed = request.tenant_id, request.resumed
    try:
        inner = {run_id: await _kept(app, tenant_id, state) for run_id, state in request.resumed_inner.items()}
        own = resumed and await _kept(app, tenant_id, resumed)
    except OSError as error:
        raise Unavailable("the value store", str(error)) from error
    return request.model_copy(update={"resumed": own, "resumed_inner": inner})


async def _kept(app: App, tenant_id: str, state: dict[str, Json]) -> dict[str, Json]:
    return state if size_of(state) <= MAX_INLINE_BYTES else await keep_state(app.values, tenant_id, state)


async def _in_pieces(app: App, description: WorkflowExecutionDescription) -> dict[str, Json]:
    pieces: list[StatePiece] = []
    size, count = 0, 1
    while len(pieces) < count:
        try:
            answer = await _ask(app, description, len(pieces))
        except WorkflowQueryFailedError as error:  # a worker of a build that only returns whole states
            raise TooLarge(MAX_REQUEST_BYTES) from error
        if (size := size + size_of(answer)) > MAX_STATE_BYTES:
            raise TooLarge(MAX_STATE_BYTES)
        pieces.append(StatePiece(tuple(answer["path"]), answer["part"]))
        count = answer["count"]
    return joined(pieces)


async def _ask(app: App, description: WorkflowExecutionDescription, *piece: int) -> dict[str, Json]:
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    with engine_errors("run", run_id_of(description.id)), worker_errors():
        answer: dict[str, Json] = await handle.query(SAVED, args=piece, rpc_timeout=WORKER_TIMEOUT)
    return answer
