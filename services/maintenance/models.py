"""Define what is shown about the schedules by which Docrail works on its own."""

import datetime as dt
from enum import StrEnum

from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.services.model_config import SHOWN


class ScheduleName(StrEnum):
    """A schedule of Docrail's own work."""

    MAINTENANCE = "maintenance"
    """Compacts the lake and deletes what is too old, by `DOCRAIL_MAINTENANCE_SCHEDULE`."""
    SLA = "sla"
    """Notifies people of review items that become due."""
    BACKGROUND = "background"
    """Starts runs, answers and exports that a crash has left behind, and files what was reviewed."""


class PassState(StrEnum):
    """How a pass of a schedule ended."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class LastPass:
    """The latest pass of a schedule."""

    started_at: dt.datetime
    """When it started."""
    state: PassState | None
    """How it ended; null if Temporal no longer knows."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ShownSchedule:
    """A schedule, as Temporal keeps it."""

    name: ScheduleName
    """What it does."""
    every_seconds: float | None
    """The time between two passes; null if it follows a calendar."""
    paused: bool
    """Whether no pass starts by itself."""
    note: str
    """Why it is paused, and who did it; or who resumed it. Empty if it never was."""
    next_at: dt.datetime | None
    """When the next pass starts, in UTC; null while it is paused."""
    last: LastPass | None
    """The latest pass; null if there was none."""
    passes: int
    """Passes since it was created."""
