"""What is known of a run: each step's status and result, and the counters that make an event cheap."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from docrail.dag.language.statuses import LONGEST_TYPE, RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json, shortened
from docrail.dag.values.stored import Found, Loading, Path, Reader

_UNDOING = {
    StepStatus.RUNNING: "being undone",
    StepStatus.COMPLETED: "undone",
    StepStatus.FAILED: "not undone",
    StepStatus.CANCELLED: "not undone",
}


def shown_status(status: StepStatus, compensation: StepStatus | None) -> str:
    """Return a step's status for a table: whether what a completed step did still stands is part of it."""
    return str(status) if compensation is None else f"{status}, {_UNDOING[compensation]}"


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a step failed: the error's class and its message, both cut to what a report can carry."""

    type: str
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", shortened(self.type, LONGEST_TYPE))
        object.__setattr__(self, "message", shortened(self.message))


MOST_EARLIER, EARLIER_CHARACTERS = 5, 200
"""Errors of earlier attempts that are kept of a step, the latest, and how much of each message."""


WORKER_LOST = "WorkerLost"
"""Error type of an attempt whose worker was stopped or died: it is made again, and does not count as failed."""


@dataclass(frozen=True, slots=True)
class EarlierError:
    """How an attempt failed that another one followed: its number, from 1, and of a list whose item it was of."""

    attempt: int
    error: StepError
    item: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answered a waiting step, and who it was (empty: nobody we know)."""

    value: Json
    by: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one of several people who must agree decided last. `number` counts all decisions of the asking, from 1."""

    by: str
    value: Json
    number: int


@dataclass(slots=True)
class ItemState:
    """One element of the list that a step runs over."""

    key: str
    value: Json
    status: StepStatus = StepStatus.PENDING
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    cached: bool = False
    """Its output is that of earlier equal work."""


@dataclass(frozen=True, slots=True)
class ItemEnd:
    """How an item of a chunk ended; PENDING: the chunk was stopped before it began."""

    status: StepStatus
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    cached: bool = False
    may_pass: bool = False
    """Whether the error was of a kind that is tried again."""
    earlier: tuple[EarlierError, ...] = ()
    out_of_time: bool = False
    """Whether only `total_timeout_seconds` kept it from another attempt."""


@dataclass(frozen=True, slots=True)
class ChunkState:
    """Items of a long list that run in a workflow of their own: their places, and how many of them at once."""

    places: tuple[int, ...]
    width: int
    is_thin: bool = False
    """All of its items have begun: a place that comes free in it is of no use to it."""
    completed: int = 0
    failed: int = 0
    """How many of its items have ended so, as far as it has told."""


@dataclass(slots=True)
class FanState:
    """A step that runs once for each item. Items start in the list's order, so `next` is all that is to be started."""

    items: list[ItemState]
    next: int = 0
    running: int = 0
    failed: int = 0
    stopping: bool = False
    """Too many items failed: what runs is being stopped, and nothing starts any more."""
    is_storing: bool = False
    """All items have ended, and what they gave is being stored."""
    window: int = 0
    """How many items run at once where the list is so long that it runs in chunks; 0: it does not."""
    chunks: dict[int, ChunkState] = field(default_factory=dict)
    """The chunks that run, by the place of their first item."""

    @property
    def width(self) -> int:
        """How many items the running chunks run at once."""
        return sum(chunk.width for chunk in self.chunks.values())

    def advance(self) -> None:
        """Go on to the next item that is to be started: a retry keeps those that completed."""
        self.next += 1
        while self.next < len(self.items) and self.items[self.next].status is not StepStatus.PENDING:
            self.next += 1


@dataclass(slots=True)
class StepState:
    """One step of one run. Times are seconds since the epoch."""

    status: StepStatus = StepStatus.PENDING
    decided_by: str = ""
    """What decided its fate: a trigger rule, `condition`, `abort`, `cancel`, `fail_fast`, `timeout`."""
    reason: SkipReason | None = None
    error: StepError | None = None
    output: Json = None
    branch: str | None = None
    """The way out that a switch, or a wait that nobody answered, has taken."""
    answer: Answer | None = None
    """Given to a waiting step; kept for one that is not waiting yet: answers may be faster than we are."""
    decisions: tuple[Decision, ...] = ()
    """Of a human step that wants several people to agree: what each of them decided, the latest last."""
    fan: FanState | None = None
    edited: Json = None
    """The config that a person put in the place of the definition's, to have the step tried again.

    Of a step over a list, those of its items, by their keys.
    """
    compensation: StepStatus | None = None
    """How far undoing the step has come: RUNNING, COMPLETED, FAILED or CANCELLED."""
    compensation_error: StepError | None = None
    resolved_by: str = ""
    """Who said what becomes of the failed step."""
    attempts: int = 0
    earlier: tuple[EarlierError, ...] = ()
    """How attempts before the last one failed, the latest last."""
    out_of_time: bool = False
    """Only `total_timeout_seconds` kept it, or one of its items, from another attempt."""
    cached: bool = False
    """Its output is that of earlier equal work: no handler ran."""
    is_stored: bool = False
    """Its output, or parts of it, are kept elsewhere (dag.values.stored)."""
    started_at: float | None = None
    ended_at: float | None = None


