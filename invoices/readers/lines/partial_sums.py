"""Omit rows of a table that only add up others: below their lines, at the head of a group, or on the next page.

Amounts carried over from page to page (`A reporter`, `Riporto`) are recognized by arithmetic, whatever they are called.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from docrail.invoices.assessment.checks import lines_total
from docrail.invoices.model import LineItem
from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.values.folding import fold

LEAST_LINES = 2
"""Fewest lines before a carried-over sum: an amount equal to a single line may be another line of the same price."""
INDENT = 9.0
"""Points by which the words of a line may be to the right or left of those of another."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row that may be a line."""

    item: LineItem
    sure: bool
    """Whether it is numbered, or its quantity times its price gives its amount."""
    listed: bool = False
    """Whether it is only words and an amount, in a list without headings as tills print it."""
    extra: bool = False
    """Shipping, a surcharge, a tax or a row without a quantity: a line only if the net includes it."""
    row: int = 0
    begin: float = 0.0
    """Left edge of its first words; of a sum it may be a text next to the sums."""
    name: float = 0.0
    """Left edge of the words closest to its amount."""


def without_sums_below(lines: Sequence[Line], sums: Collection[Decimal]) -> Sequence[Line]:
    """Return the lines without the rows that only add up others above them, whatever their names; else none.

    All but these rows make a named sum. What follows the last of them is a line where lines begin; with its name
    elsewhere, as those of sums are, it is charged on the whole, such as freight or a surcharge.
    """
    plain = [line for line in lines if not line.extra]
    for least, some in () if sum_of(plain) in sums else product((1, LEAST_LINES), (plain, lines)):
        adding = _adding_up_others(some, least)
        others = [line for line in some if line not in adding]
        if adding and sum_of(others) in sums:
            first, end = others[0], adding[-1].row
            lefts = {first.begin, first.name} if abs(adding[-1].name - first.name) > INDENT else {first.begin}
            charging = (line for line in some if line.item.amount and not is_a_tax(line))
            goes_on = {line.row for line in charging if any(abs(line.name - left) < INDENT for left in lefts)}
            return [line for line in others if line.row < end or line.row in goes_on]
    return []


def without_sums_above(lines: Sequence[Line], sums: Collection[Decimal]) -> Sequence[Line]:
    """Return the lines without the rows that add up the group of lines below them; else none."""
    heads = {line.row for line in _adding_up_others(lines[::-1], LEAST_LINES)}
    rest = [line for line in lines if line.row not in heads]
    return rest if len(heads) > 1 and sum_of(rest) in sums else []


def without_a_last_sum(lines: list[Line]) -> list[Line]:
    """Omit the last line if it counts nothing and adds up the others, although no sum confirms it."""
    plain = [line for line in lines if not line.extra]
    last = plain[-1:] if len(plain) > LEAST_LINES and plain[-1].item.quantity is None else []
    return [line for line in lines if line not in last] if last and sum_of(last) == sum_of(plain[:-1]) else lines


def _adding_up_others(lines: Sequence[Line], least: int) -> Sequence[Line]:
    """Return the rows that count nothing and add up all lines before, or at least `least` since the last such row."""
    adding = []
    made, group, size = Decimal(0), Decimal(0), 0
    for line in lines:
        amount = line.item.amount or Decimal(0)
        adds = amount == made or (amount == group and size >= least)
        if amount and adds and not _counts(line):
            adding.append(line)
            group, size = Decimal(0), 0
        else:
            made, group, size = made + amount, group + amount, size + 1
    return adding


def _counts(line: Line) -> bool:
    return line.item.quantity is not None and line.item.unit_price is not None


def sum_of(lines: Sequence[Line]) -> Decimal | None:
    """Return the sum of the amounts, without its sign; None if there are none."""
    total = lines_total([line.item for line in lines])
    return None if total is None else abs(total)


def is_a_tax(line: Line) -> bool:
    """Return whether the row is named as a tax."""
    return role_of(fold(line.item.description)) is Role.TAX


def carried_over(items: Sequence[LineItem]) -> set[int]:
    """Return the indices of items that only carry over the sum of the items before them, last or first on a page."""
    carried: set[int] = set()
    made, lines = Decimal(0), 0
    for index, item in enumerate(items):
        amount = item.amount or Decimal(0)
        neighbours = (items[index - 1] if index else item, items[index + 1] if index + 1 < len(items) else item)
        breaks = any(other.page != item.page for other in neighbours)
        if breaks and lines >= LEAST_LINES and item.quantity is None and amount == made:
            carried.add(index)
        else:
            made, lines = made + amount, lines + 1
    return carried
