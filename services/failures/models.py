"""Define the failed steps in the dead-letter inbox."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.dag.engine.retry import Edit
from docrail.services.model_config import SHOWN, Hidden
from docrail.services.paging import Unmatched
from docrail.services.runs.models import OperatorAction


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
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A permanently failed step. Run and step are the reference to its input."""

    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    file_name: Annotated[str | None, Field(description="of the document, as the uploader claimed")]
    status: Annotated[LetterStatus, Field(description="parked: its run waits for a person; failed; resolved")]
    error_type: str
    error_message: str
    retryable: Annotated[bool, Field(description="whether the error may pass by itself")]
    attempts: int
    failed_again: Annotated[int, Field(description="how often it failed again after a person had it tried again")]
    failed_at: dt.datetime
    reported_at: Hidden[dt.datetime]
    resolution: Resolved | None
    resolved_by: str | None
    resolved_at: dt.datetime | None

    @property
    def key(self) -> tuple[str, str]:
        """Return the run's id and the step's."""
        return self.run_id, self.step_id


@dataclass(frozen=True, slots=True)
class ClassCount:
    """The number of letters of an error class, how many of them are parked, and how many may pass without a change."""

    error_type: str
    letters: int
    parked: int
    retryable: int
    oldest: dt.datetime
    newest: dt.datetime


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class LetterGroup:
    """The letters of one step of a definition that failed with one class of error."""

    error_type: str
    """The error's class."""
    definition_id: str
    """Id of the definition."""
    step_id: str
    """Id of the step."""
    letters: int
    """How many letters."""
    parked: int
    """How many of them wait for a person in a run that has not ended."""
    retryable: int
    """How many of them may pass without a change."""
    failed_again: int
    """How many of them failed again after a person had them tried again."""
    runs: int
    """In how many runs."""
    oldest: dt.datetime
    """When the first of them failed."""
    newest: dt.datetime
    """When the latest of them failed."""
    message: str
    """The message of the latest error."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class LetterGroups:
    """Letters by error class and step, the largest group first."""

    groups: list[LetterGroup]
    """The groups; at most the number requested."""
    letters: int
    """How many letters match in all."""
    allowed: bool
    """Whether the caller may resolve them."""


_UNMATCHED = Field(description="if there are no letters: filters whose value no letter has")


@dataclass(frozen=True, slots=True)
class LetterPage:
    """A page of letters, latest failure first."""

    letters: list[StoredLetter]
    after: str | None
    unmatched: Annotated[list[Unmatched], _UNMATCHED]


@dataclass(frozen=True, slots=True)
class LetterCounts:
    """Letters by error class, the most frequent first."""

    classes: list[ClassCount]
    unmatched: Annotated[list[Unmatched], _UNMATCHED]


@dataclass(frozen=True, slots=True)
class ShownLetter(StoredLetter):
    """A letter, and the actions on it or its run, newest first."""

    actions: list[OperatorAction]


@dataclass(frozen=True, slots=True)
class LetterOrder:
    """How to resolve a failed step. `edit`: for retry, skip and output; else None."""

    action: Resolved
    edit: Edit | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RetryOutcome:
    """The result for a letter that was to be retried."""

    run_id: str
    step_id: str
    retried: bool
    why: Annotated[str | None, Field(description="what kept it from being retried")]


@dataclass(frozen=True, slots=True)
class Retried:
    """The result for each letter, and the number of open ones that still match."""

    outcomes: list[RetryOutcome]
    left: int
    unmatched: Annotated[
        list[Unmatched], Field(description="if there is no outcome: filters whose value no letter has")
    ]
