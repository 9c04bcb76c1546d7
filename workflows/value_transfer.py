"""Move values too large for a run's data to the value store, and load the parts that expressions read."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from docrail.dag.engine.events import Load, Loaded, NotLoaded, NotStored, Store, Stored
from docrail.dag.engine.saved_state import PIECES, StatePiece, joined
from docrail.dag.engine.state import StepError
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import ForOutputs
from docrail.workflows.contract import messages as calls
from docrail.workflows.contract.messages import LoadCall, StateCall, StoreCall
from docrail.workflows.contract.names import LOAD_STATE, LOAD_VALUES, STORE_VALUE, RunRequest

ATTEMPT_TIMEOUT = timedelta(seconds=60)
TOTAL_TIMEOUT = timedelta(minutes=15)
"""A value store that was unavailable for so long needs a person, and so does the failed step. An aborted run still
waits until the outputs of its lists are stored, but not for values that would only be read."""


async def moved(tenant_id: str, command: Load | Store) -> Loaded | NotLoaded | Stored | NotStored:
    """Return the event that ends `command`, once the value was stored or loaded, or could not be."""
    try:
        return await _moved(tenant_id, command)
    except ActivityError as error:
        cause = error.cause or error
        kind = cause.type if isinstance(cause, ApplicationError) and cause.type else type(cause).__name__
        why, at = StepError(kind, str(getattr(cause, "message", cause))), workflow.time()
        return NotLoaded(command.reader, why, at) if isinstance(command, Load) else NotStored(command.step, why, at)


async def _moved(tenant_id: str, command: Load | Store) -> Loaded | Stored:
    match command:
        case Load(reader, parts, may_stay):
            marks = tuple(part.to_json() for part in parts)
            found: calls.Loaded = await workflow.execute_activity(
                LOAD_VALUES,
                LoadCall(tenant_id=tenant_id, parts=marks, may_stay=may_stay),
                result_type=calls.Loaded,
                start_to_close_timeout=ATTEMPT_TIMEOUT,
                schedule_to_close_timeout=TOTAL_TIMEOUT,
                summary=f"{LOAD_VALUES}: {'outputs' if isinstance(reader, ForOutputs) else reader.step}",
            )
            return Loaded(reader, found.parts, workflow.time())
        case Store(step, value):
            return Stored(step, await _stored(tenant_id, step, value), workflow.time())


async def kept_state(request: RunRequest) -> dict[str, Json]:
    """Return the state from which a retried run continues, loaded from its pieces, retried until it succeeds.

    A run that has not begun yet can wait.
    """
    assert request.resumed is not None, "only a run that continues from pieces loads them"
    pieces: list[StatePiece] = []
    for mark in request.resumed[PIECES]:
        call = StateCall(tenant_id=request.tenant_id, piece=mark)
        pieces.append(
            await workflow.execute_activity(
                LOAD_STATE, call, result_type=StatePiece, start_to_close_timeout=ATTEMPT_TIMEOUT, summary=LOAD_STATE
            )
        )
    return joined(pieces)


async def outputs_for_outer(request: RunRequest, outputs: dict[str, Json]) -> dict[str, Json]:
    """Return a nested run's outputs for the outer run: their placeholder, if they are too large.

    Large outputs of many nested runs therefore never pass through the outer run. Outputs that cannot be stored are
    returned unchanged, and the outer run handles them. Raises: ActivityError if the run is cancelled meanwhile.
    """
    if request.inline_bytes is None or size_of(outputs) <= request.inline_bytes:
        return outputs
    try:
        return await _stored(request.tenant_id, "outputs", outputs)
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        workflow.logger.warning("the outputs of %s could not be stored: %s", request.run_id, error.cause)
        return outputs


async def _stored(tenant_id: str, step_id: str, value: Json) -> dict[str, Json]:
    mark: dict[str, Json] = await workflow.execute_activity(
        STORE_VALUE,
        StoreCall(tenant_id=tenant_id, value=value),
        result_type=dict,
        start_to_close_timeout=ATTEMPT_TIMEOUT,
        schedule_to_close_timeout=TOTAL_TIMEOUT,
        summary=f"{STORE_VALUE}: {step_id}",
    )
    return mark
