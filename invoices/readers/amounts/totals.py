"""Solve net + tax = total over the amounts on the page: labels propose candidates, arithmetic decides."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from itertools import combinations, dropwhile, pairwise, product

from docrail.invoices.facts import Source
from docrail.invoices.features import Feature, leaders, score
from docrail.invoices.readers.amounts.adjustments import (
    Step,
    step_total,
    steps,
    taxed_part,
    with_larger_total,
    with_net_adjustment,
)
from docrail.invoices.readers.amounts.money import RATE, Money, Role, rates_in
from docrail.invoices.readers.amounts.rates import RatedPart, rated_parts
from docrail.invoices.readers.amounts.sum_words import NET_TOTAL, TAX, ZERO_RATED
from docrail.invoices.readers.amounts.sums import (
    ZERO,
    Basis,
    Part,
    Totals,
    before_payment,
    is_of_a_part,
    of_all_rates,
    partly_taxed,
    plausible_net,
    plausible_rate,
    plausible_tax,
    rounded,
    with_tax_inside,
    with_whole_sums,
)
from docrail.invoices.values.currencies import tolerance

CENTS_ARE_USUAL = 3
"""Number of amounts with cents or a currency from which the document is taken to print them always."""
MAX_CANDIDATES = 14
MOST_RATES = 4
"""Most taxes at single rates that are added, of the first ones, and of the last ones: a table may repeat them."""
MAX_LEFT = 4
"""Most totals, taxes and nets tried if the net is not named."""

PART: tuple[Feature[Part], ...] = (
    Feature("the label names it", 3.0, lambda p: p.basis is Basis.LABEL),
    Feature("the label may name any total", 2.2, lambda p: p.basis is Basis.PLAIN_LABEL),
    Feature("the heading of its column names it", 1.2, lambda p: p.basis is Basis.HEADING),
    Feature("it is in a row of net, tax and total", 1.6, lambda p: p.basis is Basis.ROW),
    Feature("it is in a row of net, tax and total under their headings", 2.6, lambda p: p.basis is Basis.NAMED_ROW),
    Feature("it is the sum of taxes at several rates", 2.5, lambda p: p.basis is Basis.TAXES),
    Feature("it is the sum of the bases at several rates", 2.5, lambda p: p.basis is Basis.BASES),
    Feature("depth among the amounts", 0.3, lambda p: p.depth),
    Feature("it has cents or a currency", 0.3, lambda p: p.exact),
    # of several totals, the smaller ones are partial sums or remainders
    Feature("size among the totals", 1.0, lambda p: p.size),
    Feature("its row is named total", 0.5, lambda p: p.totalled),
    Feature("later row", 0.0005, lambda p: p.row),
)
"""What speaks for an amount as net, tax or total."""


class Fit(Enum):
    """The arithmetic by which the parts of a solution agree."""

    TAXED = "net + tax = total"
    BY_RATES = "bases and taxes at every rate = total"
    UNTAXED = "net = total"


@dataclass(frozen=True, slots=True)
class Solution:
    """Totals that agree with each other."""

    totals: Totals
    fit: Fit


SOLUTION: tuple[Feature[Solution], ...] = (
    Feature("the net", 1.0, lambda s: _points(s.totals.net)),
    Feature("the tax", 1.0, lambda s: _points(s.totals.tax)),
    Feature("the total", 1.0, lambda s: _points(s.totals.total)),
    # more than the difference between any two labels
    Feature("net and tax add up to the total", 3.0, lambda s: s.fit is not Fit.UNTAXED),
    # some sum of the amounts on a page fits by chance
    Feature("only with shipping or a discount", -1.5, lambda s: bool(s.totals.adjustment or s.totals.net_adjustment)),
    # one rate's net, tax and gross fit as well
    Feature("every rate is in it", 3.0, lambda s: s.fit is Fit.BY_RATES),
)
"""What speaks for net, tax and total together."""


def _points(part: Part | None) -> float:
    return score(PART, part) if part else 0.0


def solve_totals(amounts: Sequence[Money], lines_total: Decimal | None = None) -> Totals:
    """Return the amounts that best fit their labels and each other; without arithmetic, the best labels.

    If no tax is stated, the total is also the net, provided that the tax is zero or the lines add up to it.
    """
    amounts = with_whole_sums(amounts, lines_total)
    of = candidates_of(amounts, lines_total)
    totals = rounded(_solve(amounts, of, lines_total), amounts)
    totals = before_payment(with_tax_inside(totals, amounts), amounts)
    totals = with_larger_total(with_net_adjustment(totals, lines_total, of.steps), amounts)
    if totals.total is None or totals.net is not None:
        return totals
    untaxed = not any(money.value for money in amounts if money.role is Role.TAX)
    free = totals.tax is not None and totals.tax.value == 0
    if free or (untaxed and lines_total == totals.total.value):
        return replace(totals, net=replace(totals.total, source=Source.TEXT_PATTERN))
    return totals


@dataclass(frozen=True, slots=True)
class Candidates:
    """The amounts that may be the total, the net, the tax, or what comes between them; best first."""

    totals: Sequence[Part]
    nets: Sequence[Part]
    taxes: Sequence[Part]
    steps: Sequence[Step]
    rated: Sequence[RatedPart]
    printed: Sequence[Money]
    """All amounts with cents or a currency, in reading order."""
    slack: Decimal
    """Rounding tolerance."""

    @property
    def named(self) -> list[Part]:
        """The totals with a label."""
        return [total for total in self.totals if total.source is Source.TEXT_LABEL]

    def step_of(self, rest: Decimal) -> Step | None:
        """Return the adjustments that give `rest`, none of them if it is about zero; None if no step gives it."""
        return next((step for step in ((), *self.steps) if abs(rest - step_total(step)) <= self.slack), None)


def candidates_of(amounts: Sequence[Money], lines_total: Decimal | None = None) -> Candidates:
    """Return the amounts that may be net, tax or total, by their labels and by arithmetic."""
    named = Counter(money.currency for money in amounts if money.currency).most_common(1)
    slack = tolerance(named[0][0] if named else None)
    printed = [money for money in amounts if money.exact]
    nets = _parts(amounts, Role.NET)
    taxes = [*_taxes(amounts), *_taxes_by_rate(printed, nets, slack)]
    totals = _totals(amounts, printed, {net.value + tax.value for net in nets for tax in taxes})
    nets = [*nets, *_nets_left(printed, totals, taxes, slack, lines_total)]
    return Candidates(totals, nets, taxes, steps(amounts), rated_parts(amounts, slack), printed, slack)


def solutions(of: Candidates, lines_total: Decimal | None) -> list[Solution]:
    """Return the totals whose parts agree with each other."""
    taxed = [*_by_row(of), *_by_summary(of), *_by_label(of), *_with_zero_rated(of), *_by_rates(of)]
    printed = {money.value for money in of.printed}
    taxed = [each for each in taxed if not (each.totals.adjustment and _before_adjustment(each.totals) in printed)]
    rests = {step_total(step) for step in of.steps}
    return [
        each
        for each in (*taxed, *_untaxed(of))
        if _value(each.totals.total) and not is_of_a_part(each.totals.total, of.named, lines_total, rests)
    ]


def _solve(amounts: Sequence[Money], of: Candidates, lines_total: Decimal | None) -> Totals:
    if best := leaders(SOLUTION, solutions(of, lines_total)):
        return best[0].totals
    total = next(iter([*of.named, *_parts(amounts, Role.TOTAL)]), None)
    net, tax = plausible_net(of.nets, total), plausible_tax(of_all_rates(of.taxes, of.printed), total)
    # no tax is between a total and a net of at most half of it
    far = total is not None and any(2 * abs(part.value) <= abs(total.value) for part in of.nets)
    return Totals(net, tax, total, total_unsure=net is None and tax is not None and far)


def _value(part: Part | None) -> Decimal | None:
    return part.value if part else None


def _before_adjustment(totals: Totals) -> Decimal | None:
    """Return net + tax, None without a tax. If it is printed, it is the total and later amounts concern payment."""
    return totals.net.value + totals.tax.value if totals.net and totals.tax and totals.tax.value else None


def _parts(amounts: Sequence[Money], role: Role) -> list[Part]:
    """Return the amounts called `role`, best first. Lower positions score higher, because sums follow their parts.

    If amounts have cents, numbers without them are counts.
    """
    with_cents = sum(money.exact for money in amounts) >= CENTS_ARE_USUAL
    likely = [money for money in amounts if money.exact or not with_cents]
    parts = [_part(money, index, len(likely), role) for index, money in enumerate(likely)]
    return _best_first([part for part in parts if part])[:MAX_CANDIDATES]


def _best_first(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: -score(PART, part))


def _part(money: Money, index: int, count: int, role: Role) -> Part | None:
    depth = index / count
    if money.role is role:
        basis = Basis.PLAIN_LABEL if role is Role.PLAIN_TOTAL else Basis.LABEL
        return Part(money.value, money.cell, Source.TEXT_LABEL, basis, depth, money.exact, rate=money.rate)
    if money.column is role and money.role is not Role.NOT_A_SUM and money.exact and money.value:
        return Part(money.value, money.cell, Source.TEXT_PATTERN, Basis.HEADING, depth, money.exact)
    return None


def _totals(amounts: Sequence[Money], printed: Sequence[Money], sums: Collection[Decimal]) -> list[Part]:
    """Return the amounts named total, plus the largest amount and any equal to net + tax."""
    named = _sized([*_parts(amounts, Role.TOTAL), *_parts(amounts, Role.PLAIN_TOTAL)], {m.value for m in printed})
    likely = {max((money.value for money in printed if money.role is not Role.NOT_A_SUM), default=None), *sums}
    unnamed = [
        Part(money.value, money.cell, Source.TEXT_PATTERN)
        for money in printed
        if money.value in likely and (money.role is not Role.NET or money.value in sums)
    ]
    return _best_first([*named, *_net_totals(printed), *unnamed])[: 2 * MAX_CANDIDATES]


def _net_totals(printed: Sequence[Money]) -> list[Part]:
    """Return amounts that tills call net total: below a tax or a rounding they include it."""
    below = dropwhile(lambda money: money.role not in (Role.TAX, Role.ADJUSTMENT), printed)
    return [Part(money.value, money.cell, Source.TEXT_LABEL) for money in below if NET_TOTAL.search(money.label)]


def _sized(parts: Sequence[Part], exact: Collection[Decimal]) -> list[Part]:
    """Return the totals with their share of the largest one, as far as they are printed exactly."""
    largest = max((abs(part.value) for part in parts if part.value in exact), default=ZERO)
    return [
        replace(part, size=float(abs(part.value) / largest)) if largest and part.value in exact else part
        for part in parts
    ]


def _taxes(amounts: Sequence[Money]) -> list[Part]:
    """Return the amounts named tax, and the sums of the taxes at several rates, in rows or under their headings."""
    rated = [money.value for money in amounts if _is_of_a_rate(money)]
    sums = [
        Part(sum(chosen, ZERO), None, Source.TEXT_PATTERN, Basis.TAXES)
        for some in (rated[:MOST_RATES], rated[-MOST_RATES:] if len(rated) > MOST_RATES else ())
        for size in (2, 3)
        for chosen in combinations(some, size)
    ]
    return [*_parts(amounts, Role.TAX), *sums]


def _is_of_a_rate(money: Money) -> bool:
    """Return whether the amount is the tax at one of several rates, by its label or its column heading."""
    called = money.role is Role.TAX and bool(RATE.search(money.label))
    return called or (money.exact and money.column is Role.TAX and money.role in (Role.TAX, Role.OTHER))


def _taxes_by_rate(printed: Sequence[Money], nets: Sequence[Part], slack: Decimal) -> Iterator[Part]:
    """Yield amounts that equal a net times the rate next to them, whatever the tax is called."""
    for money in printed:
        for rate in rates_in(money.label):
            if rate and any(abs(net.value * rate / 100 - money.value) <= slack for net in nets):
                yield Part(money.value, money.cell, Source.TEXT_PATTERN)


def _with_zero_rated(of: Candidates) -> Iterator[Solution]:
    """Yield totals of taxed and untaxed parts: `Total 6% (excl. GST): 15.84`, `GST: 0.95`, `Total 0%: 22.99`."""
    untaxed = {money.value for money in of.printed if money.value and ZERO_RATED.search(money.label)}
    for total, net, tax, rest in product(of.totals, of.nets, of.taxes, sorted(untaxed)[-1:]):
        fits = abs(net.value + tax.value + rest - abs(total.value)) <= of.slack  # `Total payable: - 9.90` has a dash
        if fits and tax.value and plausible_rate(net.value, tax.value):
            whole = replace(net, value=net.value + rest, cell=None, source=Source.TEXT_PATTERN)
            payable = replace(total, value=abs(total.value))
            yield Solution(Totals(whole, tax, payable), Fit.TAXED)


def _nets_left(
    printed: Sequence[Money],
    totals: Sequence[Part],
    taxes: Sequence[Part],
    slack: Decimal,
    lines_total: Decimal | None,
) -> list[Part]:
    """Return amounts that equal a total minus its tax, under any name; under that of a charge, if the lines do too."""
    of_rates = (part for part in taxes if part.basis is Basis.TAXES)
    named = [part for part in taxes if part.source is Source.TEXT_LABEL and part.value][:MAX_LEFT]
    left = {total.value - tax.value for total in totals[:MAX_LEFT] for tax in (*named, *of_rates)}
    called = (m for m in printed if m.role is not Role.ADJUSTMENT or m.value == lines_total)
    fitting = (money for money in called if any(abs(money.value - value) <= slack for value in left))
    return [Part(money.value, money.cell, Source.TEXT_PATTERN) for money in fitting][-MAX_LEFT:]


def _by_label(of: Candidates) -> Iterator[Solution]:
    for total in of.totals:
        for net in of.nets:
            for tax in of.taxes:
                rest = total.value - net.value - tax.value
                plausible = partly_taxed(net, tax, total) or plausible_rate(net.value, tax.value)
                step = of.step_of(rest) if plausible else None
                if step is not None:
                    totals = _with_step(Totals(net, tax, total), net, tax, step, of.slack)
                    yield Solution(totals, Fit.TAXED if tax.value else Fit.UNTAXED)


def _with_step(totals: Totals, net: Part, tax: Part, step: Step, slack: Decimal) -> Totals:
    """Return the totals with a step: its taxed part is part of the net, the rest comes after the tax."""
    taxed = taxed_part(net, tax, step, slack)
    if taxed.value:
        net = replace(net, value=net.value + taxed.value, cell=None, source=Source.TEXT_PATTERN)
    adjustment = step_total(step) - taxed.value
    return replace(totals, net=net, adjustment=adjustment, net_adjustment=taxed.value, net_unsure=not taxed.sure)


def _by_rates(of: Candidates) -> Iterator[Solution]:
    """Yield the sums of the bases and of the taxes at several rates, with a total that they make."""
    base, tax = (sum(values, ZERO) for values in ([p.base for p in of.rated], [p.tax for p in of.rated]))
    for total in of.totals if tax else ():
        rest = total.value - base - tax
        printed = next((m.cell for m in of.printed if m.value == base + rest), None) if rest else None
        if printed:
            net = Part(base + rest, printed, Source.TEXT_PATTERN, Basis.BASES)
            yield Solution(Totals(net, _or_sum(of.taxes, tax, Basis.TAXES), total), Fit.BY_RATES)
            continue  # the printed net includes what is not taxed
        step = of.step_of(rest)
        if step is not None:
            net, whole = _or_sum(of.nets, base, Basis.BASES), _or_sum(of.taxes, tax, Basis.TAXES)
            yield Solution(Totals(net, whole, total, step_total(step)), Fit.BY_RATES)


def _or_sum(parts: Sequence[Part], value: Decimal, basis: Basis) -> Part:
    """Return the part that prints a sum, else the sum itself."""
    return next((part for part in parts if part.value == value), Part(value, None, Source.TEXT_PATTERN, basis))


def _by_row(of: Candidates) -> Iterator[Solution]:
    """Yield rows like `41,31  8,68  49,99`: net, tax and total next to each other, whatever they are called."""
    for row in zip(of.printed, of.printed[1:], of.printed[2:], strict=False):
        one, two, three = row
        adds_up = abs(one.value + two.value - three.value) <= of.slack and plausible_rate(one.value, two.value)
        if not (one.cell.row == two.cell.row == three.cell.row and adds_up):
            continue
        named = (one.column, two.column) == (Role.NET, Role.TAX) and three.column in (Role.TOTAL, Role.PLAIN_TOTAL)
        if not (two.value or named):
            continue  # a line item: price, discount, amount
        basis, totalled = Basis.NAMED_ROW if named else Basis.ROW, one.role in (Role.TOTAL, Role.PLAIN_TOTAL)
        net, tax, total = (
            Part(m.value, m.cell, Source.TEXT_LABEL, basis, totalled=totalled, row=m.cell.row) for m in row
        )
        yield Solution(Totals(net, tax, total), Fit.TAXED)


def _by_summary(of: Candidates) -> Iterator[Solution]:
    """Yield `GST 6%: 20.00  1.20` from a till's tax table if the sum of both is printed as well."""
    printed = {money.value: money for money in of.printed}
    for net, tax in pairwise(of.printed):
        named = net.role is Role.PLAIN_TOTAL or TAX.search(net.label)
        total = printed.get(net.value + tax.value) if named and tax.value else None
        if total and net.cell.row == tax.cell.row and plausible_rate(net.value, tax.value):
            row = [Part(m.value, m.cell, Source.TEXT_PATTERN, Basis.ROW) for m in (net, tax, total)]
            yield Solution(Totals(row[0], row[1], row[2]), Fit.TAXED)


def _untaxed(of: Candidates) -> Iterator[Solution]:
    """Yield totals equal to the net, or labelled and apart by a discount: there is no tax, or none is stated."""
    for total in of.totals:
        for net in of.nets:
            apart = total.value - net.value
            labelled = net.source is total.source is Source.TEXT_LABEL
            by_step = labelled and any(step_total(step) == apart for step in of.steps)
            if (not apart and net.cell is not total.cell) or by_step:
                yield Solution(Totals(net, None, total, apart or ZERO), Fit.UNTAXED)
