"""Define a run's state: each step's status and result, and the counters that keep the cost of an event low."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from docrail.dag.engine.plan import Step
from docrail.dag.language.statuses import LONGEST_TYPE, SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json, shortened
from docrail.dag.values.problems import Path
from docrail.dag.values.stored import Found, Loading, Reader

PENDING, QUEUED, RUNNING, WAITING, PARKED, COMPLETED, FAILED, SKIPPED, CANCELLED = StepStatus
"""The statuses of steps by themselves: reading them as attributes of the enum would take a tenth of an event's time."""

_UNDOING = {
    StepStatus.RUNNING: "being undone",
    StepStatus.COMPLETED: "undone",
    StepStatus.FAILED: "not undone",
    StepStatus.CANCELLED: "not undone",
}


def shown_status(status: StepStatus, compensation: StepStatus | None) -> str:
    """Return a step's status for a table, including whether a completed step has been compensated."""
    return str(status) if compensation is None else f"{status}, {_UNDOING[compensation]}"


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a step failed: the error's type and its message, both shortened to what a report can carry."""

    type: str
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", shortened(self.type, LONGEST_TYPE))
        object.__setattr__(self, "message", shortened(self.message))


MOST_EARLIER, EARLIER_CHARACTERS = 5, 200
"""How many errors of earlier attempts are kept per step, the latest ones, and the characters kept of each message."""

WORKER_LOST = "WorkerLost"
"""Error type of an attempt whose worker was stopped or died. The attempt is repeated and does not count as failed."""

WORKER_UNFIT = "WorkerNotConfigured"
"""The same for an attempt whose worker lacks the step's handler, or a setting that it needs."""


@dataclass(frozen=True, slots=True)
class EarlierError:
    """How a retried attempt failed: its number, from 1, and for a list the key of its item."""

    attempt: int
    error: StepError
    item: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a waiting step, and the person who gave it (empty: unknown)."""

    value: Json
    by: str = ""
    known_to: str = ""
    """Whoever else knows the key with which it was given: they count as one person. Empty: no one else."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The latest decision of one of several people who must agree. `number` counts the item's decisions, from 1."""

    by: str
    value: Json
    number: int
    known_to: str = ""
    """As that of Answer."""


@dataclass(slots=True)
class ItemState:
    """One element of the list that the step runs over."""

    key: str
    value: Json
    status: StepStatus = StepStatus.PENDING
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    cached: bool = False
    """Whether the output came from the cache."""


@dataclass(frozen=True, slots=True)
class ItemEnd:
    """How an item of a chunk ended. PENDING: the chunk was stopped before the item began."""

    status: StepStatus
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    cached: bool = False
    may_pass: bool = False
    """Whether the error was retryable."""
    earlier: tuple[EarlierError, ...] = ()
    out_of_time: bool = False
    """Whether only `total_timeout_seconds` prevented another attempt."""


@dataclass(frozen=True, slots=True)
class ChunkState:
    """Items of a long list that run in a workflow of their own: their positions, and how many of them run at once."""

    places: tuple[int, ...]
    width: int
    is_thin: bool = False
    """Whether all of its items have begun, so that it has no use for slots that come free."""
    completed: int = 0
    failed: int = 0
    """How many of its items have completed or failed, as far as it has reported."""


@dataclass(slots=True)
class FanState:
    """A step that runs once for each item. Items start in the list's order; `next` is the first one not started."""

    items: list[ItemState]
    next: int = 0
    running: int = 0
    failed: int = 0
    stopping: bool = False
    """Too many items failed: running items are being cancelled, and no more start."""
    is_storing: bool = False
    """All items have ended, and the output is being stored."""
    window: int = 0
    """How many items run at once if the list is long enough to run in chunks, 0 if it is not."""
    chunks: dict[int, ChunkState] = field(default_factory=dict)
    """The running chunks, by the position of their first item."""

    @property
    def width(self) -> int:
        """How many items the running chunks run at once."""
        return sum(chunk.width for chunk in self.chunks.values())


