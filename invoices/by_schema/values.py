"""Find, compare and convert the values of a field by its schema. Plain values are those of JSON."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from docrail.invoices.by_schema.schema import FieldSchema, ValueType, words_of
from docrail.invoices.kinds import TEXT, amount_of
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold, squeeze
from docrail.invoices.values.numbers import find_amounts

LONGEST_TEXT = 200
TRUE = "yes true ja oui si sim tak ano kylla evet x"
FALSE = "no false nein nee non nao nie ne nej nei ei hayir"
MARKED, UNMARKED = "☒☑✓✔", "☐"
_WORD = re.compile(r"[a-z]+|[" + MARKED + UNMARKED + "]")
_END = " \t,;|"

Plain = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a text. `whole`: the text is nothing but the value. `ambiguous`: it is a date that may be another."""

    value: Plain
    whole: bool
    ambiguous: bool = False


def find_value(field: FieldSchema, text: str, *, month_first: bool | None) -> Found | None:
    """Return the first value of `field` in the text after its label; None if there is none.

    `month_first`: whether the document's dates put the month first; None if it does not show that.
    """
    match field.value_type:
        case ValueType.TEXT:
            value = text.strip(_END)
            return Found(value, whole=True) if squeeze(value) and len(value) <= LONGEST_TEXT else None
        case ValueType.CHOICE:
            return _choice(field, text)
        case ValueType.DATE:
            return _date(text, month_first)
        case ValueType.TRUTH:
            return _truth(text)
        case ValueType.NUMBER:
            return next(_numbers(text), None)
        case ValueType.INTEGER:
            return next(map(_integer, (found for found in _numbers(text) if float(found.value).is_integer())), None)


def from_model(field: FieldSchema, words: str | None) -> Plain | None:
    """Return a model's text as a value; None if it is none."""
    text = TEXT.from_model(words)
    if text is None:
        return None
    if field.value_type in (ValueType.NUMBER, ValueType.INTEGER):
        number = amount_of(text)
        if number is not None:
            whole = field.value_type is ValueType.INTEGER
            return (int(number) if number == int(number) else None) if whole else float(number)
    found = find_value(field, text, month_first=None)
    return None if found is None else found.value


def looked_up(field: FieldSchema, value: Any) -> str | Decimal | dt.date | None:
    """Return a plain value as the pages are searched for it; None for one that pages do not print as such."""
    match field.value_type:
        case ValueType.DATE:
            return dt.date.fromisoformat(value)
        case ValueType.NUMBER | ValueType.INTEGER:
            return Decimal(str(value))
        case ValueType.TRUTH:
            return None
        case _:
            return str(value)


def is_same(field: FieldSchema, one: Any, other: Any) -> bool | None:
    """Return whether two values agree, ignoring how texts are set; None if one text is only part of the other."""
    if field.value_type is ValueType.TEXT:
        return TEXT.same(str(one), str(other))
    return bool(one == other)


def _choice(field: FieldSchema, text: str) -> Found | None:
    said = words_of(text)
    for choice in sorted(field.enum or (), key=len, reverse=True):
        words = words_of(choice)
        if any(said[at : at + len(words)] == words for at in range(len(said))):
            return Found(choice, whole=said == words)
    return None


def _date(text: str, month_first: bool | None) -> Found | None:
    for date in islice(find_dates(text, month_first=bool(month_first)), 1):
        whole = not squeeze(text[: date.start] + text[date.end :])
        return Found(date.value.isoformat(), whole, ambiguous=date.ambiguous and month_first is None)
    return None


def _truth(text: str) -> Found | None:
    words = _WORD.findall(fold(text))
    first = words[0] if words else ""
    if first in TRUE.split() or (first and first in MARKED):
        return Found(value=True, whole=len(words) == 1)
    return (
        Found(value=False, whole=len(words) == 1) if first in FALSE.split() or (first and first in UNMARKED) else None
    )


def _numbers(text: str) -> Iterator[Found]:
    plain = text.replace("%", " ")  # a rate is a number too
    for amount in find_amounts(plain):
        whole = not squeeze(plain[: amount.start] + plain[amount.end :])
        yield Found(float(amount.value), whole)


def _integer(found: Found) -> Found:
    return Found(int(found.value), found.whole)
