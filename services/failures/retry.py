"""Retry a run that ended without success: start a new Temporal run under the same id, keeping finished work.

Also restores the states of the nested runs that are retried with it, and retries unfinished compensations.
In one file because a preview and a retry must decide the same.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field
from pydantic_core import to_json
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowFailureError

from docrail.adapters.postgres.pool import transaction
from docrail.dag.engine.plan import Plan, Step, plan_of
from docrail.dag.engine.rerun import Rerun, changed_inputs, rerun_problems
from docrail.dag.engine.retry import (
    UNDOABLE,
    Edit,
    Fate,
    Retry,
    StepFate,
    Who,
    is_left,
    plan_retry,
    plan_undoing,
    renew_context,
    skip_problems,
)
from docrail.dag.engine.saved_state import save
from docrail.dag.engine.state import RunState
from docrail.dag.explain.retry_preview import foretold, resolved
from docrail.dag.explain.words import SAID_KEYS, named
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem, complete_inputs
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal
from docrail.services.access.service import list_known_to
from docrail.services.app import App
from docrail.services.definitions.checks import check_inputs
from docrail.services.definitions.nested import pin_nested
from docrail.services.definitions.service import load
from docrail.services.engine import MAX_REQUEST_BYTES, WORKER_TIMEOUT, status_of
from docrail.services.errors import InvalidInput, NotFound, TooLarge, Unavailable, WrongState
from docrail.services.failures import repository as dead_letters
from docrail.services.failures.edits import check_edits, refusing_violations, resolution_of
from docrail.services.failures.models import StoredLetter
from docrail.services.limits.service import check_tags
from docrail.services.runs.control import end_run
from docrail.services.runs.executing import describe
from docrail.services.runs.room import take_room
from docrail.services.runs.saved import kept, request_of, saved_state
from docrail.services.runs.service import (
    checked_run_id,
    continue_run,
    lock_run,
    priority_of,
    record_action,
)
from docrail.services.runs.views.reports import show_run
from docrail.workflows.contract.names import RunRequest, child_run_id, nested_key, outer_run_id, run_id_of

_RETRYABLE = frozenset({RunStatus.FAILED, RunStatus.CANCELLED})
"""An aborted run is over by decision. A completed one may have failed items (_may_go_on)."""

DOCUMENT_ID = "document_id"

_OVER = _RETRYABLE | {RunStatus.COMPLETED, RunStatus.ABORTED}


@dataclass(frozen=True, slots=True)
class RetryOrder:
    """A caller's request to retry. `version` None: the version that ran.

    `from_steps`: ids of steps that run again although they completed, with all that follows them. `inputs` replace
    those of the run; steps that read them run again. `undo`: only repeat unfinished compensations; this allows nothing
    else.
    """

    edits: Mapping[str, Edit]
    version: int | None = None
    reason: str = ""
    undo: bool = False
    from_steps: frozenset[str] = frozenset()
    inputs: Mapping[str, Json] = field(default_factory=dict)

    @property
    def reruns(self) -> bool:
        """Return whether steps that completed run again, which a completed run allows too."""
        return bool(self.from_steps or self.inputs)


@dataclass(frozen=True, slots=True)
class RetriedRun:
    """A retried run, or its preview: the version, and the fate of each step."""

    run_id: str
    version: int
    status: RunStatus
    steps: dict[str, StepFate]
    end: Annotated[str, Field(description="how it would end at once, with a preview of a run with parked steps")] = ""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A retry that is ready to start."""

    description: WorkflowExecutionDescription
    request: RunRequest
    fates: dict[str, StepFate]


