"""Define the scheduler's protocol: events in, commands out. `at` is seconds since the epoch, supplied by the caller."""

from dataclasses import dataclass
from enum import StrEnum

from docrail.dag.engine.state import Answer, Decision, EarlierError, ItemEnd, StepError
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values import stored
from docrail.dag.values.json_values import Json


@dataclass(frozen=True, slots=True)
class WholeStep:
    """The step itself, which does not run over a list."""


@dataclass(frozen=True, slots=True)
class Item:
    """One element of the list that the step runs over, by its position."""

    place: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Items of a long list that run in a workflow of their own, by the position of the first."""

    first: int


@dataclass(frozen=True, slots=True)
class Undo:
    """The handler that compensates the step."""


Part = WholeStep | Item | Chunk | Undo
"""The part of a step that a command starts or stops, and an event ends."""

WHOLE_STEP = WholeStep()


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins, or continues from a rewound state."""

    at: float


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A started part of a step completed. `attempts` counts all tries, the successful one included."""

    step: str
    output: Json
    attempts: int
    at: float
    part: Part = WHOLE_STEP
    cached: bool = False
    """Whether the output comes from the cache and no handler ran."""
    earlier: tuple[EarlierError, ...] = ()


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A started part failed after its last attempt. `out_of_time`: only the total timeout prevented another attempt."""

    step: str
    error: StepError
    attempts: int
    at: float
    part: Part = WHOLE_STEP
    earlier: tuple[EarlierError, ...] = ()
    out_of_time: bool = False


@dataclass(frozen=True, slots=True)
class StepCancelled:
    """A started part confirmed that it was cancelled."""

    step: str
    at: float
    part: Part = WHOLE_STEP


@dataclass(frozen=True, slots=True)
class Answered:
    """A step that waits, or soon will, was answered; the first answer counts."""

    step: str
    answer: Answer
    at: float


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A running step lost its worker, reached an unfit one, or failed in a group, and starts again.

    `earlier`: how its attempts ended; `failed`: how many of them count; `next_at`: when it starts, if not at once.
    """

    step: str
    earlier: tuple[EarlierError, ...]
    failed: int
    next_at: float | None
    at: float


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A waiting step timed out."""

    step: str
    at: float


