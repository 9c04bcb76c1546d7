"""The states that a step and a run can be in, and why a step is skipped."""

from enum import StrEnum


class StepStatus(StrEnum):
    """PENDING -> QUEUED -> RUNNING | WAITING -> COMPLETED | FAILED | CANCELLED; PENDING | QUEUED -> SKIPPED.

    PARKED: failed, and a person is to say what becomes of it (`on_failure: park`).
    """

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PARKED = "parked"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    """PENDING (submitted, not triggered) -> RUNNING <-> WAITING | PAUSED -> COMPLETED | FAILED | ABORTED | CANCELLED.

    WAITING: nothing can go on until somebody answers or a timer is due.
    """

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
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
    OPERATOR = "operator"


LONGEST_TYPE = 100
"""Of an error's class: a longer name is no name."""


SETTLED = frozenset({StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED})