@dataclass(slots=True)
class Counters:
    """What makes an event cheap. All follows from the plan and the steps' states (dag.engine.counters.rebuild)."""

    unsettled_parents: list[int] = field(default_factory=list)
    """By step: how many of its parents are unsettled."""
    unsettled_in_layer: list[int] = field(default_factory=list)
    ready: list[int] = field(default_factory=list)
    """A heap of steps that may start something, a slot provided: plan order is start order."""
    ready_free: list[int] = field(default_factory=list)
    """The same for steps that need no slot."""
    open_layer: int = 0
    """Where steps start layer by layer: the deepest layer that may start."""
    slots_used: int = 0
    running: int = 0
    waiting: int = 0
    parked: int = 0
    unsettled: int = 0
    failures: int = 0
    """FAILED steps that are not optional."""
    has_stored: bool = False
    """Some step's output is stored."""

    def enter(self, status: StepStatus) -> None:
        """Count a step that is now RUNNING, WAITING or PARKED; no other status is counted here."""
        self.running += status is StepStatus.RUNNING
        self.waiting += status is StepStatus.WAITING
        self.parked += status is StepStatus.PARKED

    def leave(self, status: StepStatus) -> None:
        """Count a step that no longer has that status."""
        self.running -= status is StepStatus.RUNNING
        self.waiting -= status is StepStatus.WAITING
        self.parked -= status is StepStatus.PARKED

    def settle(self, layer: int, children: Sequence[int]) -> list[int]:
        """Count a step of that layer as settled; return those of its children that waited for it alone."""
        self.unsettled -= 1
        self.unsettled_in_layer[layer] -= 1
        for child in children:
            self.unsettled_parents[child] -= 1
        return [child for child in children if not self.unsettled_parents[child]]


@dataclass(slots=True)
class Turn:
    """What the events of one moment have taken so far: Temporal bounds a turn's time and its message."""

    begun_at: float | None = None
    begun_bytes: int = 0
    """The configs of what was begun: they travel in one message."""
    spent: int = 0
    """The work of all expressions that were evaluated (dag.values.cost)."""
    deferred: list[int] = field(default_factory=list)
    """Steps that are judged in a later turn: this one has taken enough."""
    is_going_on: bool = False
    """A new turn has been asked for, and has not begun."""


@dataclass(slots=True)
class Transfers:
    """Values on their way from and to the value store."""

    loaded: dict[Path, Found] = field(default_factory=dict)
    """What expressions read of stored outputs, by the place they read (dag.engine.value_transfer)."""
    loading: dict[Reader, Loading] = field(default_factory=dict)
    """What is being loaded, by its first reader."""
    unread: list[Reader] = field(default_factory=list)
    """Readers whose values are yet to be asked for."""
    to_store: list[int] = field(default_factory=list)
    """Steps over lists whose outputs are to be stored."""
    is_storing: bool = False
    """The first of them is being stored."""


@dataclass(slots=True)
class Traffic:
    """How much has gone through the workflow: sums, which nothing else can tell."""

    history_events: int = 0
    history_bytes: int = 0
    """The size of the history, as Temporal reports it."""
    carried_bytes: int = 0
    """Configs, outputs and answers that went through the history so far, as JSON."""


@dataclass(slots=True)
class RunState:
    """One run. `steps` is in plan order. The last four fields belong to one workflow execution and are not saved."""

    steps: list[StepState]
    inputs: dict[str, Json]
    context: dict[str, Json]
    paused: bool = False
    stopping: RunStatus | None = None
    """ABORTED, CANCELLED or FAILED once the run is being stopped early; nothing starts any more."""
    stop_reason: str = ""
    stopped_by: str = ""
    """The principal who aborted it, as far as that is known."""
    stopped_by_step: str | None = None
    ending: RunStatus | None = None
    """How the run ends, once what it did has been undone."""
    overdue: bool = False
    """It has not ended within its deadline. Decides nothing: people are told, and it goes on."""
    nested_bytes: int = 0
    """What the start of a nested run carries beside its inputs: definitions, which only the shell knows."""
    outcome: RunStatus | None = None
    outputs: dict[str, Json] = field(default_factory=dict)
    started_at: float | None = None
    ended_at: float | None = None
    fallen: list[int] = field(default_factory=list)
    """Steps whose failure, or what became of it, is yet to be told to the dead-letter inbox; empty between events."""
    counters: Counters = field(default_factory=Counters)
    turn: Turn = field(default_factory=Turn)
    transfers: Transfers = field(default_factory=Transfers)
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def status(self) -> RunStatus:
        """The run's status as users see it."""
        if self.outcome is not None:
            return self.outcome
        if self.paused:
            return RunStatus.PAUSED
        # what is ready while nothing runs waits for a layer
        counters = self.counters
        is_idle = not (counters.running or self.stopping or self.transfers.loading)
        is_waiting = is_idle and (counters.waiting or counters.parked)
        return RunStatus.WAITING if is_waiting else RunStatus.RUNNING


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


def stopped_by(run: RunState, stopping: RunStatus) -> str:
    """Return what decided the fate of a step that the stop of its run has met. Only fail_fast gives no reason."""
    return BUDGET if stopping is RunStatus.FAILED and run.stop_reason else STOPPED_BY[stopping]
