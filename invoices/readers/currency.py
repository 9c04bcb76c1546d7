"""Finds the currency that a document is in: where it says so, at the total, at most amounts, or anywhere."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from invoices.checks import CURRENCIES
from invoices.model import FieldValue, Source
from invoices.readers.found import found
from invoices.readers.geometry import Cell, Layout
from invoices.readers.labels import Finder
from invoices.readers.money import Money
from invoices.readers.numbers import SYMBOLS
from invoices.readers.totals import Totals
from invoices.readers.vocabulary import CURRENCY_LABEL

CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
SYMBOL = re.compile("|".join(re.escape(symbol) for symbol in SYMBOLS if not symbol.startswith("Rs")))
DOLLARS = frozenset({"USD", "CAD", "AUD", "NZD", "HKD", "SGD", "MXN"})
"""What a bare dollar sign can mean; a code elsewhere in the document tells which."""
MAX_LABEL_WORDS = 6


def find_currency(finder: Finder, amounts: Sequence[Money], totals: Totals) -> FieldValue[str]:
    """Return the surest currency; nothing where none is named."""
    layout = finder.layout
    codes = [(code, cell) for cell in layout.cells for code in CODE.findall(cell.text) if code in CURRENCIES]
    for source, named in (
        (Source.TEXT_LABEL, [*_labelled(finder)]),
        (Source.TEXT_LABEL, [*_at_amounts(amounts, totals)]),
        (Source.TEXT_PATTERN, codes),
        (Source.TEXT_PATTERN, [*_symbols(layout)]),
    ):
        if named:
            best = Counter(code for code, _ in named).most_common(1)[0][0]
            cell = next(cell for code, cell in named if code == best)
            return found(layout, _which_dollar(best, [code for code, _ in codes]), cell, source)
    return FieldValue()


def _labelled(finder: Finder) -> Iterator[tuple[str, Cell]]:
    for labelled in finder.at(CURRENCY_LABEL):
        code = CODE.search(labelled.text)
        if labelled.leads and code and code[0] in CURRENCIES and len(labelled.label_cell.words) <= MAX_LABEL_WORDS:
            yield code[0], labelled.cell


def _at_amounts(amounts: Sequence[Money], totals: Totals) -> list[tuple[str, Cell]]:
    """Return the currency at the total alone, if there is one; else all that stand at amounts with cents."""
    total = totals.total.cell if totals.total else None
    marked = [(money.currency, money.cell, money.value) for money in amounts if money.currency]
    at_total = [(code, cell) for code, cell, _ in marked if cell is total]
    with_cents = [(code, cell) for code, cell, value in marked if value != value.to_integral() or value.as_tuple()[2]]
    return at_total or with_cents or [(code, cell) for code, cell, _ in marked if not _is_sentence(cell)]


def _symbols(layout: Layout) -> Iterator[tuple[str, Cell]]:
    for cell in layout.cells:
        for symbol in SYMBOL.findall(cell.text):
            if not _is_sentence(cell):
                yield SYMBOLS[symbol], cell


def _is_sentence(cell: Cell) -> bool:
    return len(cell.words) > MAX_LABEL_WORDS


def _which_dollar(code: str, codes: Sequence[str]) -> str:
    named = {other for other in codes if other in DOLLARS}
    return named.pop() if code == "USD" and len(named) == 1 else code
