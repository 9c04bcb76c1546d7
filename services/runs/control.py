"""Pause, resume, abort and answer runs through their workers, and record what people did to them."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from temporalio.client import WorkflowExecutionStatus, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from docrail.dag.language.inputs import InputProblem, InvalidValueError, check_answer
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import (
    RPC_TIMEOUT,
    WORKER,
    WORKER_TIMEOUT,
    blocked,
    engine_errors,
    status_of,
    worker_errors,
)
from docrail.services.errors import InvalidInput, MayNotDecide, NotFound, Unavailable, WrongState
from docrail.services.paging import not_a_page
from docrail.services.runs.executing import describe, handle_of
from docrail.services.runs.models import OperatorAction
from docrail.services.runs.repository import list_actions, record_action
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.explanation import load_step_status
from docrail.workflows.contract.names import (
    ABORT,
    ANSWER,
    INVALID_VALUE,
    NOT_ALLOWED,
    PAUSE,
    RESUME,
    UNKNOWN_STEP,
    WRONG_STATE,
    outer_run_id,
)

CANCEL = "cancel"
"""Name of the action that Temporal itself carries out."""

UNANSWERED = "no worker answered: it may have been carried out later, or not at all"
"""The `outcome` of an action whose result is unknown."""


async def pause_run(app: App, principal: Principal, run_id: str, *, reason: str = "") -> RunStatus:
    """Start no more steps of the run; running ones continue. Raises: NotFound, WrongState, Unavailable."""
    async with _recorded(app, principal, run_id, PAUSE, {"reason": reason}):
        return await update_run(app, principal, run_id, PAUSE)


async def resume_run(app: App, principal: Principal, run_id: str, *, reason: str = "") -> RunStatus:
    """Resume a paused run. Raises: NotFound, WrongState, Unavailable."""
    async with _recorded(app, principal, run_id, RESUME, {"reason": reason}):
        return await update_run(app, principal, run_id, RESUME)


async def abort_run(app: App, principal: Principal, run_id: str, reason: str, *, force: bool = False) -> RunStatus:
    """End the run early; its running steps are still being stopped. Raises: NotFound, WrongState, Unavailable.

    `force` bypasses the worker, for a run whose workflow task fails. Its steps are not notified, and the run fails.
    """
    if not force:
        async with _recorded(app, principal, run_id, ABORT, {"reason": reason}):
            return await end_run(app, principal, run_id, reason)
    async with _recorded(app, principal, run_id, ABORT, {"reason": reason, "force": True}):
        handle = await handle_of(app, principal.tenant_id, run_id)
        text = f"aborted by force, by {principal.name}: {reason}"
        try:
            with engine_errors("run", run_id):
                await handle.terminate(reason=text, rpc_timeout=RPC_TIMEOUT)
        except NotFound:
            raise await _ended(app, principal, run_id, ABORT) from None
        return RunStatus.FAILED


async def cancel_run(app: App, principal: Principal, run_id: str, *, reason: str = "") -> RunStatus:
    """Ask the run to stop; unlike an aborted run, a cancelled one can be retried.

    Needs no worker: the run stops as soon as one is available. Raises: NotFound, WrongState, Unavailable.
    """
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    if description.status is not WorkflowExecutionStatus.RUNNING:
        raise WrongState(CANCEL, status_of(description))
    if description.parent_id is not None:
        advice = f"it is a part of {outer_run_id(description.parent_id)!r}: cancel that one"
        raise WrongState(CANCEL, status_of(description), advice=advice)
    async with _recorded(app, principal, run_id, CANCEL, {"reason": reason}):
        handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
        try:
            with engine_errors("run", run_id):
                await handle.cancel(rpc_timeout=RPC_TIMEOUT)
        except NotFound:
            raise await _ended(app, principal, run_id, CANCEL) from None
    return RunStatus.CANCELLED


async def end_run(app: App, principal: Principal, run_id: str, reason: str, *, is_continued: bool = False) -> RunStatus:
    """Abort the run, or with `is_continued` end it so that another continues.

    Raises: NotFound, WrongState, Unavailable.
    """
    return await update_run(app, principal, run_id, ABORT, reason, is_continued, principal.name)


async def answer_wait(
    app: App, principal: Principal, run_id: str, step_id: str, answer: Json, *, update_id: str | None = None
) -> RunStatus:
    """Answer a step that waits for a signal, a webhook or a person; the first answer that it accepts counts.

    Repeating an accepted `update_id` is accepted and has no effect. Raises: NotFound (the run, or a step of it that
    takes answers), WrongState, MayNotDecide, InvalidInput, Unavailable.
    """
    await check_carried(answer)  # the run checks the rest
    try:
        who = (principal.name, principal.known_to or "")
        return await update_run(app, principal, run_id, ANSWER, step_id, answer, *who, update_id=update_id)
    except WrongState as error:
        cause = error.__cause__.cause if isinstance(error.__cause__, WorkflowUpdateFailedError) else None
        match cause:
            case ApplicationError(type=type_, details=[list(known), *_]) if type_ == UNKNOWN_STEP:
                raise NotFound("waiting step", step_id, known=known) from None
            case ApplicationError(type=type_, message=why) if type_ == NOT_ALLOWED:
                raise MayNotDecide(why) from None
            case ApplicationError(type=type_, details=[list(problems), *_]) if type_ == INVALID_VALUE:
                raise InvalidInput([InputProblem(path, message) for path, message in problems]) from None
        raise


async def check_carried(answer: Json) -> None:
    """Reject an answer that Temporal cannot carry: NaN, NUL, unpaired surrogates. Raises: InvalidInput."""
    try:
        await asyncio.to_thread(check_answer, {}, answer)
    except InvalidValueError as error:
        raise InvalidInput(error.problems) from None


async def update_run(
    app: App, principal: Principal, run_id: str, action: str, *arguments: Json, update_id: str | None = None
) -> RunStatus:
    """Have the run's worker perform `action`, and return the run's new status.

    Raises: NotFound, WrongState, Unavailable.

    Of several updates with one `update_id`, the run receives the first that it accepts.
    """
    handle = await handle_of(app, principal.tenant_id, checked_run_id(run_id))
    try:
        with engine_errors("run", run_id), worker_errors():
            async with asyncio.timeout(WORKER_TIMEOUT.total_seconds()):
                answer: str = await handle.execute_update(
                    action, args=arguments, id=update_id, rpc_timeout=WORKER_TIMEOUT
                )
    except NotFound:  # Temporal also reports this for an ended run
        raise await _ended(app, principal, run_id, action) from None
    except WorkflowUpdateFailedError as error:
        raise WrongState(action, await _refusing_state(app, principal, run_id, error)) from error
    except Unavailable as error:
        if error.service != WORKER:
            raise
        raise await _unanswered(app, principal, run_id, action, error) from error
    return RunStatus(answer)


@asynccontextmanager
async def _recorded(
    app: App, principal: Principal, run_id: str, action: str, details: dict[str, Json]
) -> AsyncIterator[None]:
    """Record the block's action on the whole run unless it is refused. Raises: NotFound.

    If no worker answered, the unknown outcome is recorded. The record is written afterwards, so that no
    connection is held while waiting for a run without a worker.
    """
    checked_run_id(run_id)
    record = partial(record_action, app.db, principal.tenant_id, run_id, None, action, by=principal.name)
    try:
        yield
    except Unavailable as error:
        if isinstance(error.__cause__, Unavailable) and error.__cause__.service == WORKER:
            await record(details=details | {"outcome": UNANSWERED})
        raise
    await record(details=details)


async def _ended(app: App, principal: Principal, run_id: str, action: str) -> WrongState:
    """Return the refusal of an action on an ended run. Raises: NotFound, Unavailable."""
    return WrongState(action, status_of(await describe(app, principal.tenant_id, run_id)))


async def _unanswered(app: App, principal: Principal, run_id: str, action: str, error: Unavailable) -> Unavailable:
    """Return the error for an update that no worker has answered; Temporal may still deliver it."""
    description = await describe(app, principal.tenant_id, run_id)
    may = f"the {action} may still be carried out, so look at the run before you ask again"
    return blocked(app, description) or Unavailable(WORKER, f"{error.detail}; {may}")


async def _refusing_state(app: App, principal: Principal, run_id: str, error: WorkflowUpdateFailedError) -> str:
    """Return the state that refused: the one that the run reports, or how it ended meanwhile."""
    if isinstance(error.cause, ApplicationError) and error.cause.type == WRONG_STATE:
        return str(error.cause.details[0])
    return status_of(await describe(app, principal.tenant_id, run_id))


ACTION_ID_PATTERN = r"act_[0-9a-f]{32}"


@dataclass(frozen=True, slots=True)
class ActionPage:
    """A page of actions, newest first."""

    actions: list[OperatorAction]
    after: str | None


async def list_run_actions(
    app: App,
    principal: Principal,
    run_id: str,
    *,
    step_id: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> ActionPage:
    """Return a page of the actions on a run; with a step only those on it or on the whole run.

    Also works for a run that Temporal has deleted, if there were any actions. Raises: NotFound, also for a step that
    the run does not have, InvalidInput, Unavailable.
    """
    if after is not None and not re.fullmatch(ACTION_ID_PATTERN, after):
        raise not_a_page()
    tenant_id = principal.tenant_id
    found = await list_actions(
        app.db, tenant_id, checked_run_id(run_id), step_id=step_id, limit=limit + 1, before=after
    )
    if not found and not await list_actions(app.db, tenant_id, run_id, limit=1):
        await describe(app, tenant_id, run_id)  # raises if there is no such run
    if step_id is not None and not any(action.step_id == step_id for action in found):
        await _check_step(app, principal, run_id, step_id)
    return ActionPage(found[:limit], found[limit - 1].action_id if len(found) > limit else None)


async def _check_step(app: App, principal: Principal, run_id: str, step_id: str) -> None:
    """Refuse a step that the run does not have, if the run can be asked. Raises: NotFound."""
    try:
        status = await load_step_status(app, principal, run_id, step_id)
    # Temporal has deleted it, or no worker answers: the actions can be listed without it
    except (NotFound, Unavailable):
        return
    if status is None:
        raise NotFound("step", f"{run_id} {step_id}")
