"""Group the words of a page into cells and rows, as a person sees them, and separate its sidebar from them."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice, pairwise
from statistics import median

from docrail.invoices.model import Box
from docrail.invoices.readers.layout.geometry import Projection, around, box_within
from docrail.invoices.values.folding import fold


@dataclass(slots=True, unsafe_hash=True)  # there are hundreds, and frozen ones take three times as long to make
class Word:
    """A run of characters without spaces. Coordinates are in points from the page's top left corner, y downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float | None = None
    """OCR confidence from 0 to 1; None for words of the text layer."""

    @property
    def height(self) -> float:
        """Height of the line, not of the ink."""
        return self.bottom - self.top


READABLE = 0.9
"""Least mean confidence of the letters of a page. Below it, about one letter in ten is wrong. Measured: ADR 0017."""
CELL_GAP = 0.95
"""Words that are further apart than this share of their height are in different columns; a space is about a quarter."""
ROW_OVERLAP = 0.5
"""Share of the smaller height by which two words must overlap to be in one row."""
COLUMN_OVERLAP = 0.5
"""Words of one row may not overlap horizontally by more than this share of the smaller width."""

WIDE = 1.6
"""Gap between words as a multiple of the gap between letters."""
LEAST_LETTERS, MOST_LETTERS = 4, 3
"""Fewest single letters in a letter-spaced cell, and most letters in its other pieces."""


@dataclass(slots=True, unsafe_hash=True)  # as words
class Cell:
    """Words that belong together: a label, a value or a sentence."""

    words: tuple[Word, ...]
    text: str
    folded: str
    """`text` folded; positions are the same."""
    left: float
    top: float
    right: float
    bottom: float
    page: int
    row: int
    """Index of its row among all rows of the document."""

    @property
    def height(self) -> float:
        """Height of the tallest word."""
        return self.bottom - self.top

    @property
    def centre(self) -> float:
        """Horizontal centre."""
        return (self.left + self.right) / 2

    def shares_column(self, other: "Cell") -> bool:
        """Return whether the two cells overlap horizontally, at any vertical distance."""
        return min(self.right, other.right) > max(self.left, other.left)


@dataclass(frozen=True)
class Row:
    """Cells at the same height, from left to right."""

    cells: tuple[Cell, ...]
    page: int
    number: int
    aside: bool = False
    """Whether it is in the sidebar."""

    @cached_property
    def text(self) -> str:
        """The cells joined with two spaces, so that patterns can see the columns."""
        return "  ".join([cell.text for cell in self.cells])

    @property
    def top(self) -> float:
        """Top of the first cell."""
        return self.cells[0].top


@dataclass(frozen=True)
class Page:
    """One page: its words, and its size in points."""

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    turned: Projection | None = None
    """Maps the upright page to the page as sent, in fractions of both; None if it was sent upright."""
    sureness: float | None = None
    """Mean OCR confidence of all letters, also of lines that were left out; None without OCR or letters."""

    @property
    def poor(self) -> bool:
        """Whether the page is a picture of too poor a quality to rely on any word of it."""
        return self.sureness is not None and self.sureness < READABLE

    @cached_property
    def lines(self) -> list[tuple[list[list[Word]], bool]]:
        """The words by row and cell, from top to bottom, and whether they are in the sidebar, which comes last."""
        aside, rest = without_sidebar(self.words, self.width)
        return [(_split(row), words is aside) for words in (rest, aside) for row in _word_rows(words)]

    def as_sent(self, left: float, top: float, right: float, bottom: float) -> Box:
        """Return a box in points as fractions of the page as sent, which is what viewers show."""
        if self.turned is None and left <= right and top <= bottom:
            return box_within(left / self.width, top / self.height, right / self.width, bottom / self.height)
        corners = [(x / self.width, y / self.height) for x in (left, right) for y in (top, bottom)]
        if self.turned:
            corners = [self.turned.map(x, y) for x, y in corners]
        xs, ys = zip(*corners, strict=True)
        return box_within(min(xs), min(ys), max(xs), max(ys))


