"""Define batches: what is ordered, how a batch and its documents stand, and its result.

In one file because the result shows the batch, and the batch its order.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import AwareDatetime, ConfigDict, Field, computed_field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.adapters.http.client import URL_PATTERN, checked_url
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.services.documents.models import Document, FileName, SumOfCurrency
from docrail.services.inbox.models import DocumentStatus
from docrail.services.model_config import SHOWN, WHOLE, Hidden, body

DEFAULT_CONCURRENCY, MOST_CONCURRENCY = 10, 200
"""Runs of a batch that are open at the same time."""
MOST_LISTED = 1_000
"""Documents that one request adds by their ids."""
MOST_PLACE = 1_000
"""Characters of a place."""
FIRST_DUPLICATES = 50
"""Duplicates that an answer lists."""
PLACE_PATTERN = r"^[^\x00-\x1f\x7f]*$"


class BatchStatus(StrEnum):
    """How a batch stands."""

    OPEN = "open"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class BatchDocumentState(StrEnum):
    """How a document of a batch stands. WAITING: for its turn; ASKING: its run waits for a person or an event."""

    WAITING = "waiting"
    RUNNING = "running"
    ASKING = "asking"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATE_WORDS = (
    "waiting: for its turn; running: its run is open; asking: its run waits for a person or an event, and holds no "
    "place; done: its run has completed; failed: its run has failed, could not be started, or has a failed step that "
    "waits for a person; cancelled"
)
STATUS_WORDS = (
    "open: it takes more documents, and none is waiting or running; running; paused; completed: nothing is left to do; "
    "cancelled"
)


def _url(text: str) -> str:
    checked_url(text)
    return text


DocumentIds = Annotated[
    tuple[Annotated[str, Field(max_length=64, examples=["doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"])], ...],
    Field(max_length=MOST_LISTED),
]
Concurrency = Annotated[int, Field(strict=True, ge=1, le=MOST_CONCURRENCY), WHOLE]


@dataclass(frozen=True, slots=True)
class BatchOrder:
    """How the documents of a batch are run, and its first documents."""

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {"name": "November", "definition": "invoice", "max_concurrency": 20, "close": False},
        {"document_ids": ["doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"], "close": True},
    )

    name: Annotated[str, Field(max_length=200, pattern=PLACE_PATTERN, examples=["November"])] = ""
    """A name for people."""
    definition: Annotated[str | None, Field(max_length=200, examples=["invoice"])] = None
    """`ID`, `ID@VERSION` or `ID@ALIAS`; by default the routing rules choose one for each document."""
    sla_hours: Annotated[int, Field(strict=True, ge=1, le=8760), WHOLE] = 24
    """Hours until each document must be decided, from its upload."""
    source: Annotated[str, Field(max_length=100)] = ""
    """Where the documents come from, for routing rules."""
    inputs: Annotated[Mapping[str, Json], Field(examples=[{"cost_centre": "4711"}])] = field(default_factory=dict)
    """Values for the inputs of each document's definition; a document's own ones replace them."""
    max_concurrency: Concurrency = DEFAULT_CONCURRENCY
    """How many runs are open at the same time. One that waits for a person or an event does not count."""
    deadline: Annotated[AwareDatetime | None, Field(examples=["2026-12-01T06:00:00Z"])] = None
    """When the last run may start: documents that still wait then fail, and open runs go on."""
    webhook_url: Annotated[
        str | None, Field(max_length=2048, pattern=URL_PATTERN, examples=["https://books.example/batches"])
    ] = None
    """Receives a signed message when the batch has completed; needs the scope `operate`."""
    document_ids: DocumentIds = ()
    """Uploaded documents. Those that have had a run get another one."""
    close: bool = False
    """Whether it takes no more documents."""
    grouped: bool = True
    """Whether documents share workflows, up to 20 one, which costs a fraction of the work. Each has a run as any other.
    Documents whose definition waits, nests or has lists always run alone."""

    def __post_init__(self) -> None:
        """Check the address. Raises: ValueError."""
        if self.webhook_url is not None:
            _url(self.webhook_url)


@dataclass(frozen=True, slots=True)
class Appended:
    """Uploaded documents for a batch."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"document_ids": ["doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"]})

    document_ids: Annotated[DocumentIds, Field(min_length=1)]
    """Their ids. Those that the batch has already are left as they are."""


