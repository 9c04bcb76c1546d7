"""Find why a step, or its next item, has not begun: what prevents it, and which steps are involved."""

from collections.abc import Iterable, Iterator
from itertools import islice

from docrail.dag.engine.map_items import has_work
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import RunState
from docrail.dag.explain.facts import HoldKind, HoldPart
from docrail.dag.language.definition import Dispatch
from docrail.dag.language.statuses import SETTLED, StepStatus
from docrail.dag.values.stored import ForStep

MOST_NAMED = 50
"""Parents, items, cases or steps that one part of an explanation lists; the counts cover all of them."""


def hold_of(plan: Plan, run: RunState, step: Step) -> HoldPart | None:
    """Return what prevents the step or its next item from beginning; None if nothing does, or nothing is left."""
    state = run.steps[step.index]
    if run.outcome is not None or run.stopping is not None:
        return None
    if state.status is StepStatus.PENDING:
        is_loading = ForStep(step.id) in run.transfers.loading
        return HoldPart(by=HoldKind.VALUES) if is_loading else _parents(plan, run, step)
    fan, for_each = state.fan, step.definition.for_each
    if state.status is StepStatus.RUNNING and fan is not None and for_each is not None:
        if fan.stopping or fan.next >= len(fan.items):
            return None
        if not has_work(fan, for_each) and not run.paused:
            running = fan.width if fan.window else fan.running
            return HoldPart(by=HoldKind.WINDOW, running=running, most=for_each.max_concurrency)
        return _held_by_run(plan, run, step)
    return _held_by_run(plan, run, step) if state.status is StepStatus.QUEUED else None


def _parents(plan: Plan, run: RunState, step: Step) -> HoldPart:
    unsettled = [parent for parent in step.parents if run.steps[parent].status not in SETTLED]
    if not unsettled:  # the run has not begun, or its last turn reached its limit
        return HoldPart(by=HoldKind.TURN)
    return HoldPart(by=HoldKind.PARENTS, steps=ids(plan, unsettled))


def _held_by_run(plan: Plan, run: RunState, step: Step) -> HoldPart | None:
    """Return which limit of the run holds a step that could begin, in the order in which dispatch checks them."""
    if run.paused:
        return HoldPart(by=HoldKind.PAUSE)
    if plan.dispatch is Dispatch.LAYERS:
        earlier = next((left for layer in plan.layers[: step.layer] if (left := _unsettled(run, layer))), None)
        if earlier is not None:
            return HoldPart(by=HoldKind.LAYER, steps=ids(plan, earlier))
    if step.takes_slot and run.counters.slots_used >= plan.max_concurrency:
        return HoldPart(by=HoldKind.SLOTS, steps=ids(plan, _slot_takers(plan, run)), most=plan.max_concurrency)
    return None


def _unsettled(run: RunState, layer: Iterable[int]) -> list[int]:
    return [index for index in layer if run.steps[index].status not in SETTLED]


def _slot_takers(plan: Plan, run: RunState) -> Iterator[int]:
    return (step.index for step in plan.steps if step.takes_slot and run.steps[step.index].status is StepStatus.RUNNING)


def ids(plan: Plan, indices: Iterable[int]) -> tuple[str, ...]:
    """Return the ids of the first of some steps."""
    return tuple(plan.steps[index].id for index in islice(indices, MOST_NAMED))
