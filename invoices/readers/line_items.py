"""Finds the table of charged lines: from its header to the first sum, page after page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, takewhile

from invoices.model import LineItem
from invoices.readers.geometry import Cell, Layout, Row
from invoices.readers.money import Role, role_of
from invoices.readers.numbers import Amount, find_amounts
from invoices.readers.vocabulary import LINE_COLUMNS

MIN_COLUMNS, MIN_NUMBER_COLUMNS = 3, 2
"""Fewer column names do not make a header."""
ALIGNED = 14.0
"""Points by which an amount's right edge may miss its column."""
QUANTITY = re.compile(r"^(?:x\s?)?(\d{1,6}(?:[.,]\d{1,4})?)(?:\s?[A-Za-z²³.]{1,6})?$")
TIMES = re.compile(r"\bx\s?(\d{1,5})\b")
SUMS = (Role.TOTAL, Role.PLAIN_TOTAL, Role.TAX, Role.NET)
NUMBERED = re.compile(r"^\(?\d{1,3}[.)]?\s+\S")


@dataclass(frozen=True, slots=True)
class _Table:
    rows: list[Row]
    edge: float | None
    """Right edge of the amount column, None while unknown."""


def find_line_items(layout: Layout) -> tuple[LineItem, ...]:
    """Return the charged lines; none if there is no table that ends in a sum."""
    items: list[LineItem] = []
    for table in _tables(layout):
        items.extend(_items(table))
    return tuple(items)


def _tables(layout: Layout) -> Iterator[_Table]:
    """Yield the rows between each header and the sum that ends it; without any header, numbered rows with amounts.

    A table may go on over pages: only a new header or a sum ends it.
    """
    headers = [row for row in layout.rows if _is_header(row)]
    if not headers:
        yield _Table([row for row in layout.rows if _last_amount(row)], None)
        return
    for header, following in pairwise([*headers, None]):
        assert header is not None
        rows = layout.rows[header.number + 1 : following.number if following else None]
        yield _Table(list(takewhile(lambda row: not _is_sum(row), rows)), _edge(header))


def _is_header(row: Row) -> bool:
    """Tell whether the row names columns of a table of lines: what, and how many or at what price or amount."""
    if any(amount.exact for amount in find_amounts(row.text)) or len(row.cells) < MIN_COLUMNS:
        return False
    words = " | ".join(cell.folded for cell in row.cells if len(cell.words) <= 5)  # noqa: PLR2004  # no sentences
    what, how_many, price, amount = (bool(column.search(words)) for column in LINE_COLUMNS)
    return (what or (how_many and price)) and how_many + price + amount >= MIN_NUMBER_COLUMNS


def _edge(header: Row) -> float | None:
    named = [
        cell
        for cell in header.cells
        if re.search(r"amount|total|betrag|entgelt|wert|montant|bedrag|totaal|import|prijs incl", cell.folded)
    ]
    return named[-1].right if named else None


def _is_sum(row: Row) -> bool:
    """Tell whether the row is a sum rather than a line: it is called one and has nothing else to say."""
    label = next((cell.folded for cell in row.cells if re.search(r"[a-z]{2}", cell.folded)), "")
    if len(label.split()) > 4 or not any(amount.exact for amount in find_amounts(row.text)):  # noqa: PLR2004
        return False
    return role_of(label) in (Role.TOTAL, Role.PLAIN_TOTAL, Role.NET) and len(row.cells) <= 5  # noqa: PLR2004


def _items(table: _Table) -> Iterator[LineItem]:
    amounts = [(row, cell, amount) for row in table.rows if (last := _last_amount(row)) for cell, amount in [last]]
    edge = _common_edge([cell.right for _, cell, _ in amounts], table.edge)
    held: LineItem | None = None
    for row, cell, amount in amounts:
        if edge is not None and abs(cell.right - edge) > ALIGNED:
            continue
        if held is not None and held.amount is not None and amount.value <= 0 and _is_discount(row):
            held = held.model_copy(update={"amount": held.amount + amount.value})
            continue
        item = _item(row, cell, amount, table)
        if item and (table.edge is not None or _is_numbered(row) or item.quantity is not None):
            if held is not None:
                yield held
            held = item
    if held is not None:
        yield held


def _is_discount(row: Row) -> bool:
    return role_of(row.text.lower()) is Role.ADJUSTMENT


def _last_amount(row: Row) -> tuple[Cell, Amount] | None:
    """Return the row's rightmost amount of money."""
    for cell in reversed(row.cells):
        exact = [amount for amount in find_amounts(cell.text) if amount.exact]
        if exact:
            return cell, exact[-1]
    return None


def _common_edge(edges: Sequence[float], header: float | None) -> float | None:
    """Return where most amounts end: a header may stand left of, over or right of its amounts."""
    if not edges:
        return header
    return max(edges, key=lambda edge: sum(abs(other - edge) <= ALIGNED for other in edges))


def _item(row: Row, amount_cell: Cell, amount: Amount, table: _Table) -> LineItem | None:
    before = [cell for cell in row.cells if cell.left < amount_cell.left]
    described = _descriptions(before)
    if not described and table.edge is not None and row is not table.rows[0]:
        before = list(table.rows[table.rows.index(row) - 1].cells)  # the amount is set a little lower than the words
        described = _descriptions(before)
    if not described or role_of(described[0].lower()) in SUMS:
        return None
    quantities = [match[1] for cell in before if (match := QUANTITY.match(cell.text))]
    if not quantities and _is_discount(row):
        return None  # a charge or discount on the whole invoice
    times = TIMES.search(described[0])
    quantity = times[1] if times else next(iter(quantities[-2:]), None)
    prices = [money.value for cell in before for money in find_amounts(cell.text) if money.exact]
    return LineItem(
        description=max(described, key=len),
        quantity=Decimal(quantity.replace(",", ".")) if quantity else None,
        unit_price=prices[-1] if prices else None,
        amount=amount.value,
        page=row.page,
    )


def _descriptions(cells: Sequence[Cell]) -> list[str]:
    return [cell.text for cell in cells if re.search(r"[^\W\d_]{2}", cell.text)]


def _is_numbered(row: Row) -> bool:
    return bool(NUMBERED.match(row.text))
