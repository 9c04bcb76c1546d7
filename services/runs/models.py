"""Define executions, operator actions, cached outputs and the places of runs in chunks."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.services.model_config import SHOWN, Hidden


@dataclass(frozen=True, slots=True)
class Execution:
    """A submitted definition; `run_id` is null until it is triggered, and then at `/v1/runs/{run_id}`."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    tenant_id: Hidden[str]
    execution_id: Annotated[str, Field(examples=["exe_5d4e0f9c6c4b3a2d4e5f8a7b6c"])]
    definition_id: Annotated[str, Field(serialization_alias="workflow_definition_id", examples=["invoice"])]
    version: int
    created_at: dt.datetime
    run_id: str | None
    triggered_at: dt.datetime | None
    status: RunStatus = RunStatus.PENDING
    """Pending until it is triggered, then running in the response to the trigger, and later the run's status."""


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """A person's action on a step or, if `step_id` is null, on its run."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    action_id: Hidden[str]
    run_id: Hidden[str]
    step_id: str | None
    action: Annotated[str, Field(examples=["retry_run"])]
    """On a run pause, resume, abort or retry_run; on a step retry, skip, output, abort or dismiss."""
    details: dict[str, Json]
    """The values given by hand, and the reason; `outcome` if no worker answered: it may not have been done."""
    acted_by: str
    acted_at: dt.datetime


@dataclass(frozen=True, slots=True)
class CachedOutput:
    """A cached output; `output` may be null, which is a valid output."""

    output: Json


@dataclass(frozen=True, slots=True)
class StoredChunkedRun:
    """A run of a document that shares a workflow with others, or did before it moved."""

    run_id: str
    chunk_id: str
    document_id: str
    version: int
    started_at: dt.datetime | None = None
    """None: the row is not stored yet."""
    moved_at: dt.datetime | None = None
    status: str | None = None
    """In which it has ended in its chunk, as far as that is recorded."""


@dataclass(frozen=True, slots=True)
class OpenChunk:
    """A chunk with runs that have not ended, as far as is known."""

    tenant_id: str
    chunk_id: str


Limits = tuple[dt.datetime | None, dt.datetime | None]
"""From the first to before the second; None: without that limit."""


@dataclass(frozen=True, slots=True)
class ChunkedFilter:
    """Filters for runs in chunks; None: any."""

    definition_id: str | None
    document_id: str | None
    status: str | None
    started: Limits
    ended: Limits
    """With a limit, only runs that have ended."""


@dataclass(frozen=True, slots=True)
class ListedChunkedRun:
    """A line of the list of runs in chunks. `status` is None while it runs."""

    run_id: str
    definition_id: str
    version: int
    document_id: str
    status: str | None
    started_at: dt.datetime
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class ListedPlace:
    """A place in a list of runs. An open run ends at OPEN_END."""

    ended_at: dt.datetime
    started_at: dt.datetime
    run_id: str


OPEN_END = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)
"""Sorts open runs before those that have ended, as Temporal does."""


@dataclass(frozen=True, slots=True)
class EndedRun:
    """The copy of an ended run: its report without outputs, as JSON."""

    tenant_id: str
    run_id: str
    ended_at: dt.datetime
    document_id: str | None
    outer_run_id: str | None
    """The run that it is nested in."""
    report: dict[str, object]
