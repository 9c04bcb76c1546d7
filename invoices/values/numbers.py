"""Parse amounts as people write them: 1.234,56 or 1,234.56 or 1 234,56 or 1'234.50, with signs and currencies."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from docrail.invoices.values.currencies import COMMA_DECIMALS, THOUSANDTHS

SYMBOLS = {
    "€": "EUR",
    "$": "USD",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "Rs.": "INR",
    "Rs": "INR",
    "zł": "PLN",
    "Kč": "CZK",
    "₺": "TRY",
    "SFr.": "CHF",
    "sFr.": "CHF",
}
RINGGIT = "RM"
_RINGGIT = rf"{RINGGIT}(?=\s?\d[\d,]*\.\d\d(?!\d))"
"""Only before an amount with cents: rooms and road metres are numbered with RM as well."""
RAND = "R"
_RAND = rf"(?:\A|(?<=\A-)){RAND}(?=(?:\d{{1,3}}(?:[ ,\u00a0]\d{{3}})*|\d+)[.,]\d\d\Z)"
"""Only where it touches an amount with cents that is alone: many codes begin with it. So it names no currency here."""
FRANCS = "Fr."
_FRANCS = r"Fr\.(?=\s?\d[\d'\u2019]*\.(?:\d\d(?!\d)(?!\s?(?:[-\u2013]|bis|Uhr|h\b))|[-\u2013]))"
"""Not before a time, because Fridays are abbreviated in the same way."""
WORDS = {"euros": "EUR", "euro": "EUR", "Euro": "EUR", "TL": "TRY"}
"""Currency words and signs, with the currency each most often means."""
PREFIXED_DOLLARS = {
    "US$": "USD",
    "C$": "CAD",
    "CA$": "CAD",
    "A$": "AUD",
    "AU$": "AUD",
    "NZ$": "NZD",
    "HK$": "HKD",
    "S$": "SGD",
    "R$": "BRL",
    "MX$": "MXN",
}
CODES = "EUR|USD|GBP|CHF|JPY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|CNY|HKD|SGD|ZAR|BRL|MXN|AED|RON|BGN|TRY|MYR"
_CURRENCY = "|".join(
    [
        *map(re.escape, PREFIXED_DOLLARS),
        *map(re.escape, SYMBOLS),
        *WORDS,
        CODES,
        *sorted(THOUSANDTHS),
        _RINGGIT,
        _RAND,
        _FRANCS,
    ]
)
_SIGNS = frozenset([*PREFIXED_DOLLARS, *SYMBOLS, *WORDS, *CODES.split("|"), *THOUSANDTHS, RINGGIT, RAND, FRANCS])
_MINUS = r"(?<![\-\u2212\u2013])[\-\u2212\u2013]"
"""Not the last dash of a leader: `Total ------ 119.00`."""
_DIGITS = (
    r"\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{2,3}(?!(?<=[.,]\d\d) ))*[.,'\u2019 \u00a0\u202f]\d{3}(?:[.,]\d{1,4})?"
    r"|\d+(?:[.,]\d{1,4})?|\.\d\d(?!\d)"
)
_TAX_CODE = r"(?<=[.,]\d\d)(?:[ABSTZx]|[SZ]RL?)(?!\w)"
"""Tax code printed directly after an amount on a till receipt."""
AMOUNT = re.compile(
    rf"(?<![\w.,/#°*@])(?<!§ )(?<!\d:)(?<!\w-)(?P<minus>(?:\(|{_MINUS})\s?)?(?P<before>{_CURRENCY})?\s?"
    rf"(?P<inner>{_MINUS}\s?)?"
    rf"(?P<digits>{_DIGITS})(?P<dash>[.,][-\u2013\u2014]{{1,2}})?\s?(?P<after>{_CURRENCY})?(?P<trailing>(?<=\d)-(?!-)|\))?"
    rf"(?:(?={_TAX_CODE})|(?![\w%/:]|[.,]\d|\s?%|-\d))"
)
DIGIT = re.compile(r"\d")
CENTS = re.compile(r"[.,]\d\d$")
DAY = re.compile(r"[0-3]?\d\.[01]?\d")
GROUPING = re.compile(r"['\u2019 \u00a0\u202f]")
"""Marks between groups of digits that never start the decimals."""
MAX_DIGITS = 14
"""Digits before the decimal point that decimal128(18, 4) in Parquet can hold."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a text that may be money. `exact`: it has decimals or a currency, so it very likely is."""

    value: Decimal
    currency: str | None
    exact: bool
    start: int
    end: int


