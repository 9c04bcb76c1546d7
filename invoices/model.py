"""The invoice data model: each field has a value, a confidence and a source; problems are listed with it."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from docrail.field_docs import describe_fields
from docrail.invoices.facts import DocumentType, Evidence, Severity, Source
from docrail.invoices.kinds import AMOUNT, CURRENCY, DATE, IBAN, NAME, TEXT, TYPE, TYPES, VAT_ID, FieldSpec

SCHEMA_VERSION = 2
"""Version of InvoiceData as JSON and Parquet. Raise it when a field's meaning changes."""
READER_VERSION = "34"
"""Version of the readers. Raise it when their results may change: stored extractions are keyed by it."""
READERS_DIGEST = "98cbaf761c03b346"
"""Digest of invoices/readers at the last review of READER_VERSION (tests/invoices/test_reader_version.py)."""

T = TypeVar("T")
Probability = Annotated[float, Field(ge=0, le=1)]
Fraction = Annotated[float, Field(ge=-0.01, le=1.01)]
Box = tuple[Fraction, Fraction, Fraction, Fraction]
"""Left, top, right and bottom on the page, as fractions of its width and height."""


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,
        json_schema_extra=describe_fields,  # handlers' outputs have such values
    )


class Candidate(_Model, Generic[T]):
    """One source's value of a field, kept as evidence even if another was chosen."""

    value: T
    """What the source says."""
    source: Source
    """Where it comes from."""
    page: int | None = None
    """Counted from 1; None if there is no page (plain XML)."""
    box: Box | None = None
    """The words that it was read from."""
    word_score: Probability | None = None
    """Mean OCR score of these words."""


class Lock(_Model):
    """A person confirmed the value: no reading may change it."""

    by: str
    """Who confirmed it."""
    at: dt.datetime
    """When it was confirmed."""
    why: str = ""
    """The reason that the person gave."""


class FieldValue(_Model, Generic[T]):
    """One field as read. A `value` of None means that nothing was found."""

    value: T | None = None
    """The chosen value."""
    confidence: Probability = 0.0
    """How likely the value is right."""
    source: Source = Source.NOWHERE
    """Where it comes from."""
    page: int | None = None
    """Counted from 1; None if there is no page (plain XML)."""
    box: Box | None = None
    """The words that it was read from."""
    word_score: Probability | None = None
    """Mean OCR score of the words it was read from."""
    evidence: tuple[Evidence, ...] = ()
    """Facts for and against the value."""
    candidates: tuple[Candidate[T], ...] = ()
    """Values from every source including the chosen one, most confident first."""
    lock: Lock | None = None
    """Set once a person has confirmed the value."""

    def as_candidate(self) -> Candidate[Any]:
        """Return the value with its source and place, as evidence for another choice."""
        return Candidate(value=self.value, source=self.source, page=self.page, box=self.box, word_score=self.word_score)

    def with_fact(self, fact: Evidence) -> "FieldValue[T]":
        """Return a copy with one more fact for or against the value."""
        return self.model_copy(update={"evidence": (*self.evidence, fact)})


class LineItem(_Model):
    """One charged line. `amount` excludes tax if the document says so."""

    description: str = ""
    quantity: Decimal | None = None
    unit_price: Decimal | None = None
    amount: Decimal | None = None
    tax_rate: Decimal | None = None
    """In percent: 19 means 19 %."""
    page: int | None = None
    box: Box | None = None


class TaxPart(_Model):
    """One row of the tax summary. `rate` is in percent."""

    rate: Decimal | None = None
    base: Decimal | None = None
    tax: Decimal


class PageRange(_Model):
    """Pages of a file, counted from 1, the last one included."""

    first: int
    last: int


class InvoiceProblem(_Model):
    """Something that a rule or a reader found wrong, worded for the reviewer."""

    code: str
    severity: Severity
    message: str
    field: str | None = None
    page: int | None = None
    box: Box | None = Field(default=None, description="where the page shows another value")

    @classmethod
    def error(cls, code: str, message: str, field: str | None = None) -> "InvoiceProblem":
        """Return a problem that sends the document to a person."""
        return cls(code=code, severity=Severity.ERROR, message=message, field=field)

    @classmethod
    def warning(cls, code: str, message: str, field: str | None = None) -> "InvoiceProblem":
        """Return a problem that a policy may tolerate."""
        return cls(code=code, severity=Severity.WARNING, message=message, field=field)


