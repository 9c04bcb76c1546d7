"""Kinds of field values (how each is parsed, compared, checked and stored), and the specification of a field.

A kind only names its Parquet type, which `services/lake/parquet.py` builds, so the model stays light to import.
"""

import datetime as dt
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Generic, TypeVar

from docrail.invoices.facts import DocumentType, Evidence
from docrail.invoices.values.currencies import CURRENCIES
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import squeeze
from docrail.invoices.values.identifiers import compact, iban_evidence, vat_evidence
from docrail.invoices.values.numbers import parse_number

LONGEST_TEXT, LONGEST_SHOWN = 200, 40
LONGEST_FROM_MODEL = 500
TYPES = " or ".join(DocumentType)
FIRST_YEAR, LAST_YEAR = 1950, 2150
SHORTEST_NAME = 5
"""Fewest letters and digits of a name that may match a longer one; shorter names occur inside too many others."""
MAX_DIGITS, MAX_PLACES = 14, 6
"""Limits for amounts from a model: digits before the decimal point (decimal128(18, 4) holds 14) and after it."""

_AMOUNT = re.compile(r"-?[0-9]{1,14}(\.[0-9]{1,4})?")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_VAT_ID = re.compile(r"[A-Z0-9+*]{4,20}")
_TYPE_GAP = re.compile(r"[\s_-]+")
_CURRENCY = re.compile(r"[A-Z]{3}")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]+")
"""Whitespace, control characters including NUL, and lone surrogates, which JSON can carry but databases cannot store.
"""

T = TypeVar("T")


class Expected(StrEnum):
    """What a text should have been. The console has a text for each."""

    TEXT = "expected_text"
    DATE = "expected_date"
    YEAR = "expected_year"
    AMOUNT = "expected_amount"
    LESS = "expected_less"
    CURRENCY = "expected_currency"
    IBAN = "expected_iban"
    VAT_ID = "expected_vat_id"
    DOCUMENT_TYPE = "expected_document_type"


class FieldError(ValueError):
    """The text is not a valid value of the field. The message says what was found and what was expected."""

    def __init__(self, message: str, code: Expected | None = None) -> None:
        super().__init__(message)
        self.code = code


class Arrow(StrEnum):
    """The Parquet column type of a value."""

    TEXT = "string"
    DATE = "date32"
    AMOUNT = "decimal128(18, 4)"


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """How values of one type are parsed, compared, checked and stored."""

    name: str
    arrow: Arrow
    parse: Callable[[str], T]
    """Parse text entered by a person. Raises: FieldError."""
    from_model: Callable[[str | None], T | None]
    """Parse text from a model; return None if it is not a value."""
    same: Callable[[T, T], bool | None]
    """Compare two readings regardless of formatting; return None if one is only part of the other."""
    is_right: Callable[[T, object], bool]
    """Compare a value with its label, a text or a number."""
    evidence: Callable[[T], tuple[Evidence, ...]] = lambda _: ()
    """Return the evidence the value itself carries, such as its check digits."""


@dataclass(frozen=True, slots=True)
class FieldSpec(Generic[T]):
    """Everything known about one invoice field, except the reader that finds it."""

    kind: Kind[T]
    label: str
    """Name of the field in a sentence."""
    for_model: str
    """Description of the field in the prompt."""
    weight: float = 2.0
    """Weight in the document's confidence, relative to the other fields."""
    required: bool = False
    """Whether a person must fill it in: an invoice without it cannot be paid."""


def amount_of(words: str | None) -> Decimal | None:
    """Parse an amount or a rate, in the prompt's format or as people write it; return None if it is neither."""
    text = _SPACES.sub("", words or "").removesuffix("%").replace("\u2212", "-")
    try:
        value = Decimal(text)
    except InvalidOperation:
        number = parse_number(text.lstrip("+-"))
        if number is None:
            return None
        value = -number if text.startswith("-") else number
    if not value.is_finite() or value.adjusted() >= MAX_DIGITS:
        return None
    return value if -int(value.as_tuple().exponent) <= MAX_PLACES else None


def text_of_model(words: str | None) -> str | None:
    """Return a model's text on one line, cut to 500 characters; None if it is empty."""
    return _SPACES.sub(" ", words or "").strip()[:LONGEST_FROM_MODEL] or None


def shown(text: str) -> str:
    """Quote a text for an error message, shortened to 40 characters."""
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def _parse_text(text: str) -> str:
    if not 0 < len(text) <= LONGEST_TEXT or not text.isprintable():
        raise FieldError(f"expected 1 to {LONGEST_TEXT} printable characters, found {shown(text)}", Expected.TEXT)
    return text


def _parse_date(text: str) -> dt.date:
    try:
        date = dt.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=dt.UTC).date()
    except ValueError:
        raise FieldError(f"expected a date such as 2026-11-30, found {shown(text)}", Expected.DATE) from None
    if not FIRST_YEAR <= date.year <= LAST_YEAR:
        raise FieldError(f"expected a year from {FIRST_YEAR} to {LAST_YEAR}, found {date.year}", Expected.YEAR)
    return date


