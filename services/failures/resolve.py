"""Resolve a failed step: in the run that waits for it, or by retrying the run that has ended."""

import asyncio
from dataclasses import dataclass

from temporalio.client import WorkflowExecutionStatus, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from docrail.adapters.postgres.pool import transaction
from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.plan import Step, plan_of
from docrail.dag.engine.retry import FIELDS, Edit, is_left
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.errors import InvalidInput, NotFound, WrongState
from docrail.services.failures import repository as dead_letters
from docrail.services.failures.edits import resolution_of, value_problems
from docrail.services.failures.retry import RetryOrder, describe_settled, retry_run
from docrail.services.runs.control import update_run
from docrail.services.runs.executing import describe
from docrail.services.runs.saved import request_of
from docrail.services.runs.service import checked_run_id, record_action
from docrail.services.runs.views.reports import show_run
from docrail.workflows.contract.names import INVALID_VALUE, RESOLVE, UNKNOWN_STEP, RunRequest, outer_run_id


@dataclass(frozen=True, slots=True)
class Settled:
    """The run in which a failed step was resolved, and its status. A nested run is retried by its outer run."""

    run_id: str
    step_id: str
    status: RunStatus


async def settle_step(
    app: App, principal: Principal, run_id: str, step_id: str, edit: Edit, *, reason: str = ""
) -> Settled:
    """Retry, skip or provide the output of a failed step, whether its run waits for that or has ended.

    If the step's compensation is unfinished, a retry repeats only the compensation.

    Raises: NotFound, WrongState, InvalidInput, TooLarge, Unavailable.
    """
    description = await describe_settled(app, principal, run_id)
    if description.status is WorkflowExecutionStatus.RUNNING:
        status = await resolve_step(app, principal, run_id, step_id, edit, reason=reason)
        return Settled(run_id, step_id, status)
    is_plain = edit == Edit(ResolutionKind.RETRY)
    if is_plain and await _is_undoing(app, principal, run_id, step_id):
        undone = await retry_run(app, principal, run_id, RetryOrder({}, reason=reason, undo=True))
        return Settled(run_id, step_id, undone.status)
    if description.parent_id is not None and is_plain:
        outer = outer_run_id(description.parent_id)
        outer_step = run_id.removeprefix(f"{outer}~").partition("~")[0]
        return await settle_step(app, principal, outer, outer_step, edit, reason=reason)
    order = RetryOrder({} if is_plain else {step_id: edit}, reason=reason)
    retried = await retry_run(app, principal, run_id, order)
    return Settled(run_id, step_id, retried.status)


async def _is_undoing(app: App, principal: Principal, run_id: str, step_id: str) -> bool:
    """Check whether the unfinished part of an ended run's step is its compensation."""
    step = (await show_run(app, principal, run_id)).steps.get(step_id)
    return step is not None and is_left(step.compensation)


async def resolve_step(
    app: App, principal: Principal, run_id: str, step_id: str, edit: Edit, *, reason: str = ""
) -> RunStatus:
    """Retry, skip or provide the output of a parked step in its waiting run; return the run's status.

    Raises: NotFound (the run, the step), WrongState, InvalidInput, Unavailable.
    """
    tenant_id = principal.tenant_id
    if edit.value is not None or edit.kind is ResolutionKind.OUTPUT:
        request = await request_of(app, await describe(app, tenant_id, checked_run_id(run_id)))
        step = _step_of(request, step_id)
        if problems := await asyncio.to_thread(value_problems, app, request, step, edit):
            raise InvalidInput(problems)
    async with transaction(app.db) as connection:
        resolution = resolution_of(edit)
        given = "items" if edit.kind is ResolutionKind.ITEMS else "value"
        details = {given: edit.value, "reason": reason}
        await record_action(connection, tenant_id, run_id, step_id, resolution, details=details, by=principal.name)
        letters = await dead_letters.load_open_letters(connection, tenant_id, run_id, step_id)
        status = await _resolve_in_run(app, principal, run_id, step_id, edit)
        for letter in letters:
            await dead_letters.close(connection, tenant_id, letter, resolution, by=principal.name)
    return status


async def _resolve_in_run(app: App, principal: Principal, run_id: str, step_id: str, edit: Edit) -> RunStatus:
    try:
        return await update_run(app, principal, run_id, RESOLVE, step_id, edit.kind, edit.value, principal.name)
    except WrongState as error:
        if not isinstance(error.__cause__, WorkflowUpdateFailedError):
            raise WrongState(edit.kind, error.state) from None
        match error.__cause__.cause:
            case ApplicationError(type=type_, details=[list(known), *_]) if type_ == UNKNOWN_STEP:
                raise NotFound("step", step_id, known=known) from None
            case ApplicationError(type=type_, details=[list(problems), *_]) if type_ == INVALID_VALUE:
                raise InvalidInput([_problem(edit, *problem) for problem in problems]) from None
        raise WrongState(edit.kind, error.state, f"step {step_id!r}") from None


def _problem(edit: Edit, path: str, message: str, suggestion: str | None = None) -> InputProblem:
    """Return the refused input with the caller's field name: the whole value, or one item."""
    return InputProblem(FIELDS[edit.kind] if path == "value" else path, message, suggestion)


def _step_of(request: RunRequest, step_id: str) -> Step:
    plan = plan_of(request.definition, request.semantics)
    if step_id not in plan.index:
        raise NotFound("step", step_id, known=[*plan.index])
    return plan.step(step_id)
