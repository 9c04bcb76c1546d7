"""How what runs comes to its end: by an answer of its own, or because the whole run is being stopped."""

from typing import assert_never

from dag.fan import running_parts
from dag.lists import conclude, end_part
from dag.messages import Cancel, Chunk, Command, Finish, Item, Part, Undo, WholeStep
from dag.plan import Plan, Step
from dag.progress import Ending, close, leave, stopped_by
from dag.state import RunState, RunStatus, SkipReason, StepStatus
from dag.values import shortened

ACTIVE = (StepStatus.RUNNING, StepStatus.WAITING)
"""Begun and not ended: somebody owes us an answer."""


def end(plan: Plan, run: RunState, step: Step, part: Part, ending: Ending, commands: list[Command]) -> None:
    """Close a running part of a step; an answer about anything else is late or repeated, and ignored."""
    state = run.steps[step.index]
    if state.status not in ACTIVE:
        return
    match part:
        case WholeStep() if state.fan is None:
            run.counters.slots_used -= step.takes_slot
            state.attempts, state.earlier, state.out_of_time = ending.attempts, ending.earlier, ending.out_of_time
            leave(plan, run, step, ending)
        case Item() | Chunk() if state.fan is not None:
            end_part(plan, run, step, part, ending, commands)
        case WholeStep() | Item() | Chunk() | Undo():
            pass
        case _:
            assert_never(part)


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
    run.counters.ready, run.counters.ready_free = [], []
    for step in plan.steps:
        state = run.steps[step.index]
        if state.status in (StepStatus.PENDING, StepStatus.QUEUED):
            state.reason, state.decided_by = SkipReason.ABORTED, stopped_by(run, status)
            close(run, step, StepStatus.SKIPPED, at)
        elif state.status is StepStatus.PARKED:
            run.counters.leave(StepStatus.PARKED)
            run.counters.failures += 1
            run.fallen.append(step.index)
            close(run, step, StepStatus.FAILED, at)
    for step in plan.steps:
        state = run.steps[step.index]
        if state.fan is not None and state.status is StepStatus.RUNNING:
            if not state.fan.stopping:  # else they have been asked already
                commands.extend(Cancel(step.id, part) for part in running_parts(state.fan))
            conclude(plan, run, step, at)  # between two items, it may have none that runs
        elif state.status in ACTIVE and step is not by:
            commands.append(Cancel(step.id))


def hand_over(
    plan: Plan, run: RunState, reason: str, at: float, commands: list[Command], *, principal: str = ""
) -> None:
    """End a run whose parked steps wait for a person, as it stands: another goes on from it, and nothing is undone."""
    if run.status is not RunStatus.WAITING or not run.counters.parked:
        return
    commands.extend(Cancel(step.id) for step in plan.steps if run.steps[step.index].status is StepStatus.WAITING)
    run.outcome, run.stop_reason, run.ended_at = RunStatus.FAILED, shortened(reason), at
    run.stopped_by = principal
    commands.append(Finish(RunStatus.FAILED))
