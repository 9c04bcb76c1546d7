"""Solve net + tax = total over the amounts on the page: labels propose candidates, arithmetic decides."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import chain, combinations, pairwise, product

from docrail.invoices.facts import Source
from docrail.invoices.readers.amounts.money import RATE, Money, Role
from docrail.invoices.readers.amounts.sum_words import NET_TOTAL, PAID, TAX, ZERO_RATED
from docrail.invoices.readers.amounts.sums import (
    ZERO,
    Part,
    Totals,
    before_payment,
    is_of_a_part,
    partly_taxed,
    plausible_rate,
    plausible_tax,
    rounded,
    roundings,
    settled,
    with_tax_inside,
)
from docrail.invoices.values.currencies import tolerance

LABEL_SCORE = {Role.TOTAL: 3.0, Role.PLAIN_TOTAL: 2.2, Role.NET: 3.0, Role.TAX: 3.0}
UNNAMED, UNNAMED_TAX = 0.4, 2.0
"""Scores of unnamed amounts that only fit the others; the second is for one that fits a net and a rate."""
COLUMN_SCORE = 1.2
"""Score for a heading above; it is weaker than a label in the row."""
ROW_SCORE, NAMED_ROW_SCORE = 1.6, 2.6
"""Scores of each of net, tax and total in one row; the second is for columns headed so."""
AGREEMENT = 3.0
"""Score for fitting arithmetic; more than the difference between any two labels."""
FOURTH = 1.0
"""Additional score for a fourth amount that fits."""
ADJUSTED = 1.5
"""Penalty for shipping or a discount between net and total: some sum of the amounts on a page fits by chance."""
CENTS_ARE_USUAL = 3
"""Number of amounts with cents or a currency from which the document is taken to print them always."""
MAX_CANDIDATES = 14
LARGEST = 1.0
"""Score for the largest of several totals; proportionally less for smaller ones."""
SETTLED = 3.0
"""Score for the amount that a till kept; as much as for arithmetic with net and tax."""
MAX_ADJUSTMENTS = 3
MAX_LEFT = 4
"""Most totals, taxes and nets tried if the net is not named."""


def solve_totals(amounts: Sequence[Money], lines_total: Decimal | None = None) -> Totals:
    """Return the amounts that best fit their labels and each other; without arithmetic, the best labels.

    If no tax is stated, the total is also the net, provided that the tax is zero or the lines add up to it.
    """
    totals = before_payment(with_tax_inside(rounded(_solve(amounts, lines_total), amounts), amounts), amounts)
    if totals.total is None or totals.net is not None:
        return totals
    untold = totals.tax is None and not any(money.value for money in amounts if money.role is Role.TAX)
    free = totals.tax is not None and totals.tax.value == 0
    if free or (untold and lines_total == totals.total.value):
        net = Part(totals.total.value, totals.total.score, totals.total.cell, Source.TEXT_PATTERN)
        return Totals(net, totals.tax, totals.total, totals.adjustment)
    return totals


def _solve(amounts: Sequence[Money], lines_total: Decimal | None) -> Totals:
    slack = _slack(amounts)
    nets = _parts(amounts, Role.NET)
    taxes = [*_taxes(amounts), *_taxes_by_rate(amounts, nets, slack)]
    steps = {ZERO, *(amounts[index].value for index in roundings(amounts))}
    totals = _totals(amounts, {net.value + tax.value + step for net in nets for tax in taxes for step in steps})
    nets = [*nets, *_nets_left(amounts, totals, taxes, slack)]
    adjustments = _adjustments(amounts)
    taxed = [
        *_by_row(amounts, slack),
        *_by_summary(amounts),
        *_by_label(totals, nets, taxes, adjustments, slack),
        *_with_zero_rated(totals, nets, taxes, amounts, slack),
    ]
    printed = {money.value for money in amounts if money.exact}
    taxed = [solution for solution in taxed if not (solution.adjustment and _before_adjustment(solution) in printed)]
    refuted = {solution.net.value for solution in taxed if solution.net and solution.tax and solution.tax.value}
    untaxed = [solution for solution in _untaxed(totals, nets, adjustments) if _value(solution.net) not in refuted]
    named = [total for total in totals if total.source is Source.TEXT_LABEL]
    something = any(total.value for total in named)  # if so, 0 + 0 = 0 belongs to a tax table
    whole = [solution for solution in (*taxed, *untaxed) if not is_of_a_part(solution.total, named, lines_total)]
    solutions = [solution for solution in whole if _value(solution.total) or not something]
    kept = settled(amounts)
    if solutions:
        return max(solutions, key=lambda solution: _score(solution) + SETTLED * (_value(solution.total) == kept))
    headed = [part for part in _parts(amounts, Role.TOTAL) if part.value == _largest(amounts)]
    total = next((total for total in (*named, *totals) if total.value == kept), next(iter([*named, *headed]), None))
    return Totals(_plausible_net(nets, total), plausible_tax(taxes, total), total)


def _slack(amounts: Sequence[Money]) -> Decimal:
    """Return the rounding tolerance in the most frequent currency."""
    named = Counter(money.currency for money in amounts if money.currency).most_common(1)
    return tolerance(named[0][0] if named else None)


def _value(part: Part | None) -> Decimal | None:
    return part.value if part else None


def _before_adjustment(totals: Totals) -> Decimal | None:
    """Return net + tax, None without a tax. If it is printed, it is the total and later amounts concern payment."""
    return totals.net.value + totals.tax.value if totals.net and totals.tax and totals.tax.value else None


def _score(totals: Totals) -> float:
    parts = [part for part in (totals.net, totals.tax, totals.total) if part]
    return sum(part.score for part in parts) - (ADJUSTED if totals.adjustment else 0.0)


def _parts(amounts: Sequence[Money], role: Role) -> list[Part]:
    """Return the amounts called `role`, best first. Lower positions score higher, because sums follow their parts.

    If amounts have cents, numbers without them are counts.
    """
    with_cents = sum(money.exact for money in amounts) >= CENTS_ARE_USUAL
    likely = [money for money in amounts if money.exact or not with_cents]
    parts = [_part(money, index, len(likely), role) for index, money in enumerate(likely)]
    return sorted((part for part in parts if part), key=lambda part: -part.score)[:MAX_CANDIDATES]


def _part(money: Money, index: int, count: int, role: Role) -> Part | None:
    position = 0.3 * index / count + 0.3 * money.exact + 0.1 * (money.currency is not None)
    if money.role is role:
        return Part(money.value, LABEL_SCORE[role] + position, money.cell, Source.TEXT_LABEL)
    if money.column is role and money.role not in (Role.NOT_A_SUM, Role.ADJUSTMENT) and money.exact and money.value:
        return Part(money.value, COLUMN_SCORE + position, money.cell, Source.TEXT_PATTERN)
    return None


def _totals(amounts: Sequence[Money], sums: Collection[Decimal]) -> list[Part]:
    """Return the amounts named total, plus the largest amount and any equal to net + tax."""
    exact = {money.value for money in amounts if money.exact}
    named = [*_larger_first([*_parts(amounts, Role.TOTAL), *_parts(amounts, Role.PLAIN_TOTAL)], exact)]
    likely = {_largest(amounts), *sums}
    unnamed = [
        Part(money.value, UNNAMED, money.cell, Source.TEXT_PATTERN)
        for money in amounts
        if money.exact and money.value in likely and money.role not in (Role.NOT_A_SUM, Role.NET)
    ]
    named += [] if named else _net_totals(amounts)
    return sorted([*named, *unnamed], key=lambda part: -part.score)[: 2 * MAX_CANDIDATES]


def _largest(amounts: Sequence[Money]) -> Decimal | None:
    return max((m.value for m in amounts if m.exact and m.role is not Role.NOT_A_SUM), default=None)


def _net_totals(amounts: Sequence[Money]) -> list[Part]:
    """Return amounts that tills call net total: below a tax or a rounding they include it."""
    places = [index for index, money in enumerate(amounts) if money.role in (Role.TAX, Role.ADJUSTMENT)]
    below = amounts[places[0] :] if places else ()
    net_totals = (money for money in below if money.exact and NET_TOTAL.search(money.label))
    return [Part(money.value, UNNAMED, money.cell, Source.TEXT_LABEL) for money in net_totals]


def _larger_first(parts: Sequence[Part], exact: Collection[Decimal]) -> Iterator[Part]:
    """Raise the scores of larger totals: of several, the smaller ones are partial sums or remainders."""
    largest = max((abs(part.value) for part in parts if part.value in exact), default=ZERO)
    for part in parts:
        bonus = LARGEST * float(abs(part.value) / largest) if largest and part.value in exact else 0.0
        yield Part(part.value, part.score + bonus, part.cell, part.source)


def _taxes(amounts: Sequence[Money]) -> list[Part]:
    """Return the amounts named tax, and the sums of rows with several rates."""
    named = _parts(amounts, Role.TAX)
    rows = {money.cell.row: money for money in amounts if _is_tax_row(money)}
    sums = [
        Part(sum((money.value for money in chosen), ZERO), 2.5, None, Source.TEXT_PATTERN)
        for size in (2, 3)
        for chosen in combinations(list(rows.values())[-4:], size)
    ]
    return [*named, *sums]


def _is_tax_row(money: Money) -> bool:
    """Return whether the amount is the tax at one of several rates, by its label or its column heading."""
    called = money.role is Role.TAX and bool(RATE.search(money.label))
    return called or (money.exact and money.column is Role.TAX and money.role in (Role.TAX, Role.OTHER))


def _taxes_by_rate(amounts: Sequence[Money], nets: Sequence[Part], slack: Decimal) -> Iterator[Part]:
    """Yield amounts that equal a net times the rate next to them, whatever the tax is called."""
    for money in amounts:
        rate = RATE.search(money.label) if money.exact and money.role is Role.OTHER else None
        share = Decimal(rate.group().rstrip("% ").replace(",", ".")) / 100 if rate else ZERO
        if share and any(abs(net.value * share - money.value) <= slack for net in nets):
            yield Part(money.value, UNNAMED_TAX, money.cell, Source.TEXT_PATTERN)


def _with_zero_rated(
    totals: Sequence[Part], nets: Sequence[Part], taxes: Sequence[Part], amounts: Sequence[Money], slack: Decimal
) -> Iterator[Totals]:
    """Yield totals of taxed and untaxed parts: `Total 6% (excl. GST): 15.84`, `GST: 0.95`, `Total 0%: 22.99`."""
    sums = (Role.NET, Role.TOTAL, Role.PLAIN_TOTAL)
    untaxed = {m.value for m in amounts if m.exact and m.value and m.role in sums and ZERO_RATED.search(m.label)}
    for total, net, tax, rest in product(totals, nets, taxes, sorted(untaxed)[-1:]):
        fits = abs(net.value + tax.value + rest - abs(total.value)) <= slack  # `Total payable: - 9.90` has a dash
        if fits and tax.value and net.value != rest and plausible_rate(net.value, tax.value):
            whole = Part(net.value + rest, net.score, None, Source.TEXT_PATTERN)
            payable = Part(abs(total.value), total.score, total.cell, total.source)
            yield Totals(whole, tax, _agreed(payable, AGREEMENT + FOURTH))


def _nets_left(amounts: Sequence[Money], totals: Sequence[Part], taxes: Sequence[Part], slack: Decimal) -> list[Part]:
    """Return amounts that equal a total minus its tax, under any name."""
    named = [part for part in taxes if part.source is Source.TEXT_LABEL and part.value][:MAX_LEFT]
    left = {total.value - tax.value for total in totals[:MAX_LEFT] for tax in named}
    called = (m for m in amounts if m.exact and m.role is not Role.ADJUSTMENT)
    fitting = (m for m in called if any(abs(m.value - value) <= slack for value in left))
    return [Part(money.value, UNNAMED, money.cell, Source.TEXT_PATTERN) for money in fitting][-MAX_LEFT:]


def _adjustments(amounts: Sequence[Money]) -> list[Decimal]:
    values = [money.value for money in amounts if money.role is Role.ADJUSTMENT and money.value][-MAX_ADJUSTMENTS:]
    values += [-money.value for money in amounts if money.exact and PAID.search(money.label) and money.value][-1:]
    sizes = range(1, len(values) + 1)
    sums = {sum(chosen, ZERO) for chosen in chain.from_iterable(combinations(values, size) for size in sizes)}
    return sorted(chain.from_iterable((value, -value) for value in sums), key=abs)


def _by_label(
    totals: Sequence[Part], nets: Sequence[Part], taxes: Sequence[Part], adjustments: Sequence[Decimal], slack: Decimal
) -> Iterator[Totals]:
    for total in totals:
        for net in nets:
            if not _plausible(net.value, total.value):
                continue
            for tax in taxes:
                rest = total.value - net.value - tax.value
                alone = not tax.value and net.cell is total.cell
                if alone or not (partly_taxed(net, tax, total) or plausible_rate(net.value, tax.value)):
                    continue
                fitting = next((value for value in (ZERO, *adjustments) if abs(rest - value) <= slack), None)
                if fitting is not None:
                    yield Totals(net, tax, _agreed(total, AGREEMENT if tax.value else AGREEMENT / 2), fitting)


def _by_row(amounts: Sequence[Money], slack: Decimal) -> Iterator[Totals]:
    """Yield rows like `41,31  8,68  49,99`: net, tax and total next to each other, whatever they are called."""
    for one, two, three in zip(amounts, amounts[1:], amounts[2:], strict=False):
        same_row = one.cell.row == two.cell.row == three.cell.row and one.exact and two.exact and three.exact
        fits = abs(one.value + two.value - three.value) <= slack and plausible_rate(one.value, two.value)
        if same_row and fits:
            bonus = 0.5 * (one.role in (Role.TOTAL, Role.PLAIN_TOTAL)) + 0.0005 * three.cell.row
            named = (one.column, two.column) == (Role.NET, Role.TAX) and three.column in (Role.TOTAL, Role.PLAIN_TOTAL)
            if not (two.value or named):
                continue  # a line item: price, discount, amount
            score = (NAMED_ROW_SCORE if named else ROW_SCORE) + bonus
            row = [Part(money.value, score, money.cell, Source.TEXT_LABEL) for money in (one, two, three)]
            yield Totals(row[0], row[1], _agreed(row[2]))


def _by_summary(amounts: Sequence[Money]) -> Iterator[Totals]:
    """Yield `GST 6%: 20.00  1.20` from a till's tax table if the sum of both is printed as well."""
    printed = {money.value: money for money in amounts if money.exact}
    for net, tax in pairwise(amounts):
        told = net.role is Role.PLAIN_TOTAL or TAX.search(net.label)
        total = printed.get(net.value + tax.value) if told and tax.value else None
        beside = net.cell.row == tax.cell.row and net.exact and tax.exact
        if total and beside and plausible_rate(net.value, tax.value):
            parts = [Part(money.value, ROW_SCORE, money.cell, Source.TEXT_PATTERN) for money in (net, tax, total)]
            yield Totals(parts[0], parts[1], _agreed(parts[2]))


def _untaxed(totals: Sequence[Part], nets: Sequence[Part], adjustments: Sequence[Decimal]) -> Iterator[Totals]:
    """Yield totals equal to the net, or labelled and apart by a discount: there is no tax, or none is stated."""
    for total in totals:
        for net in nets:
            if net.value == total.value and net.cell is not total.cell:
                yield Totals(net, None, _agreed(total, AGREEMENT / 2))
            elif net.source is total.source is Source.TEXT_LABEL and total.value - net.value in adjustments:
                yield Totals(net, None, _agreed(total, AGREEMENT / 2), total.value - net.value)


def _agreed(part: Part, bonus: float = AGREEMENT) -> Part:
    return Part(part.value, part.score + bonus, part.cell, part.source)


def _plausible(net: Decimal, total: Decimal) -> bool:
    """Return whether net and total have the same sign. The net may be larger, because discounts come later."""
    return (net >= 0) == (total >= 0)


def _plausible_net(nets: Sequence[Part], total: Part | None) -> Part | None:
    if total is None:
        return next(iter(nets), None)
    return next(
        (net for net in nets if net.cell is not total.cell and total.value / 2 < net.value <= total.value), None
    )
