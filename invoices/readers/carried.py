"""Tells what is carried over from page to page: `A reporter`, `Riporto`, whatever it is called."""

from collections.abc import Sequence
from decimal import Decimal

from invoices.model import LineItem

LEAST_LINES = 2
"""Before a sum: one line's amount again may be another of the same price."""


def carried_over(items: Sequence[LineItem]) -> set[int]:
    """Return the numbers of the items that only say what those before add up to, last or first on their page."""
    carried: set[int] = set()
    made, lines = Decimal(0), 0
    for index, item in enumerate(items):
        amount = item.amount or Decimal(0)
        beside = (items[index - 1] if index else item, items[index + 1] if index + 1 < len(items) else item)
        breaks = any(other.page != item.page for other in beside)
        if breaks and lines >= LEAST_LINES and item.quantity is None and amount == made:
            carried.add(index)
        else:
            made, lines = made + amount, lines + 1
    return carried
