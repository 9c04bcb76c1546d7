# the only thing formatted into a statement is the constant list of columns
"""Define the failed steps in the dead-letter inbox."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum


class LetterStatus(StrEnum):
    """PARKED: the run waits for a person; FAILED: the run continued or ended; RESOLVED: a person dealt with it."""

    PARKED = "parked"
    FAILED = "failed"
    RESOLVED = "resolved"


class Resolved(StrEnum):
    """How a person resolved a failed step."""

    RETRY = "retry"
    SKIP = "skip"
    OUTPUT = "output"
    ABORT = "abort"
    DISMISS = "dismiss"


class StatusFilter(StrEnum):
    """Filter letters by whether they are resolved."""

    OPEN = "open"
    RESOLVED = "resolved"
    ALL = "all"


class View(StrEnum):
    """ACTIONABLE: parked, or an error that recurs unless something changes; RETRYABLE: it may pass without a change."""

    ACTIONABLE = "actionable"
    RETRYABLE = "retryable"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Filters for letters; None: any."""

    error_type: str | None = None
    definition_id: str | None = None
    handler: str | None = None
    status: StatusFilter = StatusFilter.OPEN
    view: View = View.ACTIONABLE
    failed_before: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A failed step. Its input is referenced by run and step: a retry resolves its config from them again."""

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
    reported_at: dt.datetime
    resolution: Resolved | None
    resolved_by: str | None
    resolved_at: dt.datetime | None

    @property
    def key(self) -> tuple[str, str]:
        """Return the run's id and the step's."""
        return self.run_id, self.step_id


@dataclass(frozen=True, slots=True)
class ClassCount:
    """The number of letters of an error class, how many are parked or retryable, and the time range."""

    error_type: str
    letters: int
    parked: int
    retryable: int
    oldest: dt.datetime
    newest: dt.datetime
