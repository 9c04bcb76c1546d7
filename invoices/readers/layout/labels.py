"""Finds what stands at a label: after it in the same cell, in the next cell to the right, below it, or above it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from docrail.invoices.readers.layout.page import Cell, Layout, Row

SEPARATORS = re.compile(r"^[\s:;#.°º№\-\u2013|=]+")
MAX_DROP = 2.6
"""A value stands at most this many label heights below its label."""
OPEN_ENDS = (" de", " del", " de la", " du", " of", " van", " der", " des", " di", " della", " d'")
"""Of a label in a narrow column, whose end is in the next line: `Date of | issue`."""
VALUE_BEGINS = re.compile(r"[\d:]")
"""In a cell that ends so: it is no label alone, its value has begun."""
LEAST_CAPTIONS = 3
"""A row of fewer words is none of captions."""


class Place(IntEnum):
    """Where a value stands by its label, surest first."""

    SAME_CELL = 0
    RIGHT = 1
    BELOW = 2
    ABOVE = 3


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text at a label. `text` is the cell's text from the value on; `label` what was matched."""

    text: str
    cell: Cell
    place: Place
    label: str
    label_cell: Cell
    leads: bool
    """The label begins its cell, as labels do; a word in a sentence does not."""


class Finder:
    """Looks around in one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._below: dict[Cell, list[Cell]] = {}
        self._open = {id(cell) for cell in layout.cells if _ends_open(cell)}  # asked of each cell for each label

    def at(self, label: re.Pattern[str], *, again: bool = False) -> Iterator[Labelled]:
        """Yield every text that stands at a match of `label`, in reading order, surest place first.

        A cell's first match counts; with `again` what stands behind its other matches as well.
        """
        for row in self.layout.rows:
            for index, cell in enumerate(row.cells):
                match = label.search(cell.folded)
                if not match:
                    if id(cell) in self._open:
                        yield from self._broken(cell, label, row.cells[index + 1 :])
                    continue
                leads = not re.search(r"[a-z0-9]", cell.folded[: match.start()])
                yield from self._around(cell, match, row.cells[index + 1 :], leads=leads)
                for later in label.finditer(cell.folded, match.end()) if again else ():
                    rest = SEPARATORS.sub("", cell.text[later.end() :])
                    yield Labelled(rest, cell, Place.SAME_CELL, later.group(), cell, leads=False)

    def below(self, cell: Cell) -> list[Cell]:
        """Return the cells under `cell` in its column, nearest first, down to a gap in the column."""
        if cell not in self._below:
            self._below[cell] = list(self._column(cell))
        return self._below[cell]

    def _around(self, cell: Cell, match: re.Match[str], right: tuple[Cell, ...], *, leads: bool) -> Iterator[Labelled]:
        rest = SEPARATORS.sub("", cell.text[match.end() :])
        label = match.group()
        if rest:
            yield Labelled(rest, cell, Place.SAME_CELL, label, cell, leads)
        if above := self._captioned(cell):
            yield Labelled(above.text, above, Place.ABOVE, label, cell, leads)
            return
        if right:
            yield Labelled(SEPARATORS.sub("", right[0].text), right[0], Place.RIGHT, label, cell, leads)
        under = self.below(cell)
        if under and under[0].top - cell.bottom <= MAX_DROP * cell.height:
            yield Labelled(SEPARATORS.sub("", under[0].text), under[0], Place.BELOW, label, cell, leads)

    def _broken(self, cell: Cell, label: re.Pattern[str], right: tuple[Cell, ...]) -> Iterator[Labelled]:
        """Yield what stands right of a label that goes on in the line below, or below its end."""
        under = self.below(cell)[:2]
        if not under or under[0].top - cell.bottom > cell.height or abs(under[0].left - cell.left) > cell.height:
            return
        match = label.match(f"{cell.folded} {under[0].folded}")
        if match and match.end() > len(cell.folded) + 1:
            rest = SEPARATORS.sub("", under[0].text[match.end() - len(cell.folded) - 1 :])
            beside = [other for other in right[:1] if any(map(str.isdigit, other.text))]
            near = [other for other in under[1:] if other.top - under[0].bottom <= MAX_DROP * cell.height]
            if rest:
                yield Labelled(rest, under[0], Place.BELOW, match.group(), cell, leads=True)
            elif beside or near:
                value, place = (beside[0], Place.RIGHT) if beside else (near[0], Place.BELOW)
                yield Labelled(SEPARATORS.sub("", value.text), value, place, match.group(), cell, leads=True)

    def _captioned(self, cell: Cell) -> Cell | None:
        """Return the value above a caption: in a row of words alone, each right under a value, with nothing near below.

        None elsewhere.
        """
        row = self.layout.rows[cell.row]
        above, below = self._beside(cell.row - 1, cell.page), self._beside(cell.row + 1, cell.page)
        if above is None or len(row.cells) < LEAST_CAPTIONS or len(above.cells) != len(row.cells):
            return None
        pairs = list(zip(above.cells, row.cells, strict=True))
        gap = max(caption.top - value.bottom for value, caption in pairs)
        near = gap < cell.height and (below is None or below.top - cell.bottom > gap + cell.height)
        words = not any(map(str.isdigit, row.text)) and any(map(str.isdigit, above.text))
        under = all(abs(value.left - caption.left) < cell.height / 2 for value, caption in pairs)
        return above.cells[row.cells.index(cell)] if near and words and under else None

    def _beside(self, number: int, page: int) -> Row | None:
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


def _ends_open(cell: Cell) -> bool:
    return cell.folded.endswith(OPEN_ENDS) and not VALUE_BEGINS.search(cell.folded)


def _overlaps(upper: Cell, lower: Cell) -> bool:
    return upper.shares_column(lower) and lower.top >= upper.bottom - 0.5 * upper.height
