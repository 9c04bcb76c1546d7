"""Read what a person types for a field: `4.904,95`, `12.04.2014`, `12 Apr`.

A text with two readings, such as `1.234` or `01/02/24`, is decided by the document if it can be: by a value that it
states, its currency, or the country of its vendor.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import ConfigDict

from docrail.field_docs import describe_fields
from docrail.invoices.fields import LARGEST_AMOUNT, parse_value, value_text
from docrail.invoices.kinds import AMOUNT, CURRENCY, DATE, Expected, FieldError, shown
from docrail.invoices.languages.all import MONTH_OF
from docrail.invoices.model import FIELDS, InvoiceData
from docrail.invoices.values.currencies import COMMA_DECIMALS, THOUSANDTHS
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold
from docrail.invoices.values.numbers import PREFIXED_DOLLARS, SYMBOLS, WORDS, currency_of, parse_number

_COMMA = (
    "AD AL AR AT BA BE BG BO BR BY CL CO CR CY CZ DE DK EC EE EL ES FI FR GR HR HU IS IT KZ LT LU LV MC MD ME MK NL NO "
    "PE PL PT PY RO RS RU SE SI SK SM TN TR UA UY VA VE VN XK"
)
COMMA = frozenset(_COMMA.split())
"""Countries that write a decimal comma (CLDR)."""
_POINT = "AE AU BD CA CH CN EG GB GT HK HN IE IL IN JP KE KR LI LK MT MX MY NG NI NZ PH PK SA SG SV TH TW US XI ZW"
POINT = frozenset(_POINT.split())
"""Countries that write a decimal point (CLDR)."""
MONTH_FIRST = frozenset({"US"})
"""Countries that write the month before the day."""
MOST_PLACES = 4
MAX_AHEAD = dt.timedelta(days=30)
"""The furthest that a date of issue is after the other dates of a document, or after today."""
_AROUND = re.compile(
    r"^(?:{0})\s*|\s*(?:{0})$".format(
        "|".join(sorted(map(re.escape, (*PREFIXED_DOLLARS, *SYMBOLS, *WORDS)), key=len, reverse=True)) + "|[A-Z]{3}"
    )
)
_SPACES = "\u0020\u00a0\u202f"
_SHAPE = re.compile(
    rf"\d+(?:[.,]\d{{1,{MOST_PLACES}}})?|[.,]\d{{1,{MOST_PLACES}}}"
    rf"|[1-9]\d{{0,2}}(?:(?P<group>[.,'\u2019{_SPACES}])\d{{3}})(?:(?P=group)\d{{3}})*(?:(?!(?P=group))[.,]\d{{1,{MOST_PLACES}}})?"
    r"|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d{1,4})?",
    re.ASCII,
)
"""Plain, or grouped by thousands, or by lakhs."""
_NO_DECIMALS = re.compile(r"([.,])[-\u2013\u2014]{1,2}$")
_SIGNED = re.compile(r"\((?P<bracketed>[^-+]+)\)|(?P<before>[-+]?)\s?(?P<bare>[^-+]+?)\s?(?P<after>-?)")
_SHORT_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1?")
_NAMED_DATE = re.compile(
    rf"\d{{1,2}}(?:st|nd|rd|th|[.°º])?[\s-]*(?:{'|'.join(MONTH_OF)})\.?|(?:{'|'.join(MONTH_OF)})\.?\s*\d{{1,2}}"
)


_SHOWN = ConfigDict(json_schema_extra=describe_fields, json_schema_serialization_defaults_required=True)


class Grounds(StrEnum):
    """What decides between two readings, or gives the year."""

    STATED = "stated"
    THREE_DECIMALS = "three_decimals"
    VENDOR_COUNTRY = "vendor_country"
    OTHER_DATE = "other_date"
    TODAY = "today"


@dataclass(frozen=True, slots=True)
class Because:
    """Why a typed text was read in one way: the evidence, and a message that names its values."""

    code: Grounds
    message: str


@dataclass(frozen=True, slots=True)
class Understood:
    """How a typed text was read."""

    __pydantic_config__: ClassVar[ConfigDict] = _SHOWN

    value: str | None
    """In the field's format; None if the text is empty: the document does not state it."""
    because: Because | None = None
    """What decided between two readings, or gave the year; None: there is only one reading."""


class AmbiguousTextError(ValueError):
    """The text has several readings, and the document does not decide between them."""

    def __init__(self, text: str, readings: Iterable[str]) -> None:
        self.readings = tuple(readings)
        super().__init__(f"{shown(text)} can be read as {' or '.join(self.readings)}: choose one")


def understand(field: str, text: str, invoice: InvoiceData, today: dt.date) -> Understood:
    """Return how `text` is read as a value of `field` of this document. Raises: FieldError, AmbiguousTextError."""
    spec, text = FIELDS.get(field), " ".join(text.split())
    if not text:
        return Understood(value_text(parse_value(field, None)))
    stated = [each.value for each in getattr(invoice, field).candidates] if spec else []
    if spec and spec.kind is AMOUNT:
        return understand_amount(text, invoice, stated)
    if spec and spec.kind is DATE:
        return _understand_date(text, field, invoice, stated, today)
    if spec and spec.kind is CURRENCY:
        text = currency_of(text)
    return Understood(value_text(parse_value(field, text)))


def understand_amount(text: str, invoice: InvoiceData, stated: Iterable[Any] = ()) -> Understood:
    """Return how an amount or a rate is read; `stated`: values that the document has. Raises: as `understand`."""
    readings = dict.fromkeys(_amounts(text))
    if not readings:
        raise FieldError(f"expected an amount such as 4.904,95 or 4904.95, found {shown(text)}", Expected.AMOUNT)
    if any(abs(each) >= LARGEST_AMOUNT for each in readings):
        raise FieldError(f"expected an amount below {LARGEST_AMOUNT:f}, found {shown(text)}", Expected.LESS)
    if len(readings) == 1:
        return Understood(f"{next(iter(readings)):f}")
    return _decided(text, [f"{each:f}" for each in readings], _amount_reasons(text, readings, invoice, stated))