@lru_cache(maxsize=4096)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts in `text` from left to right, without percentages, dates and longer codes.

    Cached, because each rule examines each cell again.
    """
    return tuple(_amounts(text)) if DIGIT.search(text) else ()  # the longer pattern is slow where nothing matches


def _amounts(text: str) -> Iterator[Amount]:
    for match in AMOUNT.finditer(text):
        sign = match["before"] or match["after"]
        currency = currency_of(sign) if sign and sign != RAND else None
        value = parse_number(match["digits"], thousandths=_before_thousandths(currency))
        if value is None or _is_day(match):
            continue
        negative = bool(match["inner"]) or match["trailing"] == "-" or _follows_minus(match) or _is_bracketed(match)
        exact = bool(sign or match["dash"] or CENTS.search(match["digits"]))
        amount = -value if negative else value
        yield Amount(amount, currency, exact, match.start(), match.end())


def _before_thousandths(currency: str | None) -> str:
    """Return the separators that can precede three decimals in the currency."""
    if currency not in THOUSANDTHS:
        return ""
    return ".," if currency in COMMA_DECIMALS else "."


def _is_day(match: re.Match[str]) -> bool:
    """Return whether the match is a date without a year, as in `until 23.12.`."""
    return match.string.startswith(".", match.end()) and DAY.fullmatch(match.group().strip()) is not None


def parse_number(digits: str, *, thousandths: str = "") -> Decimal | None:
    """Return the number written as `digits`; None if it is too long for money.

    The last separator is the decimal one unless three digits follow it: `1.234` is read as one thousand, because prices
    with three decimals are rarer. Separators in `thousandths`, of a currency with three decimals, are always decimal.
    """
    plain = GROUPING.sub("", digits)
    whole, separator, decimals = _split_decimals(plain, thousandths=thousandths)
    whole = whole.replace(".", "").replace(",", "") or "0" * bool(decimals)
    if len(whole) > MAX_DIGITS or not whole.isdigit():
        return None
    return Decimal(f"{whole}.{decimals}") if separator else Decimal(whole)


def currency_of(sign: str) -> str:
    """Return the ISO code of a sign or code next to an amount."""
    named = {**PREFIXED_DOLLARS, **SYMBOLS, **WORDS, RINGGIT: "MYR", FRANCS: "CHF"}
    return named.get(sign, sign)


def _split_decimals(plain: str, *, thousandths: str) -> tuple[str, str, str]:
    """Return the whole part, the decimal separator and the decimals; both empty if there are no decimals."""
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return plain, "", ""
    separator, decimals = plain[last], plain[last + 1 :]
    other = "," if separator == "." else "."
    if plain.count(separator) > 1:
        return plain, "", ""
    grouped = len(decimals) == 3 and other not in plain and len(plain[:last]) <= 3 and plain[:last] != "0"  # noqa: PLR2004
    return (plain, "", "") if grouped and separator not in thousandths else (plain[:last], separator, decimals)


def _follows_minus(match: re.Match[str]) -> bool:
    """Return whether a minus before the amount belongs to it, and is not a dash between words and the amount."""
    before = match.string[: match.start()]
    minus = (match["minus"] or "(").strip() != "("
    return minus and (not before.strip() or before.endswith((" ", "(", ":")))


def _is_bracketed(match: re.Match[str]) -> bool:
    """Return whether the whole text is an amount in brackets, as accountants write a negative one: `$ (1,234.00)`.

    Next to words, brackets hold a remark: `2 % Skonto (288,52 EUR)`. One bracket alone says nothing.
    """
    outside = (match.string[: match.start()] + match.string[match.end() :]).strip()
    return match.group().startswith("(") and match["trailing"] == ")" and (not outside or outside in _SIGNS)
