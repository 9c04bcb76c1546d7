"""What must hold in every run: a ledger of what the shell has seen, and a watch that asserts it after each event.

The ledger knows only what a shell can see, events and commands; the watch compares it with the state after each event.
Work has a name: the step's id, or `step[2]` for one item of a step that runs over a list.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import assert_never

from docrail.dag.engine.approvals import approvals_of
from docrail.dag.engine.events import (
    WHOLE_STEP,
    AbortRequested,
    Answered,
    Cancel,
    CancelRequested,
    ChunkEnded,
    ChunkThinned,
    Command,
    DeadlinePassed,
    Event,
    Finish,
    GoOn,
    Item,
    Load,
    Loaded,
    NotLoaded,
    NotStored,
    Part,
    PauseRequested,
    Record,
    RecordDecision,
    RecordOverdue,
    Resolved,
    ResumeRequested,
    RunStarted,
    Start,
    StartChunk,
    StepCancelled,
    StepCompleted,
    StepFailed,
    Store,
    Stored,
    TimedOut,
    WentOn,
    WorkerLost,
)
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.state import Answer, RunState, StepState
from docrail.dag.language.definition import DeadlineThen, Definition, Dispatch, OnFailure, Step
from docrail.dag.language.statuses import SETTLED, RunStatus, StepStatus
from docrail.dag.language.step_kinds import Then, WaitFor
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.stored import Reader
from tests.dag.specification import work_name

FALLEN = (StepStatus.FAILED, StepStatus.PARKED)


def reported_as(state: StepState) -> StepStatus:
    """Return as what the dead-letter inbox knows the step: what could not be undone has failed, whatever it did."""
    is_stuck = state.compensation in (StepStatus.FAILED, StepStatus.CANCELLED)
    return StepStatus.FAILED if is_stuck else state.status


def part_of(work: str) -> tuple[str, Part]:
    """Return the step, and the part of it, that a work's name names."""
    step, _, place = work.rstrip("]").partition("[")
    return step, Item(int(place)) if place else WHOLE_STEP


def name_of(step: str, part: Part) -> str:
    """Return the name of that work."""
    return work_name(step, part.place if isinstance(part, Item) else None)


