"""Parse the text a person enters for a field, and format a value as that text."""

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import TypeAdapter, ValidationError

from docrail.invoices.kinds import TYPES, Expected, FieldError, shown
from docrail.invoices.model import FIELD_NAMES, FIELDS, LineItem

LINE_ITEMS, DOCUMENT_TYPE = "line_items", "document_type"
CORRECTABLE = (*FIELD_NAMES, LINE_ITEMS)
"""Every field a person may correct. The lines are a plain value, not a FieldValue."""
MOST_LINES = 1000
LARGEST_AMOUNT, LARGEST_PAGE = Decimal(10) ** 14, 10_000
"""Limits of the lake's columns: decimal(18, 4) for amounts, 32 bits for pages."""

_LINES = TypeAdapter(tuple[LineItem, ...])


def parse_value(field: str, text: str | None) -> Any:
    """Parse `text` as a value of `field`; None means the document does not state it. Raises: FieldError."""
    if field not in CORRECTABLE:
        raise FieldError(f"there is no field {field[:64]!r}: expected one of {', '.join(CORRECTABLE)}")
    if text is None:
        if field == DOCUMENT_TYPE:
            raise FieldError(f"expected {TYPES}: a document always has a type", Expected.DOCUMENT_TYPE)
        return () if field == LINE_ITEMS else None
    return (_lines if field == LINE_ITEMS else FIELDS[field].kind.parse)(text.strip())


def value_text(value: Any) -> str | None:
    """Format a field's value as text that `parse_value` accepts."""
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
            raise FieldError(f"expected pages from 1 to {LARGEST_PAGE}, found {shown(str(line.page))}")
        for amount in (line.quantity, line.unit_price, line.amount, line.tax_rate):
            if amount is not None and (not amount.is_finite() or abs(amount) >= LARGEST_AMOUNT):
                raise FieldError(f"expected amounts below {LARGEST_AMOUNT:f}, found {shown(str(amount))}")
        if "\0" in line.description:
            raise FieldError("expected a printable description, found one with a NUL")
    return lines
