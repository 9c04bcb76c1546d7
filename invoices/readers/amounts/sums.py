"""The amounts a document charges: net, tax and total, and the total after rounding to the smallest coin."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum

from docrail.invoices.facts import Source
from docrail.invoices.readers.amounts.money import Money, Role
from docrail.invoices.readers.amounts.sum_words import INSIDE, PREPAID, ROUNDING
from docrail.invoices.readers.layout.page import Cell

ZERO = Decimal(0)
LOWEST_RATE, HIGHEST_RATE = Decimal("0.012"), Decimal("0.35")
"""Bounds of the tax on a whole invoice: no country's rate is outside them."""
MOST_ROUNDED = Decimal("0.50")
"""Half of the largest coin to which totals are rounded, a krone."""
MAX_ROUNDINGS = 3
TOTALS = (Role.TOTAL, Role.PLAIN_TOTAL)


class Basis(Enum):
    """What made an amount a candidate for net, tax or total."""

    LABEL = "label"
    PLAIN_LABEL = "label of any total"
    HEADING = "heading of its column"
    ROW = "net, tax and total in one row"
    NAMED_ROW = "net, tax and total in one row under their headings"
    TAXES = "sum of the taxes at several rates"
    BASES = "sum of the bases at several rates"
    REST = "arithmetic alone"


@dataclass(frozen=True, slots=True)
class Part:
    """Net, tax or total, with what counts for it while it is a candidate. `cell` None: it is computed, not printed."""

    value: Decimal
    cell: Cell | None
    source: Source
    basis: Basis = Basis.REST
    depth: float = 0.0
    """Its place among the amounts, as a share: sums follow their parts."""
    exact: bool = False
    size: float = 0.0
    """Share of the largest of several totals."""
    totalled: bool = False
    """Whether its row is named total."""
    row: int = 0
    rate: Decimal | None = None
    """The tax rate in its row, as a share."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The amounts of the document."""

    net: Part | None = None
    tax: Part | None = None
    total: Part | None = None
    adjustment: Decimal = ZERO
    """Added to net + tax to give the total."""
    net_adjustment: Decimal = ZERO
    """Added to the sum of the lines to give the net: it is taxed."""
    net_unsure: bool = False
    """Whether another net fits as well: nothing says if an adjustment is taxed."""
    total_unsure: bool = False
    """Whether a larger total or a much smaller net is named, and nothing on the page says what is between the two."""


def rounded(totals: Totals, amounts: Sequence[Money]) -> Totals:
    """Return the totals after rounding to the smallest coin, if the rounded total is printed below the rounding."""
    if totals.total is None:
        return totals
    small = [index for index, money in enumerate(amounts) if ZERO < abs(money.value) <= MOST_ROUNDED]
    for index in [index for index in small if ROUNDING.search(amounts[index].label)][-MAX_ROUNDINGS:]:
        for money in amounts[index + 1 :]:
            change = money.value - totals.total.value
            called = money.role in TOTALS or ROUNDING.search(money.label)
            if called and abs(change) == abs(amounts[index].value):
                total = Part(money.value, money.cell, Source.TEXT_LABEL)
                return replace(totals, total=total, adjustment=totals.adjustment + change)
    return totals


def with_tax_inside(totals: Totals, amounts: Sequence[Money]) -> Totals:
    """Return the totals with the only tax that is named as part of the total, if no other tax was found.

    An amount labelled net includes the tax in this case.
    """
    inside = {m.value: m for m in amounts if m.exact and m.role is Role.TAX and INSIDE.search(m.label)}
    if totals.total is None or totals.tax is not None or len(inside) != 1:
        return totals
    (money,) = inside.values()
    net = totals.total.value - money.value
    if not money.value or not plausible_rate(net, money.value):
        return totals
    printed = next((m.cell for m in amounts if m.exact and m.value == net), None)
    tax = Part(money.value, money.cell, Source.TEXT_LABEL)
    return Totals(Part(net, printed, Source.TEXT_PATTERN), tax, totals.total)