@dataclass(slots=True)
class Ledger:
    """What the shell has seen of a run."""

    begun: bool = False
    started: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    """Handlers, nested runs, and the items of either."""
    waiting: frozenset[str] = frozenset()
    """Waits and questions to people."""
    asked: frozenset[str] = frozenset()
    recorded: frozenset[tuple[str, StepStatus]] = frozenset()
    """What the dead-letter inbox knows: steps that failed, or are parked."""
    paused: bool = False
    overdue: bool = False
    decided: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What each person has decided of each step that asks people, as JSON."""
    goes_on: bool = False
    """A new turn was asked for, and has not begun."""
    moving: frozenset[Reader | str] = frozenset()
    """Readers whose values are being loaded, and steps whose output is being stored."""
    stop: RunStatus | None = None
    finished: RunStatus | None = None

    @property
    def active(self) -> frozenset[str]:
        """All that has been started and has not ended."""
        return self.running | self.waiting

    def copy(self) -> "Ledger":
        return replace(self)

    def see(self, event: Event) -> None:  # noqa: C901, PLR0912 - a case an event
        match event:
            case RunStarted():
                self.begun = True
            case StepCompleted() | StepFailed() | StepCancelled() | TimedOut():
                self.close(event.step if isinstance(event, TimedOut) else name_of(event.step, event.part))
            case Answered() | DeadlinePassed() | WorkerLost():
                pass  # the command counts: the one that asks a wait to end, or that notifies people; lost work goes on
            case Resolved(step=step):
                if not self.stop and (step, StepStatus.PARKED) in self.recorded:
                    self.recorded -= {(step, StepStatus.PARKED)}
                    self.started -= {step, *items_of(self.started, step)}  # it may be tried again
            case PauseRequested():
                self.paused = self.stop is None
            case ResumeRequested():
                self.paused = False
            case AbortRequested():
                self.end_early(RunStatus.ABORTED)
            case CancelRequested():
                self.end_early(RunStatus.CANCELLED)
            case ChunkEnded() | ChunkThinned():
                raise AssertionError("a watched list is too short for chunks")
            case WentOn():
                self.goes_on = False
            case Loaded(mover) | NotLoaded(mover) | Stored(mover) | NotStored(mover):
                self.moving -= {mover}
            case _:
                assert_never(event)

    def close(self, work: str) -> None:
        self.running -= {work}
        self.waiting -= {work}
        self.asked -= {work}

    def end_early(self, status: RunStatus) -> None:
        self.stop = self.stop or status
        self.paused = False


class Watch:
    """What must hold in every run of one definition. Knows the document, and the plan only to read states by id."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.plan = compile_plan(definition)
        self.limit = definition.limits.max_concurrency
        self.fail_fast = definition.on_failure is OnFailure.FAIL_FAST
        self.parks = definition.on_failure is OnFailure.PARK
        self.by_layers = definition.limits.dispatch is Dispatch.LAYERS
        self.steps = {step.id: step for step in definition.steps}
        self.parents = {step.id: step.parents for step in definition.steps}

        def depth_of(step_id: str) -> int:
            return 1 + max(map(depth_of, self.parents[step_id]), default=-1)

        self.depth = {step_id: depth_of(step_id) for step_id in self.parents}
        self.order = sorted(self.parents, key=lambda step_id: self.depth[step_id])  # stable: by place within a layer
        self.rank = {step_id: rank for rank, step_id in enumerate(self.order)}
        self.vital = frozenset(step.id for step in definition.steps if not step.optional)
        self.fans = {step.id: step.for_each for step in definition.steps if step.for_each}
        self.handlers = frozenset(step.id for step in definition.steps if step.handler is not None)
        rule = definition.on_deadline
        self.aborts_late = rule is not None and rule.then is DeadlineThen.ABORT
        answerable = (step for step in definition.steps if (step.wait or step.human) and not is_timer(step))
        self.ended_late = frozenset(step.id for step in answerable if rule is not None and rule.branch is not None)
        """Steps that no longer wait once the run is overdue."""

    def follow(self, ledger: Ledger, event: Event, commands: Sequence[Command], run: RunState) -> None:
        """Bring the ledger up to date with what `event` led to, and assert that all of it was allowed."""
        answered = self._answered(ledger, event)
        if isinstance(event, Resolved) and (event.step, StepStatus.PARKED) in ledger.recorded and not ledger.stop:
            assert Record(event.step) in commands, f"the dead-letter inbox does not hear what became of {event.step}"
        if self._aborts(ledger, event):
            ledger.end_early(RunStatus.ABORTED)
        ledger.see(event)
        if isinstance(event, DeadlinePassed) and self.aborts_late:
            ledger.end_early(RunStatus.ABORTED)
        states = self.states(run)
        called, at_once = self._called(event, states)
        if called and at_once:
            ledger.end_early(called)
        starts = {number: command for number, command in enumerate(commands) if isinstance(command, Start)}
        for number, command in enumerate(commands):
            if called and number > max(starts, default=-1):
                ledger.end_early(called)  # a step may fail, or call for the end, between two starts
            self._obey(ledger, command, answered, states, event)
        if called:
            ledger.end_early(called)
        assert answered not in ledger.waiting, f"{answered} is answered, but its wait is not withdrawn"
        fallen = {(step, reported_as(state)) for step, state in states.items() if reported_as(state) in FALLEN}
        assert ledger.recorded == fallen, "the dead-letter inbox does not know what failed"
        self._assert_order(list(starts.values()), states)
        self._assert_state(ledger, run, states)
        self._assert_progress(ledger, states)

    def states(self, run: RunState) -> dict[str, StepState]:
        return {step.id: run.steps[step.index] for step in self.plan.steps}

    def _answered(self, ledger: Ledger, event: Event) -> str | None:
        if not isinstance(event, Answered) or event.step not in ledger.waiting or ledger.stop:
            return None
        if is_timer(self.steps[event.step]):
            return None
        if (needed := approvals_of(self.steps[event.step].human)) > 1:
            said = canonical(event.answer.value)
            ledger.decided = {**ledger.decided, (event.step, event.answer.by): said}
            alike = [each for (step, _), each in ledger.decided.items() if (step, each) == (event.step, said)]
            return event.step if len(alike) >= needed else None
        return event.step

    def _aborts(self, ledger: Ledger, event: Event) -> bool:
        if not isinstance(event, TimedOut) or event.step not in ledger.waiting:
            return False
        step = self.steps[event.step]
        waiting = step.wait or step.human
        assert waiting is not None, f"{event.step} is not a wait"
        return bool(waiting.on_timeout and waiting.on_timeout.then is Then.ABORT) and not is_timer(step)

    def _called(self, event: Event, states: Mapping[str, StepState]) -> tuple[RunStatus | None, bool]:
        """Return how the run must end early because of what its steps came to, and whether nothing may start before."""
        if any(state.status is StepStatus.COMPLETED and self.steps[step].abort for step, state in states.items()):
            return RunStatus.ABORTED, False
        if self.fail_fast and any(states[step].status is StepStatus.FAILED for step in self.vital):
            ended = event.step if isinstance(event, StepFailed | StepCancelled) else None
            return RunStatus.FAILED, ended in self.vital and states[ended].status is StepStatus.FAILED
        return None, False

    def _obey(
        self,
        ledger: Ledger,
        command: Command,
        answered: str | None,
        states: Mapping[str, StepState],
        event: Event,
    ) -> None:
        assert ledger.finished is None, f"{command} follows Finish"
        match command:
            case Start(step, _, part):
                self._assert_startable(ledger, step, part)
                work = name_of(step, part)
                ledger.started |= {work}
                if self.steps[step].wait or self.steps[step].human:
                    ledger.waiting |= {work}
                else:
                    ledger.running |= {work}
            case Cancel(step, part):
                is_late = isinstance(event, DeadlinePassed) and step in self.ended_late and ledger.stop is None
                self._stop(ledger, name_of(step, part), states[step], is_answered=step == answered or is_late)
            case Record(step):
                was_resolved = isinstance(event, Resolved) and event.step == step
                self._record(ledger, step, reported_as(states[step]), was_resolved=was_resolved)
            case GoOn():
                assert not ledger.goes_on, "a new turn is asked for twice"
                ledger.goes_on = True
            case Load(mover) | Store(mover):
                assert mover not in ledger.moving, f"{mover}: values are moved twice at once"
                ledger.moving |= {mover}
            case StartChunk():
                raise AssertionError("a watched list is too short for chunks")
            case RecordOverdue() | RecordDecision():
                self._tell_people(ledger, command, event)
            case Finish(status):
                assert not ledger.active, f"the run finishes while {set(ledger.active)} run"
                assert ledger.stop is None or status is ledger.stop, f"{status} after a stop as {ledger.stop}"
                ledger.finished = status
            case _:
                assert_never(command)

    def _stop(self, ledger: Ledger, work: str, state: StepState, *, is_answered: bool) -> None:
        assert work in ledger.active, f"{work} is asked to stop, and does not run"
        assert work not in ledger.asked, f"{work} is asked to stop twice"
        if is_answered:
            ledger.waiting -= {work}  # what it says to that is late
            return
        called_for = ledger.stop is not None or self._is_overfull(part_of(work)[0], state)
        assert called_for, f"{work} is asked to stop, and nothing called for it"
        ledger.asked |= {work}

    def _tell_people(self, ledger: Ledger, command: RecordOverdue | RecordDecision, event: Event) -> None:
        if isinstance(command, RecordDecision):
            made = command.decision
            assert event == Answered(command.step, Answer(made.value, made.by), event.at), "no one decided this"
            assert approvals_of(self.steps[command.step].human) > 1, "one decision is reported by the question's end"
            return
        assert isinstance(event, DeadlinePassed), "overdue before its deadline"
        assert not ledger.overdue, "the run is reported overdue twice"
        ledger.overdue = True

    def _record(self, ledger: Ledger, step: str, status: StepStatus, *, was_resolved: bool) -> None:
        is_news = status in FALLEN and (step, status) not in ledger.recorded
        assert is_news or was_resolved, f"{step} is {status}, which is not news"
        if is_news:
            ledger.recorded = ledger.recorded - {(step, StepStatus.PARKED)} | {(step, status)}

    def _assert_startable(self, ledger: Ledger, step: str, part: Part) -> None:
        work = name_of(step, part)
        assert ledger.begun, f"{work} starts before the run"
        assert work not in ledger.started, f"{work} starts twice"
        assert not ledger.paused, f"{work} starts while the run is paused"
        assert ledger.stop is None, f"{work} starts while the run is being stopped"
        if step in self.handlers:
            assert self.slots_used(ledger) < self.limit, f"{work} starts beyond max_concurrency"
        assert isinstance(part, Item) == (step in self.fans), f"{work} starts, expected items only of a list"
        if isinstance(part, Item):
            items = items_of(ledger.running, step)
            assert len(items) < self.fans[step].max_concurrency, f"{work} starts beyond its step's max_concurrency"
            assert not ledger.asked.intersection(items), f"{work} starts while its step is being stopped"

    def slots_used(self, ledger: Ledger) -> int:
        return sum(part_of(work)[0] in self.handlers for work in ledger.running)

    def _is_overfull(self, step: str, state: StepState) -> bool:
        """Return whether so many of a step's items failed that the rest must stop."""
        for_each = self.fans.get(step)
        if for_each is None or state.fan is None or for_each.on_item_error == "collect":
            return False
        return sum(item.status is StepStatus.FAILED for item in state.fan.items) > for_each.max_failures

    def _assert_order(self, starts: Sequence[Start], states: Mapping[str, StepState]) -> None:
        for command in starts:
            fan = states[command.step].fan
            before = fan.items[: command.part.place] if fan and isinstance(command.part, Item) else []
            assert all(item.status is not StepStatus.PENDING for item in before), (
                f"{command} is not in the list's order"
            )
        steps = [command.step for command in starts]
        ranks = [self.rank[step] for step in steps]
        assert ranks == sorted(ranks), f"{steps} do not start in plan order"
        for started in steps:
            needed = self.parents[started]
            if self.by_layers:
                needed = tuple(step for step in states if self.depth[step] < self.depth[started])
            early = [step for step in needed if states[step].status not in SETTLED]
            assert not early, f"{started} starts before {early} have ended"

    def _assert_state(self, ledger: Ledger, run: RunState, states: Mapping[str, StepState]) -> None:
        unsettled = {step for step, state in states.items() if state.status not in SETTLED}
        assert set(_running(states)) == ledger.running
        assert {step for step, state in states.items() if state.status is StepStatus.WAITING} == ledger.waiting
        assert ledger.stop is None or ledger.asked == ledger.active, "a stop has not reached everything that runs"
        for step in self.fans:
            if self._is_overfull(step, states[step]):
                assert ledger.asked.issuperset(items_of(ledger.running, step)), f"{step}'s items have not been stopped"
        is_over = not unsettled and (ledger.finished or not ledger.moving)
        assert bool(ledger.finished) == bool(is_over), "the run is over exactly when every step is settled"
        assert run.outcome is ledger.finished
        assert run.overdue is ledger.overdue
        if ledger.overdue and ledger.stop is None:
            assert not ledger.waiting & self.ended_late, "a step waits for an answer after the run's deadline"
        assert run.status is _status(ledger, states)
        assert counters(run) == recount(self.plan, run)
        if ledger.finished is RunStatus.COMPLETED:
            lost = {StepStatus.FAILED, StepStatus.CANCELLED}
            assert not [step for step in self.vital if states[step].status in lost], "a false success"

    def _assert_progress(self, ledger: Ledger, states: Mapping[str, StepState]) -> None:
        """Nothing stands still for nothing: what has not started waits for a parent, a layer, a slot or its window."""
        if not ledger.begun or ledger.paused or ledger.finished:
            return
        parked = _parked(states)
        assert ledger.active or parked or ledger.moving, "a deadlock: nothing runs, and no person has anything to do"
        assert not parked or (self.parks and not ledger.stop), f"{parked} wait for a person who cannot act"
        if ledger.stop:
            return
        unsettled = {step for step, state in states.items() if state.status not in SETTLED}
        is_full = self.slots_used(ledger) >= self.limit
        for step in unsettled - ledger.active - ledger.moving - parked:
            state = states[step]
            if (is_full and step in self.handlers) or (ledger.moving and state.status is StepStatus.PENDING):
                continue
            if state.fan is not None and state.status is StepStatus.RUNNING:
                left = [item for item in state.fan.items if item.status is StepStatus.PENDING]
                has_room = state.fan.running < self.fans[step].max_concurrency
                assert not (left and has_room) or self._is_overfull(step, state), f"an item of {step} waits for nothing"
                continue
            held = [other for other in states if self.depth[other] < self.depth[step]]
            behind = held if self.by_layers and state.status is StepStatus.QUEUED else self.parents[step]
            assert unsettled.intersection(behind), f"{step} waits for nothing"


