"""Every state of every small plan, under every event a shell can send at that moment: no deadlock, no false success."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest

from dag.definition import Definition, Step, TriggerRule
from dag.messages import (
    AbortRequested,
    CancelRequested,
    Event,
    PauseRequested,
    ResumeRequested,
    RunStarted,
    StepCancelled,
    StepCompleted,
    StepFailed,
)
from dag.rewind import begin
from dag.scheduler import advance
from dag.state import RunState, StepError, StepState, StepStatus
from dag.values import Json
from tests.dag.definitions import definition, step
from tests.dag.specification import Fate, specify
from tests.dag.world import Ledger, Watch

SHAPES: tuple[tuple[tuple[str, ...], ...], ...] = (
    ((), (), ()),
    ((), (), ("a",)),
    ((), (), ("b",)),
    ((), ("a",), ()),
    ((), ("a",), ("a",)),
    ((), (), ("a", "b")),
    ((), ("a",), ("b",)),
    ((), ("a",), ("a", "b")),
)
"""All acyclic graphs over three steps whose edges go forward in the document: every other one is one of these."""

BROKEN = StepError("Broken", "broke")
BY_STEP: dict[str, tuple[Event, ...]] = {
    name: (StepCompleted(name, None, 1, 0.0), StepFailed(name, BROKEN, 1, 0.0), StepCancelled(name, 0.0))
    for name in "abc"
}
CONTROLS: tuple[Event, ...] = (
    *(PauseRequested(0.0), ResumeRequested(0.0), AbortRequested("enough", 0.0), CancelRequested(0.0)),
    RunStarted(0.0),
)


@dataclass(slots=True)
class Node:
    """One moment of one run, and what the shell has seen of it."""

    run: RunState
    ledger: Ledger

    def key(self) -> Json:
        run, ledger = self.run, self.ledger
        states = tuple((state.status, state.reason) for state in run.steps)
        return states, run.paused, run.stopping, run.outcome, ledger.begun, ledger.asked

    def copy(self) -> "Node":
        run = self.run
        steps = [
            StepState(state.status, state.decided_by, state.reason, state.error, None, state.attempts)
            for state in run.steps
        ]
        again = RunState(
            *(steps, run.inputs, run.context, run.paused, run.stopping, run.stop_reason, run.outcome, run.outputs),
            *(run.started_at, run.ended_at, run.unsettled_parents[:], run.unsettled_in_layer[:], run.ready[:]),
            *(run.open_layer, run.running, run.unsettled, run.failures),
        )
        return Node(again, self.ledger.copy())


def documents(**limits: Json) -> Iterator[tuple[Step, ...]]:
    """Yield the steps of every plan: shapes x trigger rules of steps with parents x optional."""
    for shape in SHAPES:
        rules = [TriggerRule if parents else (TriggerRule.NONE_FAILED,) for parents in shape]
        for chosen, optional in product(product(*rules), product((False, True), repeat=3)):
            yield tuple(
                step(name, *parents, trigger_rule=rule, optional=may_fail)
                for name, parents, rule, may_fail in zip("abc", shape, chosen, optional, strict=True)
            )


def explore(document: Definition) -> Counter[str]:
    """Visit every state of the document's runs; count states, transitions and ends."""
    watch = Watch(document)
    first = Node(begin(watch.plan, {}, {}), Ledger())
    seen, unvisited, counts = {first.key()}, [first], Counter(plans=1, states=1)
    while unvisited:
        node = unvisited.pop()
        for event in _events(watch, node):
            after = node.copy()
            watch.follow(after.ledger, event, advance(watch.plan, after.run, event), after.run)
            counts["transitions"] += 1
            key = after.key()
            if key not in seen:
                seen.add(key)
                unvisited.append(after)
        if node.ledger.finished:
            counts["ends"] += 1
            _assert_ended_as_specified(watch, node)
    counts["states"] = len(seen)
    return counts


def _events(watch: Watch, node: Node) -> Iterator[Event]:
    """Yield what can happen; check on the way that what cannot change anything does not."""
    before = node.key()
    if node.ledger.finished:
        for event in (*CONTROLS, *BY_STEP["a"], *BY_STEP["b"], *BY_STEP["c"]):
            assert advance(watch.plan, node.run, event) == [], f"{event} after the end"
    else:
        for name in watch.order:
            if name in node.ledger.running:
                yield from BY_STEP[name]
            else:
                for event in BY_STEP[name]:
                    assert advance(watch.plan, node.run, event) == [], f"{event}, and {name} does not run"
        for event in CONTROLS:
            if isinstance(event, RunStarted) and node.ledger.begun:
                assert advance(watch.plan, node.run, event) == [], "a run starts twice"
            else:
                yield event
    assert node.key() == before


def _assert_ended_as_specified(watch: Watch, node: Node) -> None:
    """A run that nobody stopped ends as the specification says of the steps that failed in it."""
    if node.ledger.stop:
        return
    states = watch.states(node.run)
    failing = {name for name, state in states.items() if state.status is StepStatus.FAILED}
    specified = specify(watch.definition, failing)
    assert {name: Fate(state.status, state.reason) for name, state in states.items()} == specified.steps
    assert node.ledger.finished is specified.run


@pytest.mark.parametrize("on_failure", ["continue", "fail_fast"])
def test_every_state_of_every_plan_of_three_steps_is_safe(on_failure: str, capsys: pytest.CaptureFixture[str]) -> None:
    total: Counter[str] = Counter()
    for steps in documents():
        total += explore(definition(*steps, on_failure=on_failure, max_concurrency=2))
    with capsys.disabled():
        print(  # noqa: T201 - a check that covers less than it did should be seen
            f"\nmodel check, {on_failure}: {dict(total)}"
        )
    assert total["plans"] == 1064


@pytest.mark.parametrize("on_failure", ["continue", "fail_fast"])
@pytest.mark.parametrize(("dispatch", "limit"), [("layers", 3), ("layers", 1), ("ready", 3), ("ready", 1)])
def test_every_state_is_safe_whatever_the_limits(on_failure: str, dispatch: str, limit: int) -> None:
    for steps in documents():
        if not any(step.optional for step in steps):
            explore(definition(*steps, on_failure=on_failure, dispatch=dispatch, max_concurrency=limit))