def with_whole_sums(amounts: Sequence[Money], lines_total: Decimal | None) -> Sequence[Money]:
    """Take named sums without cents for exact amounts if the lines add up to one: the document prints its sums so."""
    whole = [money for money in amounts if not money.exact and money.role in (*TOTALS, Role.NET, Role.TAX)]
    if all(money.value != lines_total for money in whole):
        return amounts
    return [replace(money, exact=True) if money in whole else money for money in amounts]


def before_payment(totals: Totals, amounts: Sequence[Money]) -> Totals:
    """Return the totals with the total before a payment or a withheld tax, if the amount found is the remainder.

    Not if net and tax add up to the amount found: then the document charges the remainder of another sum.
    """
    left = totals.total
    if left is None or (totals.tax is not None and not totals.adjustment):
        return totals
    exact = [money for money in amounts if money.exact]
    last = max((index for index, money in enumerate(exact) if money.value == left.value), default=0)
    grosses: dict[Decimal, Money] = {}
    for money in exact[:last]:
        gross = grosses.get(left.value + abs(money.value))
        if gross and PREPAID.search(money.label):
            total = Part(gross.value, gross.cell, Source.TEXT_LABEL)
            return replace(totals, total=total, adjustment=totals.adjustment and totals.adjustment + abs(money.value))
        if money.role in TOTALS and money.value > left.value:
            grosses.setdefault(money.value, money)
    return totals


def partly_taxed(net: Part, tax: Part, total: Part) -> bool:
    """Return whether net, tax and total are labelled so and add up exactly; little of the net need be taxed then."""
    called = all(part.source is Source.TEXT_LABEL for part in (net, tax, total))
    return called and net.value + tax.value == total.value


def is_of_a_part(
    total: Part | None, named: Sequence[Part], lines_total: Decimal | None, rests: Collection[Decimal]
) -> bool:
    """Return whether a total is that of a part, such as the base of one tax rate or the rooms of a hotel's bill.

    Then it is less than a total with a better name, and the lines add up to that one, alone or with one of `rests`.
    """
    if total is None or lines_total is None:
        return False
    names = [(part.value, 2 if part.basis is Basis.LABEL else 1) for part in named]
    own = max((rank for value, rank in names if value == total.value), default=0)
    better = {value for value, rank in names if rank > own and abs(value) > abs(total.value)}
    return any(lines_total + rest in better for rest in (ZERO, *rests))


def plausible_rate(net: Decimal, tax: Decimal) -> bool:
    """Return whether the tax has the net's sign and a rate that some country uses; zero is plausible."""
    return tax == 0 or (net != 0 and LOWEST_RATE <= tax / net <= HIGHEST_RATE)


def plausible_tax(taxes: Sequence[Part], total: Part | None) -> Part | None:
    """Return the first labelled tax that is plausible for the total; None if there is none."""
    if total is None:
        return None
    most = HIGHEST_RATE * total.value
    low, high = min(ZERO, most), max(ZERO, most)
    return next((tax for tax in taxes if tax.source is Source.TEXT_LABEL and low <= tax.value <= high), None)


def plausible_net(nets: Sequence[Part], total: Part | None) -> Part | None:
    """Return the first of the nets that the total does not rule out."""
    if total is None:
        return next(iter(nets), None)
    return next(
        (net for net in nets if net.cell is not total.cell and total.value / 2 < net.value <= total.value), None
    )


def of_all_rates(taxes: Sequence[Part], amounts: Sequence[Money]) -> Sequence[Part]:
    """Return the taxes without those at single rates, if a printed one is the sum of these."""
    single = {money.cell.row: money.value for money in amounts if money.exact and money.role is Role.TAX and money.rate}
    return [part for part in taxes if part.cell and part.value == sum(single.values())] or taxes