@dataclass(slots=True)
class StepState:
    """One step of one run. Times are seconds since the epoch."""

    status: StepStatus = StepStatus.PENDING
    decided_by: str = ""
    """The cause of its status: a trigger rule, `condition`, `abort`, `cancel`, `fail_fast`, `timeout`."""
    reason: SkipReason | None = None
    error: StepError | None = None
    output: Json = None
    branch: str | None = None
    """The branch that a switch, or a wait that timed out, has taken."""
    answer: Answer | None = None
    """The answer to a waiting step. Also kept for a step that does not wait yet, since answers may arrive early."""
    decisions: tuple[Decision, ...] = ()
    """For a human step that needs several approvals: each person's decision, the latest last."""
    fan: FanState | None = None
    edited: Json = None
    """The config with which a person retried the step, replacing the definition's.

    For a step over a list: the configs of its items, by key.
    """
    compensation: StepStatus | None = None
    """Status of the step's compensation: RUNNING, COMPLETED, FAILED or CANCELLED."""
    compensation_error: StepError | None = None
    resolved_by: str = ""
    """The person who resolved the failed step."""
    attempts: int = 0
    earlier: tuple[EarlierError, ...] = ()
    """How attempts before the last one failed, the latest last."""
    next_at: float | None = None
    """When the running step makes the attempt after a failure in a group, or after an unfit worker."""
    out_of_time: bool = False
    """Whether only `total_timeout_seconds` prevented another attempt of it, or of one of its items."""
    cached: bool = False
    """Whether the output came from the cache and no handler ran."""
    is_stored: bool = False
    """Whether the output, or parts of it, are in the value store (dag/values/stored.py)."""
    started_at: float | None = None
    ended_at: float | None = None


@dataclass(slots=True)
class Counters:
    """Counters that keep the cost of an event low. All of them can be rebuilt from the plan and the steps' states."""

    unsettled_parents: list[int] = field(default_factory=list)
    """By step: how many of its parents are unsettled."""
    unsettled_in_layer: list[int] = field(default_factory=list)
    ready: list[int] = field(default_factory=list)
    """A heap of steps that may start something and need a slot, so that steps start in plan order."""
    ready_free: list[int] = field(default_factory=list)
    """The same for steps that need no slot."""
    open_layer: int = 0
    """The first layer with an unsettled step: the last one that may start, if steps start layer by layer."""
    slots_used: int = 0
    """Handlers that run, items of lists included."""
    running: int = 0
    waiting: int = 0
    parked: int = 0
    unsettled: int = 0
    failures: int = 0
    """FAILED steps that are not optional."""
    has_stored: bool = False
    """Whether any step's output is stored."""

    def move(self, step: Step, was: StepStatus, to: StepStatus) -> Sequence[int]:
        """Count a change of a step's status; return its children that have no unsettled parents left because of it."""
        if was is QUEUED:
            self.withdraw(step)
        elif was is RUNNING:
            self.running -= 1
            self.slots_used -= step.takes_slot and step.items is None
        elif was is WAITING:
            self.waiting -= 1
        elif was is PARKED:
            self.parked -= 1
        if to is QUEUED:
            self.offer(step)
        elif to is RUNNING:
            self.running += 1
            self.slots_used += step.takes_slot and step.items is None
        elif to is WAITING:
            self.waiting += 1
        elif to is PARKED:
            self.parked += 1
        return self._settle(step, to) if to in SETTLED else ()

    def _settle(self, step: Step, to: StepStatus) -> Sequence[int]:
        self.failures += to is FAILED and not step.definition.optional
        self.unsettled -= 1
        in_layer, unsettled_parents = self.unsettled_in_layer, self.unsettled_parents
        in_layer[step.layer] -= 1
        if step.layer == self.open_layer and not in_layer[step.layer]:
            self.open_layer = first_open(in_layer, step.layer)
        for child in step.children:
            unsettled_parents[child] -= 1
        return [child for child in step.children if not unsettled_parents[child]]

    def offer(self, step: Step) -> None:
        """Put a step into its heap, because it may start something."""
        heappush(self.ready if step.takes_slot else self.ready_free, step.index)

    def withdraw(self, step: Step) -> None:
        """Remove a step from its heap if it is there."""
        heap = self.ready if step.takes_slot else self.ready_free
        if heap and heap[0] == step.index:
            heappop(heap)
        elif step.index in heap:
            heap.remove(step.index)
            heapify(heap)

    def withdraw_all(self) -> None:
        """Let nothing start any more."""
        self.ready, self.ready_free = [], []