def _amounts(text: str) -> Iterator[Decimal]:
    """Yield the readings of an amount; the one with groups of thousands first."""
    bare = _AROUND.sub("", text.removesuffix("%").strip()).replace("\u2212", "-")
    signed = _SIGNED.fullmatch(_NO_DECIMALS.sub(r"\g<1>00", bare))
    if not signed:
        return
    digits = _AROUND.sub("", (signed["bracketed"] or signed["bare"]).strip())
    negative = bool(signed["bracketed"] or signed["before"] == "-" or signed["after"])
    if not _SHAPE.fullmatch(digits):
        return
    for thousandths in ("", ".,"):
        value = parse_number(digits, thousandths=thousandths)
        if value is not None:
            yield -value if negative else value


def _amount_reasons(
    text: str, readings: Iterable[Decimal], invoice: InvoiceData, stated: Iterable[Any]
) -> Iterator[tuple[str, Because]]:
    """Yield the value that each piece of evidence speaks for."""
    grouped, plain = (f"{each:f}" for each in readings)
    separator = "," if "," in text else "."
    for value in _stated(stated, readings):
        yield f"{value:f}", Because(Grounds.STATED, "the document states this value")
    currency, country = invoice.currency.value, _country(invoice)
    if currency in THOUSANDTHS and (separator == "." or currency in COMMA_DECIMALS):
        yield plain, Because(Grounds.THREE_DECIMALS, f"amounts in {currency} have three decimals")
    if country in COMMA:
        yield (grouped if separator == "." else plain), _country_writes(country, "a comma precedes decimals")
    if country in POINT:
        yield (plain if separator == "." else grouped), _country_writes(country, "a point precedes decimals")


def _country_writes(country: str, custom: str) -> Because:
    return Because(Grounds.VENDOR_COUNTRY, f"the vendor is in {country}, where {custom}")


def _understand_date(text: str, field: str, invoice: InvoiceData, stated: Iterable[Any], today: dt.date) -> Understood:
    near = _date_of_others(field, invoice)
    readings = dict.fromkeys(_dates(text))
    because = None
    if not readings:
        readings = dict.fromkeys(_without_year(text, near or today, is_issue=field == "date"))
        because = (
            Because(Grounds.OTHER_DATE, f"the year follows from another date of the document, {near}")
            if near
            else Because(Grounds.TODAY, f"the year follows from today, {today}")
        )
    if not readings:
        raise FieldError(
            f"expected a date such as 12.04.2014, 2014-04-12 or 12 Apr, found {shown(text)}", Expected.DATE
        )
    values = [value_text(parse_value(field, each.isoformat())) or "" for each in readings]
    if len(values) == 1:
        return Understood(values[0], because)
    return _decided(text, values, _date_reasons(readings, invoice, stated))


def _dates(text: str) -> Iterator[dt.date]:
    """Yield the readings of a date with its year; the one with the day first, first."""
    for month_first in (False, True):
        for found in find_dates(text, month_first=month_first):
            if (found.start, found.end) == (0, len(text)):
                yield found.value


def _without_year(text: str, near: dt.date, *, is_issue: bool) -> Iterator[dt.date]:
    """Yield the readings of a day and month, each in the year that brings it nearest to a date.

    A document `is_issue`d at most MAX_AHEAD after that date.
    """
    folded = fold(text)
    short = _SHORT_DATE.fullmatch(folded)
    if not short and not _NAMED_DATE.fullmatch(folded):
        return
    begin = folded.rstrip("./-") + (short[1] if short else " ")
    years = [[*_dates(f"{begin}{year}")] for year in (near.year - 1, near.year, near.year + 1)]
    for same_order in zip(*years, strict=False):
        possible = [date for date in same_order if not is_issue or date <= near + MAX_AHEAD]
        yield min(possible, key=lambda date: abs(date - near))


def _date_reasons(
    readings: Iterable[dt.date], invoice: InvoiceData, stated: Iterable[Any]
) -> Iterator[tuple[str, Because]]:
    day_first, month_first = (each.isoformat() for each in readings)
    for value in _stated(stated, readings):
        yield value.isoformat(), Because(Grounds.STATED, "the document states this date")
    country = _country(invoice)
    if country in MONTH_FIRST:
        yield month_first, _country_writes(country, "the month comes first")
    elif country in COMMA | POINT:
        yield day_first, _country_writes(country, "the day comes first")


def _stated(stated: Iterable[Any], readings: Iterable[Any]) -> list[Any]:
    """Return the reading that the document states, if it states exactly one of them."""
    known = {*stated}
    found = [each for each in readings if each in known]
    return found if len(found) == 1 else []


def _decided(text: str, readings: list[str], reasons: Iterator[tuple[str, Because]]) -> Understood:
    for value, because in reasons:
        return Understood(value, because)
    raise AmbiguousTextError(text, readings)


def _country(invoice: InvoiceData) -> str:
    """Return the vendor's country: as stated, or that of its VAT id or account."""
    texts = (invoice.vendor_country, invoice.vendor_vat_id.value, invoice.iban.value)
    return next((text[:2].upper() for text in texts if text and text[:2].isalpha()), "")


def _date_of_others(field: str, invoice: InvoiceData) -> dt.date | None:
    dates = (getattr(invoice, name).value for name, spec in FIELDS.items() if spec.kind is DATE and name != field)
    return next((date for date in dates if date is not None), None)