@dataclass(frozen=True, slots=True)
class Loaded:
    """The parts that a Load requested, in its order."""

    reader: stored.Reader
    parts: tuple[stored.Piece, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Stored:
    """The value of a Store command was stored; `mark` is its placeholder."""

    step: str
    mark: Json
    at: float


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """A Load failed permanently, or was cancelled with the run."""

    reader: stored.Reader
    error: StepError
    at: float


@dataclass(frozen=True, slots=True)
class NotStored:
    """A Store failed permanently, or was cancelled with the run."""

    step: str
    error: StepError
    at: float


@dataclass(frozen=True, slots=True)
class WentOn:
    """A new turn has begun, as a GoOn requested."""

    at: float


@dataclass(frozen=True, slots=True)
class ChunkEnded:
    """A started chunk ended: how its items ended, in its order."""

    step: str
    chunk: Chunk
    ends: tuple[ItemEnd, ...]
    at: float


@dataclass(frozen=True, slots=True)
class ChunkThinned:
    """All items of a chunk have begun, and fewer still run than it has slots; the other counts are of ended items."""

    step: str
    chunk: Chunk
    running: int
    completed: int
    failed: int
    at: float


class ResolutionKind(StrEnum):
    """How a parked step is resolved. ITEMS: it is retried, with edits for some items of its list."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"
    ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Resolution:
    """A person's decision about a parked step. `value`: a config (None: unchanged), an output, or edits of items."""

    kind: ResolutionKind
    value: Json = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A person resolved a parked step."""

    step: str
    resolution: Resolution
    at: float


@dataclass(frozen=True, slots=True)
class PauseRequested:
    """Start nothing more until resumed; running work continues."""

    at: float


@dataclass(frozen=True, slots=True)
class ResumeRequested:
    """Start again what a pause held back."""

    at: float


@dataclass(frozen=True, slots=True)
class AbortRequested:
    """End the run early, as ABORTED: cancel running work, skip the rest. `is_continued`: see transitions.hand_over."""

    reason: str
    at: float
    is_continued: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """End the run early, as CANCELLED: the workflow itself was cancelled."""

    at: float


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The run has not ended within its definition's `deadline_seconds`."""

    at: float


StepEnded = StepCompleted | StepFailed | StepCancelled | ChunkEnded
StepEvent = StepEnded | WorkerLost | ChunkThinned | Answered | TimedOut | Resolved | Stored | NotStored
"""What happens to one step."""

Request = PauseRequested | ResumeRequested | AbortRequested | CancelRequested | DeadlinePassed
RunEvent = RunStarted | Request | WentOn | Loaded | NotLoaded
"""What happens to the run as a whole."""

Event = StepEvent | RunEvent


@dataclass(frozen=True, slots=True)
class HistorySize:
    """The size of the workflow's history, as Temporal reports it: its events, and its bytes."""

    events: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Start:
    """Begin the step or one item of its list: run its handler or nested run, create its review or set its timer.

    With the part Undo: run the handler that compensates the step.

    `config` depends on the step's kind: a handler's config, a nested run's inputs, a review item's title and content,
    or a wait's `seconds` (None: no limit). Answered by StepCompleted, StepFailed, StepCancelled or TimedOut.
    """

    step: str
    config: Json
    part: Part = WHOLE_STEP
    cache_key: str | None = None
    """The key under which an equal step's output is looked up and stored; None: the handler always runs."""


@dataclass(frozen=True, slots=True)
class ChunkItem:
    """One item of a chunk: its position in the list, its key, and the config of its handler or nested run."""

    place: int
    key: str
    config: Json
    cache_key: str | None = None


@dataclass(frozen=True, slots=True)
class StartChunk:
    """Begin items of a long list, `width` at a time. Answered by ChunkEnded, StepFailed or StepCancelled."""

    step: str
    items: tuple[ChunkItem, ...]
    width: int
    stop_after: int | None
    """Number of failed items allowed; one more stops the rest. None: every item runs."""

    @property
    def chunk(self) -> Chunk:
        """The chunk, as events and Cancel identify it."""
        return Chunk(self.items[0].place)


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ask a started step to stop, or a waiting one to end because it was answered. Sent once; the step replies."""

    step: str
    part: Part = WHOLE_STEP


@dataclass(frozen=True, slots=True)
class Load:
    """Load stored parts that the expressions of `reader` read. Answered by Loaded or NotLoaded."""

    reader: stored.Reader
    parts: tuple[stored.Part, ...]
    may_stay: tuple[int, ...] = ()
    """Numbers of the parts whose placeholder suffices if they are large, because no expression computes with them."""


@dataclass(frozen=True, slots=True)
class Store:
    """Store the step's output, which is too large to send inline. Answered by Stored or NotStored."""

    step: str
    value: Json


@dataclass(frozen=True, slots=True)
class GoOn:
    """Come back in a new turn: there is more to do than one turn allows. Answered by WentOn, a moment later."""


@dataclass(frozen=True, slots=True)
class Record:
    """Record in the dead-letter table that the step failed, or how its failure was resolved. Not answered."""

    step: str


@dataclass(frozen=True, slots=True)
class RecordDecision:
    """Record one of several people's decisions in the review queue. Not answered."""

    step: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class RecordOverdue:
    """Notify people that the run is overdue; sent once. Not answered, and the run continues."""

    at: float


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over; no command follows."""

    status: RunStatus


Command = Start | StartChunk | Cancel | Load | Store | GoOn | Record | RecordDecision | RecordOverdue | Finish