class InvoiceData(_Model):
    """The data read from one document; it contains nothing the document does not state.

    Each attribute with a FieldSpec is an invoice field, in the order people read them. The parser, corrections,
    confidence, Parquet schema, LLM schema and prompt, scoring and docs are derived from it.
    """

    schema_version: int = SCHEMA_VERSION
    document_id: str = ""
    document_type: Annotated[
        FieldValue[DocumentType],
        FieldSpec(TYPE, "document type", f"what the paper is by its title, as one of the words {TYPES}", weight=1.0),
    ] = FieldValue()
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
            "the seller, who sends the document and is to be paid",
            weight=4.0,
            required=True,
        ),
    ] = FieldValue()
    vendor_vat_id: Annotated[FieldValue[str], FieldSpec(VAT_ID, "vendor VAT id", "the seller's, never the buyer's")] = (
        FieldValue()
    )
    buyer_name: Annotated[FieldValue[str], FieldSpec(NAME, "buyer name", "the buyer, who is to pay")] = FieldValue()
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
    """Charges minus discounts between the sum of the lines and `net`."""
    total_adjustment: Decimal = Decimal(0)
    """Added to net + tax to give `total`: untaxed shipping, deposits, rounding; negative for deductions."""
    payable: Decimal | None = None
    """What is left to pay after earlier payments and rounding, if an e-invoice states it apart from the total."""
    account: str | None = None
    """The account to pay to if it is no IBAN, as an e-invoice states it."""
    account_scheme: str | None = None
    """The scheme of `account`, if the e-invoice names one."""
    vendor_trade_name: str | None = None
    """The name under which the vendor trades, if an e-invoice states it apart from the registered `vendor_name`."""
    vendor_country: str | None = None
    """ISO 3166 code, if the document states it."""
    payment_reference: str | None = None
    """Reference the payer should quote, from a payment code or an e-invoice."""
    line_items: tuple[LineItem, ...] = ()
    tax_parts: tuple[TaxPart, ...] = ()
    problems: tuple[InvoiceProblem, ...] = ()
    confidence: Probability = 0.0
    reader: str = ""
    """The reader whose values were chosen: xml, gemini, text or ocr."""
    reader_version: str = READER_VERSION
    readers: tuple[str, ...] = ()
    """Every reader that found something, `reader` first."""
    model: str = ""
    """Name and version of the model, as reported by the model."""
    prompt_version: str = ""
    calibration: str = ""
    """Name of the calibration applied to the confidences; empty if none was."""
    page_count: int = 0
    parts: tuple[PageRange, ...] = ()
    """The pages of each invoice in a PDF of several, if it is certain where each begins and ends."""
    flags: tuple[str, ...] = ()
    """Properties of the file: has_active_content, encrypted, no_text_layer, data_before_header, markup_before_header,
    also_a_zip, repaired."""

    @property
    def counts_as(self) -> DocumentType:
        """Return what the document is assessed as: an invoice, unless it is known to be another paper."""
        return self.document_type.value or DocumentType.INVOICE

    def for_document(self, document_id: str) -> "InvoiceData":
        """Return a copy with another document's id; files with equal bytes are read only once."""
        return self.model_copy(update={"document_id": document_id})

    def has_errors(self) -> bool:
        """Return whether any problem has the severity ERROR."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def specs_of(model: type[BaseModel]) -> Mapping[str, FieldSpec[Any]]:
    """Return the FieldSpec of each field by name, in the order of the class."""
    rows = ((name, each) for name, info in model.model_fields.items() for each in info.metadata)
    return MappingProxyType({name: each for name, each in rows if isinstance(each, FieldSpec)})


FIELDS = specs_of(InvoiceData)
FIELD_NAMES = tuple(FIELDS)
REQUIRED_FIELDS = tuple(name for name, spec in FIELDS.items() if spec.required)


def agree(name: str, one: Any, other: Any) -> bool | None:
    """Return whether two values of field `name` agree, ignoring format; None if one is only part of the other."""
    return FIELDS[name].kind.same(one, other)
