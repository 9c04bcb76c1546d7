"""How what runs comes to its end: by an answer of its own, or because the whole run is being stopped."""

from dag.fan import running
from dag.lists import conclude, end_item
from dag.messages import Cancel, Command, Finish
from dag.plan import Plan, Step
from dag.progress import Ending, close, leave, stopped_by
from dag.state import RunState, RunStatus, SkipReason, StepStatus
from dag.values import shortened

ACTIVE = (StepStatus.RUNNING, StepStatus.WAITING)
"""Begun and not ended: somebody owes us an answer."""


def end(plan: Plan, run: RunState, step: Step, item: int | None, ending: Ending, commands: list[Command]) -> None:
    """Close what runs; an answer about anything else is late or repeated, and ignored."""
    state = run.steps[step.index]
    if state.status not in ACTIVE or (item is None) is not (state.fan is None):
        return
    if item is not None and state.fan is not None:
        end_item(plan, run, step, item, ending, commands)
        return
    run.slots_used -= step.takes_slot
    state.attempts, state.earlier, state.out_of_time = ending.attempts, ending.earlier, ending.out_of_time
    leave(plan, run, step, ending)


def stop(
    plan: Plan,
    run: RunState,
    status: RunStatus,
    reason: str,
    at: float,
    commands: list[Command],
    *,
    by: Step | None = None,
    principal: str = "",
) -> None:
    """End the run early: skip what has not begun, ask what is active to stop, but not the step `by` that called for it.

    The first stop wins.
    """
    if run.stopping or run.ending:
        return
    run.stopping, run.stop_reason, run.paused = status, shortened(reason), False
    run.stopped_by, run.stopped_by_step = principal, None if by is None else by.id
    run.ready, run.ready_free = [], []
    for step in plan.steps:
        state = run.steps[step.index]
        if state.status in (StepStatus.PENDING, StepStatus.QUEUED):
            state.reason, state.decided_by = SkipReason.ABORTED, stopped_by(run, status)
            close(run, step, StepStatus.SKIPPED, at)
        elif state.status is StepStatus.PARKED:
            run.parked -= 1
            run.failures += 1
            run.fallen.append(step.index)
            close(run, step, StepStatus.FAILED, at)
    for step in plan.steps:
        state = run.steps[step.index]
        if state.fan is not None and state.status is StepStatus.RUNNING:
            if not state.fan.stopping:  # else they have been asked already
                commands.extend(Cancel(step.id, place) for place in running(state.fan))
            conclude(plan, run, step, at)  # between two items, it may have none that runs
        elif state.status in ACTIVE and step is not by:
            commands.append(Cancel(step.id))


def hand_over(
    plan: Plan, run: RunState, reason: str, at: float, commands: list[Command], *, principal: str = ""
) -> None:
    """End a run whose parked steps wait for a person, as it stands: another goes on from it, and nothing is undone."""
    if run.status is not RunStatus.WAITING or not run.parked:
        return
    commands.extend(Cancel(step.id) for step in plan.steps if run.steps[step.index].status is StepStatus.WAITING)
    run.outcome, run.stop_reason, run.ended_at = RunStatus.FAILED, shortened(reason), at
    run.stopped_by = principal
    commands.append(Finish(RunStatus.FAILED))
