"""How steps come to be settled: admitted, begun, closed; and the counters that make an event cheap."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from dag.definition import OnFailure
from dag.fate import judge
from dag.plan import Plan, Step
from dag.state import EarlierError, RunState, RunStatus, StepError, StepState, StepStatus
from dag.stored import has_parts
from dag.values import Json

STOPPED_BY = {RunStatus.ABORTED: "abort", RunStatus.CANCELLED: "cancel", RunStatus.FAILED: "fail_fast"}
"""What is told to have decided the fate of steps in a run that was stopped early."""

BUDGET = "budget"
"""The same, where the run had carried too much."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a step or an item ended."""

    status: StepStatus
    at: float
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    decided_by: str | None = None
    cached: bool = False
    earlier: tuple[EarlierError, ...] = ()
    out_of_time: bool = False


def admit(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Judge a step all of whose parents are settled, and everything that follows from its fate."""
    fate = judge(plan, run, step)
    if fate is StepStatus.QUEUED:
        _queue(run, step)
    elif fate is not StepStatus.PENDING:
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
                run.counters.enter(StepStatus.PARKED)
                continue
        run.counters.failures += status is StepStatus.FAILED and not step.definition.optional
        for child in close(run, step, status, at):
            if run.steps[child].status is StepStatus.PENDING:
                fate = judge(plan, run, plan.steps[child])
                if fate is StepStatus.QUEUED:
                    _queue(run, plan.steps[child])
                elif fate is not StepStatus.PENDING:
                    settled.append((child, fate))


def _parks(plan: Plan, run: RunState, step: Step) -> bool:
    """Tell whether a failure of the step is put to a person instead of failing the run."""
    return plan.on_failure is OnFailure.PARK and not step.definition.optional and run.stopping is None


def close(run: RunState, step: Step, status: StepStatus, at: float) -> list[int]:
    """Write a step's final status, count it as settled, and return the children that waited for it alone."""
    state = run.steps[step.index]
    state.status, state.ended_at = status, at
    return run.counters.settle(step.layer, step.children)


def _queue(run: RunState, step: Step) -> None:
    run.steps[step.index].status = StepStatus.QUEUED
    offer(run, step)


def offer(run: RunState, step: Step) -> None:
    """Let `dispatch` see that the step may start something."""
    heappush(run.counters.ready if step.takes_slot else run.counters.ready_free, step.index)


def withdraw(run: RunState, step: Step) -> None:
    """Take back an offer, if there is one: at most once for each time its step's window fills or its items end."""
    heap = run.counters.ready if step.takes_slot else run.counters.ready_free
    if heap and heap[0] == step.index:
        heappop(heap)
    elif step.index in heap:
        heap.remove(step.index)
        heapify(heap)


def enter(run: RunState, step: Step, status: StepStatus) -> None:
    """Count a step as begun: RUNNING or WAITING."""
    run.steps[step.index].status = status
    run.counters.enter(status)


def leave(plan: Plan, run: RunState, step: Step, ending: Ending) -> None:
    """Close what is begun, and give it its status, output or error."""
    state = run.steps[step.index]
    run.counters.leave(state.status)
    state.output, state.error, state.cached = ending.output, ending.error, ending.cached
    state.decided_by = ending.decided_by or state.decided_by
    note_stored(run, state)
    settle(plan, run, step, ending.status, ending.at)


def close_undoing(run: RunState, step: Step, status: StepStatus, error: StepError | None) -> None:
    """Write how undoing the step ended. Unless it has been undone, people are told: what it did still stands."""
    state = run.steps[step.index]
    state.compensation, state.compensation_error = status, error
    if status is not StepStatus.COMPLETED:
        run.fallen.append(step.index)


def note_stored(run: RunState, state: StepState) -> None:
    """Note whether the step's output, which it has just been given, has stored parts."""
    state.is_stored = has_parts(state.output)
    run.counters.has_stored |= state.is_stored


def stopped_by(run: RunState, stopping: RunStatus) -> str:
    """Return what decided the fate of a step that the stop of its run has met. Only fail_fast gives no reason."""
    return BUDGET if stopping is RunStatus.FAILED and run.stop_reason else STOPPED_BY[stopping]
