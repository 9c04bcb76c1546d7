"""Define the statuses of steps and runs, and the reasons why a step is skipped."""

from enum import StrEnum


class StepStatus(StrEnum):
    """PENDING -> QUEUED -> RUNNING | WAITING -> COMPLETED | FAILED | CANCELLED; PENDING | QUEUED -> SKIPPED.

    PARKED: failed, and waiting for a person to resolve it (`on_failure: park`).
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

    WAITING: nothing can continue until an answer arrives or a timer fires.
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
    """Why a step did not run. Being skipped by choice and being skipped after a failure are distinct reasons."""

    CONDITION_FALSE = "condition_false"
    RULE_NOT_MET = "rule_not_met"
    UPSTREAM_FAILED = "upstream_failed"
    UPSTREAM_SKIPPED = "upstream_skipped"
    ABORTED = "aborted"
    OPERATOR = "operator"


LONGEST_TYPE = 100
"""Longest error type, in characters."""

SETTLED = frozenset({StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED})
