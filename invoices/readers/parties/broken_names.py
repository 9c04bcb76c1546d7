"""Join names that are printed on several lines: before an end with the legal form, as logos, and in narrow columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.parties.names import (
    LEGAL_FORM,
    OF_A_LOGO,
    SLOGAN,
    aligned,
    domains,
    has_legal_form,
    is_legal_form,
    is_name,
    legal_form,
)
from docrail.invoices.values.folding import fold, squeeze

SAME_SIZE = 0.1
"""Largest relative difference in height between the two lines of a name without a legal form."""
NEAR_REST = 0.75
"""Largest gap between the two lines of a name, in heights of the first."""
GOES_ON_BELOW = re.compile(r"(?:&|\+|\b(?:and|und|et|en|y|e|de|du|di|del|della|la|le|van|von|der|den))$")
"""An ending that only another line completes; on folded text."""
OF_A_PERSON = re.compile(r" di [A-Z]\w+$")
"""The first name of an Italian owner: `Stamperia di Carlo`; what a trade is about is in lowercase."""
PARTNERS = re.compile(r"[a-z']+ & c\. s\.?(?:n\.?c|a\.?s)\.?")
"""The surname of an owner with partners, on folded text: `Rossi & C. S.n.c.`"""
FULL_NAME_ENDS = re.compile(rf" (?:[-\u2013\u2014\u00b7\u2022|] |{LEGAL_FORM.pattern})")
"""What follows a whole name in a line, rather than the rest of an address or a sentence; on folded text."""
LEAST_WHOLE = 6
"""Fewest letters of a domain or a logo that joins two lines."""
MOST_LINES = 3
"""Most lines of a name."""


@dataclass(frozen=True, slots=True)
class Print:
    """What a document shows of its names elsewhere, and how large its print is."""

    said: Sequence[str]
    """The folded texts of its cells."""
    whole: Sequence[str]
    """Names that are known to be one: its domains, and logos of two lines; squeezed."""
    usual: float
    """The median height of the cells on the first page."""


def print_of(layout: Layout) -> Print:
    """Return what a layout shows of names."""
    usual = median([cell.height for row in layout.rows if row.page == 1 for cell in row.cells] or [1.0])
    large = [cell for cell in layout.cells if cell.page == 1 and _is_large(cell, usual) and is_name(cell.text)]
    logos = [f"{cell.text} {under.text}" for cell in large for under in lines_below(layout, cell) if under in large]
    whole = [*domains(layout), *map(squeeze, logos)]
    return Print([cell.folded for cell in layout.cells], [each for each in whole if len(each) >= LEAST_WHOLE], usual)


def lines_below(layout: Layout, cell: Cell) -> Iterator[Cell]:
    """Yield the lines close below a cell and aligned with it; another column's line may lie between them."""
    for row in layout.rows[cell.row + 1 : cell.row + 3]:
        near = (o for o in row.cells if o.page == cell.page and o.top - cell.bottom <= cell.height * NEAR_REST)
        yield from (other for other in near if other.top > cell.top and aligned(other, cell))


def legal_form_below(layout: Layout, cell: Cell, name: str) -> str:
    """Return the legal form on the line below a name that starts in a cell, after a space; an empty string if none."""
    under = next(lines_below(layout, cell), None)
    ends = legal_form(cell.folded) or legal_form(fold(name))
    whole = under is None or not (_goes_on_to_owner(under) or (is_legal_form(under) and not ends))
    return "" if under is None or whole else f" {under.text}"


def _goes_on_to_owner(cell: Cell) -> bool:
    """Return whether a line ends the name above it, as in Italy: `Hotel Rosa di Rossi Mario`, perhaps with `s.n.c.`."""
    return cell.text.startswith("di ") and (bool(legal_form(cell.folded)) or cell.text[3:].istitle())


def rest_below(layout: Layout, cell: Cell, known: Print) -> list[Cell]:
    """Return the other lines of a name that begins in a cell; empty if it has one line."""
    rest: list[Cell] = []
    while len(rest) < MOST_LINES - 1:
        last = rest[-1] if rest else cell
        name = " ".join(each.text for each in (cell, *rest))
        under = next((other for other in lines_below(layout, last) if _goes_on_in(name, last, other, known)), None)
        if under is None:
            break
        rest.append(under)
    return rest


def _goes_on_in(name: str, last: Cell, other: Cell, known: Print) -> bool:
    """Return whether a line goes on with a name that ends in the line above it, `last`.

    Another place has the name as a whole, which must end there if the lines differ in print; or the first line needs an
    end, or the second has one word and a legal form; or both are in the large print of a logo; or a domain or a logo
    begins in the first and is all of the second.
    """
    both = f"{name} {other.text}"
    same_print = abs(other.height - last.height) <= SAME_SIZE * last.height
    if not is_name(both):
        return False
    folded = fold(both)
    begun = (text for text in known.said if text.startswith(folded))
    is_spelt_out = any(text == folded or FULL_NAME_ENDS.match(text, len(folded)) for text in begun)
    if is_spelt_out or ((same_print or legal_form(folded)) and _is_said(folded, known.said)):
        return True
    if same_print and (_is_end(last, other) or _are_lettering(name, last, other, known)):
        return True
    rest = squeeze(other.text)
    return any(len(whole) > len(rest) and squeeze(both).endswith(whole) for whole in known.whole)


def _is_large(cell: Cell, usual: float) -> bool:
    return cell.height > (1 + OF_A_LOGO) * usual


def _are_lettering(name: str, last: Cell, other: Cell, known: Print) -> bool:
    """Return whether two lines are in the large print of a logo, which is one name, broken to fit."""
    large = _is_large(last, known.usual) and _is_large(other, known.usual)
    return large and is_name(other.text) and not legal_form(fold(name)) and squeeze(name) not in squeeze(other.text)


def _is_end(cell: Cell, other: Cell) -> bool:
    """Return whether a line with a legal form ends the name above it: `Miller & Webb` and `Accountants Ltd`."""
    if legal_form(cell.folded) or not has_legal_form(other):
        return False
    if OF_A_PERSON.search(cell.text) and PARTNERS.fullmatch(other.folded):
        return True
    words = LEGAL_FORM.sub("", other.folded).split()
    titled = is_name(cell.text) and not SLOGAN.search(cell.text)
    return bool(GOES_ON_BELOW.search(cell.folded)) or (titled and len(words) == 1)


def _is_said(folded: str, said: Sequence[str]) -> bool:
    """Return whether one of the texts contains these words as whole words."""
    having = [text for text in said if folded in text]  # rarely any: compiling a pattern is slow
    return bool(having) and any(map(re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)").search, having))
