"""What people may write into a field: text, checked by the field's type, and the same text of a value."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import TypeAdapter, ValidationError

from invoices.currencies import CURRENCIES
from invoices.model import FIELD_NAMES, DocumentType, LineItem
from invoices.readers.identifiers import compact

LINE_ITEMS, DOCUMENT_TYPE = "line_items", "document_type"
CORRECTABLE = (*FIELD_NAMES, DOCUMENT_TYPE, LINE_ITEMS)
"""Everything a person may correct. The last two are no FieldValue: they have a value alone."""
LONGEST_TEXT, MOST_LINES, LONGEST_SHOWN = 200, 1000, 40
LARGEST_AMOUNT, LARGEST_PAGE = Decimal(10) ** 14, 10_000
"""The lake keeps decimal(18, 4), and pages as 32 bits."""
FIRST_YEAR, LAST_YEAR = 1950, 2150

_AMOUNT = re.compile(r"-?[0-9]{1,14}(\.[0-9]{1,4})?")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_VAT_ID = re.compile(r"[A-Z0-9+*]{4,20}")
_LINES = TypeAdapter(tuple[LineItem, ...])


class FieldError(ValueError):
    """A text that is no value of the field; the message says what was found and what was expected."""


def parse_value(field: str, text: str | None) -> Any:
    """Return what `text` means in `field`; None stays None: the document does not say it. Raises: FieldError."""
    if field not in CORRECTABLE:
        raise FieldError(f"there is no field {field[:64]!r}: expected one of {', '.join(CORRECTABLE)}")
    if text is None:
        if field == DOCUMENT_TYPE:
            raise FieldError("a document always has a type: expected invoice or credit_note")
        return () if field == LINE_ITEMS else None
    return _PARSERS[field](text.strip())


def value_text(value: Any) -> str | None:
    """Return a field's value as `parse_value` reads it."""
    match value:
        case None:
            return None
        case dt.date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case Enum():
            return str(value.value)
        case tuple():
            return _LINES.dump_json(value).decode()
        case _:
            return str(value)


def _text(text: str) -> str:
    if not 0 < len(text) <= LONGEST_TEXT or not text.isprintable():
        raise FieldError(f"expected 1 to {LONGEST_TEXT} printable characters, found {_shown(text)}")
    return text


def _date(text: str) -> dt.date:
    try:
        date = dt.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=dt.UTC).date()
    except ValueError:
        raise FieldError(f"expected a date such as 2026-11-30, found {_shown(text)}") from None
    if not FIRST_YEAR <= date.year <= LAST_YEAR:
        raise FieldError(f"expected a year from {FIRST_YEAR} to {LAST_YEAR}, found {date.year}")
    return date


def _amount(text: str) -> Decimal:
    if not _AMOUNT.fullmatch(text):
        raise FieldError(f"expected a decimal such as 1234.56, at most 4 places, found {_shown(text)}")
    return Decimal(text)


def _currency(text: str) -> str:
    if text.upper() not in CURRENCIES:
        raise FieldError(f"expected an ISO 4217 code such as EUR, found {_shown(text)}")
    return text.upper()


def _iban(text: str) -> str:
    iban = compact(text)
    if iban is None or not _IBAN.fullmatch(iban):
        raise FieldError(f"expected an IBAN such as DE02120300000000202051, found {_shown(text)}")
    return iban  # its check digits may be printed wrong: a rule warns of that, and it never passes without a person


def _vat_id(text: str) -> str:
    vat_id = compact(text)
    if vat_id is None or not _VAT_ID.fullmatch(vat_id):
        raise FieldError(f"expected a VAT id such as DE136695976, found {_shown(text)}")
    return vat_id


def _document_type(text: str) -> DocumentType:
    try:
        return DocumentType(text)
    except ValueError:
        raise FieldError(f"expected invoice or credit_note, found {_shown(text)}") from None


def _lines(text: str) -> tuple[LineItem, ...]:
    try:
        lines = _LINES.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FieldError(f"expected line items as a JSON list of objects: {place} {first['msg']}".strip()) from None
    if len(lines) > MOST_LINES:
        raise FieldError(f"expected at most {MOST_LINES} line items, found {len(lines)}")
    for line in lines:
        if line.page is not None and not 1 <= line.page <= LARGEST_PAGE:
            raise FieldError(f"expected pages from 1 to {LARGEST_PAGE}, found {_shown(str(line.page))}")
        for amount in (line.quantity, line.unit_price, line.amount, line.tax_rate):
            if amount is not None and (not amount.is_finite() or abs(amount) >= LARGEST_AMOUNT):
                raise FieldError(f"expected amounts below {LARGEST_AMOUNT:f}, found {_shown(str(amount))}")
        if "\0" in line.description:
            raise FieldError("expected a printable description, found one with a NUL")
    return lines


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "invoice_number": _text,
    "date": _date,
    "due_date": _date,
    "vendor_name": _text,
    "vendor_vat_id": _vat_id,
    "buyer_name": _text,
    "iban": _iban,
    "currency": _currency,
    "net": _amount,
    "tax": _amount,
    "total": _amount,
    DOCUMENT_TYPE: _document_type,
    LINE_ITEMS: _lines,
}