@dataclass(frozen=True, eq=False)
class Layout:
    """A document as rows of cells, from top to bottom and page by page; hashed by identity, for caches."""

    pages: tuple[Page, ...]
    rows: tuple[Row, ...]

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells in reading order."""
        return [cell for row in self.rows for cell in row.cells]

    @cached_property
    def text(self) -> str:
        """The text, one line for each row."""
        return "\n".join(row.text for row in self.rows)


def lay_out(pages: Sequence[Page]) -> Layout:
    """Group the pages' words into rows of cells."""
    rows: list[Row] = []
    for page in pages:
        for line, aside in page.lines:
            cells = tuple(_cell(words, page.number, len(rows)) for words in line)
            rows.append(Row(cells, page.number, len(rows), aside))
    return Layout(tuple(pages), tuple(rows))


def _word_rows(words: Sequence[Word]) -> list[list[Word]]:
    """Group words that overlap vertically.

    Each word is compared with its nearest neighbour, so a tall logo does not absorb several rows.
    """
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: ((word.top + word.bottom) / 2, word.left)):
        middle = (word.top + word.bottom) / 2
        for row in reversed(rows[-4:]):
            if _same_row(row, word, middle):
                row.append(word)
                break
        else:
            rows.append([word])
    ordered = [sorted(row, key=lambda word: word.left) for row in rows]
    return sorted(ordered, key=lambda row: median(word.bottom for word in row))


def _same_row(row: Sequence[Word], word: Word, middle: float) -> bool:
    apart = [abs(other.left - word.left) for other in row]
    near = row[apart.index(min(apart))]
    shared = min(near.bottom, word.bottom) - max(near.top, word.top)
    smaller = min(near.bottom - near.top, word.bottom - word.top)
    if word.score is not None and any(_stands_on(other, word) for other in row):
        return False  # two lines of a photo that is slightly tilted
    return shared >= ROW_OVERLAP * smaller and abs(middle - (near.top + near.bottom) / 2) <= ROW_OVERLAP * smaller


def _stands_on(one: Word, other: Word) -> bool:
    shared = min(one.right, other.right) - max(one.left, other.left)
    return shared > COLUMN_OVERLAP * min(one.right - one.left, other.right - other.left)


def _spaced_out(words: Sequence[Word]) -> bool:
    """Return whether a cell consists of letter-spaced capitals: `P R E S C O T T`, `FAC T U R A N.º`."""
    letters = sum(len(word.text) == 1 and word.text.isalpha() for word in words)
    return letters >= LEAST_LETTERS and all(map(_may_be_a_letter, words))


def _may_be_a_letter(word: Word) -> bool:
    plain = word.text == word.text.upper() and not any(map(str.isdigit, word.text))
    return plain and len(word.text) <= MOST_LETTERS and word.score is None


def _together(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words formed by spaced letters; gaps between words are wider than between letters."""
    gaps = [word.left - before.right for before, word in pairwise(words)]
    usual = median(gaps)
    run = [words[0]]
    for gap, word in zip(gaps, words[1:], strict=True):
        if gap > WIDE * usual:
            yield _joined(run)
            run = []
        run.append(word)
    yield _joined(run)


def _joined(letters: Sequence[Word]) -> Word:
    return Word("".join(letter.text for letter in letters), *around(letters))


def _split(words: Sequence[Word]) -> list[list[Word]]:
    groups = [[words[0]]]
    for before, word in pairwise(words):
        if word.left - before.right > CELL_GAP * min(before.height, word.height):
            groups.append([])
        groups[-1].append(word)
    joined = [[*_together(group)] if _spaced_out(group) else group for group in groups]
    return [[word for word, _ in groupby(group)] for group in joined]  # bold text is sometimes a word printed twice


def _cell(words: Sequence[Word], page: int, row: int) -> Cell:
    text = " ".join([word.text for word in words])
    return Cell(tuple(words), text, fold(text), *around(words), page, row)


NARROW = 0.35
"""Largest share of the page's width taken by a sidebar with its margin."""
GUTTER = 8.0
"""Smallest width in points of the empty strip between sidebar and page, along the whole page."""
MOST_GUTTERS = 12
"""Limit for a page: with more it is a single row of words, or was made to take long."""
LEAST_LINES = 6
LONELY = 0.5
"""Smallest share of a sidebar's lines that are not level with other lines; a table's column has fewer."""
LEVEL = 0.5
"""Largest vertical distance between the middles of level words, as a share of the word's height."""
IN_LINE, BY_CHANCE = 0.6, 0.25
"""Largest vertical distance in points of words in one line, and largest share of amounts level with a sidebar's line.
"""
MONEY = re.compile(r"(?<![\d.,])\d[\d.,]*[.,]\d\d(?![\d.,-])")
"""Pattern of an amount; a column with an amount belongs to a table."""
NAME = re.compile(r"[^\W\d_]{3}")
ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3}")
"""An IBAN: no column of a table has one, but the details of a company do."""


