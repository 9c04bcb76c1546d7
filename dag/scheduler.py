"""The heart: fold one event into a run and say what must happen next. The only code that writes a RunState.

An event costs what it touches: each step knows how many of its parents are unsettled, ready steps wait in a heap, and
a step's fate is judged once, when its last parent settles. So the order in which work ends never changes an outcome.
"""

from heapq import heappop, heappush
from typing import assert_never

from dag.definition import Dispatch, OnFailure
from dag.expressions import Scope
from dag.messages import (
    AbortRequested,
    Cancel,
    CancelRequested,
    Command,
    Event,
    Finish,
    PauseRequested,
    ResumeRequested,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
)
from dag.plan import RULES, Outcomes, Plan, Step
from dag.sandbox import ExpressionError, show
from dag.scope import RunScope
from dag.state import RunState, RunStatus, SkipReason, StepError, StepState, StepStatus
from dag.templates import Template
from dag.values import MAX_VALUE_BYTES, Json, size_of

DEPENDENCY_FAILED = StepError("DependencyFailed", "Dependency failed")
"""The error of a step that is skipped because something upstream failed (the seeds' words)."""


STOPPED_BY = {RunStatus.ABORTED: "abort", RunStatus.CANCELLED: "cancel", RunStatus.FAILED: "fail_fast"}
"""What is told to have decided the fate of steps in a run that was stopped early."""


def advance(plan: Plan, run: RunState, event: Event) -> list[Command]:
    """Fold `event` into `run` and return what must happen next, starts in plan order.

    Deterministic: equal arguments give equal commands, on any worker, at any time. Events about steps that are not
    running, or after the end, change nothing.
    """
    if run.outcome is not None:
        return []
    commands: list[Command] = []
    _record(plan, run, event, commands)
    _fail_fast(plan, run, event.at, commands)
    _dispatch(plan, run, event.at, commands)
    _finish(plan, run, event.at, commands)
    return commands


def _record(plan: Plan, run: RunState, event: Event, commands: list[Command]) -> None:  # noqa: C901 - a case an event
    """Apply the event's own effect, and settle every step whose fate follows from it."""
    match event:
        case RunStarted(at):
            run.started_at = at if run.started_at is None else run.started_at
            for step in plan.steps:
                if run.steps[step.index].status is StepStatus.PENDING and not run.unsettled_parents[step.index]:
                    _judge(plan, run, step, at)
        case StepCompleted(step_id, output, attempts, at):
            _end(plan, run, step_id, at, status=StepStatus.COMPLETED, output=output, attempts=attempts)
        case StepFailed(step_id, error, attempts, at):
            _end(plan, run, step_id, at, status=StepStatus.FAILED, error=error, attempts=attempts)
        case StepCancelled(step_id, at) if run.stopping:
            _end(plan, run, step_id, at, status=StepStatus.CANCELLED, decided_by=STOPPED_BY[run.stopping])
        case StepCancelled(step_id, at):  # nobody asked for it: to call that anything but a failure would be a lie
            error = StepError("Cancelled", "cancelled from outside the run")
            _end(plan, run, step_id, at, status=StepStatus.FAILED, error=error)
        case PauseRequested():
            run.paused = run.stopping is None
        case ResumeRequested():
            run.paused = False
        case AbortRequested(reason, at):
            _stop(plan, run, RunStatus.ABORTED, reason, at, commands)
        case CancelRequested(at):
            _stop(plan, run, RunStatus.CANCELLED, "cancelled", at, commands)
        case _:
            assert_never(event)


def _end(
    plan: Plan,
    run: RunState,
    step_id: str,
    at: float,
    *,
    status: StepStatus,
    output: Json = None,
    error: StepError | None = None,
    attempts: int = 1,
    decided_by: str | None = None,
) -> None:
    """Close a running step; an answer about any other step is late or repeated, and ignored."""
    index = plan.index[step_id]
    state = run.steps[index]
    if state.status is not StepStatus.RUNNING:
        return
    run.running -= 1
    state.output, state.error, state.attempts = output, error, attempts
    state.decided_by = decided_by or state.decided_by
    _settle(plan, run, index, status, at)


def _settle(plan: Plan, run: RunState, index: int, status: StepStatus, at: float) -> None:
    """Give a step its final status, then judge every step that waited for nothing else, and so on down."""
    settled = [(index, status)]
    while settled:
        step, status = plan.steps[settled[-1][0]], settled.pop()[1]
        run.failures += status is StepStatus.FAILED and not step.definition.optional
        for child in _close(run, step, status, at):
            if run.steps[child].status is StepStatus.PENDING:
                fate = _fate(plan, run, plan.steps[child])
                if fate is StepStatus.QUEUED:
                    _queue(run, child)
                else:
                    settled.append((child, fate))


