"""Define documents as the inbox lists them."""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from docrail.invoices.facts import DocumentType
from docrail.services.documents.models import FileName, FirstDocument, Origin
from docrail.services.model_config import SHOWN


class DocumentStatus(StrEnum):
    """The status of a document: ATTENTION and SECOND wait for a person, READING for Docrail, the others for no one."""

    ATTENTION = "attention"
    READING = "reading"
    FAILED = "failed"
    SECOND = "second"
    POSTPONED = "postponed"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPORTED = "exported"
    COMPLETED = "completed"
    DISMISSED = "dismissed"


STATUS_WORDS = (
    "attention: a person must decide; reading: its run has not come that far; failed: a step failed for good; second: "
    "one person approved it and another one must; postponed: until a time; approved; rejected; exported: approved, and "
    "in an export; completed: its run completed without a question to a person; dismissed: a person set its failure "
    "aside, or its run ended without a decision"
)


class RowAction(StrEnum):
    """What a person may do with a document in the list."""

    SEND_AGAIN = "send-again"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class DocumentAction:
    """Whether the caller may act on the document now. The server checks it again when they do."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    name: RowAction
    """Also the last part of its path."""
    allowed: bool
    """Whether it would be accepted now."""
    reason: str | None
    """Why it is not allowed, for people; null if it is."""


class DocumentSort(StrEnum):
    """Sort orders of documents. Those without the value come last."""

    NEWEST = "newest"
    OLDEST = "oldest"
    DUE = "due"
    TOTAL = "total"
    VENDOR = "vendor"


class Certainty(StrEnum):
    """A confidence in words; UNKNOWN: nothing was read."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"


HIGH_FROM, MEDIUM_FROM = 0.9, 0.7
"""Smallest confidences that are called high and medium."""


def certainty_of(confidence: float | None) -> Certainty:
    """Return a confidence in words."""
    if confidence is None:
        return Certainty.UNKNOWN
    if confidence >= HIGH_FROM:
        return Certainty.HIGH
    return Certainty.MEDIUM if confidence >= MEDIUM_FROM else Certainty.LOW


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Filters for documents; None: any."""

    status: DocumentStatus | None = None
    document_type: DocumentType | None = None
    vendor: str | None = None
    """A VAT id, or how the name begins; spaces, punctuation, accents and case do not count."""
    text: str | None = None
    """Part of the file name, the vendor's name or the invoice number, in upper or lower case, or the total.

    One of one or two characters is looked for in the newest 10,000 documents.
    """
    since: dt.datetime | None = None
    until: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """One line of the list of documents. The fields of the invoice are null before it is read and assessed."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    document_id: str
    file_name: FileName
    source: Origin
    definition: str | None
    """The definition of its run."""
    run_id: str | None
    """The run that asks about it or failed; null if none has started yet."""
    received_at: dt.datetime
    status: Annotated[DocumentStatus, Field(description=STATUS_WORDS)]
    duplicate_of: FirstDocument
    look_alike_of: str | None
    """An earlier document with the same bytes, or with the same vendor and invoice number."""
    document_type: DocumentType | None
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
    certainty: Certainty
    """The confidence in words: high from 0.9, medium from 0.7."""
    review_id: str | None
    """Its review item; null until there is one."""
    due_at: dt.datetime | None
    """When it must be decided."""
    reason: str | None
    """The first reason why it waits for a person, or the message of its failure."""
    reason_code: Annotated[str | None, Field(examples=["totals_disagree"])]
    """Name of that reason, for programs; null for a failure."""
    more_reasons: int
    """The number of further reasons."""
    claimed_by: str | None
    """Who works on it."""
    claimed_until: dt.datetime | None
    assigned_to: str | None
    """Who gets it next."""
    first_approved_by: str | None
    """Who gave the first of two approvals."""
    decided_by: str | None
    postponed_until: dt.datetime | None
    exported_at: dt.datetime | None
    """When it was last exported, since its approval."""
    actions: list[DocumentAction] = field(default_factory=list)
    """What the caller may do with its row."""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of documents."""

    documents: Annotated[list[ListedDocument], Field(description="The documents of this page.")]
    after: str | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The place of a document among those of a list that the caller may take: their review items.

    Documents that look alike follow the first of them, as in the console. The place is known even if the document
    itself has left the list.
    """

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    next: str | None
    """The review item after it; null at the end."""
    next_below: str | None
    """The document that the next one follows as a look-alike; null if it follows none."""
    previous: str | None
    """The review item before it; null at the beginning."""
    previous_below: str | None
    """The document that the previous one follows as a look-alike; null if it follows none."""
    place: Annotated[int, Field(examples=[7])]
    """Counted from 1."""
    total: Annotated[int, Field(examples=[60])]
    """The number of documents in the list."""


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The number of documents by status; every status is there."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    counts: dict[DocumentStatus, int]
    """By status."""
    total: int
    """Of all statuses."""
    at_least: list[DocumentStatus]
    """Statuses with more documents: counting stops at 10,000 decided ones. The total is then the least there are."""