@dataclass(frozen=True, slots=True)
class RetryOfBatch:
    """Which failed documents are tried again."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"error_type": "TimeoutError"}, {})

    error_type: Annotated[str | None, Field(max_length=200, pattern=PLACE_PATTERN)] = None
    """Only those that failed with this error class; by default all."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class StateCounts:
    """How many documents are in each state."""

    waiting: int = 0
    """For their turn."""
    running: int = 0
    """Their run is open."""
    asking: int = 0
    """Their run waits for a person or an event."""
    done: int = 0
    """Their run has completed."""
    failed: int = 0
    """Their run has failed, could not be started, or has a failed step that waits for a person."""
    cancelled: int = 0
    """Their run was cancelled or aborted, or not started any more."""

    @computed_field(description="All documents of the batch.")  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        """Return the sum."""
        return self.waiting + self.running + self.asking + self.done + self.failed + self.cancelled


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ErrorCount:
    """The failed documents of an error class."""

    error_type: Annotated[str, Field(examples=["TimeoutError"])]
    """The error class."""
    documents: int
    """How many there are."""
    message: str
    """The message of one of them."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class StoredBatch:
    """A batch as it is stored."""

    tenant_id: Hidden[str]
    batch_id: Annotated[str, Field(examples=["bat_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    """Id of the batch."""
    wanted: BatchOrder
    max_concurrency: int
    deadline_at: dt.datetime | None
    created_by: str
    created_at: dt.datetime
    closed_at: dt.datetime | None
    paused_at: dt.datetime | None
    cancelled_at: dt.datetime | None
    completed_at: dt.datetime | None
    completions: Hidden[int]
    held_by: str | None
    notified_at: dt.datetime | None
    webhook_error: str


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Batch:
    """A batch and its progress."""

    batch_id: Annotated[str, Field(examples=["bat_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    """Id of the batch."""
    name: str
    """Its name, for people."""
    status: Annotated[BatchStatus, Field(description=STATUS_WORDS)]
    definition: str | None
    """The definition of its documents; null if routing rules choose."""
    max_concurrency: int
    """How many runs are open at the same time."""
    is_closed: bool
    """Whether it takes no more documents."""
    counts: StateCounts
    """Its documents by state."""
    duplicates: int
    """Places whose content the batch has already: they are listed in its result, and not run."""
    errors: list[ErrorCount]
    """The failed documents by error class, the largest first."""
    per_minute: float
    """Documents that ended in the last minute."""
    seconds_left: float | None
    """Estimated time until none waits or runs, at this rate; null without one."""
    held_by: str | None
    """The quota that it waits for, as `open_runs`; null if it does not wait for one."""
    deadline: dt.datetime | None
    """When the last run may start."""
    webhook_url: str | None
    """Receives a message at its completion."""
    webhook_error: str
    """Why that message was not delivered; empty if it was, or is to be."""
    created_by: str
    """Who ordered it."""
    created_at: dt.datetime
    """When it was ordered."""
    completed_at: dt.datetime | None
    """When nothing was waiting or running any more."""
    allowed: Annotated[list[str], Field(examples=[["pause", "cancel"]])]
    """What the caller may do to it now: `append`, `close`, `pause`, `resume`, `cancel`, `retry`."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class BatchPage:
    """A page of batches, newest first."""

    batches: list[Batch]
    """The batches of this page."""
    after: str | None


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class BatchDocument:
    """A document of a batch."""

    document_id: str
    """Id of the document."""
    place: str
    """Where the client has it: a path or a name."""
    state: Annotated[BatchDocumentState, Field(description=STATE_WORDS)]
    run_id: str | None
    """Its run in this batch; null before it was started."""
    error_type: str | None
    """The error class of a failed one."""
    error_message: str | None
    """Why it failed."""
    started_at: dt.datetime | None
    """When its turn came."""
    ended_at: dt.datetime | None
    """When its run ended."""
    position: Hidden[int]
    again: Hidden[bool]
    key_id: Hidden[str | None]
    outputs: Hidden[Json]


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class BatchDocumentPage:
    """A page of the documents of a batch, in the order in which they were added."""

    documents: list[BatchDocument]
    """The documents of this page."""
    after: str | None


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class DuplicatePlace:
    """A place whose content the batch has already."""

    place: str
    """The place."""
    document_id: str
    """The document with this content."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Added:
    """What a request has added to a batch."""

    batch_id: str
    """Id of the batch."""
    added: int
    """Documents that are new in the batch."""
    known: int
    """Documents that it had already, at the same place."""
    duplicates: int
    """Places whose content the batch has already."""
    duplicate_places: list[DuplicatePlace]
    """The first of these places."""
    unreadable: list[str]
    """Files of a zip that were left out: empty ones."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class AddedDocument:
    """A document that was sent to a batch."""

    document: Document
    """The document."""
    place: str
    """Its place."""
    is_new: bool
    """False if the batch had this content already."""
    is_duplicate: bool
    """Whether the batch has the content under another place."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ResultDocument:
    """The result of one document."""

    document_id: str
    file_name: FileName
    place: str
    """Where the client has it."""
    state: Annotated[BatchDocumentState, Field(description=STATE_WORDS)]
    status: DocumentStatus
    """The document's status in the inbox."""
    run_id: str | None
    """Its run in this batch."""
    error_type: str | None
    """The error class of a failed one."""
    error_message: str | None
    """Why it failed."""
    vendor_name: str | None
    """Name of the vendor."""
    invoice_number: str | None
    """The vendor's number of the invoice."""
    issued_on: dt.date | None
    """Date of the invoice."""
    total: Decimal | None
    """Amount of the invoice, taxes included, in `currency`."""
    currency: str | None
    """ISO 4217 code of the amount."""
    confidence: float | None
    """0 to 1; null if it is not known."""
    review_id: str | None
    """Its review item; null if there is none."""
    outputs: Json
    """Outputs of its run; null if it has none, or they are larger than 16 kB."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class BatchResult:
    """The result of a batch: a summary, and a page of its documents."""

    batch: Batch
    """The batch."""
    sums: list[SumOfCurrency]
    """The documents of this page with a total, by currency."""
    documents: list[ResultDocument]
    """The documents, in the order in which they were added."""
    duplicates: list[DuplicatePlace]
    """Places that were not run, as the batch has their content already; on the first page."""
    after: str | None


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts of a batch, as its rows have them."""

    counts: StateCounts = field(default_factory=StateCounts)
    duplicates: int = 0
    ended_lately: int = 0


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a document's run ended for its batch, or why it has left the window."""

    document_id: str
    state: BatchDocumentState
    run_id: str | None = None
    error_type: str | None = None
    error_message: str | None = None
    outputs: Json = None
    in_chunk: RunStatus | None = None
    """The status in which it ended while it shared a workflow; None if it did not."""