def _close(run: RunState, step: Step, status: StepStatus, at: float) -> list[int]:
    """Write a step's final status, count it as settled, and return the children that waited for it alone."""
    state = run.steps[step.index]
    state.status, state.ended_at = status, at
    run.unsettled -= 1
    run.unsettled_in_layer[step.layer] -= 1
    for child in step.children:
        run.unsettled_parents[child] -= 1
    return [child for child in step.children if not run.unsettled_parents[child]]


def _judge(plan: Plan, run: RunState, step: Step, at: float) -> None:
    fate = _fate(plan, run, step)
    if fate is StepStatus.QUEUED:
        _queue(run, step.index)
    else:
        _settle(plan, run, step.index, fate, at)


def _queue(run: RunState, index: int) -> None:
    run.steps[index].status = StepStatus.QUEUED
    heappush(run.ready, index)


def _fate(plan: Plan, run: RunState, step: Step) -> StepStatus:
    """Decide once whether a step runs: its trigger rule first, then its condition. Writes why into its state."""
    state = run.steps[step.index]
    state.decided_by = str(step.definition.trigger_rule)
    state.reason = RULES[step.definition.trigger_rule](_outcomes(run, step))
    if state.reason is not None:
        state.error = DEPENDENCY_FAILED if state.reason is SkipReason.UPSTREAM_FAILED else None
        return StepStatus.SKIPPED
    if step.condition is None:
        return StepStatus.QUEUED
    state.decided_by = "condition"
    try:
        answer = step.condition.evaluate(RunScope(plan, run))
    except ExpressionError as error:
        return _refuse(state, "ConditionError", error.message)
    if not isinstance(answer, bool):
        return _refuse(state, "ConditionError", f"`{step.condition.text}` gave {show(answer)}, expected true or false")
    if not answer:
        state.reason = SkipReason.CONDITION_FALSE
        return StepStatus.SKIPPED
    return StepStatus.QUEUED


def _refuse(state: StepState, error_type: str, message: str) -> StepStatus:
    state.error = StepError(error_type, message)
    return StepStatus.FAILED


def _outcomes(run: RunState, step: Step) -> Outcomes:
    completed = bad = 0
    for parent in step.parents:
        state = run.steps[parent]
        completed += state.status is StepStatus.COMPLETED
        bad += state.status is StepStatus.FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return Outcomes(completed=completed, bad=bad, skipped=len(step.parents) - completed - bad)


def _fail_fast(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    if run.failures and plan.on_failure is OnFailure.FAIL_FAST:
        _stop(plan, run, RunStatus.FAILED, "a step failed", at, commands)


def _stop(plan: Plan, run: RunState, status: RunStatus, reason: str, at: float, commands: list[Command]) -> None:
    """End the run early: skip what has not started, ask what runs to stop. The first stop wins."""
    if run.stopping:
        return
    run.stopping, run.stop_reason, run.paused, run.ready = status, reason, False, []
    for step in plan.steps:
        state = run.steps[step.index]
        if state.status is StepStatus.RUNNING:
            commands.append(Cancel(step.id))
        elif state.status in (StepStatus.PENDING, StepStatus.QUEUED):
            state.reason, state.decided_by = SkipReason.ABORTED, STOPPED_BY[status]
            _close(run, step, StepStatus.SKIPPED, at)


def _dispatch(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    """Start ready steps in plan order, as far as there are slots. Only now is a step's config resolved."""
    while run.ready and run.running < plan.max_concurrency and not run.paused and not run.stopping:
        step = plan.steps[run.ready[0]]
        if plan.dispatch is Dispatch.LAYERS and not _is_open(run, step.layer):
            return
        heappop(run.ready)
        state = run.steps[step.index]
        state.started_at = at
        try:
            config = _resolve(step.config, RunScope(plan, run))
        except ExpressionError as error:
            _settle(plan, run, step.index, _refuse(state, "TemplateError", error.message), at)
            _fail_fast(plan, run, at, commands)
            continue
        state.status = StepStatus.RUNNING
        run.running += 1
        commands.append(Start(step.id, config))


def _resolve(template: Template, scope: Scope) -> Json:
    """Return the template's value. Raises ExpressionError, also for what Temporal could not carry."""
    value = template.resolve(scope)
    if template.references and (size := size_of(value)) > MAX_VALUE_BYTES:
        raise ExpressionError(f"takes {size} bytes as JSON, more than {MAX_VALUE_BYTES}; pass a reference instead")
    return value


def _is_open(run: RunState, layer: int) -> bool:
    while run.open_layer < layer and not run.unsettled_in_layer[run.open_layer]:
        run.open_layer += 1
    return layer <= run.open_layer


def _finish(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    if run.unsettled:
        return
    run.outcome = run.stopping or (RunStatus.FAILED if run.failures else RunStatus.COMPLETED)
    run.ended_at = at
    if run.outcome is RunStatus.COMPLETED:
        try:
            run.outputs = _resolve(plan.outputs, RunScope(plan, run))
        except ExpressionError as error:
            run.outcome, run.stop_reason = RunStatus.FAILED, f"outputs: {error.message}"
    commands.append(Finish(run.outcome))