def without_sidebar(words: Sequence[Word], width: float) -> tuple[Sequence[Word], Sequence[Word]]:
    """Return the words of the page's sidebar, which may be empty, and the other words. `width` is in points."""
    gutters = list(islice(_gutters(words), MOST_GUTTERS + 1))
    for left, right in gutters if len(gutters) <= MOST_GUTTERS else ():
        before, after = [w for w in words if w.right <= left], [w for w in words if w.left >= right]
        if left <= NARROW * width and _is_sidebar(before, after):
            return before, after
        if width - right <= NARROW * width and _is_sidebar(after, before):
            return after, before
    return [], words


def _gutters(words: Sequence[Word]) -> Iterator[tuple[float, float]]:
    """Yield the vertical strips between words that are empty from the top of the page to its foot."""
    reach = min((word.left for word in words), default=0.0)
    for word in sorted(words, key=lambda word: word.left):
        if word.left - reach >= GUTTER:
            yield reach, word.left
        reach = max(reach, word.right)


def _is_sidebar(narrow: Sequence[Word], wide: Sequence[Word]) -> bool:
    lines: list[Word] = []
    for word in sorted(narrow, key=_middle):
        if not lines or not _is_level(word, [_middle(lines[-1])]):
            lines.append(word)
    if len(lines) < LEAST_LINES or any(MONEY.search(word.text) for word in narrow):
        return False
    middles = sorted(map(_middle, wide))
    lonely = sum(not _is_level(line, middles) for line in lines)
    texts = " ".join(word.text for word in sorted(narrow, key=lambda word: (round(_middle(word)), word.left)))
    return (lonely >= LONELY * len(lines) or bool(ACCOUNT.search(texts))) and not _is_in_line(lines, wide)


def _is_in_line(lines: Sequence[Word], wide: Sequence[Word]) -> bool:
    """Return whether lines are level with amounts as in a table, or there are none to compare with.

    A sidebar's lines are level with amounts only by chance. An amount without words in its row has them in lines that
    are only near: a table's amounts may be in the middle of a description of several lines.
    """
    amounts = {round(_middle(word), 1): word for word in wide if MONEY.search(word.text)}
    middles, named = sorted(map(_middle, lines)), sorted(_middle(word) for word in wide if NAME.search(word.text))
    level = 0
    for middle, word in amounts.items():
        reach = IN_LINE if _is_level(word, named) else word.bottom - word.top
        index = bisect_left(middles, middle - reach)
        level += index < len(middles) and middles[index] <= middle + reach
    return level >= BY_CHANCE * len(amounts)


def _is_level(word: Word, middles: Sequence[float]) -> bool:
    """Return whether one of the `middles`, in ascending order, is at the height of a word."""
    least = _middle(word) - LEVEL * (word.bottom - word.top)
    index = bisect_left(middles, least)
    return index < len(middles) and middles[index] <= 2 * _middle(word) - least


def _middle(word: Word) -> float:
    return (word.top + word.bottom) / 2