async def retry_run(app: App, principal: Principal, run_id: str, order: RetryOrder) -> RetriedRun:
    """Start an ended run again from its failed steps. Concurrent calls start one run.

    With a version, a run that waits with parked steps is ended in its current state and continued under that version.
    With `undo`, a failed or aborted run repeats its unfinished compensations, and then ends with the same status.

    Raises: NotFound (run, version), WrongState, InvalidInput, TooLarge, QuotaExceeded (not for `undo`), Unavailable.
    """
    prepared = await _prepare(app, principal, run_id, order)
    if prepared.description.status is not WorkflowExecutionStatus.RUNNING and not order.undo:
        await take_room(app, principal, run_id, prepared.description.start_time)
    if status_of(prepared.description) is RunStatus.WAITING:
        await _hand_over(app, principal, run_id, prepared.request.version)
        prepared = await _prepare(app, principal, run_id, order)
    request, memo = prepared.request, await prepared.description.memo()
    definition = Definition.model_validate(request.definition)
    highest = await app.quotas.highest_priority(app.db, principal.tenant_id)
    request = request.model_copy(update={"highest_priority": highest, "key_id": principal.key_id})
    priority = priority_of(definition, principal.tenant_id, request.inputs, memo.get("priority"), highest=highest)
    memo = {"asked_digest": memo["digest"], **memo, "version": request.version, "digest": request.digest}
    async with transaction(app.db) as connection:
        await lock_run(connection, principal.tenant_id, run_id)
        await _check_unchanged(app, principal, run_id, prepared.description)
        details = _details(order, request.version)
        await record_action(
            connection, principal.tenant_id, run_id, None, "retry_run", details=details, by=principal.name
        )
        for letter in await dead_letters.load_open_letters(connection, principal.tenant_id, run_id):
            if order.undo and not is_of_undoing(letter, run_id, prepared.fates):
                continue
            resolution = resolution_of(order.edits.get(letter.step_id) if letter.run_id == run_id else None)
            await dead_letters.close(connection, principal.tenant_id, letter, resolution, by=principal.name)
        # Temporal regards aborted runs as completed too
        was_completed = prepared.description.status is WorkflowExecutionStatus.COMPLETED
        if not await continue_run(app, request, memo, priority, was_completed=was_completed):
            raise WrongState("retry", RunStatus.RUNNING)
    return RetriedRun(run_id, request.version, RunStatus.RUNNING, prepared.fates)


async def preview_retry(app: App, principal: Principal, run_id: str, order: RetryOrder) -> RetriedRun:
    """Return what `retry_run` would do, without doing it. Raises: as `retry_run`.

    For a run that waits with parked steps, without a version: what happens to it when they are resolved with `edits`.
    """
    if order.edits and order.version is None and not order.undo and not order.reruns:
        description = await describe_settled(app, principal, run_id)
        status = status_of(description)
        if status in (RunStatus.WAITING, RunStatus.RUNNING):
            return await _preview_resolving(app, principal, run_id, description, order)
    prepared = await _prepare(app, principal, run_id, order)
    return RetriedRun(run_id, prepared.request.version, status_of(prepared.description), prepared.fates)


async def _preview_resolving(
    app: App, principal: Principal, run_id: str, description: WorkflowExecutionDescription, order: RetryOrder
) -> RetriedRun:
    request, saved = await request_of(app, description), await saved_state(app, description)
    plan = plan_of(request.definition, request.semantics)
    await asyncio.to_thread(check_edits, app, request, plan, order.edits)
    states = saved["steps"]
    for step_id in order.edits:
        if states[step_id]["status"] != StepStatus.PARKED:
            raise WrongState("resolve", states[step_id]["status"], f"step {step_id!r}")
    with refusing_violations():
        ahead = resolved(plan, saved, order.edits, principal.name, time.time())
    return RetriedRun(run_id, request.version, status_of(description), ahead.fates, ahead.end)


async def describe_settled(app: App, principal: Principal, run_id: str) -> WorkflowExecutionDescription:
    """Return Temporal's description of a run, waiting for its end if its report says that it has ended.

    In between, its final events are being written. Raises: NotFound, Unavailable.
    """
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    if description.status is not WorkflowExecutionStatus.RUNNING:
        return description
    with contextlib.suppress(Unavailable, TimeoutError, WorkflowFailureError):
        if (await show_run(app, principal, run_id)).status in _OVER:
            handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
            async with asyncio.timeout(WORKER_TIMEOUT.total_seconds()):
                await handle.result(follow_runs=False)
    return await describe(app, principal.tenant_id, run_id)


async def _prepare(app: App, principal: Principal, run_id: str, order: RetryOrder) -> _Prepared:
    description = await describe_settled(app, principal, run_id)
    status = status_of(description)
    is_retryable = status in (UNDOABLE if order.undo else _RETRYABLE)
    if not is_retryable and (order.undo or not await _may_go_on(app, principal, run_id, status, order)):
        advice = "" if order.undo else await undo_advice(app, principal, description)
        raise WrongState("undo" if order.undo else "retry", status, advice=advice)
    if description.parent_id is not None:
        raise InvalidInput([_answers_for(outer_run_id(description.parent_id), is_undoing=order.undo)])
    asked = await request_of(app, description)
    saved = await saved_state(app, description)
    request = await _request_for(app, principal, asked, saved, order)
    if order.inputs:
        request = request.model_copy(update={"rerun_by": await _rerun_by(app, principal, asked)})
    check_tags(app, [request.definition, *(inner.definition for inner in request.nested.values())])
    who = Who(principal.name, time.time())
    plan = plan_of(request.definition, request.semantics)
    retry = plan_undoing(plan, saved) if order.undo else await _plan(app, who, asked, request, saved, order)
    if order.undo:
        check_undoing(retry, alone=not order.edits and order.version is None and not order.reruns)
    context = retry.state.context
    if request.version != asked.version:
        context = renew_context(context, plan, request.version, uuid.uuid4().hex)
    retry = replace(retry, state=replace(retry.state, inputs=request.inputs, context=context))
    fates = retry.fates if order.undo else foretold(plan, retry, who.at)
    inner = await inner_states(app, principal, request, retry, who)
    resumed = save(plan, retry.state)
    request = request.model_copy(update={"resumed": resumed, "resumed_inner": inner})
    if len(to_json(request)) > MAX_REQUEST_BYTES:
        request = await kept(app, request)
    if len(to_json(request)) > MAX_REQUEST_BYTES:
        raise TooLarge(MAX_REQUEST_BYTES)
    return _Prepared(description, request, fates)


