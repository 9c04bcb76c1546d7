"""Find the rows that charge something, with their amounts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from docrail.invoices.features import Feature, leaders
from docrail.invoices.readers.amounts.money import has_money
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.lines.numbers import Span, before_code
from docrail.invoices.readers.lines.tables import MOST_UNDER, Table, goes_on, tables
from docrail.invoices.values.numbers import Amount, find_amounts

ALIGNED = 14.0
"""Largest distance in points between an amount's right edge and its column's."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A row with an amount in the amount column."""

    row: Row
    cell: Cell
    amount: Amount


@dataclass(frozen=True, slots=True)
class AmountEdge:
    """The right edge of a column that may be the one of the amounts."""

    edge: int
    amounts: int
    headed: int
    """Those of its amounts that are below the heading of amounts."""


AMOUNT_EDGE: tuple[Feature[AmountEdge], ...] = (
    Feature("amounts that end at it", 1.0, lambda e: e.amounts),
    Feature("of these, below the heading of amounts", 2.0, lambda e: e.headed),  # prices form columns too
)


def charges_of(table: Table) -> list[Charge]:
    """Return the rows with an amount in the amount column.

    It is the column at which most amounts end; amounts below its heading count more.
    """
    found = [charge for row in table.rows if (charge := last_amount(row))]
    head = table.columns.amount or (None if found else table.columns.price)
    if head is not None and not any(head.over(charge.cell) > 0 for charge in found):
        boxed = [charge for row in table.rows if (charge := _boxed_amount(row, table.columns.box))]
        if boxed:
            return boxed
        loose = [charge for row in table.rows if (charge := last_amount(row, loose=True))]
        found = [charge for charge in loose if charge.amount.exact or charge.amount.end == len(charge.cell.text)]
    if not found:
        return []
    edge = leaders(AMOUNT_EDGE, _edges(found, head))[0].edge
    return _of_groups(table.rows) or [charge for charge in found if abs(charge.cell.right - edge) <= ALIGNED]


def _of_groups(rows: Sequence[Row]) -> list[Charge]:
    """Return the amounts of the lines if the last column only adds up those of each group; else an empty list."""
    charges: list[Charge] = []
    last, begin, several = max((row.cells[-1].right for row in rows), default=0), 0, False
    for row in rows:
        found = [charge for cell in row.cells if (charge := _amount_in(row, cell))]
        total = found.pop() if found and last - found[-1].cell.right <= ALIGNED else None
        charges += found[-1:]
        if total:
            group = [charge.amount.value for charge in charges[begin:]]
            if sum(group) != total.amount.value:
                return []
            begin, several = len(charges), several or len(group) > 1
    return charges if several and begin == len(charges) else []


def _edges(charges: Sequence[Charge], head: Span | None) -> Iterator[AmountEdge]:
    every = Counter(round(charge.cell.right) for charge in charges)
    headed = Counter(round(c.cell.right) for c in charges if head is not None and head.over(c.cell) > 0)
    for edge in every:
        near = [other for other in every if abs(other - edge) <= ALIGNED]
        yield AmountEdge(edge, sum(every[other] for other in near), sum(headed[other] for other in near))


def _boxed_amount(row: Row, box: Span | None) -> Charge | None:
    """Return the row's amount that ends inside the box below the amount column's heading."""
    boxed = (cell for cell in row.cells if box and box.left <= cell.left and cell.right <= box.right)
    return next((charge for cell in boxed if (charge := _amount_in(row, cell))), None)


def last_amount(row: Row, *, loose: bool = False) -> Charge | None:
    """Return the row's rightmost amount. With `loose` any number counts, for documents whose lines have no cents."""
    return next((charge for cell in reversed(row.cells) if (charge := _amount_in(row, cell, loose=loose))), None)


def _amount_in(row: Row, cell: Cell, *, loose: bool = False) -> Charge | None:
    amounts = [amount for amount in find_amounts(cell.text) if amount.exact or loose]
    return Charge(row, before_code(cell), amounts[-1]) if amounts else None


@lru_cache(maxsize=2)
def charged_rows(layout: Layout) -> dict[int, Row]:
    """Return the rows that charge something, by number: below the headings of lines, with an amount at their end."""
    rows = (row for table in tables(layout) if table.headed for row in table.rows)
    return {row.number: row for row in rows if has_money(row.cells[-1].text)}


def describes_a_line(layout: Layout, row: Row) -> bool:
    """Return whether the row is further description of a charged line, such as the serial number of a machine."""
    charged = charged_rows(layout)
    above = next((charged[n] for n in range(row.number - 1, row.number - 1 - MOST_UNDER, -1) if n in charged), None)
    return above is not None and goes_on(row, above)
