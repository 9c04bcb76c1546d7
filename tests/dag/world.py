"""`World` plays the shell: it obeys commands, ends work in any order, and asserts safety at each command.

The ledger knows only what a shell can see, events and commands; the watch compares it with the state after each event.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import assert_never

from dag.definition import Definition, Dispatch, OnFailure
from dag.messages import (
    AbortRequested,
    Cancel,
    CancelRequested,
    Command,
    Event,
    Finish,
    PauseRequested,
    ResumeRequested,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
)
from dag.plan import Plan, compile_plan
from dag.rewind import begin
from dag.scheduler import advance
from dag.state import SETTLED, RunState, RunStatus, StepError, StepState, StepStatus
from dag.values import Json
from tests.dag.specification import Fate, Specified


@dataclass(slots=True)
class Ledger:
    """What the shell has seen of a run."""

    begun: bool = False
    started: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    paused: bool = False
    stop: RunStatus | None = None
    finished: RunStatus | None = None

    def copy(self) -> "Ledger":
        return Ledger(
            self.begun, self.started, self.running, self.asked, self.paused, self.stop, self.finished
        )  # fmt: skip

    def see(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.begun = True
            case StepCompleted(step=step) | StepFailed(step=step) | StepCancelled(step=step):
                self.running -= {step}
                self.asked -= {step}
            case PauseRequested():
                self.paused = self.stop is None
            case ResumeRequested():
                self.paused = False
            case AbortRequested():
                self.end_early(RunStatus.ABORTED)
            case CancelRequested():
                self.end_early(RunStatus.CANCELLED)
            case _:
                assert_never(event)

    def end_early(self, status: RunStatus) -> None:
        self.stop = self.stop or status
        self.paused = False

    def obey(self, command: Command, max_concurrency: int) -> None:
        assert self.finished is None, f"{command} follows Finish"
        match command:
            case Start(step):
                assert self.begun, f"{step} starts before the run"
                assert step not in self.started, f"{step} starts twice"
                assert not self.paused, f"{step} starts while the run is paused"
                assert self.stop is None, f"{step} starts while the run is being stopped"
                assert len(self.running) < max_concurrency, f"{step} starts beyond max_concurrency"
                self.started |= {step}
                self.running |= {step}
            case Cancel(step):
                assert self.stop is not None, f"{step} is asked to stop, and nothing called for it"
                assert step in self.running, f"{step} is asked to stop, and does not run"
                assert step not in self.asked, f"{step} is asked to stop twice"
                self.asked |= {step}
            case Finish(status):
                assert not self.running, f"the run finishes while {set(self.running)} run"
                assert self.stop is None or status is self.stop, f"{status} after a stop as {self.stop}"
                self.finished = status
            case _:
                assert_never(command)


class Watch:
    """What must hold in every run of one definition. Knows the document, and the plan only to read states by id."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.plan = compile_plan(definition)
        self.limit = definition.limits.max_concurrency
        self.fail_fast = definition.on_failure is OnFailure.FAIL_FAST
        self.by_layers = definition.limits.dispatch is Dispatch.LAYERS
        parents = {step.id: step.depends_on for step in definition.steps}

        def depth_of(step_id: str) -> int:
            return 1 + max(map(depth_of, parents[step_id]), default=-1)

        self.depth = {step_id: depth_of(step_id) for step_id in parents}
        self.order = sorted(parents, key=lambda step_id: self.depth[step_id])  # stable: by place within a layer
        self.rank = {step_id: rank for rank, step_id in enumerate(self.order)}
        self.vital = frozenset(step.id for step in definition.steps if not step.optional)
        self.parents = parents

    def follow(self, ledger: Ledger, event: Event, commands: Sequence[Command], run: RunState) -> None:
        """Bring the ledger up to date with what `event` led to, and assert that all of it was allowed."""
        ledger.see(event)
        states = self.states(run)
        fallen = [state for state in states.values() if state.status is StepStatus.FAILED]
        failed = self.fail_fast and any(states[step].status is StepStatus.FAILED for step in self.vital)
        mid_dispatch = any(state.error and state.error.type == "TemplateError" for state in fallen)
        if failed and not mid_dispatch:
            ledger.end_early(RunStatus.FAILED)
        for command in commands:
            if failed and not isinstance(command, Start):
                ledger.end_early(RunStatus.FAILED)  # a config that cannot be resolved fails between two starts
            ledger.obey(command, self.limit)
        if failed:
            ledger.end_early(RunStatus.FAILED)
        starts = [command.step for command in commands if isinstance(command, Start)]
        ranks = [self.rank[step] for step in starts]
        assert ranks == sorted(ranks), f"{starts} do not start in plan order"
        self._assert_layers(starts, states)
        self._assert_state(ledger, run, states)

    def states(self, run: RunState) -> dict[str, StepState]:
        return {step.id: run.steps[step.index] for step in self.plan.steps}

    def _assert_layers(self, starts: Sequence[str], states: dict[str, StepState]) -> None:
        for started in starts:
            needed = self.parents[started]
            if self.by_layers:
                needed = tuple(step for step in states if self.depth[step] < self.depth[started])
            early = [step for step in needed if states[step].status not in SETTLED]
            assert not early, f"{started} starts before {early} have ended"

    def _assert_state(self, ledger: Ledger, run: RunState, states: dict[str, StepState]) -> None:
        statuses = {step: state.status for step, state in states.items()}
        unsettled = {step for step, status in statuses.items() if status not in SETTLED}
        assert {step for step, status in statuses.items() if status is StepStatus.RUNNING} == ledger.running
        assert ledger.stop is None or ledger.asked == ledger.running, "a stop has not reached everything that runs"
        assert (ledger.finished is not None) == (not unsettled), "the run is over exactly when every step is settled"
        assert run.outcome is ledger.finished
        assert run.status is (ledger.finished or (RunStatus.PAUSED if ledger.paused else RunStatus.RUNNING))
        assert counters(self.plan, run) == recount(self.plan, run)
        if ledger.finished is RunStatus.COMPLETED:
            lost = {StepStatus.FAILED, StepStatus.CANCELLED}
            assert not [step for step in self.vital if statuses[step] in lost], "a false success"
        elif ledger.finished is None and ledger.begun and not ledger.paused:
            assert ledger.running, "a deadlock: nothing runs, and nobody was asked to do anything"
        if ledger.begun and not ledger.paused and len(ledger.running) < self.limit:
            for step in unsettled - ledger.running:
                held = [other for other in states if self.depth[other] < self.depth[step]]
                behind = held if self.by_layers and statuses[step] is StepStatus.QUEUED else self.parents[step]
                assert unsettled.intersection(behind), f"{step} waits for nothing"


