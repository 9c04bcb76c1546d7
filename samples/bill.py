"""Define what is printed on an invented invoice."""

import datetime as dt
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from docrail.samples.vendors import Vendor

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Line:
    """A row of an invoice."""

    description: str
    quantity: int
    price: Decimal

    @property
    def amount(self) -> Decimal:
        """Return what the row costs, without tax."""
        return self.quantity * self.price


@dataclass(frozen=True, slots=True)
class Bill:
    """An invoice. Its amounts add up, unless `misprint` changes the printed total."""

    vendor: Vendor
    number: str
    date: dt.date
    due: dt.date
    lines: tuple[Line, ...]
    misprint: Decimal = Decimal(0)

    @property
    def net(self) -> Decimal:
        """Return the total without tax."""
        return sum((line.amount for line in self.lines), Decimal(0)).quantize(CENT)

    @property
    def tax(self) -> Decimal:
        """Return the tax."""
        return (self.net * self.vendor.tax_percent / 100).quantize(CENT, ROUND_HALF_UP)

    @property
    def total(self) -> Decimal:
        """Return the printed total."""
        return self.net + self.tax + self.misprint