def is_timer(step: Step) -> bool:
    return step.wait is not None and step.wait.for_ is WaitFor.TIMER


def items_of(works: AbstractSet[str], step: str) -> set[str]:
    return {work for work in works if work.startswith(f"{step}[")}


def _running(states: Mapping[str, StepState]) -> Iterator[str]:
    """Yield what runs, by its name, as the states have it."""
    for step, state in states.items():
        if state.fan is not None:
            items = enumerate(state.fan.items)
            yield from (work_name(step, place) for place, item in items if item.status is StepStatus.RUNNING)
        elif state.status is StepStatus.RUNNING:
            yield step


def _parked(states: Mapping[str, StepState]) -> set[str]:
    return {step for step, state in states.items() if state.status is StepStatus.PARKED}


def _status(ledger: Ledger, states: Mapping[str, StepState]) -> RunStatus:
    if ledger.finished or ledger.paused:
        return ledger.finished or RunStatus.PAUSED
    is_waiting = (ledger.waiting or _parked(states)) and not (ledger.running or ledger.stop or ledger.moving)
    return RunStatus.WAITING if is_waiting else RunStatus.RUNNING


def counters(run: RunState) -> Json:
    """Return the derived part of a state, as it is kept. Once a run is being stopped, parents no longer count."""
    kept = run.counters
    return (
        *(kept.unsettled_parents, kept.unsettled_in_layer, sorted(kept.ready), sorted(kept.ready_free)),
        *(kept.slots_used, kept.running, kept.waiting, kept.parked, kept.unsettled, kept.failures, run.fallen),
        any(kept.unsettled_in_layer[: kept.open_layer]),
    )