def first_open(unsettled_in_layer: Sequence[int], start: int = 0) -> int:
    """Return the first layer from `start` that has an unsettled step; the number of layers if none has."""
    layer, count = start, len(unsettled_in_layer)
    while layer < count and not unsettled_in_layer[layer]:
        layer += 1
    return layer


@dataclass(slots=True)
class Turn:
    """What the events of one turn have used so far: Temporal limits a turn's time and the size of its message."""

    begun_at: float | None = None
    begun_bytes: int = 0
    """Bytes of the configs of everything begun: they are sent in one message."""
    spent: int = 0
    """Work of all evaluated expressions, in units of dag/values/cost.py."""
    deferred: list[int] = field(default_factory=list)
    """Steps left to be judged in a later turn because this one reached its limit."""
    is_going_on: bool = False
    """Whether a new turn was requested and has not begun."""


@dataclass(slots=True)
class Transfers:
    """Values being loaded from and stored in the value store."""

    loaded: dict[Path, Found] = field(default_factory=dict)
    """The stored values that expressions read, by the path read (value_transfer.py)."""
    loading: dict[Reader, Loading] = field(default_factory=dict)
    """What is being loaded, by its first reader."""
    unread: list[Reader] = field(default_factory=list)
    """Readers whose values have not been requested yet."""
    to_store: list[int] = field(default_factory=list)
    """Steps over lists whose outputs are to be stored."""
    is_storing: bool = False
    """Whether the first of them is being stored."""


@dataclass(slots=True)
class Traffic:
    """Totals of what passed through the workflow, which cannot be derived from anything else."""

    history_events: int = 0
    history_bytes: int = 0
    """The size of the history in bytes, as Temporal reports it."""
    carried_bytes: int = 0
    """Bytes, as JSON, of the configs, outputs and answers that went through the history so far."""
    nested_bytes: int = 0
    """Bytes that starting a nested run needs besides its inputs: definitions, which only the workflow code knows."""


@dataclass(slots=True)
class RunState:
    """One run. `steps` is in plan order.

    Counters, turn, transfers and traffic belong to one workflow execution and are not saved.
    """

    steps: list[StepState]
    inputs: dict[str, Json]
    context: dict[str, Json]
    paused: bool = False
    stopping: RunStatus | None = None
    """ABORTED, CANCELLED or FAILED once the run is being stopped early; nothing starts any more."""
    stop_reason: str = ""
    stopped_by: str = ""
    """The principal who aborted the run, if known."""
    stopped_by_step: str | None = None
    ending: RunStatus | None = None
    """The final status, set before compensations run."""
    overdue: bool = False
    """Whether the run exceeded its deadline. People are notified, and the run continues."""
    outcome: RunStatus | None = None
    outputs: dict[str, Json] = field(default_factory=dict)
    started_at: float | None = None
    ended_at: float | None = None
    fallen: list[int] = field(default_factory=list)
    """Steps whose failure, or its resolution, is still to be recorded in the dead-letter table; empty between
    events."""
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
        # if nothing runs, ready steps wait for their layer
        counters = self.counters
        is_idle = not (counters.running or self.stopping or self.transfers.loading)
        is_waiting = is_idle and (counters.waiting or counters.parked)
        return RunStatus.WAITING if is_waiting else RunStatus.RUNNING


STOPPED_BY = {RunStatus.ABORTED: "abort", RunStatus.CANCELLED: "cancel", RunStatus.FAILED: "fail_fast"}
"""`decided_by` of steps in a run that was stopped early."""

BUDGET = "budget"
"""`decided_by` of steps in a run that was stopped because it carried too much data."""


class Ending(NamedTuple):
    """How a step or an item ended."""

    status: StepStatus
    output: Json = None
    error: StepError | None = None
    attempts: int = 0
    decided_by: str | None = None
    cached: bool = False
    earlier: tuple[EarlierError, ...] = ()
    out_of_time: bool = False


def stopped_by(run: RunState, stopping: RunStatus) -> str:
    """Return `decided_by` for a step that its run's stop has ended. A fail_fast stop is the one without a reason."""
    return BUDGET if stopping is RunStatus.FAILED and run.stop_reason else STOPPED_BY[stopping]
