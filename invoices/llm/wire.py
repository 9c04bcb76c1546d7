"""The response schema for Gemini, and the conversion of its answer into an InvoiceData."""

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field, create_model

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.kinds import Kind, amount_of, text_of_model
from docrail.invoices.llm.prompt import PROMPT_VERSION
from docrail.invoices.model import FIELDS, FieldValue, InvoiceData, LineItem, TaxPart

READER = "gemini"
OWN_WORD_MOST = 0.95
"""Upper limit for a model's self-reported confidence: it is equally sure of values it invents."""
MAX_LINES = 500
MOST_PAGES = 1000
"""The API's page limit for a PDF. Higher page numbers are invented, and stored readings hold 32 bits."""

T = TypeVar("T")
_COUNTRY = re.compile(r"[A-Z]{2}")


class WireField(BaseModel):
    """One field in the model's answer."""

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


_ASKED: dict[str, Any] = dict.fromkeys(FIELDS, (WireField, ...))
_Asked: Any = create_model("_Asked", **_ASKED)


class WireInvoice(_Asked):
    """Flat schema of the answer: the API accepts no maps or tuples. Each invoice field is required, but may be null."""

    vendor_country: str | None = None
    net_adjustment: str | None = None
    total_adjustment: str | None = None
    line_items: list[WireLine] = Field(default_factory=list)
    tax_parts: list[WireTax] = Field(default_factory=list)

    if TYPE_CHECKING:  # attributes created from FIELDS

        def __getattr__(self, name: str) -> Any: ...


def read_answer(answer: WireInvoice, *, model: str) -> InvoiceData:
    """Return the answer as an InvoiceData. Values that are not valid amounts, dates or codes are left out."""
    fields: dict[str, Any] = {name: _field(getattr(answer, name), spec.kind) for name, spec in FIELDS.items()}
    code = (answer.vendor_country or "").strip().upper()
    return InvoiceData(
        **fields,
        vendor_country=code if _COUNTRY.fullmatch(code) else None,
        net_adjustment=amount_of(answer.net_adjustment) or Decimal(0),
        total_adjustment=amount_of(answer.total_adjustment) or Decimal(0),
        line_items=tuple(map(_line, answer.line_items[:MAX_LINES])),
        tax_parts=tuple(_tax_parts(answer.tax_parts[:MAX_LINES])),
        reader=READER,
        readers=(READER,),
        model=model,
        prompt_version=PROMPT_VERSION,
    )


def _field(read: WireField, kind: Kind[T]) -> FieldValue[T]:
    value = kind.from_model(read.value)
    return FieldValue[T]() if value is None else field_of(read, value, kind.evidence(value))


def field_of(read: WireField, value: T, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    """Return a field of the model's answer, read as `value`."""
    return FieldValue[T](
        value=value,
        source=Source.GEMINI,
        page=_page(read.page),
        word_score=_own_word(read.confidence),
        evidence=evidence,
    )


def _own_word(confidence: float | None) -> float | None:
    return None if confidence is None or math.isnan(confidence) else min(max(confidence, 0.0), OWN_WORD_MOST)


def _page(number: int | None) -> int | None:
    return number if number is not None and 0 < number <= MOST_PAGES else None


def _line(line: WireLine) -> LineItem:
    return LineItem(
        description=text_of_model(line.description) or "",
        quantity=amount_of(line.quantity),
        unit_price=amount_of(line.unit_price),
        amount=amount_of(line.amount),
        tax_rate=amount_of(line.tax_rate),
        page=_page(line.page),
    )


def _tax_parts(rows: Iterable[WireTax]) -> Iterable[TaxPart]:
    for row in rows:
        tax = amount_of(row.tax)
        if tax is not None:
            yield TaxPart(rate=amount_of(row.rate), base=amount_of(row.base), tax=tax)


def quotes_of(answer: BaseModel) -> dict[str, str]:
    """Return the text that the model says it copied from the page, by field."""
    fields: dict[str, Any] = {name: getattr(answer, name) for name in type(answer).model_fields}
    quotes = {name: field.source_text for name, field in fields.items() if isinstance(field, WireField)}
    return {name: text for name, text in quotes.items() if text}
