"""How steps come to be settled: admitted, ended, stopped; and the counters that make an event cheap."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from dag.definition import OnFailure
from dag.fan import failure_of, has_work, is_over, must_stop, output_of, running
from dag.fate import judge
from dag.messages import Cancel, Command
from dag.plan import Plan, Step
from dag.state import FanState, RunState, RunStatus, SkipReason, StepError, StepStatus
from dag.values import MAX_VALUE_BYTES, Json, shortened, size_of

STOPPED_BY = {RunStatus.ABORTED: "abort", RunStatus.CANCELLED: "cancel", RunStatus.FAILED: "fail_fast"}
"""What is told to have decided the fate of steps in a run that was stopped early."""

BUDGET = "budget"
"""The same, where the run had carried too much."""

ACTIVE = (StepStatus.RUNNING, StepStatus.WAITING)
"""Begun and not ended: somebody owes us an answer."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a step or an item ended."""

    status: StepStatus
    at: float
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    decided_by: str | None = None


def admit(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Judge a step all of whose parents are settled, and everything that follows from its fate."""
    fate = judge(plan, run, step)
    if fate is StepStatus.QUEUED:
        _queue(run, step)
    else:
        settle(plan, run, step, fate, at)


def settle(plan: Plan, run: RunState, step: Step, status: StepStatus, at: float) -> None:
    """Give a step its final status, then judge every step that waited for nothing else, and so on down."""
    settled = [(step.index, status)]
    while settled:
        step, status = plan.steps[settled[-1][0]], settled.pop()[1]
        if status is StepStatus.FAILED:
            run.fallen.append(step.index)
            if _parks(plan, run, step):
                run.steps[step.index].status = StepStatus.PARKED
                run.parked += 1
                continue
        run.failures += status is StepStatus.FAILED and not step.definition.optional
        for child in _close(run, step, status, at):
            if run.steps[child].status is StepStatus.PENDING:
                fate = judge(plan, run, plan.steps[child])
                if fate is StepStatus.QUEUED:
                    _queue(run, plan.steps[child])
                else:
                    settled.append((child, fate))


def _parks(plan: Plan, run: RunState, step: Step) -> bool:
    """Tell whether a failure of the step is put to a person instead of failing the run."""
    return plan.on_failure is OnFailure.PARK and not step.definition.optional and run.stopping is None


def _close(run: RunState, step: Step, status: StepStatus, at: float) -> list[int]:
    """Write a step's final status, count it as settled, and return the children that waited for it alone."""
    state = run.steps[step.index]
    state.status, state.ended_at = status, at
    run.unsettled -= 1
    run.unsettled_in_layer[step.layer] -= 1
    for child in step.children:
        run.unsettled_parents[child] -= 1
    return [child for child in step.children if not run.unsettled_parents[child]]


def _queue(run: RunState, step: Step) -> None:
    run.steps[step.index].status = StepStatus.QUEUED
    offer(run, step)


def offer(run: RunState, step: Step) -> None:
    """Let `dispatch` see that the step may start something."""
    heappush(run.ready if step.takes_slot else run.ready_free, step.index)


def withdraw(run: RunState, step: Step) -> None:
    """Take back an offer, if there is one: at most once for each time its step's window fills or its items end."""
    heap = run.ready if step.takes_slot else run.ready_free
    if heap and heap[0] == step.index:
        heappop(heap)
    elif step.index in heap:
        heap.remove(step.index)
        heapify(heap)


def enter(run: RunState, step: Step, status: StepStatus) -> None:
    """Count a step as begun: RUNNING or WAITING."""
    run.steps[step.index].status = status
    run.running += status is StepStatus.RUNNING
    run.waiting += status is StepStatus.WAITING


def end(plan: Plan, run: RunState, step: Step, item: int | None, ending: Ending, commands: list[Command]) -> None:
    """Close what runs; an answer about anything else is late or repeated, and ignored."""
    state = run.steps[step.index]
    if state.status not in ACTIVE or (item is None) is not (state.fan is None):
        return
    if item is not None and state.fan is not None:
        _end_item(plan, run, step, item, ending, commands)
        return
    run.slots_used -= step.takes_slot
    state.attempts = ending.attempts
    _leave(plan, run, step, ending)


def _leave(plan: Plan, run: RunState, step: Step, ending: Ending) -> None:
    state = run.steps[step.index]
    run.running -= state.status is StepStatus.RUNNING
    run.waiting -= state.status is StepStatus.WAITING
    state.output, state.error = ending.output, ending.error
    state.decided_by = ending.decided_by or state.decided_by
    settle(plan, run, step, ending.status, ending.at)


def _end_item(plan: Plan, run: RunState, step: Step, place: int, ending: Ending, commands: list[Command]) -> None:
    state, for_each = run.steps[step.index], step.definition.for_each
    fan = state.fan
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    item = fan.items[place]
    if item.status is not StepStatus.RUNNING:
        return
    was_offered = has_work(fan, for_each)
    item.status, item.output, item.error, item.attempts = ending.status, ending.output, ending.error, ending.attempts
    fan.running -= 1
    run.slots_used -= step.takes_slot
    state.attempts += ending.attempts
    note_failure(run, step, commands, failed=ending.status is StepStatus.FAILED)
    if not was_offered and not run.stopping and has_work(fan, for_each):
        offer(run, step)
    conclude(plan, run, step, ending.at)


def note_failure(run: RunState, step: Step, commands: list[Command], *, failed: bool) -> None:
    """Count a failed item; where that makes too many, ask those that run to stop."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    fan.failed += failed
    if must_stop(fan, for_each) and not fan.stopping and not run.stopping:
        fan.stopping = True
        commands.extend(Cancel(step.id, place) for place in running(fan))
        withdraw(run, step)


def conclude(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Settle a step that runs over a list once its last item has ended."""
    state, for_each = run.steps[step.index], step.definition.for_each
    fan = state.fan
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    if fan.running or not (run.stopping or is_over(fan)):
        return
    output = output_of(fan)
    if run.stopping and not _ran_to_its_end(fan):
        decided_by = stopped_by(run, run.stopping)
        _leave(plan, run, step, Ending(StepStatus.CANCELLED, at, output, decided_by=decided_by))
    elif error := failure_of(fan, for_each) or _too_large(output):
        kept = None if error.type == "OutputTooLargeError" else output
        _leave(plan, run, step, Ending(StepStatus.FAILED, at, kept, error))
    else:
        _leave(plan, run, step, Ending(StepStatus.COMPLETED, at, output))


def _ran_to_its_end(fan: FanState) -> bool:
    return all(item.status in (StepStatus.COMPLETED, StepStatus.FAILED) for item in fan.items)


def _too_large(output: Json) -> StepError | None:
    size = size_of(output)
    if size <= MAX_VALUE_BYTES:
        return None
    message = f"the items' outputs take {size} bytes as JSON, more than {MAX_VALUE_BYTES}: return references"
    return StepError("OutputTooLargeError", message)


def stopped_by(run: RunState, stopping: RunStatus) -> str:
    """Return what decided the fate of a step that the stop of its run has met. Only fail_fast gives no reason."""
    return BUDGET if stopping is RunStatus.FAILED and run.stop_reason else STOPPED_BY[stopping]


def stop(
    plan: Plan,
    run: RunState,
    status: RunStatus,
    reason: str,
    at: float,
    commands: list[Command],
    by: Step | None = None,
) -> None:
    """End the run early: skip what has not begun, ask what is active to stop, but not the step `by` that called for it.

    The first stop wins.
    """
    if run.stopping or run.ending:
        return
    run.stopping, run.stop_reason, run.paused = status, shortened(reason), False
    run.ready, run.ready_free = [], []
    for step in plan.steps:
        state = run.steps[step.index]
        if state.status in (StepStatus.PENDING, StepStatus.QUEUED):
            state.reason, state.decided_by = SkipReason.ABORTED, stopped_by(run, status)
            _close(run, step, StepStatus.SKIPPED, at)
        elif state.status is StepStatus.PARKED:
            run.parked -= 1
            run.failures += 1
            run.fallen.append(step.index)
            _close(run, step, StepStatus.FAILED, at)
    for step in plan.steps:
        state = run.steps[step.index]
        if state.fan is not None and state.status is StepStatus.RUNNING:
            if not state.fan.stopping:  # else they have been asked already
                commands.extend(Cancel(step.id, place) for place in running(state.fan))
            conclude(plan, run, step, at)  # between two items, it may have none that runs
        elif state.status in ACTIVE and step is not by:
            commands.append(Cancel(step.id))
