"""What an invoice is: its fields, each with a value, a confidence and a source, and what is wrong with it."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from docrail.invoices.facts import (
    DocumentType,  # names of the model
    Evidence,  # names of the model
    Severity,  # names of the model
    Source,  # names of the model
)
from docrail.invoices.kinds import AMOUNT, CURRENCY, DATE, IBAN, NAME, TEXT, VAT_ID, FieldSpec

SCHEMA_VERSION = 2
"""Of InvoiceData as JSON and Parquet. Raise it when a field changes its meaning."""
READER_VERSION = "11"
"""Raise it whenever the readers may answer differently: stored extractions are kept by it."""
READERS_DIGEST = "d540a1d3f59d29f5"
"""Of the code under invoices/readers when the version was last thought of (tests/invoices/test_reader_version.py)."""

T = TypeVar("T")
Probability = Annotated[float, Field(ge=0, le=1)]
Fraction = Annotated[float, Field(ge=-0.01, le=1.01)]
Box = tuple[Fraction, Fraction, Fraction, Fraction]
"""Left, top, right, bottom on the page, as fractions of its width and height."""


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
    """One document as read: never says more than the document does.

    Each attribute with a FieldSpec is a field of the invoice, in the order people read them. All else follows from
    that row: parser, corrections, confidence, Parquet, the model's schema and prompt, the scorer and the docs.
    """

    schema_version: int = SCHEMA_VERSION
    document_id: str = ""
    document_type: DocumentType = DocumentType.INVOICE
    invoice_number: Annotated[
        FieldValue[str],
        FieldSpec(TEXT, "invoice number", "the seller's number of this document", weight=4.0, required=True),
    ] = FieldValue()
    order_reference: Annotated[
        FieldValue[str], FieldSpec(TEXT, "order reference", "the number of the buyer's order", weight=1.0)
    ] = FieldValue()
    date: Annotated[
        FieldValue[dt.date], FieldSpec(DATE, "date", "the day it was issued", weight=3.0, required=True)
    ] = FieldValue()
    due_date: Annotated[FieldValue[dt.date], FieldSpec(DATE, "due date", "the day payment is due")] = FieldValue()
    delivery_date: Annotated[
        FieldValue[dt.date],
        FieldSpec(DATE, "delivery date", "the day of delivery or service; null for a period", weight=1.0),
    ] = FieldValue()
    vendor_name: Annotated[
        FieldValue[str],
        FieldSpec(
            NAME,
            "vendor name",
            "of who wants to be paid (the seller, who sends the document)",
            weight=4.0,
            required=True,
        ),
    ] = FieldValue()
    vendor_vat_id: Annotated[FieldValue[str], FieldSpec(VAT_ID, "vendor VAT id", "the seller's, never the buyer's")] = (
        FieldValue()
    )
    buyer_name: Annotated[FieldValue[str], FieldSpec(NAME, "buyer name", "of who is to pay")] = FieldValue()
    iban: Annotated[FieldValue[str], FieldSpec(IBAN, "IBAN", "the account to pay to", weight=4.0)] = FieldValue()
    currency: Annotated[FieldValue[str], FieldSpec(CURRENCY, "currency", "an ISO 4217 code", required=True)] = (
        FieldValue()
    )
    net: Annotated[FieldValue[Decimal], FieldSpec(AMOUNT, "net", "before tax")] = FieldValue()
    tax: Annotated[FieldValue[Decimal], FieldSpec(AMOUNT, "tax", "all tax together")] = FieldValue()
    total: Annotated[
        FieldValue[Decimal], FieldSpec(AMOUNT, "total", "what is to be paid, with tax", weight=5.0, required=True)
    ] = FieldValue()
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


def specs_of(model: type[BaseModel]) -> Mapping[str, FieldSpec[Any]]:
    """Return the row of each field, by name, in the order of the class."""
    rows = ((name, each) for name, info in model.model_fields.items() for each in info.metadata)
    return MappingProxyType({name: each for name, each in rows if isinstance(each, FieldSpec)})


FIELDS = specs_of(InvoiceData)
FIELD_NAMES = tuple(FIELDS)
REQUIRED_FIELDS = tuple(name for name, spec in FIELDS.items() if spec.required)