def counters(plan: Plan, run: RunState) -> Json:
    """Return the derived part of a state, as it is kept. Once a run is being stopped nobody's parents count."""
    return (
        run.unsettled_parents,
        *(run.unsettled_in_layer, sorted(run.ready), run.running, run.unsettled, run.failures),
        any(run.unsettled_in_layer[: run.open_layer]),
    )


def recount(plan: Plan, run: RunState) -> Json:
    """Return the derived part of a state, as the statuses have it."""
    states = run.steps
    unsettled = [state.status not in SETTLED for state in states]
    failed = (step for step in plan.steps if states[step.index].status is StepStatus.FAILED)
    return (
        [sum(unsettled[parent] for parent in step.parents) for step in plan.steps],
        [sum(unsettled[index] for index in layer) for layer in plan.layers],
        [index for index, state in enumerate(states) if state.status is StepStatus.QUEUED],
        sum(state.status is StepStatus.RUNNING for state in states),
        sum(unsettled),
        sum(not step.definition.optional for step in failed),
        False,
    )


@dataclass
class Picker:
    """Choices that hypothesis drew, used again and again; nothing drawn picks the first."""

    numbers: Sequence[int]
    used: int = 0

    def __call__(self, options: Sequence[str]) -> str:
        number = self.numbers[self.used % len(self.numbers)] if self.numbers else 0
        self.used += 1
        return options[number % len(options)]


@dataclass
class World:
    """One run, played to its end. Steps in `failing` fail, in `vanishing` are cancelled by nobody we know."""

    definition: Definition
    failing: AbstractSet[str] = frozenset()
    vanishing: AbstractSet[str] = frozenset()
    stubborn: AbstractSet[str] = frozenset()
    """Steps that end as ever when they are asked to stop; the others acknowledge."""
    inputs: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.watch = Watch(self.definition)
        self.plan = self.watch.plan
        self.run = begin(self.plan, self.inputs, {})
        self.ledger = Ledger()
        self.now = 0.0
        self.trace: list[tuple[Event, list[Command]]] = []

    def send(self, event: Event) -> list[Command]:
        commands = advance(self.plan, self.run, event)
        self.trace.append((event, commands))
        self.watch.follow(self.ledger, event, commands, self.run)
        return commands

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    def start(self) -> list[Command]:
        return self.send(RunStarted(self.tick()))

    def answer(self, step: str) -> Event:
        """Return how `step` ends."""
        if step in self.ledger.asked and step not in self.stubborn:
            return StepCancelled(step, self.tick())
        if step in self.vanishing:
            return StepCancelled(step, self.tick())
        if step in self.failing:
            return StepFailed(step, StepError("Broken", f"{step} broke"), 2, self.tick())
        return StepCompleted(step, {"made_by": step}, 1, self.tick())

    def turn(self, pick: Picker) -> bool:
        """End one running step; False if none runs."""
        running = sorted(self.ledger.running, key=self.watch.rank.__getitem__)
        if running:
            self.send(self.answer(pick(running)))
        return bool(running)

    def turns(self, count: int, pick: Picker) -> None:
        for _ in range(count):
            self.turn(pick)

    def go(self, pick: Picker | None = None) -> "World":
        """Play the run to its end, from wherever it stands."""
        pick = pick or Picker(())
        if not self.ledger.begun:
            self.start()
        while self.turn(pick):
            pass
        return self

    @property
    def states(self) -> dict[str, StepState]:
        return self.watch.states(self.run)

    @property
    def fates(self) -> Specified:
        assert self.ledger.finished is not None
        steps = {step: Fate(state.status, state.reason) for step, state in self.states.items()}
        return Specified(steps, self.ledger.finished)

    @property
    def results(self) -> Json:
        """Return all that is known at the end, but for the times."""
        steps = {
            step: (state.status, state.reason, state.decided_by, state.error, state.output, state.attempts)
            for step, state in self.states.items()
        }
        return steps, self.run.status, self.run.outputs, self.run.stop_reason
