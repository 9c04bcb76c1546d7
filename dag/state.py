"""What is known of a run: each step's status and result, and the counters that make an event cheap."""

from dataclasses import dataclass, field
from enum import StrEnum

from dag.values import Json


class StepStatus(StrEnum):
    """PENDING -> QUEUED -> RUNNING -> COMPLETED | FAILED | CANCELLED; PENDING | QUEUED -> SKIPPED."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    """PENDING (submitted, not triggered) -> RUNNING <-> PAUSED -> COMPLETED | FAILED | ABORTED | CANCELLED."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"
    CANCELLED = "cancelled"


class SkipReason(StrEnum):
    """Why a step did not run. Skipped by choice and skipped because something failed are different facts."""

    CONDITION_FALSE = "condition_false"
    RULE_NOT_MET = "rule_not_met"
    UPSTREAM_FAILED = "upstream_failed"
    UPSTREAM_SKIPPED = "upstream_skipped"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a step failed: the error's class and its message."""

    type: str
    message: str


@dataclass(slots=True)
class StepState:
    """One step of one run. Times are seconds since the epoch."""

    status: StepStatus = StepStatus.PENDING
    decided_by: str = ""
    """The rule that decided its fate: a trigger rule, `condition`, `abort`, `cancel`, `fail_fast`."""
    reason: SkipReason | None = None
    error: StepError | None = None
    output: Json = None
    attempts: int = 0
    started_at: float | None = None
    ended_at: float | None = None


@dataclass(slots=True)
class RunState:
    """One run. `steps` is in plan order; everything below the line is derived from it and from the plan."""

    steps: list[StepState]
    inputs: dict[str, Json]
    context: dict[str, Json]
    paused: bool = False
    stopping: RunStatus | None = None
    """ABORTED, CANCELLED or FAILED once the run is being stopped early; nothing starts any more."""
    stop_reason: str = ""
    outcome: RunStatus | None = None
    outputs: dict[str, Json] = field(default_factory=dict)
    started_at: float | None = None
    ended_at: float | None = None
    # -- derived --
    unsettled_parents: list[int] = field(default_factory=list)
    unsettled_in_layer: list[int] = field(default_factory=list)
    ready: list[int] = field(default_factory=list)
    """A heap of QUEUED steps: plan order is start order."""
    open_layer: int = 0
    running: int = 0
    unsettled: int = 0
    failures: int = 0
    """FAILED steps that are not optional."""

    @property
    def status(self) -> RunStatus:
        """The run's status as users see it."""
        if self.outcome is not None:
            return self.outcome
        return RunStatus.PAUSED if self.paused else RunStatus.RUNNING


SETTLED = frozenset({StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED})
