"""Define the columns of an export: what each has, and of which kind it is."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal

from docrail.dag.values.json_values import shortened
from docrail.dag.values.suggestions import closest
from docrail.invoices.kinds import Arrow
from docrail.invoices.model import FIELDS, InvoiceData, LineItem
from docrail.services.documents.models import Document

Kind = Literal["text", "amount", "date", "time"]
Cell = str | Decimal | dt.date | dt.datetime | None

_KINDS: Mapping[Arrow, Kind] = MappingProxyType({Arrow.TEXT: "text", Arrow.DATE: "date", Arrow.AMOUNT: "amount"})


@dataclass(frozen=True, slots=True)
class Row:
    """An approved document, as the columns read it."""

    document: Document
    invoice: InvoiceData
    approved_by: str
    approved_at: dt.datetime


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line item with its document; `position` is counted from 1."""

    row: Row
    position: int
    line: LineItem


@dataclass(frozen=True, slots=True)
class Reader:
    """The kind of a column, and how its value is read."""

    kind: Kind
    read: Callable[[Any], Cell]


def _field(name: str) -> Callable[[Row], Cell]:
    def read(row: Row) -> Cell:
        value: Cell = getattr(row.invoice, name).value
        return value

    return read


def _invoice_fields() -> Iterator[tuple[str, Reader]]:
    for name, spec in FIELDS.items():
        yield name, Reader(_KINDS[spec.kind.arrow], _field(name))


COLUMNS: Mapping[str, Reader] = {
    "file_name": Reader("text", lambda row: row.document.file_name),
    **dict(_invoice_fields()),
    "vendor_country": Reader("text", lambda row: row.invoice.vendor_country),
    "vendor_trade_name": Reader("text", lambda row: row.invoice.vendor_trade_name),
    "account": Reader("text", lambda row: row.invoice.account),
    "account_scheme": Reader("text", lambda row: row.invoice.account_scheme),
    "payment_reference": Reader("text", lambda row: row.invoice.payment_reference),
    "source": Reader("text", lambda row: row.document.source),
    "received_at": Reader("time", lambda row: row.document.received_at),
    "approved_by": Reader("text", lambda row: row.approved_by),
    "approved_at": Reader("time", lambda row: row.approved_at),
    "document_id": Reader("text", lambda row: row.document.document_id),
}

LINE_COLUMNS: Mapping[str, Reader] = {
    "document_id": Reader("text", lambda each: each.row.document.document_id),
    "vendor_name": Reader("text", lambda each: each.row.invoice.vendor_name.value),
    "invoice_number": Reader("text", lambda each: each.row.invoice.invoice_number.value),
    "currency": Reader("text", lambda each: each.row.invoice.currency.value),
    "position": Reader("amount", lambda each: Decimal(each.position)),
    "description": Reader("text", lambda each: each.line.description),
    "quantity": Reader("amount", lambda each: each.line.quantity),
    "unit_price": Reader("amount", lambda each: each.line.unit_price),
    "amount": Reader("amount", lambda each: each.line.amount),
    "tax_rate": Reader("amount", lambda each: each.line.tax_rate),
}

DEFAULT_COLUMNS = (
    *("vendor_name", "vendor_vat_id", "invoice_number", "date", "due_date", "currency", "net", "tax", "total", "iban"),
    *("approved_by", "approved_at", "file_name", "document_id"),
)


def checked_column(name: str) -> str:
    """Return the name of a column of the documents. Raises: ValueError."""
    return _checked(name, COLUMNS)


def checked_line_column(name: str) -> str:
    """Return the name of a column of the line items. Raises: ValueError."""
    return _checked(name, LINE_COLUMNS)


def _checked(name: str, known: Mapping[str, Reader]) -> str:
    if name not in known:
        meant = closest(name, [*known])
        raise ValueError(
            f"there is no column {shortened(name, 100)!r}" + (f": did you mean {meant!r}?" if meant else "")
        )
    return name
