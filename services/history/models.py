"""Define the history of a document, and its readings next to each other."""

import datetime as dt
from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from docrail.services.model_config import SHOWN


class Happened(StrEnum):
    """What happened to a document."""

    RECEIVED = "received"
    READ = "read"
    READ_BEFORE = "read_before"
    CORRECTED = "corrected"
    UNLOCKED = "unlocked"
    UNDONE = "undone"
    ASSIGNED = "assigned"
    POSTPONED = "postponed"
    APPROVED_FIRST = "approved_first"
    APPROVED = "approved"
    REJECTED = "rejected"
    REOPENED = "reopened"
    EXPORTED = "exported"


@dataclass(frozen=True, slots=True, config=SHOWN)
class HistoryEvent:
    """One thing that happened to a document."""

    at: dt.datetime
    what: Happened
    """What happened. `read`: a reading of its bytes was stored; `read_before`: an earlier document with the same bytes
    had been read, so it was read as soon as it was received."""
    by: str | None
    """Who did it; null for a reading."""
    field: str | None = None
    """The field that was corrected, unlocked or undone."""
    value: str | None = None
    """Its new value; of a reading the reader, of an export the format, of an assignment the person."""
    was: str | None = None
    """Its value before."""
    why: str = ""
    """The reason that was given; empty if there is none."""
    export_id: str | None = None
    """The export; null for other events."""


@dataclass(frozen=True, slots=True, config=SHOWN)
class DocumentHistory:
    """What happened to a document, oldest first."""

    events: list[HistoryEvent]
    """The events."""


@dataclass(frozen=True, slots=True, config=SHOWN)
class Reading:
    """One reading of a document's bytes."""

    version: Annotated[str, Field(examples=["12.2"])]
    """Version of the readers, with the model and its prompt if one read it, and `@RUN` if a run read it again."""
    read_at: dt.datetime
    """When it was stored."""
    reader: str
    """The reader whose values were chosen: xml, gemini, text or ocr."""
    readers: list[str]
    """Every reader that found something."""
    model: str
    """Name and version of the model; empty without one."""
    confidence: float
    """Confidence in the reading, from 0 to 1, before anyone corrected it."""
    line_items: int
    """How many line items it has."""
    is_used: bool
    """Whether the document's values come from it."""


@dataclass(frozen=True, slots=True, config=SHOWN)
class ReadField:
    """A field in every reading, in the order of the readings."""

    name: Annotated[str, Field(examples=["total"])]
    """Name of the field."""
    values: list[str | None]
    """Its values; null where a reading has none."""
    sources: list[str]
    """Where each value was found."""
    differs: bool
    """Whether the readings disagree, regardless of how a value is written."""


@dataclass(frozen=True, slots=True, config=SHOWN)
class DocumentReadings:
    """Every reading of a document, the one that is used first."""

    readings: list[Reading]
    """The readings."""
    fields: list[ReadField]
    """The fields that any of them found."""
