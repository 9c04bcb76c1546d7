# the only thing formatted into a statement is the constant list of columns
"""Failed steps in the dead-letter inbox."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum


class LetterStatus(StrEnum):
    """PARKED: its run waits for a person; FAILED: its run went on or ended; RESOLVED: somebody dealt with it."""

    PARKED = "parked"
    FAILED = "failed"
    RESOLVED = "resolved"


class Resolved(StrEnum):
    """What somebody did about a failed step."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"
    ABORT = "abort"
    DISMISS = "dismiss"


class StatusFilter(StrEnum):
    """Which letters, by whether they are dealt with."""

    OPEN = "open"
    RESOLVED = "resolved"
    ALL = "all"


class View(StrEnum):
    """ACTIONABLE: parked, or of an error that comes again if nothing changes; RETRYABLE: it may pass by itself."""

    ACTIONABLE = "actionable"
    RETRYABLE = "retryable"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Which letters; None is any."""

    error_type: str | None = None
    definition_id: str | None = None
    handler: str | None = None
    status: StatusFilter = StatusFilter.OPEN
    view: View = View.ACTIONABLE
    failed_before: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A failed step. Run and step are the reference to its input: a retry resolves its config from them anew."""

    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    status: LetterStatus
    error_type: str
    error_message: str
    retryable: bool
    attempts: int
    failed_at: dt.datetime
    told_at: dt.datetime
    resolution: Resolved | None
    resolved_by: str | None
    resolved_at: dt.datetime | None

    @property
    def key(self) -> tuple[str, str]:
        """The run's id and the step's."""
        return self.run_id, self.step_id


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How many letters an error's class has, how many of them are parked, and since when."""

    error_type: str
    letters: int
    parked: int
    retryable: int
    oldest: dt.datetime
    newest: dt.datetime