def _answers_for(outer: str, *, is_undoing: bool) -> InputProblem:
    message = f"is a run inside {outer!r}: retry that one"
    if is_undoing:
        message = f"is a run inside {outer!r}, which cannot be undone alone: undo it by hand and dismiss its letter"
    return InputProblem("run_id", message)


async def _may_go_on(app: App, principal: Principal, run_id: str, status: RunStatus, order: RetryOrder) -> bool:
    """Check whether a completed run has failed items or reruns steps, or one with parked steps gets a version."""
    if status is not RunStatus.COMPLETED and (status is not RunStatus.WAITING or order.version is None):
        return False
    if status is RunStatus.COMPLETED and order.reruns:
        return True
    steps = (await show_run(app, principal, run_id)).steps.values()
    if status is RunStatus.WAITING:
        return any(step.status is StepStatus.PARKED for step in steps)
    return any(step.items is not None and step.items.failed for step in steps)


async def _hand_over(app: App, principal: Principal, run_id: str, version: int) -> None:
    """End a run with parked steps in its current state, so that another can continue.

    Raises: WrongState if it went on.
    """
    status = await end_run(app, principal, run_id, f"goes on under version {version}", is_continued=True)
    if status is not RunStatus.FAILED:
        raise WrongState("retry", status)


async def _plan(
    app: App, who: Who, asked: RunRequest, request: RunRequest, saved: dict[str, Json], order: RetryOrder
) -> Retry:
    old, plan = plan_of(asked.definition, asked.semantics), plan_of(request.definition, request.semantics)
    await asyncio.to_thread(check_edits, app, request, plan, order.edits)
    if problems := [*skip_problems(old, saved, order.edits), *rerun_problems(plan, order.from_steps)]:
        raise InvalidInput(problems)
    rerun = Rerun(order.from_steps, changed_inputs(saved["inputs"], request.inputs) if order.inputs else frozenset())
    with refusing_violations():
        return plan_retry(old, plan, saved, order.edits, who, rerun=rerun)


async def _request_for(
    app: App, principal: Principal, asked: RunRequest, saved: dict[str, Json], order: RetryOrder
) -> RunRequest:
    """Return the new run's argument: with the given inputs, or version and its nested definitions pinned."""
    if order.inputs.get(DOCUMENT_ID, asked.inputs.get(DOCUMENT_ID)) != asked.inputs.get(DOCUMENT_ID):
        message = "names the document of the run, which cannot change: start another run"
        raise InvalidInput([InputProblem(f"inputs.{DOCUMENT_ID}", message)])
    if order.version is None and not order.inputs:
        return asked
    if order.version is None:
        inputs = await check_inputs(app, asked.definition, {**_known(saved["inputs"]), **order.inputs})
        return asked.model_copy(update={"inputs": inputs})
    stored = await load(app, principal, str(asked.definition["id"]), order.version)
    definition = Definition.model_validate(stored.body)
    nested = await pin_nested(app, principal, stored, key=asked.run_id.partition(".")[2])
    return asked.model_copy(
        update={
            "definition": stored.body,
            "version": stored.version,
            "digest": stored.digest,
            "inputs": _inputs(definition, saved["inputs"], order.inputs),
            "nested": nested,
        }
    )


async def _rerun_by(app: App, principal: Principal, asked: RunRequest) -> tuple[str, ...]:
    """Return who has given the run other inputs, the caller included: the inputs are theirs now."""
    known = await list_known_to(app.db, principal.tenant_id, principal.name)
    return tuple(dict.fromkeys((*asked.rerun_by, principal.name, *sorted(principal.people), *known)))


def _known(inputs: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in inputs.items() if value is not None}


