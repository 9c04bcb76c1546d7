"""`World` plays the shell: it obeys commands, ends work in any order, and has its watch assert safety all along."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from docrail.dag.engine.events import (
    Answered,
    Command,
    Event,
    Item,
    Resolution,
    ResolutionKind,
    Resolved,
    RunStarted,
    StepCancelled,
    StepCompleted,
    StepFailed,
    TimedOut,
)
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import Answer, StepError, StepState
from docrail.dag.engine.transitions import advance
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.specification import Fate, Specified
from tests.dag.watch import Ledger, Watch, is_timer, part_of


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
    """One run, played to its end. Work in `failing` fails, in `vanishing` is cancelled by no known cause."""

    definition: Definition
    failing: AbstractSet[str] = frozenset()
    vanishing: AbstractSet[str] = frozenset()
    overdue: AbstractSet[str] = frozenset()
    """Waiting steps without an answer in time; the others are answered, and timers are due."""
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

    def answer(self, work: str) -> Event:
        """Return how `work` ends."""
        step, part = part_of(work)
        if work in self.ledger.asked and step not in self.stubborn:
            return StepCancelled(step, self.tick(), part)
        if work in self.vanishing:
            return StepCancelled(step, self.tick(), part)
        if work in self.failing:
            return StepFailed(step, StepError("Broken", f"{work} broke"), 2, self.tick(), part)
        if work not in self.ledger.waiting:
            return StepCompleted(step, {"made_by": work}, 1, self.tick(), part)
        if work in self.overdue or work in self.ledger.asked or is_timer(self.watch.steps[step]):
            return TimedOut(step, self.tick())
        return self.reply(step)

    def reply(self, step: str) -> Answered:
        """Return the answer to a waiting step."""
        return Answered(step, Answer({"answered": step}, "someone"), self.tick())

    def mend(self, step: str) -> Resolved:
        """Return what a person does about a parked step: its own work."""
        return Resolved(step, Resolution(ResolutionKind.OUTPUT, {"made_by": "someone"}, "someone"), self.tick())

    @property
    def parked(self) -> frozenset[str]:
        return frozenset(step for step, state in self.states.items() if state.status is StepStatus.PARKED)

    def turn(self, pick: "Picker") -> bool:
        """End one thing that runs, waits or is parked; False if there is none."""
        active = sorted(self.ledger.active | self.parked, key=self._place)
        if active:
            work = pick(active)
            self.send(self.mend(work) if work in self.parked else self.answer(work))
        return bool(active)

    def _place(self, work: str) -> tuple[int, int]:
        step, part = part_of(work)
        return self.watch.rank[step], part.place if isinstance(part, Item) else 0

    def turns(self, count: int, pick: "Picker") -> None:
        for _ in range(count):
            self.turn(pick)

    def go(self, pick: "Picker | None" = None) -> "World":
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
        """Return all that is known at the end, but for the times, and which items a hasty step came to run."""
        steps = {
            step: (state.status, state.reason, state.decided_by, state.branch, *self._result(step, state))
            for step, state in self.states.items()
        }
        return steps, self.run.status, self.run.outputs, self.run.stop_reason

    def _result(self, step: str, state: StepState) -> tuple[Json, ...]:
        if self.is_hasty(step):
            return ("ItemsFailed",)
        return state.error, state.output, state.attempts

    def is_hasty(self, step: str) -> bool:
        """Return whether failures kept some of the step's items from running: which, depends on the order."""
        for_each, error = self.watch.fans.get(step), self.states[step].error
        return bool(for_each and for_each.on_item_error == "fail_fast" and error and error.type == "ItemsFailed")

    @property
    def reported(self) -> set[str]:
        """Return what was started, but for the items of hasty steps."""
        return {work for work in self.ledger.started if not self.is_hasty(part_of(work)[0])}
