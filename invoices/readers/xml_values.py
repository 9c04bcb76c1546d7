"""Values as e-invoice XML writes them: amounts, dates and identifiers, as FieldValues with their evidence."""

import datetime as dt
import re
from decimal import Decimal
from typing import TypeVar

from invoices.model import Evidence, FieldValue, Source
from invoices.readers.identifiers import compact, iban_evidence, vat_evidence

AMOUNT = re.compile(r"[+-]?\d{1,15}(\.\d{0,10})?$")
"""xsd:decimal, bounded: a longer number is no amount of money."""
DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")
IBAN_START = re.compile(r"[A-Z]{2}\d\d")

T = TypeVar("T")


def as_field(value: T | None, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    """Return `value` as read from XML; an empty field for None."""
    if value is None:
        return FieldValue[T]()
    return FieldValue[T](value=value, source=Source.XML, evidence=evidence)


def as_amount(words: str | None) -> Decimal | None:
    """Return the amount with at least two decimals, None if it is no number."""
    if words is None or not AMOUNT.match(words):
        return None
    amount = Decimal(words)
    exponent = amount.as_tuple().exponent
    return amount.quantize(Decimal("0.01")) if isinstance(exponent, int) and exponent > -2 else amount  # noqa: PLR2004


def as_date(words: str | None) -> dt.date | None:
    """Return the date of `20180305`, `2018-03-05` or a longer ISO time, None if it is none."""
    match = DATE.match(words or "")
    if not match:
        return None
    try:
        return dt.date(*map(int, match.groups()))
    except ValueError:
        return None


def as_vat_field(words: str | None) -> FieldValue[str]:
    """Return the VAT id without spaces, with its checksum as evidence."""
    vat_id = compact(words)
    return as_field(vat_id, vat_evidence(vat_id)) if vat_id else FieldValue[str]()


def as_iban_field(words: str | None) -> FieldValue[str]:
    """Return the IBAN without spaces, with its checksum as evidence; empty for a national account number."""
    iban = compact(words)
    if not iban or not IBAN_START.match(iban):
        return FieldValue[str]()
    return as_field(iban, iban_evidence(iban))
