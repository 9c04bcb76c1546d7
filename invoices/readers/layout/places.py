"""Relate values and pages: fields from cells of a page, and the places where a known value is printed."""

import datetime as dt
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from statistics import fmean
from typing import TypeVar

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import Box, FieldValue
from docrail.invoices.readers.layout.geometry import around
from docrail.invoices.readers.layout.page import Cell, Layout, Word
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold, squeeze
from docrail.invoices.values.numbers import find_amounts

T = TypeVar("T")
_WITHOUT_LABEL = {Source.TEXT_LABEL: Source.TEXT_PATTERN, Source.OCR_LABEL: Source.OCR_PATTERN}
_BY_OCR = {Source.TEXT_LABEL: Source.OCR_LABEL, Source.TEXT_PATTERN: Source.OCR_PATTERN}


def found(layout: Layout, value: T, cell: Cell, source: Source, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    """Return `value` as read in `cell`. For OCR words, the source and the mean score say so."""
    scores = [word.score for word in cell.words if word.score is not None]
    if layout.pages[cell.page - 1].poor:
        evidence = (*evidence, Evidence.POOR_IMAGE)
    return FieldValue(
        value=value,
        source=_BY_OCR.get(source, source) if scores else source,
        page=cell.page,
        box=box_of(layout, cell),
        word_score=round(fmean(scores), 4) if scores else None,
        evidence=evidence,
    )


def without_label(field: FieldValue[T]) -> FieldValue[T]:
    """Return a value found at a garbled label as one that no label names."""
    return field.model_copy(update={"source": _WITHOUT_LABEL.get(field.source, field.source)})


def computed(layout: Layout, value: T, source: Source) -> FieldValue[T]:
    """Return `value` as computed from other values; it is not printed itself."""
    evidence = (Evidence.POOR_IMAGE,) if any(page.poor for page in layout.pages) else ()
    return FieldValue(
        value=value, source=_BY_OCR.get(source, source) if mostly_ocr(layout) else source, evidence=evidence
    )


def mostly_ocr(layout: Layout) -> bool:
    """Return whether more words come from OCR than from the text layer."""
    words = [word for page in layout.pages for word in page.words]
    return 2 * sum(word.score is not None for word in words) > len(words)


def box_of(layout: Layout, cell: Cell) -> Box:
    """Return the cell's box as fractions of its page, in the orientation the document was sent in."""
    return layout.pages[cell.page - 1].as_sent(cell.left, cell.top, cell.right, cell.bottom)


def box_around(layout: Layout, cells: Sequence[Cell]) -> Box | None:
    """Return the box around the cells on the last cell's page; None if there are no cells."""
    if not cells:
        return None
    boxes = [box_of(layout, cell) for cell in cells if cell.page == cells[-1].page]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


LONGEST = 200
"""Longest text to look up, in letters and digits; a longer one is not a name or a number."""
DISTINCT = 8
"""Letters and digits from which a text is unique enough to match even joined to a label or broken over two rows."""

Value = str | Decimal | dt.date
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value is printed: page number from 1, box in fractions of the page, and the text of its row."""

    page: int
    box: Box
    row_text: str


class Places:
    """The rows of all pages, for looking up values."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @cached_property
    def _rows(self) -> list["_Row"]:
        """Computed on first use: most documents have no values to look up."""
        rows = self._layout.rows
        return [_Row(row.page, tuple(word for cell in row.cells for word in cell.words)) for row in rows]

    @cached_property
    def doubtful(self) -> bool:
        """Return whether some words come from OCR, which may have misread a value that is printed."""
        return any(word.score is not None for row in self._rows for word in row.words)

    def of(self, value: Value) -> Iterator[Place]:
        """Yield each place where `value` is printed, in reading order. Amounts match regardless of sign."""
        for row in self._rows:
            for start, end in row.spans_of(value):
                words = row.words_between(start, end)
                yield Place(row.page, self._layout.pages[row.page - 1].as_sent(*around(words)), row.text)

    def mention(self, value: Value) -> bool:
        """Return whether `value` is printed, possibly broken over two rows."""
        if next(self.of(value), None):
            return True
        pattern = _pattern(value) if isinstance(value, str) and len(squeeze(value)) >= DISTINCT else None
        return bool(pattern and pattern.search(self._folded))

    @cached_property
    def _folded(self) -> str:
        return fold("\n".join(row.text for row in self._rows))


class _Row:
    """The words of one row, with the amounts and dates found in it cached."""

    def __init__(self, page: int, words: tuple[Word, ...]) -> None:
        self.page = page
        self.words = words
        self.text = " ".join(word.text for word in words)

    def spans_of(self, value: Value) -> Iterator[_Span]:
        """Yield the start and end of each `value` in the row's text."""
        match value:
            case Decimal():
                yield from (span for amount, span in self._amounts if amount == abs(value))
            case dt.date():
                yield from (span for date, span in self._dates if date == value)
            case _:
                pattern = _pattern(value)
                yield from (match.span() for match in pattern.finditer(self._folded)) if pattern else ()

    def words_between(self, start: int, end: int) -> list[Word]:
        """Return the words that contain the text from `start` to `end`."""
        return list(self.words[bisect_right(self._ends, start) : bisect_left(self._starts, end)])

    @cached_property
    def _starts(self) -> list[int]:
        """Start of each word in the row's text."""
        lengths = (len(word.text) + 1 for word in self.words)
        return list(accumulate(lengths, initial=0))[:-1]

    @cached_property
    def _ends(self) -> list[int]:
        return [start + len(word.text) for start, word in zip(self._starts, self.words, strict=True)]

    @cached_property
    def _folded(self) -> str:
        return fold(self.text)

    @cached_property
    def _amounts(self) -> list[tuple[Decimal, _Span]]:
        return [(abs(amount.value), (amount.start, amount.end)) for amount in find_amounts(self.text)]

    @cached_property
    def _dates(self) -> list[tuple[dt.date, _Span]]:
        orders = (find_dates(self.text, month_first=first) for first in (False, True))
        return list(dict.fromkeys((date.value, (date.start, date.end)) for dates in orders for date in dates))


def _pattern(value: str) -> re.Pattern[str] | None:
    """Return a pattern for the letters and digits of `value`, whatever is between them; None if empty or too long.

    RE-1 does not match in RE-10; an IBAN matches even if it directly follows its label.
    """
    wanted = squeeze(value)
    if not 0 < len(wanted) <= LONGEST:
        return None
    before = "" if len(wanted) >= DISTINCT and wanted[0].isalpha() else "(?<![a-z0-9])"
    after = r"(?!\d)" if len(wanted) >= DISTINCT and wanted[-1].isdigit() else "(?![a-z0-9])"
    return re.compile(before + "[^a-z0-9]*".join(wanted) + after)
