"""Carries what is too large to travel inside a run to the value store, and brings back what expressions read of it."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from dag import calls
from dag.calls import LoadCall, StoreCall
from dag.messages import Load, Loaded, NotMoved, Store, Stored
from dag.state import StepError
from dag.values import Json
from workflows.contract import LOAD_VALUES, STORE_VALUE

ATTEMPT_TIMEOUT = timedelta(seconds=60)
TOTAL_TIMEOUT = timedelta(minutes=15)
"""A value store that has been away for so long needs a person, and a step that failed finds one. A run that is aborted
meanwhile ends no sooner."""


async def moved(tenant_id: str, command: Load | Store) -> Loaded | Stored | NotMoved:
    """Return the event that ends `command`, once the value is where it shall be, or cannot be."""
    try:
        return await _moved(tenant_id, command)
    except ActivityError as error:
        cause = error.cause or error
        kind = cause.type if isinstance(cause, ApplicationError) and cause.type else type(cause).__name__
        return NotMoved(command.step, StepError(kind, str(getattr(cause, "message", cause))), workflow.time())


async def _moved(tenant_id: str, command: Load | Store) -> Loaded | Stored:
    match command:
        case Load(step, parts):
            found: calls.Loaded = await workflow.execute_activity(
                LOAD_VALUES,
                LoadCall(tenant_id=tenant_id, parts=tuple(part.to_json() for part in parts)),
                result_type=calls.Loaded,
                start_to_close_timeout=ATTEMPT_TIMEOUT,
                schedule_to_close_timeout=TOTAL_TIMEOUT,
                summary=f"{LOAD_VALUES}: {step or 'outputs'}",
            )
            return Loaded(step, found.values, workflow.time(), found.missing)
        case Store(step, value):
            return Stored(step, await stored(tenant_id, step, value), workflow.time())


async def stored(tenant_id: str, step_id: str, value: Json) -> dict[str, Json]:
    """Keep a value of a step, and return what stands for it. Raises: ActivityError."""
    mark: dict[str, Json] = await workflow.execute_activity(
        STORE_VALUE,
        StoreCall(tenant_id=tenant_id, value=value),
        result_type=dict,
        start_to_close_timeout=ATTEMPT_TIMEOUT,
        schedule_to_close_timeout=TOTAL_TIMEOUT,
        summary=f"{STORE_VALUE}: {step_id}",
    )
    return mark
