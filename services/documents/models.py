# only constants of this code are formatted into statements
"""Documents, their readings, corrections and counts."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from docrail.adapters.postgres.pool import StorageError
from docrail.invoices.model import READER_VERSION, SCHEMA_VERSION, Box, InvoiceData
from docrail.services.document_outcomes import Outcome


class DocumentConflict(StorageError):  # noqa: N818  # a statement about the id
    """The document id is taken by other bytes or by someone else. Says no more: ids of other tenants are secret."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"document id {document_id!r} is taken")
        self.document_id = document_id


@dataclass(frozen=True, slots=True)
class Document:
    """One upload. `duplicate_of` is the tenant's first document with the same bytes, None for that first one.

    `run_id` before `run_started_at` is the run that is meant to be started; `definition` names what it runs, None in
    rows of releases without a choice. `source` is where the uploader says it comes from; `uploaded_by` is the
    uploader's name, empty in rows of releases that did not keep it. `age_seconds` is the time since `received_at` by
    the database's clock when the row was read. `original_removed_at` is when its bytes were deleted for their age:
    what others send is not this document's.
    """

    tenant_id: str
    document_id: str
    sha256: str
    size_bytes: int
    media_type: str
    file_name: str
    sla_hours: float
    received_at: dt.datetime
    run_id: str | None
    run_started_at: dt.datetime | None
    metrics_recorded_at: dt.datetime | None
    duplicate_of: str | None
    definition: str | None
    source: str
    uploaded_by: str
    age_seconds: float
    original_removed_at: dt.datetime | None = None


CURRENT_READER = f"{READER_VERSION}.{SCHEMA_VERSION}"
"""The `reader_version` under which this code stores: what a reading says, and the shape in which it says it.

Behind it may stand `/MODEL/PROMPT` where a model read too, and `@RUN` where a run read anew: those readings stand
beside the others, and are no answer of the cache for anybody else's.
"""


FALLBACK = "local"
"""Stands for model and prompt in the version of a local reading that says why no model read too."""


def reading_version(*by: str, fresh_run_id: str | None = None) -> str:
    """Return the `reader_version` of what this code reads: alone, `by` a model and its prompt, or anew for a run."""
    return "/".join((CURRENT_READER, *by)) + (f"@{fresh_run_id}" if fresh_run_id else "")


class CorrectionAct(StrEnum):
    """A locked field has the person's value; an unlocked one has the readers' again."""

    LOCK = "lock"
    UNLOCK = "unlock"


@dataclass(frozen=True, slots=True)
class Change:
    """What a person does to a field, and what stood there before, with its source."""

    field: str
    act: CorrectionAct
    value: str | None
    by: str
    why: str = ""
    read_value: str | None = None
    read_source: str = ""
    page: int | None = None
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change as it was kept; `undone_at` is set of one that was taken back."""

    correction_id: int
    field: str
    act: str
    value: str | None
    read_value: str | None
    read_source: str
    corrected_by: str
    corrected_at: dt.datetime
    why: str
    undone_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What people have made of a document: nothing, as long as it has no review item."""

    status: str = "open"
    """`approved`, `rejected`, or `open`: nobody has decided."""
    revision: int = 0
    """Rises with every decision, reopening and correction."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A document as it is known now, and when it came."""

    invoice: InvoiceData
    received_at: dt.datetime
    standing: Standing


@dataclass(frozen=True, slots=True)
class MetricsClaim:
    """What to observe about a document: seconds since it arrived, and its extraction's confidence if it has one."""

    seconds: float
    confidence: float | None


@dataclass(frozen=True, slots=True)
class DocumentCount:
    """How many documents ended so. Each `_le` is the least upper bound of a bucket that holds them."""

    outcome: Outcome
    seconds_le: float
    confidence_le: float | None
    """None: nothing was read."""
    documents: int
    seconds_sum: float
    confidence_sum: float
