"""Solves net + tax = total over the amounts on the page: labels propose, arithmetic decides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, combinations

from invoices.model import Source
from invoices.readers.geometry import Cell
from invoices.readers.money import RATE, Money, Role

TOLERANCE = Decimal("0.02")
LOWEST_RATE, HIGHEST_RATE = Decimal("0.012"), Decimal("0.35")
"""No country taxes less or more of a whole invoice."""
LABEL_SCORE = {Role.TOTAL: 3.0, Role.PLAIN_TOTAL: 2.2, Role.NET: 3.0, Role.TAX: 3.0}
COLUMN_SCORE = 1.2
"""A header above says less than a label beside."""
AGREEMENT = 3.0
"""What arithmetic adds: more than the difference between any two labels."""
MAX_CANDIDATES = 14
MAX_ADJUSTMENTS = 3
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Part:
    """An amount proposed for net, tax or total. `cell` None: computed, printed nowhere."""

    value: Decimal
    score: float
    cell: Cell | None
    source: Source


@dataclass(frozen=True, slots=True)
class Totals:
    """What the document asks for. `adjustment` is added to net + tax."""

    net: Part | None = None
    tax: Part | None = None
    total: Part | None = None
    adjustment: Decimal = ZERO


def solve_totals(amounts: Sequence[Money]) -> Totals:
    """Return the amounts that fit their labels and each other best; without arithmetic, the best labels alone."""
    totals, nets, taxes = _totals(amounts), _parts(amounts, Role.NET), _taxes(amounts)
    solutions = [*_by_row(amounts), *_by_label(totals, nets, taxes, _adjustments(amounts)), *_untaxed(totals, nets)]
    if solutions:
        return max(solutions, key=_score)
    total = totals[0] if totals else None
    return Totals(_plausible_net(nets, total), _plausible_tax(taxes, total), total)


def _score(totals: Totals) -> float:
    parts = [part for part in (totals.net, totals.tax, totals.total) if part]
    return sum(part.score for part in parts) - (0.5 if totals.adjustment else 0.0)


def _parts(amounts: Sequence[Money], role: Role) -> list[Part]:
    """Return the amounts called `role`, best first. Lower on the page is surer: sums stand under what they sum."""
    parts = [_part(money, index, len(amounts), role) for index, money in enumerate(amounts)]
    return sorted((part for part in parts if part), key=lambda part: -part.score)[:MAX_CANDIDATES]


def _part(money: Money, index: int, count: int, role: Role) -> Part | None:
    position = 0.3 * index / count + 0.3 * money.exact + 0.1 * (money.currency is not None)
    if money.role is role:
        return Part(money.value, LABEL_SCORE[role] + position, money.cell, Source.TEXT_LABEL)
    if money.column is role and money.role is not Role.NOT_A_SUM and money.exact:
        return Part(money.value, COLUMN_SCORE + position, money.cell, Source.TEXT_PATTERN)
    return None


def _totals(amounts: Sequence[Money]) -> list[Part]:
    named = [*_parts(amounts, Role.TOTAL), *_parts(amounts, Role.PLAIN_TOTAL)]
    largest = max((money.value for money in amounts if money.exact), default=None)
    unnamed = [
        Part(money.value, 0.4, money.cell, Source.TEXT_PATTERN)
        for money in amounts
        if money.exact and money.value == largest and money.role not in (Role.NOT_A_SUM, Role.NET)
    ]
    return sorted([*named, *unnamed], key=lambda part: -part.score)[: 2 * MAX_CANDIDATES]


def _taxes(amounts: Sequence[Money]) -> list[Part]:
    """Return the amounts called tax, and the sum of the rows of several rates."""
    named = _parts(amounts, Role.TAX)
    rows = {money.cell.row: money for money in amounts if money.role is Role.TAX and RATE.search(money.label)}
    sums = [
        Part(sum((money.value for money in chosen), ZERO), 2.5, None, Source.TEXT_PATTERN)
        for size in (2, 3)
        for chosen in combinations(list(rows.values())[-4:], size)
    ]
    return [*named, *sums]


def _adjustments(amounts: Sequence[Money]) -> list[Decimal]:
    values = [money.value for money in amounts if money.role is Role.ADJUSTMENT and money.value][-MAX_ADJUSTMENTS:]
    sizes = range(1, len(values) + 1)
    sums = {sum(chosen, ZERO) for chosen in chain.from_iterable(combinations(values, size) for size in sizes)}
    return sorted(chain.from_iterable((value, -value) for value in sums), key=abs)


def _by_label(
    totals: Sequence[Part], nets: Sequence[Part], taxes: Sequence[Part], adjustments: Sequence[Decimal]
) -> Iterator[Totals]:
    for total in totals:
        for net in nets:
            if not _plausible(net.value, total.value):
                continue
            for tax in taxes:
                rest = total.value - net.value - tax.value
                if not _plausible_rate(net.value, tax.value):
                    continue
                fitting = next((value for value in (ZERO, *adjustments) if abs(rest - value) <= TOLERANCE), None)
                if fitting is not None:
                    yield Totals(net, tax, _agreed(total), fitting)


def _by_row(amounts: Sequence[Money]) -> Iterator[Totals]:
    """Yield rows like `41,31  8,68  49,99`: net, tax and total side by side, whatever they are called."""
    for one, two, three in zip(amounts, amounts[1:], amounts[2:], strict=False):
        same_row = one.cell.row == two.cell.row == three.cell.row and one.exact and two.exact and three.exact
        fits = abs(one.value + two.value - three.value) <= TOLERANCE and _plausible_rate(one.value, two.value)
        if same_row and fits:
            bonus = 0.5 * (one.role in (Role.TOTAL, Role.PLAIN_TOTAL)) + 0.0005 * three.cell.row
            row = [Part(money.value, 1.6 + bonus, money.cell, Source.TEXT_LABEL) for money in (one, two, three)]
            yield Totals(row[0], row[1], _agreed(row[2]))


def _untaxed(totals: Sequence[Part], nets: Sequence[Part]) -> Iterator[Totals]:
    """Yield totals equal to the net: no tax, or none told."""
    for total in totals:
        for net in nets:
            if net.value == total.value and net.cell is not total.cell:
                yield Totals(net, None, _agreed(total, AGREEMENT / 2))


def _agreed(part: Part, bonus: float = AGREEMENT) -> Part:
    return Part(part.value, part.score + bonus, part.cell, part.source)


def _plausible(net: Decimal, total: Decimal) -> bool:
    """A net has the total's sign. It may exceed it: discounts come after."""
    return (net >= 0) == (total >= 0)


def _plausible_rate(net: Decimal, tax: Decimal) -> bool:
    """A tax has its net's sign and is a part of it that some country asks for; zero is one."""
    return tax == 0 or (net != 0 and LOWEST_RATE <= tax / net <= HIGHEST_RATE)


def _plausible_net(nets: Sequence[Part], total: Part | None) -> Part | None:
    if total is None:
        return next(iter(nets), None)
    return next((net for net in nets if net.value <= total.value and net.value * 2 > total.value), None)


def _plausible_tax(taxes: Sequence[Part], total: Part | None) -> Part | None:
    if total is None:
        return None
    labelled = [tax for tax in taxes if tax.source is Source.TEXT_LABEL]
    return next((tax for tax in labelled if ZERO <= tax.value <= HIGHEST_RATE * total.value), None)
