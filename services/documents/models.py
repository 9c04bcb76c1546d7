"""Define documents, their readings, corrections and counts."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.adapters.postgres.pool import StorageError
from docrail.dag.values.json_values import Json
from docrail.invoices.model import READER_VERSION, SCHEMA_VERSION, Box, InvoiceData, PageRange
from docrail.services.document_outcomes import Outcome
from docrail.services.model_config import SHOWN, Hidden


class DocumentConflict(StorageError):  # noqa: N818  # a statement about the id
    """The document id is taken by other bytes or another tenant. Says no more: ids of other tenants are secret."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"document id {document_id!r} is taken")
        self.document_id = document_id


FileName = Annotated[str, Field(description="as the uploader claimed, without folders", examples=["invoice-4711.pdf"])]
Origin = Annotated[str, Field(description="where the uploader says it comes from")]
FirstDocument = Annotated[str | None, Field(description="the first document with the same bytes")]


@dataclass(frozen=True, slots=True)
class Document:
    """An uploaded document. Its run is at `/v1/runs/{run_id}` once `run_started_at` is set."""

    # `age_seconds` is the time since `received_at` by the database's clock. `original_removed_at` is when the bytes
    # were deleted for their age, even if another document has stored equal bytes since.

    tenant_id: Hidden[str]
    document_id: Annotated[str, Field(examples=["doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    sha256: str
    size_bytes: int
    media_type: Annotated[str, Field(description="as the uploader claimed", examples=["application/pdf"])]
    file_name: FileName
    sla_hours: float
    received_at: dt.datetime
    run_id: Annotated[str | None, Field(examples=["invoice.doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    run_started_at: Annotated[
        dt.datetime | None, Field(description="null while Temporal is unavailable: the run starts when it is back")
    ]
    metrics_recorded_at: Hidden[dt.datetime | None]
    duplicate_of: FirstDocument
    definition: Annotated[
        str | None,
        Field(
            description="what it takes, as the upload named it or a routing rule chose it", examples=["invoice@canary"]
        ),
    ]
    source: Origin
    uploaded_by: Hidden[str]
    age_seconds: Hidden[float]
    original_removed_at: Hidden[dt.datetime | None] = None
    key_id: Hidden[str | None] = None
    batch_id: Annotated[
        str | None, Field(description="the batch that it came with", examples=["bat_0f9c6c4b3a2d4e5f8a7b6c5d4e"])
    ] = None
    inputs: Annotated[
        Mapping[str, Json],
        Field(
            description="values that the upload gave for the definition's inputs", examples=[{"cost_centre": "4711"}]
        ),
    ] = field(default_factory=dict)
    part_of: Annotated[str | None, Field(description="the file of several invoices that its pages were cut out of")] = (
        None
    )
    first_page: Annotated[int | None, Field(description="of its pages in that file, counted from 1")] = None
    last_page: Annotated[int | None, Field(description="of its pages in that file, included")] = None
    parts: Annotated[
        Sequence[str], Field(description="the documents that its pages were cut into, if it has several invoices")
    ] = ()
    is_new: Hidden[bool] = field(default=False, compare=False)
    """Whether the call that returns it has inserted it."""


@dataclass(frozen=True, slots=True)
class PartOf:
    """The pages of a file that are a document of their own."""

    document_id: str
    """The file's document."""
    pages: PageRange


class PeriodOf(StrEnum):
    """The date by which a period selects documents."""

    APPROVED = "approved"
    INVOICE_DATE = "invoice_date"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True)
class ApprovedFilter:
    """Selects approved documents. The ends of the period are times, for INVOICE_DATE days; both are optional."""

    of: PeriodOf
    since: dt.datetime | dt.date | None
    before: dt.datetime | dt.date | None
    """The first moment or day after the period."""
    only_new: bool
    """Whether to leave out those that an export has already."""


@dataclass(frozen=True, slots=True)
class ApprovedSum:
    """The number of approved documents of a currency, how many of them were exported, and the sum of their totals."""

    currency: str | None
    documents: int
    exported: int
    total: Decimal


@dataclass(frozen=True, slots=True)
class StoredReading:
    """A reading of a document's bytes, without the corrections of people."""

    reader_version: str
    read_at: dt.datetime
    invoice: InvoiceData


CURRENT_READER = f"{READER_VERSION}.{SCHEMA_VERSION}"
"""The `reader_version` of readings by this code: the version of the readers and of the data's schema.

`/MODEL/PROMPT` is appended if a model read the document too, and `@RUN` if a run read it again: those readings are
stored separately and are not used as cached readings for others.
"""

FALLBACK = "local"
"""Replaces model and prompt in the version of a local reading that states why no model read the document."""


def reading_version(*by: str, fresh_run_id: str | None = None) -> str:
    """Return the `reader_version` of readings by this code: alone, `by` a model and its prompt, or fresh for a run."""
    return "/".join((CURRENT_READER, *by)) + (f"@{fresh_run_id}" if fresh_run_id else "")


class CorrectionAct(StrEnum):
    """LOCK sets the person's value; UNLOCK restores the readers' value."""

    LOCK = "lock"
    UNLOCK = "unlock"


@dataclass(frozen=True, slots=True)
class Change:
    """A person's change to a field, with the previous value and its source."""

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
    """A person's change to a field; `undone_at` is set if it was undone."""

    correction_id: Annotated[int, Field(exclude=True)]
    field: str
    act: Literal["lock", "unlock"]
    value: str | None
    read_value: Annotated[str | None, Field(description="the value before the change")]
    read_source: str
    corrected_by: str
    corrected_at: dt.datetime
    why: str
    undone_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Assessed:
    """A document as assessed now, and when it was received."""

    invoice: InvoiceData
    received_at: dt.datetime


@dataclass(frozen=True, slots=True)
class MetricsClaim:
    """The values to observe for a document: seconds since it arrived, and its extraction's confidence if it has one."""

    seconds: float
    confidence: float | None


@dataclass(frozen=True, slots=True)
class DocumentCount:
    """The number of documents with an outcome. Each `_le` is the smallest bucket bound that contains them."""

    outcome: Outcome
    seconds_le: float
    confidence_le: float | None
    """None: nothing was read."""
    documents: int
    seconds_sum: float
    confidence_sum: float


@dataclass(frozen=True, slots=True)
class UnendedDocument:
    """A document whose run, which was started then, has not ended as far as is known."""

    document_id: str
    run_started_at: dt.datetime


@dataclass(frozen=True, slots=True)
class OldOriginal:
    """Bytes shared by all of `document_ids`, across tenants; first received at `received_at`."""

    sha256: str
    received_at: dt.datetime
    document_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReadingKey:
    """Names one stored reading of a tenant: the document's bytes, and what read them."""

    sha256: str
    reader_version: str


def each_once(document_ids: Sequence[str]) -> list[str]:
    """Return the documents. Raises: ValueError if one is named twice."""
    if len({*document_ids}) < len(document_ids):
        raise ValueError("a document is named twice")
    return list(document_ids)


@dataclass(frozen=True, slots=True)
class WantedReading:
    """A document, and which of its readings is wanted; None: the best one."""

    document_id: str
    reading: ReadingKey | None = None


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class SumOfCurrency:
    """The documents of one currency."""

    currency: str | None
    """ISO 4217 code; null for documents that state none."""
    documents: int
    """How many there are."""
    total: Annotated[str, Field(examples=["18230.45"])]
    """Sum of their totals, taxes included."""
