"""What an invoice is: its fields, each with a value, a confidence and a source, and what is wrong with it."""

import datetime as dt
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 2
"""Of InvoiceData as JSON and Parquet. Raise it when a field changes its meaning."""
READER_VERSION = "9"
"""Raise it whenever the readers may answer differently: stored extractions are kept by it."""
READERS_DIGEST = "10cace16359ccb31"
"""Of the code under invoices/readers when the version was last thought of (tests/invoices/test_reader_version.py)."""

FIELD_NAMES = (
    "invoice_number",
    "date",
    "due_date",
    "vendor_name",
    "vendor_vat_id",
    "buyer_name",
    "iban",
    "currency",
    "net",
    "tax",
    "total",
)
"""The FieldValue attributes of InvoiceData, in the order people read them."""
REQUIRED_FIELDS = ("invoice_number", "date", "vendor_name", "currency", "total")
"""An invoice without one of these cannot be paid, so a person must fill it in."""

T = TypeVar("T")
Probability = Annotated[float, Field(ge=0, le=1)]
Fraction = Annotated[float, Field(ge=-0.01, le=1.01)]
Box = tuple[Fraction, Fraction, Fraction, Fraction]
"""Left, top, right, bottom on the page, as fractions of its width and height."""


class DocumentType(StrEnum):
    """What the document asks for: money, or to give some back."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"


class Severity(StrEnum):
    """An error sends the document to a person; a warning lowers trust."""

    ERROR = "error"
    WARNING = "warning"


class Source(StrEnum):
    """Where a value came from; it decides how far the value is trusted before any evidence."""

    NOWHERE = ""
    XML = "xml"
    QR = "qr"
    GEMINI = "gemini"
    TEXT_LABEL = "text_label"
    TEXT_PATTERN = "text_pattern"
    OCR_LABEL = "ocr_label"
    OCR_PATTERN = "ocr_pattern"
    VENDOR = "vendor"
    """What people corrected or approved on this vendor's documents before."""
    HUMAN = "human"


class Evidence(StrEnum):
    """A fact for or against one field's value. Its weight is in confidence.py."""

    ON_PAGE = "on_page"
    NOT_ON_PAGE = "not_on_page"
    PAGE_CONTRADICTS = "page_contradicts"
    CHECKSUM_VALID = "checksum_valid"
    CHECKSUM_INVALID = "checksum_invalid"
    TOTALS_AGREE = "totals_agree"
    TOTALS_DISAGREE = "totals_disagree"
    LINES_AGREE = "lines_agree"
    LINES_DISAGREE = "lines_disagree"
    IMPLAUSIBLE_DATE = "implausible_date"
    AMBIGUOUS_DATE = "ambiguous_date"
    NAMED_AGAIN = "named_again"
    SEVERAL_CANDIDATES = "several_candidates"
    SECOND_SOURCE_AGREES = "second_source_agrees"
    SECOND_SOURCE_DIFFERS = "second_source_differs"
    AS_VENDOR_HISTORY = "as_vendor_history"
    IBAN_CHANGED = "iban_changed"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Candidate(_Model, Generic[T]):
    """What one source says of a field, kept as evidence whether it won or not."""

    value: T
    source: Source
    page: int | None = None
    box: Box | None = None
    word_score: Probability | None = None


class Lock(_Model):
    """A person said what is right: no reading may change the value any more."""

    by: str
    at: dt.datetime
    why: str = ""


class FieldValue(_Model, Generic[T]):
    """One field as read. `value` None: nothing was found, and nothing is claimed."""

    value: T | None = None
    confidence: Probability = 0.0
    source: Source = Source.NOWHERE
    page: int | None = None
    """Counted from 1; None where there is no page (bare XML)."""
    box: Box | None = None
    word_score: Probability | None = None
    """Mean score of the words it was read from, where an OCR read them."""
    evidence: tuple[Evidence, ...] = ()
    candidates: tuple[Candidate[T], ...] = ()
    """Every source's value, the chosen one's too, surest first."""
    lock: Lock | None = None


class LineItem(_Model):
    """One charged line. `amount` is without tax where the document says so."""

    description: str = ""
    quantity: Decimal | None = None
    unit_price: Decimal | None = None
    amount: Decimal | None = None
    tax_rate: Decimal | None = None
    """Percent: 19 means 19 %."""
    page: int | None = None
    box: Box | None = None


class TaxPart(_Model):
    """One row of the tax summary. `rate` is in percent."""

    rate: Decimal | None = None
    base: Decimal | None = None
    tax: Decimal


class Problem(_Model):
    """Something a rule or a reader found wrong, in words for the reviewer."""

    code: str
    severity: Severity
    message: str
    field: str | None = None


class InvoiceData(_Model):
    """One document as read: never says more than the document does."""

    schema_version: int = SCHEMA_VERSION
    document_id: str = ""
    document_type: DocumentType = DocumentType.INVOICE
    invoice_number: FieldValue[str] = FieldValue()
    date: FieldValue[dt.date] = FieldValue()
    due_date: FieldValue[dt.date] = FieldValue()
    vendor_name: FieldValue[str] = FieldValue()
    vendor_vat_id: FieldValue[str] = FieldValue()
    buyer_name: FieldValue[str] = FieldValue()
    iban: FieldValue[str] = FieldValue()
    currency: FieldValue[str] = FieldValue()
    net: FieldValue[Decimal] = FieldValue()
    tax: FieldValue[Decimal] = FieldValue()
    total: FieldValue[Decimal] = FieldValue()
    net_adjustment: Decimal = Decimal(0)
    """Charges less discounts between the sum of the lines and `net`."""
    total_adjustment: Decimal = Decimal(0)
    """What is added to net + tax to give `total`: untaxed shipping, deposits, rounding; negative for deductions."""
    vendor_country: str | None = None
    """ISO 3166 code, if the document names it."""
    payment_reference: str | None = None
    """What the payer is asked to quote, where a payment code or an e-invoice says it."""
    line_items: tuple[LineItem, ...] = ()
    tax_parts: tuple[TaxPart, ...] = ()
    problems: tuple[Problem, ...] = ()
    confidence: Probability = 0.0
    reader: str = ""
    """The reader whose values won: xml, gemini, text or ocr."""
    reader_version: str = READER_VERSION
    readers: tuple[str, ...] = ()
    """Every reader that found something, `reader` first."""
    model: str = ""
    """What answered, where a model did: its own name and version."""
    prompt_version: str = ""
    calibration: str = ""
    """Name of the calibration that made the confidences; empty: none, they are as computed."""
    page_count: int = 0
    flags: tuple[str, ...] = ()
    """Facts about the file: has_active_content, encrypted, no_text_layer, data_before_header, markup_before_header,
    repaired."""

    def for_document(self, document_id: str) -> "InvoiceData":
        """Return the same reading under another document's id: equal bytes are read once."""
        return self.model_copy(update={"document_id": document_id})

    def has_errors(self) -> bool:
        """Tell whether any problem needs a person."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)
