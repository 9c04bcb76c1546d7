"""Every state that a plan's runs can be in, under every event a shell can send at that moment."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from docrail.dag.engine.events import (
    WHOLE_STEP,
    AbortRequested,
    Answered,
    CancelRequested,
    DeadlinePassed,
    Event,
    Item,
    Part,
    PauseRequested,
    RecordOverdue,
    Resolution,
    ResolutionKind,
    Resolved,
    ResumeRequested,
    RunStarted,
    StepCancelled,
    StepCompleted,
    StepFailed,
    TimedOut,
)
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import (
    Answer,
    Counters,
    FanState,
    ItemState,
    RunState,
    StepError,
    StepState,
    Traffic,
    Transfers,
    Turn,
)
from docrail.dag.engine.transitions import advance
from docrail.dag.language.definition import Definition, OnFailure
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.specification import Fate, specify, work_name
from tests.dag.watch import Ledger, Watch, counters, is_timer

State = TypeVar("State", RunState, StepState, FanState, ItemState, Counters, Turn, Transfers, Traffic, Ledger)

OPEN = (StepStatus.PENDING, StepStatus.QUEUED, StepStatus.WAITING)
"""A step that is to be answered may be so, or will be."""

BROKEN = StepError("Broken", "broke")
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
        states = tuple(
            (state.status, state.reason, state.branch, state.answer, state.fan and _key_of(state.fan))
            for state in run.steps
        )
        return states, run.paused, run.stopping, run.outcome, run.overdue, ledger.begun, ledger.asked

    def copy(self) -> "Node":
        run = twin(self.run)
        run.steps = [twin(state) for state in run.steps]
        for state in run.steps:
            if state.fan is not None:
                state.fan = twin(state.fan)
                state.fan.items = [twin(item) for item in state.fan.items]
        run.turn, run.transfers, run.traffic = twin(run.turn), twin(run.transfers), twin(run.traffic)
        run.counters = counters = twin(run.counters)
        counters.unsettled_parents = counters.unsettled_parents[:]
        counters.unsettled_in_layer = counters.unsettled_in_layer[:]
        counters.ready, counters.ready_free = counters.ready[:], counters.ready_free[:]
        return Node(run, twin(self.ledger))


def twin(value: State) -> State:
    """Return a copy of a dataclass with slots: what `copy.copy` does, in a fifth of its time."""
    again: State = object.__new__(type(value))
    for name in value.__slots__:
        setattr(again, name, getattr(value, name))
    return again


def _key_of(fan: FanState) -> Json:
    return tuple(item.status for item in fan.items), fan.stopping


class Exploration:
    """Visits every state of a document's runs."""

    def __init__(self, document: Definition) -> None:
        self.watch = Watch(document)
        self.answers = {work: _answers(work, WHOLE_STEP) for work in self.watch.order if work not in self.watch.fans}
        self.answers |= {
            work_name(step, place): _answers(step, Item(place))
            for step, for_each in self.watch.fans.items()
            for place in range(len(for_each.items))
        }
        waiting = [step for step, each in self.watch.steps.items() if each.wait or each.human]
        self.timeouts = {step: TimedOut(step, 0.0) for step in waiting}
        answerable = [step for step in waiting if not is_timer(self.watch.steps[step])]
        parks = document.on_failure is OnFailure.PARK
        self.resolutions = {step: _resolutions(step) for step in (self.watch.order if parks else ())}
        self.replies = {step: Answered(step, Answer("yes"), 0.0) for step in answerable}

    def go(self) -> Counter[str]:
        """Return how many states, transitions and ends there are."""
        first = Node(begin(self.watch.plan, {}, {}), Ledger())
        seen, unvisited, counts = {first.key()}, [first], Counter(plans=1, states=1)
        while unvisited:
            node = unvisited.pop()
            for event in self._events(node):
                after = node.copy()
                self.watch.follow(after.ledger, event, advance(self.watch.plan, after.run, event), after.run)
                counts["transitions"] += 1
                key = after.key()
                if key not in seen:
                    seen.add(key)
                    unvisited.append(after)
            if node.ledger.finished:
                counts["ends"] += 1
                self._assert_ended_as_specified(node)
        counts["states"] = len(seen)
        return counts

    def _events(self, node: Node) -> Iterator[Event]:
        """Return what can happen; check on the way that what cannot change anything does not."""
        before = node.key()
        events = list(self._all(node))
        for event, can_happen in events:
            if not can_happen:
                assert advance(self.watch.plan, node.run, event) == [], f"{event} is late or repeated"
        assert node.key() == before
        if self.watch.plan.on_deadline is None:
            self._assert_a_deadline_decides_nothing(node)
        return (event for event, can_happen in events if can_happen)

    def _all(self, node: Node) -> Iterator[tuple[Event, bool]]:
        """Yield every event there is, and whether it has a meaning now."""
        ledger = node.ledger
        states = {step: node.run.steps[self.watch.plan.index[step]] for step in self.watch.order}
        for work, answers in self.answers.items():
            for event in answers:
                yield event, work in ledger.active
        for step, timeout in self.timeouts.items():
            yield timeout, step in ledger.waiting
        for step, reply in self.replies.items():
            state = states[step]
            yield reply, state.status in OPEN and state.answer is None and not ledger.stop
        for step, resolutions in self.resolutions.items():
            for event in resolutions:
                yield event, states[step].status is StepStatus.PARKED
        if self.watch.plan.on_deadline is not None and ledger.begun:
            yield DeadlinePassed(0.0), not ledger.finished and not ledger.overdue
        for event in CONTROLS:
            yield event, not ledger.finished and not (ledger.begun and isinstance(event, RunStarted))

    def _assert_a_deadline_decides_nothing(self, node: Node) -> None:
        """A passed deadline is reported and changes nothing else, so no state has to be visited twice for it."""
        if not node.ledger.begun:
            return
        after, plan = node.copy(), self.watch.plan
        reported = advance(plan, after.run, DeadlinePassed(0.0))
        assert reported == ([] if node.ledger.finished else [RecordOverdue(0.0)])
        after.run.overdue = node.run.overdue
        assert after.key() == node.key()
        assert counters(after.run) == counters(node.run)

    def _assert_ended_as_specified(self, node: Node) -> None:
        """A run that was not stopped ends as specified for its failures."""
        if node.ledger.stop or self.watch.parks:
            return
        states = self.watch.states(node.run)
        failing = {name for name, state in states.items() if state.status is StepStatus.FAILED}
        for step, state in states.items():
            items = enumerate(state.fan.items) if state.fan else ()
            failing |= {work_name(step, place) for place, item in items if item.status is StepStatus.FAILED}
        late = {name for name, state in states.items() if state.decided_by == "timeout"}
        ended_late = {name for name, state in states.items() if state.decided_by == "deadline"}
        specified = specify(self.watch.definition, failing, late, ended_late=ended_late)
        assert {name: Fate(state.status, state.reason) for name, state in states.items()} == specified.steps
        assert node.ledger.finished is specified.run


def _answers(step: str, part: Part) -> tuple[Event, ...]:
    completed = StepCompleted(step, None, 1, 0.0, part)
    return completed, StepFailed(step, BROKEN, 1, 0.0, part), StepCancelled(step, 0.0, part)


def _resolutions(step: str) -> tuple[Event, ...]:
    return tuple(Resolved(step, Resolution(kind), 0.0) for kind in ResolutionKind)
