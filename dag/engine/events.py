"""The scheduler's whole protocol: events in, commands out. `at` is seconds since the epoch, told by the shell."""

from dataclasses import dataclass
from enum import StrEnum

from docrail.dag.engine.state import Answer, Decision, EarlierError, ItemEnd, StepError
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values import stored
from docrail.dag.values.json_values import Json


@dataclass(frozen=True, slots=True)
class WholeStep:
    """The step itself, which runs over no list."""


@dataclass(frozen=True, slots=True)
class Item:
    """One element of the list that the step runs over, by its place."""

    place: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Items of a long list that run in a workflow of their own, by the place of the first."""

    first: int


@dataclass(frozen=True, slots=True)
class Undo:
    """The handler that undoes the step."""


Part = WholeStep | Item | Chunk | Undo
"""The part of a step that a command starts or stops, and an event ends."""

WHOLE_STEP = WholeStep()


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins, or goes on from a rewound state."""

    at: float


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A started part of a step ended well. `attempts` counts tries, the successful one included."""

    step: str
    output: Json
    attempts: int
    at: float
    part: Part = WHOLE_STEP
    cached: bool = False
    """The output is that of earlier equal work, and no handler ran."""
    earlier: tuple[EarlierError, ...] = ()


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A started part ended badly, after its last attempt; `out_of_time`: only the total timeout allowed no other."""

    step: str
    error: StepError
    attempts: int
    at: float
    part: Part = WHOLE_STEP
    earlier: tuple[EarlierError, ...] = ()
    out_of_time: bool = False


@dataclass(frozen=True, slots=True)
class StepCancelled:
    """A started part acknowledged that it was stopped."""

    step: str
    at: float
    part: Part = WHOLE_STEP


@dataclass(frozen=True, slots=True)
class Answered:
    """Somebody answered a step that waits, or soon will; the first answer counts."""

    step: str
    answer: Answer
    at: float


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A running step has lost its worker and was started again; `earlier`: how its attempts so far ended."""

    step: str
    earlier: tuple[EarlierError, ...]
    at: float


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A waiting step's time is up."""

    step: str
    at: float


@dataclass(frozen=True, slots=True)
class Loaded:
    """The parts that a Load asked for, in its order."""

    reader: stored.Reader
    parts: tuple[stored.Piece, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Stored:
    """What a Store gave is kept; `mark` stands for it."""

    step: str
    mark: Json
    at: float


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """A Load has failed for good, or was cancelled with the run."""

    reader: stored.Reader
    error: StepError
    at: float


@dataclass(frozen=True, slots=True)
class NotStored:
    """A Store has failed for good, or was cancelled with the run."""

    step: str
    error: StepError
    at: float


@dataclass(frozen=True, slots=True)
class WentOn:
    """A new turn has begun, which a GoOn asked for."""

    at: float


@dataclass(frozen=True, slots=True)
class ChunkEnded:
    """A started chunk is over: how its items ended, in its order."""

    step: str
    chunk: Chunk
    ends: tuple[ItemEnd, ...]
    at: float


@dataclass(frozen=True, slots=True)
class ChunkThinned:
    """All items of a chunk have begun, and fewer still run than it has places; of the others, so many ended so."""

    step: str
    chunk: Chunk
    running: int
    completed: int
    failed: int
    at: float


class ResolutionKind(StrEnum):
    """What becomes of a parked step. ITEMS: it is tried again, with what items of its list are given by hand."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"
    ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person decided of a parked step. `value`: a config (None: as it was), an output, what items are given."""

    kind: ResolutionKind
    value: Json = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A person said what becomes of a parked step."""

    step: str
    resolution: Resolution
    at: float


@dataclass(frozen=True, slots=True)
class PauseRequested:
    """Start nothing more until resumed; what runs goes on."""

    at: float


@dataclass(frozen=True, slots=True)
class ResumeRequested:
    """Start again what a pause held back."""

    at: float


@dataclass(frozen=True, slots=True)
class AbortRequested:
    """End the run early, as ABORTED: cancel what runs, skip the rest. `is_continued`: see endings.hand_over."""

    reason: str
    at: float
    is_continued: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """End the run early, as CANCELLED: somebody cancelled the workflow itself."""

    at: float


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The run has not ended within its definition's `deadline_seconds`."""

    at: float


Request = PauseRequested | ResumeRequested | AbortRequested | CancelRequested | DeadlinePassed
Moved = Loaded | NotLoaded | Stored | NotStored
StepEnded = StepCompleted | StepFailed | StepCancelled | ChunkEnded
Event = RunStarted | StepEnded | WorkerLost | ChunkThinned | Answered | TimedOut | Resolved | Request | WentOn | Moved


@dataclass(frozen=True, slots=True)
class Start:
    """Begin the step, or one item of its list: run its handler, start its nested run, ask its person, set its timer.

    Undo: run the handler that undoes it.

    `config` is what its kind takes: a handler's config, a nested run's inputs, a review item's title and content, a
    wait's `seconds` (None: for ever). Answer with StepCompleted, StepFailed, StepCancelled or TimedOut.
    """

    step: str
    config: Json
    part: Part = WHOLE_STEP
    cache_key: str | None = None
    """Under which equal work's output may be used in place of the handler's, and is kept; None: the handler runs."""


@dataclass(frozen=True, slots=True)
class ChunkItem:
    """One item of a chunk: its place in the list, its key, and what its handler or nested run takes."""

    place: int
    key: str
    config: Json
    cache_key: str | None = None


@dataclass(frozen=True, slots=True)
class StartChunk:
    """Begin items of a long list, `width` at once. Answer with ChunkEnded, StepFailed or StepCancelled."""

    step: str
    items: tuple[ChunkItem, ...]
    width: int
    stop_after: int | None
    """So many failed items are allowed, and the next one stops the rest; None: every item runs."""

    @property
    def chunk(self) -> Chunk:
        """The chunk, as events and Cancel name it."""
        return Chunk(self.items[0].place)


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ask a started step to stop, or to wait no longer because it was answered; asked once. It still answers."""

    step: str
    part: Part = WHOLE_STEP


@dataclass(frozen=True, slots=True)
class Load:
    """Bring stored parts, which the expressions of `reader` read. Answer with Loaded or NotLoaded."""

    reader: stored.Reader
    parts: tuple[stored.Part, ...]
    may_stay: tuple[int, ...] = ()
    """Of which parts, by number, what stands for them will do where they are large: nothing is made of them."""


@dataclass(frozen=True, slots=True)
class Store:
    """Keep the step's output, which is too large to travel. Answer with Stored or NotStored."""

    step: str
    value: Json


@dataclass(frozen=True, slots=True)
class GoOn:
    """Come back in a new turn: more is to be done than one may take. Answer with WentOn, a moment later."""


@dataclass(frozen=True, slots=True)
class Record:
    """Tell the dead-letter inbox that the step failed, or what became of its failure. Nothing is answered."""

    step: str


@dataclass(frozen=True, slots=True)
class RecordDecision:
    """Tell the review queue what one of several people decided. Nothing is answered."""

    step: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class RecordOverdue:
    """Tell people that the run is overdue; given once. Nothing is answered, and the run goes on."""

    at: float


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over; nothing follows."""

    status: RunStatus


Command = Start | StartChunk | Cancel | Load | Store | GoOn | Record | RecordDecision | RecordOverdue | Finish