def _parse_amount(text: str) -> Decimal:
    if not _AMOUNT.fullmatch(text):
        raise FieldError(f"expected a decimal such as 1234.56, at most 4 places, found {shown(text)}", Expected.AMOUNT)
    return Decimal(text)


def _parse_currency(text: str) -> str:
    if text.upper() not in CURRENCIES:
        raise FieldError(f"expected an ISO 4217 code such as EUR, found {shown(text)}", Expected.CURRENCY)
    return text.upper()


def _parse_iban(text: str) -> str:
    iban = compact(text)
    if iban is None or not _IBAN.fullmatch(iban):
        raise FieldError(f"expected an IBAN such as DE02120300000000202051, found {shown(text)}", Expected.IBAN)
    return iban  # wrong check digits are allowed: a rule warns about them and requires a person's approval


def _parse_vat_id(text: str) -> str:
    vat_id = compact(text)
    if vat_id is None or not _VAT_ID.fullmatch(vat_id):
        raise FieldError(f"expected a VAT id such as DE136695976, found {shown(text)}", Expected.VAT_ID)
    return vat_id


def _parse_type(text: str) -> DocumentType:
    kind = _type_of_words(text)
    if kind is None:
        raise FieldError(f"expected {TYPES}, found {shown(text)}", Expected.DOCUMENT_TYPE)
    return kind


def _type_of_words(words: str | None) -> DocumentType | None:
    """Return the type that people or a model name, such as `Credit note`."""
    name = _TYPE_GAP.sub("_", (words or "").strip().lower())
    return next((kind for kind in DocumentType if kind == name), None)


def _date_of_model(words: str | None) -> dt.date | None:
    return next((found.value for found in find_dates(words or "")), None)


def _currency_of_model(words: str | None) -> str | None:
    code = (words or "").strip().upper()
    return code if _CURRENCY.fullmatch(code) else None


def _identifier_of_model(words: str | None) -> str | None:
    return compact(text_of_model(words))


def _same_text(one: str, other: str) -> bool | None:
    """Compare ignoring spaces, punctuation and case; return None if one is contained in the other."""
    short, long = sorted((squeeze(one), squeeze(other)), key=len)
    if short == long:
        return bool(short) or one == other
    return None if short and short in long else False


def _same_name(one: str, other: str) -> bool | None:
    """Compare as texts, but accept a name contained in a longer one: "Muster" and "Muster GmbH"."""
    same = _same_text(one, other)
    return True if same is None and min(len(squeeze(one)), len(squeeze(other))) >= SHORTEST_NAME else same


def _same_amount(one: Decimal, other: Decimal) -> bool:
    """Compare absolute values: a credit note's page may print a minus where its XML has none."""
    return abs(one) == abs(other)


def is_right_text(value: object, truth: object) -> bool:
    """Compare a text or a count with its label, ignoring spaces, punctuation and case."""
    return _squeezed(value) == _squeezed(truth)


def _is_right_name(value: str, truth: object) -> bool:
    """Accept part of the label, or the reverse, if it is more than half as long."""
    short, long = sorted((_squeezed(value), _squeezed(truth)), key=len)
    return short == long or (len(short) >= SHORTEST_NAME and short in long and len(long) < 2 * len(short))


def _squeezed(value: object) -> str:
    return squeeze(str(value).replace("ß", "ss"))


TYPE: Kind[DocumentType] = Kind(
    "type of document", Arrow.TEXT, _parse_type, _type_of_words, same=operator.eq, is_right=is_right_text
)
TEXT: Kind[str] = Kind("text", Arrow.TEXT, _parse_text, text_of_model, _same_text, is_right_text)
NAME: Kind[str] = Kind("name", Arrow.TEXT, _parse_text, text_of_model, _same_name, _is_right_name)
VAT_ID: Kind[str] = Kind(
    "VAT id", Arrow.TEXT, _parse_vat_id, _identifier_of_model, _same_text, is_right_text, vat_evidence
)
IBAN: Kind[str] = Kind("IBAN", Arrow.TEXT, _parse_iban, _identifier_of_model, _same_text, is_right_text, iban_evidence)
CURRENCY: Kind[str] = Kind("currency", Arrow.TEXT, _parse_currency, _currency_of_model, _same_text, is_right_text)
DATE: Kind[dt.date] = Kind(
    "date",
    Arrow.DATE,
    _parse_date,
    _date_of_model,
    same=operator.eq,
    is_right=lambda value, truth: value.isoformat() == str(truth),
)
AMOUNT: Kind[Decimal] = Kind(
    "amount", Arrow.AMOUNT, _parse_amount, amount_of, _same_amount, lambda value, truth: value == Decimal(str(truth))
)
