"""The scheduler's whole protocol: events in, commands out. `at` is seconds since the epoch, told by the shell."""

from dataclasses import dataclass
from enum import StrEnum

from dag.state import Answer, RunStatus, StepError
from dag.values import Json


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins, or goes on from a rewound state."""

    at: float


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A started step, or one item of it, ended well. `attempts` counts tries, the successful one included."""

    step: str
    output: Json
    attempts: int
    at: float
    item: int | None = None


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A started step ended badly, after its last attempt."""

    step: str
    error: StepError
    attempts: int
    at: float
    item: int | None = None


@dataclass(frozen=True, slots=True)
class StepCancelled:
    """A started step acknowledged that it was stopped."""

    step: str
    at: float
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """Somebody answered a step that waits, or soon will; the first answer counts."""

    step: str
    answer: Answer
    at: float


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A waiting step's time is up."""

    step: str
    at: float


class ResolutionKind(StrEnum):
    """What becomes of a parked step."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person decided of a parked step. `value`: a config to retry with (None: as it was), or an output."""

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
    """End the run early, as ABORTED: cancel what runs, skip the rest."""

    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """End the run early, as CANCELLED: somebody cancelled the workflow itself."""

    at: float


Event = (
    RunStarted
    | StepCompleted
    | StepFailed
    | StepCancelled
    | Answered
    | TimedOut
    | Resolved
    | PauseRequested
    | ResumeRequested
    | AbortRequested
    | CancelRequested
)


COMPENSATION = -1
"""Stands in the place of an item's number in messages about what undoes a step."""


@dataclass(frozen=True, slots=True)
class Start:
    """Begin the step: run its handler, start its nested run, ask its person, set its timer.

    `config` is what its kind takes: a handler's config, a nested run's inputs, a review item's title and content, a
    wait's `seconds` (None: for ever). Answer with StepCompleted, StepFailed, StepCancelled or TimedOut.
    """

    step: str
    config: Json
    item: int | None = None
    """For a step that runs over a list: which element, by its place. COMPENSATION: what undoes the step."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ask a started step to stop, or to wait no longer because it was answered; asked once. It still answers."""

    step: str
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Tell the dead-letter inbox that the step failed, or what became of its failure. Nothing is answered."""

    step: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over; nothing follows."""

    status: RunStatus


Command = Start | Cancel | Record | Finish