def _inputs(definition: Definition, before: Mapping[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the run's inputs as required by another version. Raises: InvalidInput if a required one is missing."""
    kept = {name: value for name, value in _known(before).items() if name in definition.inputs}
    with refusing_violations():
        return complete_inputs(definition, {**kept, **given})


async def _check_unchanged(app: App, principal: Principal, run_id: str, seen: WorkflowExecutionDescription) -> None:
    """Check that the ended run is still the latest of its id. Raises: WrongState if another caller retried it first."""
    now = await describe(app, principal.tenant_id, run_id)
    if now.run_id != seen.run_id:
        raise WrongState("retry", status_of(now))


def _details(order: RetryOrder, version: int) -> dict[str, Json]:
    steps = {step_id: {"action": edit.kind, "value": edit.value} for step_id, edit in order.edits.items()}
    details = {"steps": steps, "version": version, "reason": order.reason}
    reruns = {"from_steps": sorted(order.from_steps), "inputs": dict(order.inputs)}
    details |= {name: value for name, value in reruns.items() if value}
    return details | {"undo": True} if order.undo else details


MOST_INNER = 200
"""Maximum number of nested runs whose state a retry loads: a worker replays each. Beyond that a person decides."""

_ENDED_BADLY = (WorkflowExecutionStatus.FAILED, WorkflowExecutionStatus.CANCELED, WorkflowExecutionStatus.TERMINATED)


async def inner_states(
    app: App, principal: Principal, request: RunRequest, retry: Retry, who: Who
) -> dict[str, dict[str, Json]]:
    """Return the rewound states of the failed nested runs of a retried run, at any depth, by run id.

    Raises: InvalidInput if there are more than MOST_INNER, Unavailable, TooLarge.
    """
    states: dict[str, dict[str, Json]] = {}
    pending = list(_to_redo(request, plan_of(request.definition, request.semantics), retry.state))
    while pending:
        if len(states) >= MOST_INNER:
            message = f"has more than {MOST_INNER} nested runs to retry: skip their step or give it an output"
            raise InvalidInput([InputProblem("run_id", message)])
        run_id, digest = pending.pop()
        try:
            description = await describe(app, principal.tenant_id, run_id)
        except NotFound:  # it never started, or Temporal no longer has it
            continue
        inner = await request_of(app, description)
        if description.status not in _ENDED_BADLY or inner.digest != digest:
            continue
        plan = plan_of(inner.definition, inner.semantics)
        kept = plan_retry(plan, plan, await saved_state(app, description), {}, who)
        states[run_id] = save(plan, kept.state)
        pending += _to_redo(inner, plan, kept.state)
    return states


def _to_redo(request: RunRequest, plan: Plan, run: RunState) -> Iterator[tuple[str, str]]:
    """Yield the ids and definition digests of the nested runs that a rewound state will start again."""
    for step in plan.steps:
        state = run.steps[step.index]
        if step.kind is StepKind.WORKFLOW and state.status is StepStatus.PENDING:
            for key in (
                [None]
                if state.fan is None
                else [item.key for item in state.fan.items if item.status is StepStatus.PENDING]
            ):
                yield child_run_id(request.run_id, step.id, key), _digest(request, step)


def _digest(request: RunRequest, step: Step) -> str:
    nested = step.definition.workflow
    assert nested is not None, "only workflow steps have nested runs"
    return request.nested[nested_key(nested)].digest


def check_undoing(retry: Retry, *, alone: bool) -> None:
    """Check that a retry only undoes (`alone`), and that there is something to undo. Raises: InvalidInput."""
    if not alone:
        raise InvalidInput(
            [InputProblem("undo", "takes no steps, no inputs and no version: it only repeats compensations")]
        )
    if all(fate.fate is not Fate.UNDONE for fate in retry.fates.values()):
        raise InvalidInput([InputProblem("undo", "nothing is left to undo: every compensation has completed")])


def is_of_undoing(letter: StoredLetter, run_id: str, fates: Mapping[str, StepFate]) -> bool:
    """Check whether a letter belongs to a step whose compensation the retry repeats."""
    return letter.run_id == run_id and letter.step_id in fates and fates[letter.step_id].fate is Fate.UNDONE


async def undo_advice(app: App, principal: Principal, description: WorkflowExecutionDescription) -> str:
    """Return how to undo what is left of an aborted run, which cannot be retried; empty if nothing is left.

    Raises: NotFound, Unavailable.
    """
    if status_of(description) is not RunStatus.ABORTED or description.parent_id is not None:
        return ""
    run_id = run_id_of(description.id)
    steps = (await show_run(app, principal, run_id)).steps
    stuck = [step_id for step_id, step in steps.items() if is_left(step.compensation)]
    if not stuck:
        return ""
    advice = f"what it could not undo ({named(stuck, SAID_KEYS)}) can be undone"
    return f"{advice}: `docrail run retry {run_id} --undo`, or `undo: true` in the request"
