"""Parse dates as people write them in the supported languages, and detect where day and month could be swapped."""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from docrail.invoices.languages.all import CUT_MONTH_OF
from docrail.invoices.values.folding import fold


def _any_of(names: Collection[str]) -> str:
    """Return a pattern of some names that tries each first letter once, longer names first: there are hundreds."""
    if len(names) == 1:
        return "".join(names)
    tails: dict[str, list[str]] = {}
    for name in names:
        tails.setdefault(name[:1], []).append(name[1:])
    return f"(?:{'|'.join(letter + _any_of(rest) for letter, rest in sorted(tails.items(), reverse=True))})"


_MONTH = _any_of(CUT_MONTH_OF)
PATTERNS = (
    re.compile(r"(?<![\d.-])(?P<y>20\d\d|19\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d-])"),
    re.compile(
        r"(?<![\d.,/-])(?<!\b[a-z])(?<!\b[a-z]{2})(?P<a>\d{1,2})"
        r"(?P<s>[./-])\s?(?P<b>\d{1,2})(?P=s)\s?(?P<y>\d{4}|\d\d)(?![\d/-]|\.\d)"
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|e|[.°ºo])?[\s/-]*(?:(?:day )?of |de |di )?(?P<month>{_MONTH})\b\.?"
        r"[\s,/-]*(?:de |del )?'?(?P<y>\d{4}|\d\d)(?!\d)"
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\.?\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s*(?:de |del )?(?P<y>\d{{4}})(?!\d)"
    ),
    re.compile(r"(?<![\d.,/-])(?P<a>\d{1,2}) (?P<s>[./-]) (?P<b>\d{1,2}) (?P=s) (?P<y>20\d\d)(?!\d)"),
)
DIGIT = re.compile(r"\d")
CENTURY_SPLIT = 70
"""Two-digit years up to this one belong to the 2000s."""
FIRST_YEAR, LAST_YEAR = 1900, 2199
"""Years outside this range are part of a number, such as `26-08-1177`."""


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text. `ambiguous`: day and month could be swapped; `value` is the likelier reading."""

    value: dt.date
    ambiguous: bool
    start: int
    end: int


def find_dates(text: str, *, month_first: bool = False) -> Iterator[FoundDate]:
    """Yield the dates in `text`, in order. `month_first` makes 03/04/2024 March 4 instead of April 3."""
    return iter(_dates(text, month_first))


@lru_cache(maxsize=4096)  # each rule examines each cell again
def _dates(text: str, month_first: bool) -> tuple[FoundDate, ...]:
    folded = fold(text)
    if not DIGIT.search(folded):
        return ()
    found = [date for pattern in PATTERNS for match in pattern.finditer(folded) if (date := _read(match, month_first))]
    apart: list[FoundDate] = []
    for date in sorted(found, key=lambda date: (date.start, -date.end)):
        if not apart or date.start >= apart[-1].end:
            apart.append(date)
    return tuple(apart)


def month_comes_first(texts: Iterable[str]) -> bool | None:
    """Return whether the dates with a day above 12 put the month first; None if there are none."""
    first, second = 0, 0
    for text in texts:
        for match in PATTERNS[1].finditer(text):
            first, second = max(first, int(match["a"])), max(second, int(match["b"]))
    if first > 12 or second > 12:  # noqa: PLR2004  # months in a year
        return second > 12 and first <= 12  # noqa: PLR2004
    return None


def swapped(date: dt.date) -> dt.date:
    """Return a date with its day and month swapped; the day must be at most 12."""
    return dt.date(date.year, date.day, date.month)


def _read(match: re.Match[str], month_first: bool) -> FoundDate | None:
    parts = match.groupdict()
    ambiguous = False
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        american = (month_first and parts["s"] != "." and first <= 12) or second > 12  # noqa: PLR2004
        month, day = (first, second) if american else (second, first)
        ambiguous = max(first, second) <= 12 and first != second and parts["s"] != "."  # noqa: PLR2004
    else:
        month = CUT_MONTH_OF[parts["month"]] if "month" in parts else int(parts["m"])
        day = int(parts["d"])
    year = _year(parts["y"])
    try:
        value = dt.date(year, month, day)
    except ValueError:
        return None
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    return FoundDate(value, ambiguous, match.start(), match.end())


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:  # noqa: PLR2004
        return year
    return 2000 + year if year <= CENTURY_SPLIT else 1900 + year
