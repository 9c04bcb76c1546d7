"""The shape of the answer that Gemini is asked for about a document, and what one says as an InvoiceData."""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from invoices.model import DocumentType, Evidence, FieldValue, InvoiceData, LineItem, Source, TaxPart
from invoices.prompt import PROMPT_VERSION
from invoices.readers.dates import find_dates
from invoices.readers.identifiers import compact, iban_evidence, vat_evidence
from invoices.readers.numbers import parse_number

READER = "gemini"
OWN_WORD_MOST = 0.95
"""Most that a model's own word counts for: it is as sure of what it makes up (documents.md §3)."""
MAX_LINES = 500
LONGEST_TEXT = 500
MOST_PAGES = 1000
"""What the API takes of a PDF. A page beyond is made up, and what stores a reading takes 32 bits for it."""
MAX_DIGITS = 14
"""Before the point: what decimal128(18, 4) in Parquet holds."""

T = TypeVar("T")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]+")
"""Also what no database stores in a text: zeros and halves of characters, which JSON can name."""
_CURRENCY = re.compile(r"[A-Z]{3}")
_COUNTRY = re.compile(r"[A-Z]{2}")


class WireField(BaseModel):
    """One field as the model tells it."""

    value: str | None
    confidence: float | None = None
    page: int | None = None
    source_text: str | None = None


class WireLine(BaseModel):
    """One charged line."""

    description: str = ""
    quantity: str | None = None
    unit_price: str | None = None
    amount: str | None = None
    tax_rate: str | None = None
    page: int | None = None


class WireTax(BaseModel):
    """One row of the tax summary."""

    rate: str | None = None
    base: str | None = None
    tax: str | None = None


class WireInvoice(BaseModel):
    """The model's whole answer. Flat, for the API takes no maps and no tuples; every field must be told, if as null."""

    document_type: Literal["invoice", "credit_note"]
    invoice_number: WireField
    date: WireField
    due_date: WireField
    vendor_name: WireField
    vendor_vat_id: WireField
    buyer_name: WireField
    iban: WireField
    currency: WireField
    net: WireField
    tax: WireField
    total: WireField
    vendor_country: str | None = None
    net_adjustment: str | None = None
    total_adjustment: str | None = None
    line_items: list[WireLine] = Field(default_factory=list)
    tax_parts: list[WireTax] = Field(default_factory=list)


def read_answer(answer: WireInvoice, *, model: str) -> InvoiceData:
    """Return what the answer says. What is no amount, date or code is left out: it never was on a page."""
    return InvoiceData(
        document_type=DocumentType(answer.document_type),
        invoice_number=_field(answer.invoice_number, _text),
        date=_field(answer.date, _date),
        due_date=_field(answer.due_date, _date),
        vendor_name=_field(answer.vendor_name, _text),
        vendor_vat_id=_field(answer.vendor_vat_id, _identifier, vat_evidence),
        buyer_name=_field(answer.buyer_name, _text),
        iban=_field(answer.iban, _identifier, iban_evidence),
        currency=_field(answer.currency, _currency),
        net=_field(answer.net, amount_of),
        tax=_field(answer.tax, amount_of),
        total=_field(answer.total, amount_of),
        vendor_country=_country(answer.vendor_country),
        net_adjustment=amount_of(answer.net_adjustment) or Decimal(0),
        total_adjustment=amount_of(answer.total_adjustment) or Decimal(0),
        line_items=tuple(map(_line, answer.line_items[:MAX_LINES])),
        tax_parts=tuple(_tax_parts(answer.tax_parts[:MAX_LINES])),
        reader=READER,
        readers=(READER,),
        model=model,
        prompt_version=PROMPT_VERSION,
    )


def amount_of(words: str | None) -> Decimal | None:
    """Return an amount or a rate as the prompt wants it written, or as people write it; None if it is neither."""
    text = _SPACES.sub("", words or "").removesuffix("%").replace("\u2212", "-")
    try:
        value = Decimal(text)
    except InvalidOperation:
        number = parse_number(text.lstrip("+-"))
        if number is None:
            return None
        value = -number if text.startswith("-") else number
    return value if value.is_finite() and value.adjusted() < MAX_DIGITS and -value.as_tuple().exponent <= 6 else None  # type: ignore[operator]  # noqa: PLR2004


def _field(
    told: WireField, parse: Callable[[str | None], T | None], checked: Callable[[T], tuple[Evidence, ...]] | None = None
) -> FieldValue[T]:
    value = parse(told.value)
    if value is None:
        return FieldValue[T]()
    return FieldValue[T](
        value=value,
        source=Source.GEMINI,
        page=_page(told.page),
        word_score=_own_word(told.confidence),
        evidence=checked(value) if checked else (),
    )


def _own_word(told: float | None) -> float | None:
    return None if told is None or math.isnan(told) else min(max(told, 0.0), OWN_WORD_MOST)


def _page(told: int | None) -> int | None:
    return told if told is not None and 0 < told <= MOST_PAGES else None


def _text(words: str | None) -> str | None:
    return _SPACES.sub(" ", words or "").strip()[:LONGEST_TEXT] or None


def _identifier(words: str | None) -> str | None:
    return compact(_text(words))


def _date(words: str | None) -> dt.date | None:
    return next((found.value for found in find_dates(words or "")), None)


def _currency(words: str | None) -> str | None:
    code = (words or "").strip().upper()
    return code if _CURRENCY.fullmatch(code) else None


def _country(words: str | None) -> str | None:
    code = (words or "").strip().upper()
    return code if _COUNTRY.fullmatch(code) else None


def _line(told: WireLine) -> LineItem:
    return LineItem(
        description=_text(told.description) or "",
        quantity=amount_of(told.quantity),
        unit_price=amount_of(told.unit_price),
        amount=amount_of(told.amount),
        tax_rate=amount_of(told.tax_rate),
        page=_page(told.page),
    )


def _tax_parts(told: Iterable[WireTax]) -> Iterable[TaxPart]:
    for row in told:
        tax = amount_of(row.tax)
        if tax is not None:
            yield TaxPart(rate=amount_of(row.rate), base=amount_of(row.base), tax=tax)


def quotes_of(answer: WireInvoice) -> dict[str, str]:
    """Return what the model says it copied from the page, by field."""
    fields: dict[str, Any] = {name: getattr(answer, name) for name in WireInvoice.model_fields}
    told = {name: field.source_text for name, field in fields.items() if isinstance(field, WireField)}
    return {name: text for name, text in told.items() if text}
