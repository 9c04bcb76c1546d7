"""Rebuild a run's derived counters from the statuses of its steps, for a loaded or rewound state."""

from collections import Counter
from dataclasses import fields, replace

from docrail.dag.engine.map_items import has_work
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import Counters, RunState, StepState, first_open
from docrail.dag.language.statuses import SETTLED, StepStatus

SAVED = tuple(
    each.name for each in fields(RunState) if each.name not in ("steps", "counters", "turn", "transfers", "traffic")
)


def at_start(plan: Plan) -> Counters:
    """Return the counters of a run that has not started."""
    return Counters(
        unsettled_parents=[len(step.parents) for step in plan.steps],
        unsettled_in_layer=[len(layer) for layer in plan.layers],
        unsettled=len(plan.steps),
    )


def derive(plan: Plan, run: RunState) -> RunState:
    """Return `run` with the counters that `advance` maintains, computed from the statuses."""
    return replace(run, counters=rebuild(plan, run))


def rebuild(plan: Plan, run: RunState) -> Counters:
    """Return the counters of a run, computed from its steps' states alone."""
    settled = [state.status in SETTLED for state in run.steps]
    statuses = Counter(state.status for state in run.steps)
    offered = [step for step in plan.steps if not run.stopping and _is_offered(step, run.steps[step.index])]
    failed = (step for step in plan.steps if run.steps[step.index].status is StepStatus.FAILED)
    in_layer = [sum(not settled[index] for index in layer) for layer in plan.layers]
    return Counters(
        unsettled_parents=[sum(not settled[parent] for parent in step.parents) for step in plan.steps],
        unsettled_in_layer=in_layer,
        ready=[step.index for step in offered if step.takes_slot],
        ready_free=[step.index for step in offered if not step.takes_slot],
        open_layer=first_open(in_layer),
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
