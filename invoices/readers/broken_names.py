"""Puts names together that are printed over two lines."""

import re
from collections.abc import Sequence

from invoices.readers.folding import fold
from invoices.readers.geometry import Cell, Layout
from invoices.readers.names import LEGAL_FORM, is_name

SAME_SIZE = 0.1
"""Share by which the heights of a name's two lines may differ, if none has its legal form."""
NEAR_REST = 0.75
"""Height of a name's first line within which its second begins."""


def legal_form_below(layout: Layout, cell: Cell, name: str) -> str:
    """Return the legal form of a name that begins in a cell, with a space before it: only the next line has it."""
    if LEGAL_FORM.search(cell.folded) or LEGAL_FORM.search(fold(name)):
        return ""
    under = (other for row in layout.rows[cell.row + 1 : cell.row + 2] for other in row.cells)
    near = (o for o in under if o.page == cell.page and o.top - cell.bottom <= cell.height and aligned(o, cell))
    return next((f" {other.text}" for other in near if is_legal_form(other) or _goes_on_to_form(other)), "")


def _goes_on_to_form(cell: Cell) -> bool:
    """Tell whether a line ends the name above it: Italian partners are called `Hotel Rosa di Rossi Mario s.n.c.`."""
    return cell.text.startswith("di ") and bool(LEGAL_FORM.search(cell.folded))


def rest_below(layout: Layout, cell: Cell, said: Sequence[str]) -> Cell | None:
    """Return the second line of a name that is broken over two, which another line says as one; None if none does."""
    under = (other for row in layout.rows[cell.row + 1 : cell.row + 3] for other in row.cells)
    for other in (o for o in under if o.page == cell.page and o.top > cell.top and aligned(o, cell)):
        if other.top - cell.bottom > cell.height * NEAR_REST:
            continue
        both = f"{cell.text} {other.text}"
        alike = abs(other.height - cell.height) <= SAME_SIZE * cell.height or LEGAL_FORM.search(fold(both))
        if alike and _is_said(fold(both), said) and is_name(both):
            return other
    return None


def _is_said(folded: str, said: Sequence[str]) -> bool:
    """Tell whether one of the texts has these words, and not as parts of others."""
    having = [text for text in said if folded in text]  # hardly ever any: a pattern for each two lines is dear
    return bool(having) and any(map(re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)").search, having))


def is_legal_form(cell: Cell) -> bool:
    """Tell whether nothing else stands there: `Co. (UK) Ltd`."""
    return bool(LEGAL_FORM.search(cell.folded)) and not re.search(r"[a-z\d]", _without_form(cell))


def has_legal_form(cell: Cell) -> bool:
    """Tell whether a legal form stands there behind a name."""
    return bool(LEGAL_FORM.search(cell.folded)) and not is_legal_form(cell)


def _without_form(cell: Cell) -> str:
    return LEGAL_FORM.sub("", re.sub(r"\([^)]*\)", "", cell.folded))


def aligned(one: Cell, other: Cell) -> bool:
    """Tell whether two lines begin below each other, or are centred on each other."""
    return min(abs(one.left - other.left), abs(one.centre - other.centre)) <= other.height
