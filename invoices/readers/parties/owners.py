"""Recognize trading names by the line below them that names their owner."""

import re

from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.readers.parties import names
from docrail.invoices.readers.parties.blocks import sender_lines
from docrail.invoices.values.folding import fold

OWNED = re.compile(
    r"\W*(?:inh(?:aber(?:in)?)?\W|entreprise individuelle|einzelunternehm|eenmanszaak|(?:ditta|impresa) individuale|"
    r"titolare\W|propietari[ao]\W|prop(?:rietor)?[.:]|sole (?:trader|proprietor))"
)
"""A line under a trading name."""
SALES_LABEL = re.compile(
    r"vendeu[rs]e?|verkaufer(?:in)?|vendedora?|verkoper|venditore|satici|myyja|se?lger|saljare|"
    r"(?:vendue?|emise?|etablie?|facturee?) par|(?:emitid|expedid|vendid|facturad)[oa] por|"
    r"(?:vendut|emess|fatturat)[oa] da"
)
"""Labels of the seller, but on many invoices of the salesperson or clerk."""
LETTERED = 1.5
"""Height of a trading name over that of its owner's line."""


def has_its_owner_below(layout: Layout, cell: Cell) -> bool:
    """Return whether the next line names the owner of a trading name: after such a label, or as a one-line sender."""
    below = [other for row in layout.rows[cell.row + 1 : cell.row + 2] for other in row.cells]
    near = [other for other in below if other.page == cell.page and names.aligned(other, cell)]
    if any(OWNED.match(other.folded) for other in near):
        return True
    small = [other for other in near if cell.height > LETTERED * other.height]
    return any(_is_its_owner(cell, name, other) for name, other in sender_lines(layout) if other in small)


def _is_its_owner(cell: Cell, name: str, sender: Cell) -> bool:
    """Return whether the sender below a name in larger print is another: a person who trades under that name.

    A company, or a person with register details, would be the issuer.
    """
    shared = {*fold(name).split()} & {*cell.folded.split()}
    issuer = names.legal_form(fold(name)) or vocabulary.REGISTRATION.search(sender.folded)
    return not (shared or issuer) and names.is_name(cell.text)
