"""The scheduler's whole protocol: events in, commands out. `at` is seconds since the epoch, told by the shell."""

from dataclasses import dataclass

from dag.state import RunStatus, StepError
from dag.values import Json


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins, or goes on from a rewound state."""

    at: float


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A started step ended well. `attempts` counts tries, the successful one included."""

    step: str
    output: Json
    attempts: int
    at: float


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A started step ended badly, after its last attempt."""

    step: str
    error: StepError
    attempts: int
    at: float


@dataclass(frozen=True, slots=True)
class StepCancelled:
    """A started step acknowledged that it was stopped."""

    step: str
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
    | PauseRequested
    | ResumeRequested
    | AbortRequested
    | CancelRequested
)


@dataclass(frozen=True, slots=True)
class Start:
    """Run the step's handler with this config; answer with StepCompleted, StepFailed or StepCancelled."""

    step: str
    config: Json


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ask a started step to stop; asked once. It still answers."""

    step: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over; nothing follows."""

    status: RunStatus


Command = Start | Cancel | Finish
