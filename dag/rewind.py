"""Where a run begins: from nothing, from a saved state, or rewound to try its failed steps again."""

from collections import Counter
from copy import deepcopy
from dataclasses import fields, replace

from pydantic import TypeAdapter

from dag.fan import has_work, unfinished
from dag.plan import Plan, Step
from dag.state import SETTLED, Counters, RunState, RunStatus, SkipReason, StepState, StepStatus
from dag.values import Json

_STEP_STATES = TypeAdapter(dict[str, StepState])
_RUN_STATE = TypeAdapter(RunState)
_SAVED = tuple(
    each.name for each in fields(RunState) if each.name not in ("steps", "counters", "turn", "transfers", "traffic")
)
_REDO = frozenset({StepStatus.FAILED, StepStatus.CANCELLED})
_REDO_REASONS = frozenset({SkipReason.UPSTREAM_FAILED, SkipReason.ABORTED})


def begin(plan: Plan, inputs: dict[str, Json], context: dict[str, Json]) -> RunState:
    """Return the state of a run that has not started."""
    return derive(plan, RunState([StepState() for _ in plan.steps], inputs, context))


def save(plan: Plan, run: RunState) -> dict[str, Json]:
    """Return a run's state as JSON, by step id: it can be loaded under another plan that has the same steps."""
    saved = {name: deepcopy(getattr(run, name)) for name in _SAVED}
    steps = dict(zip((step.id for step in plan.steps), run.steps, strict=True))
    return saved | {"steps": _STEP_STATES.dump_python(steps, mode="json")}


def load(plan: Plan, saved: dict[str, Json]) -> RunState:
    """Return a saved state, ready to go on. Raises pydantic.ValidationError; steps it does not know are pending."""
    states = _STEP_STATES.validate_python(saved["steps"])
    steps = [states.get(step.id) or StepState() for step in plan.steps]
    return derive(plan, _RUN_STATE.validate_python(saved | {"steps": steps}))


def rewind(plan: Plan, run: RunState) -> RunState:
    """Return the state a retry starts from: finished work kept, the rest pending again.

    The rest is what failed, was cancelled, was undone, or was skipped because of that, and all that follows it.
    """
    redo = [is_to_redo(state) or left_failed(run, state) > 0 for state in run.steps]
    steps: list[StepState] = []
    for step, state in zip(plan.steps, run.steps, strict=True):
        if is_stuck(state):
            steps.append(stands(state))
        elif any(redo[parent] for parent in step.parents):
            redo[step.index] = True
            steps.append(StepState())
        else:
            steps.append(again(state) if redo[step.index] else state)
    return derive(plan, RunState(steps, run.inputs, run.context))


def again(state: StepState) -> StepState:
    """Return a step that is to be done again on the same inputs: with its finished items, and with an answer unused."""
    if is_undone(state):  # its items were undone with it
        return StepState(edited=state.edited)
    return StepState(fan=unfinished(state.fan), answer=state.answer, edited=state.edited)


def is_to_redo(state: StepState) -> bool:
    """Tell whether a retry does the step again, whatever became of its parents. What was undone is no longer done."""
    is_open = state.status not in SETTLED or state.status in _REDO or state.reason in _REDO_REASONS
    return is_open or is_undone(state)


def left_failed(run: RunState, state: StepState | None) -> int:
    """Return how many items a completed run left failed, because the step may have so many: only they are to be done.

    A run that ended badly has other things to do again, and leaves these as they are.
    """
    is_tolerated = run.outcome is RunStatus.COMPLETED and state is not None and state.status is StepStatus.COMPLETED
    return state.fan.failed if is_tolerated and state is not None and state.fan is not None else 0


def is_undone(state: StepState) -> bool:
    """Tell whether what the step did was undone."""
    return state.compensation is StepStatus.COMPLETED


def is_stuck(state: StepState) -> bool:
    """Tell whether what the step did stands although it should have been undone: doing it again would do it twice."""
    return is_left(state.compensation)


def is_left(compensation: StepStatus | None) -> bool:
    """Tell whether undoing a step was begun and did not come to its end."""
    return compensation not in (None, StepStatus.COMPLETED)


def stands(state: StepState) -> StepState:
    """Return a step whose work is kept: if the run ends badly again, undoing it is tried again."""
    return replace(state, compensation=None, compensation_error=None) if is_stuck(state) else state


def derive(plan: Plan, run: RunState) -> RunState:
    """Fill in the counters that `advance` keeps, from the statuses."""
    run.counters = rebuild(plan, run)
    return run


def rebuild(plan: Plan, run: RunState) -> Counters:
    """Return the counters of a run, from its steps' states alone."""
    settled = [state.status in SETTLED for state in run.steps]
    statuses = Counter(state.status for state in run.steps)
    offered = [step for step in plan.steps if not run.stopping and _is_offered(step, run.steps[step.index])]
    failed = (step for step in plan.steps if run.steps[step.index].status is StepStatus.FAILED)
    return Counters(
        unsettled_parents=[sum(not settled[parent] for parent in step.parents) for step in plan.steps],
        unsettled_in_layer=[sum(not settled[index] for index in layer) for layer in plan.layers],
        ready=[step.index for step in offered if step.takes_slot],
        ready_free=[step.index for step in offered if not step.takes_slot],
        slots_used=sum(_slots_of(run.steps[step.index]) for step in plan.steps if step.takes_slot),
        running=statuses[StepStatus.RUNNING],
        waiting=statuses[StepStatus.WAITING],
        parked=statuses[StepStatus.PARKED],
        unsettled=settled.count(False),
        failures=sum(not step.definition.optional for step in failed),
        has_stored=any(state.is_stored for state in run.steps),
    )


def _is_offered(step: Step, state: StepState) -> bool:
    for_each = step.definition.for_each
    if state.status is StepStatus.RUNNING and state.fan is not None and for_each is not None:
        return has_work(state.fan, for_each)
    return state.status is StepStatus.QUEUED


def _slots_of(state: StepState) -> int:
    if state.status is not StepStatus.RUNNING:
        return 0
    if state.fan is None:
        return 1
    return state.fan.width if state.fan.window else state.fan.running