def recount(plan: Plan, run: RunState) -> Json:
    """Return the derived part of a state, as the statuses have it."""
    states = run.steps
    unsettled = [state.status not in SETTLED for state in states]
    failed = (step for step in plan.steps if states[step.index].status is StepStatus.FAILED)
    return (
        [sum(unsettled[parent] for parent in step.parents) for step in plan.steps],
        [sum(unsettled[index] for index in layer) for layer in plan.layers],
        [step.index for step in plan.steps if _may_start(plan, run, step.index) and step.takes_slot],
        [step.index for step in plan.steps if _may_start(plan, run, step.index) and not step.takes_slot],
        sum(_slots(states[step.index]) for step in plan.steps if step.takes_slot),
        sum(state.status is StepStatus.RUNNING for state in states),
        sum(state.status is StepStatus.WAITING for state in states),
        sum(state.status is StepStatus.PARKED for state in states),
        sum(unsettled),
        sum(not step.definition.optional for step in failed),
        [],
        False,
    )


def _may_start(plan: Plan, run: RunState, index: int) -> bool:
    """Return whether the step, or one more of its items, could begin if there were a slot."""
    state, for_each = run.steps[index], plan.steps[index].definition.for_each
    if state.fan is None or for_each is None or state.status is not StepStatus.RUNNING:
        return state.status is StepStatus.QUEUED
    waiting = [item for item in state.fan.items if item.status is StepStatus.PENDING]
    is_open = not state.fan.stopping and run.stopping is None
    return is_open and bool(waiting) and state.fan.running < for_each.max_concurrency


def _slots(state: StepState) -> int:
    if state.status is not StepStatus.RUNNING:
        return 0
    return 1 if state.fan is None else sum(item.status is StepStatus.RUNNING for item in state.fan.items)
