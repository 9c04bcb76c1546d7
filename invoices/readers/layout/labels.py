"""Find the text at a label: after it in the same cell, in the next cell to the right, below it, or above it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from docrail.invoices.readers.layout.page import Cell, Layout, Row

SEPARATORS = re.compile(r"^[\s:;#.°º№\-\u2013|=]+")
COLONS = frozenset({":", ":-", "="})
LETTER = re.compile(r"[a-z0-9]")
WORDED = re.compile(r"[^\W\d_]|[#°№]")
"""Every label has a letter or a sign for `number`: of a page's cells, a third are only digits and need no search."""
MAX_DROP = 2.6
"""Largest distance of a value below its label, in label heights."""
OPEN_ENDS = (" de", " del", " de la", " du", " of", " van", " der", " des", " di", " della", " d'")
"""Endings of a label in a narrow column that continues on the next line: `Date of | issue`."""
LEAST_CAPTIONS = 3
"""A row with fewer cells is not a row of captions."""


class Position(IntEnum):
    """Where a value is relative to its label, most reliable first."""

    SAME_CELL = 0
    RIGHT = 1
    BELOW = 2
    ABOVE = 3


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text at a label. `text` is the cell's text from the value on; `label` is the matched text."""

    text: str
    cell: Cell
    place: Position
    label: str
    label_cell: Cell
    leads: bool
    """Whether the label starts its cell, as labels do and words in a sentence do not."""


class Finder:
    """Find texts by their labels in one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        cells = ((cell, _values(row.cells[index:])) for row in layout.rows for index, cell in enumerate(row.cells, 1))
        self._cells = [(cell, right) for cell, right in cells if WORDED.search(cell.folded)]
        self._below: dict[tuple[float, ...], list[Cell]] = {}
        self._open = {
            id(cell) for cell in layout.cells if cell.folded.endswith(OPEN_ENDS)
        }  # each label checks each cell
        self._at: dict[tuple[str, bool], list[Labelled]] = {}

    def at(self, label: re.Pattern[str], *, again: bool = False) -> Sequence[Labelled]:
        """Return every text at a match of `label`, in reading order, the most reliable place first.

        Only a cell's first match counts; with `again`, the text after its other matches is returned as well.
        """
        key = label.pattern, again
        if key not in self._at:
            self._at[key] = list(self._matches(label, again=again))
        return self._at[key]

    def _matches(self, label: re.Pattern[str], *, again: bool) -> Iterator[Labelled]:
        for cell, right in self._cells:
            match = label.search(cell.folded)
            if match:
                leads = not LETTER.search(cell.folded[: match.start()])
                yield from self._around(cell, match, right, leads=leads)
                for later in label.finditer(cell.folded, match.end()) if again else ():
                    rest = SEPARATORS.sub("", cell.text[later.end() :])
                    yield Labelled(rest, cell, Position.SAME_CELL, later.group(), cell, leads=False)
            elif id(cell) in self._open:
                yield from self._broken(cell, label, right)

    def below(self, cell: Cell) -> list[Cell]:
        """Return the cells below `cell` in its column, nearest first, up to the first gap in the column."""
        place = cell.row, cell.left, cell.top, cell.right, cell.bottom
        if place not in self._below:
            self._below[place] = list(self._column(cell))
        return self._below[place]

    def _around(self, cell: Cell, match: re.Match[str], right: tuple[Cell, ...], *, leads: bool) -> Iterator[Labelled]:
        rest = SEPARATORS.sub("", cell.text[match.end() :])
        label = match.group()
        if rest:
            yield Labelled(rest, cell, Position.SAME_CELL, label, cell, leads)
        if above := self._captioned(cell):
            yield Labelled(above.text, above, Position.ABOVE, label, cell, leads)
            return
        if right:
            yield Labelled(SEPARATORS.sub("", right[0].text), right[0], Position.RIGHT, label, cell, leads)
        under = self.below(cell)
        if under and under[0].top - cell.bottom <= MAX_DROP * cell.height:
            text = SEPARATORS.sub("", self._text_under(cell, under[0]))
            yield Labelled(text, under[0], Position.BELOW, label, cell, leads)

    def _text_under(self, label: Cell, value: Cell) -> str:
        """Return the text below a label: of a cell that begins under another, from the word that begins as the label.

        Two values that touch are one cell: `3 March 2026  2 April 2026`.
        """
        before = (other for other in self.layout.rows[label.row].cells if other.right < label.left)
        if not any(other.shares_column(value) for other in before):
            return value.text
        begin = next((n for n, word in enumerate(value.words) if abs(word.left - label.left) < value.height / 2), 0)
        return " ".join(word.text for word in value.words[begin:])

    def _broken(self, cell: Cell, label: re.Pattern[str], right: tuple[Cell, ...]) -> Iterator[Labelled]:
        """Yield the text next to a label that continues on the line below, or the text after or below its end."""
        under = self.below(cell)[:2]
        if not under or under[0].top - cell.bottom > cell.height or abs(under[0].left - cell.left) > cell.height:
            return
        match = label.match(f"{cell.folded} {under[0].folded}")
        if match and match.end() > len(cell.folded) + 1:
            rest = SEPARATORS.sub("", under[0].text[match.end() - len(cell.folded) - 1 :])
            next_to = [other for other in right[:1] if any(map(str.isdigit, other.text))]
            near = [other for other in under[1:] if other.top - under[0].bottom <= MAX_DROP * cell.height]
            if rest:
                yield Labelled(rest, under[0], Position.BELOW, match.group(), cell, leads=True)
            elif next_to or near:
                value, place = (next_to[0], Position.RIGHT) if next_to else (near[0], Position.BELOW)
                yield Labelled(SEPARATORS.sub("", value.text), value, place, match.group(), cell, leads=True)

    def _captioned(self, cell: Cell) -> Cell | None:
        """Return the value above a caption; None if the cell is not one.

        Captions form a row of words without digits, each directly under a value, with nothing close below.
        """
        row = self.layout.rows[cell.row]
        above, below = self._row(cell.row - 1, cell.page), self._row(cell.row + 1, cell.page)
        if above is None or len(row.cells) < LEAST_CAPTIONS or len(above.cells) != len(row.cells):
            return None
        pairs = list(zip(above.cells, row.cells, strict=True))
        gap = max(caption.top - value.bottom for value, caption in pairs)
        near = gap < cell.height and (below is None or below.top - cell.bottom > gap + cell.height)
        words = not any(map(str.isdigit, row.text)) and any(map(str.isdigit, above.text))
        under = all(abs(value.left - caption.left) < cell.height / 2 for value, caption in pairs)
        return above.cells[row.cells.index(cell)] if near and words and under else None

    def _row(self, number: int, page: int) -> Row | None:
        rows = self.layout.rows
        return rows[number] if 0 <= number < len(rows) and rows[number].page == page else None

    def _column(self, cell: Cell) -> Iterator[Cell]:
        last = cell
        for row in self.layout.rows[cell.row + 1 :]:
            if row.page != cell.page:
                return
            if row.top - last.bottom > MAX_DROP * cell.height:
                return
            beneath = [other for other in row.cells if _overlaps(cell, other)]
            if beneath:
                last = min(beneath, key=lambda other: abs(other.left - cell.left))
                yield last


def _values(right: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Return the cells to the right of a label without a colon that has a column of its own, as forms print it."""
    return right[1:] if right and right[0].text in COLONS else right


def _overlaps(upper: Cell, lower: Cell) -> bool:
    return upper.shares_column(lower) and lower.top >= upper.bottom - 0.5 * upper.height
