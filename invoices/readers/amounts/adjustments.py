"""What comes between net and total: discounts, shipping, deposits, taxes withheld; and which of it is taxed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, combinations, groupby

from docrail.invoices.readers.amounts.money import Money, Role
from docrail.invoices.readers.amounts.sum_words import PAID
from docrail.invoices.readers.amounts.sums import ZERO, Part, Totals

MAX_ADJUSTMENTS = 3
MOST_TOTAL_WORDS = 6
"""Most words in the name of a total; a longer text may contain a word for it, such as the Italian two (`due`)."""
USUAL_STEP = Decimal("0.005")
"""Tax rates are multiples of half a percent, with few exceptions."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """An amount that is added, or taken off if it is negative. `row` None: a payment, which is never taxed."""

    value: Decimal
    row: int | None


Step = tuple[Adjustment, ...]
"""The adjustments between a net and a total; empty if there are none."""


def step_total(step: Step) -> Decimal:
    """Return what a step adds."""
    return sum((each.value for each in step), ZERO)


def steps(amounts: Sequence[Money]) -> list[Step]:
    """Return the ways to add or take off some of the page's last adjustments, smallest first.

    All of a way may have the opposite sign, because many pages print a discount without a minus.
    """
    unnamed = _between_net_and_tax(amounts)
    named = (m for m in amounts if m.role is Role.ADJUSTMENT or m in unnamed)
    found = [Adjustment(m.value, m.cell.row) for m in named if m.value]
    paid = [Adjustment(-m.value, None) for m in amounts if m.exact and PAID.search(m.label) and m.value]
    last = [*found[-MAX_ADJUSTMENTS:], *paid[-1:]]
    ways: dict[Decimal, Step] = {}
    for chosen in chain.from_iterable(combinations(last, size) for size in range(1, len(last) + 1)):
        for step in (chosen, tuple(Adjustment(-each.value, each.row) for each in chosen)):
            ways.setdefault(step_total(step), step)
    return sorted(ways.values(), key=lambda step: abs(step_total(step)))


def _between_net_and_tax(amounts: Sequence[Money]) -> list[Money]:
    """Return the amounts that stand alone in rows between a net and the next tax: no list has all names of charges."""
    found: list[Money] = []
    since: list[Money] | None = None
    for _, row in groupby((m for m in amounts if m.exact), key=lambda money: money.cell.row):
        first, *others = row
        if first.role is Role.NET:
            since = []
        elif first.role is Role.TAX and since:
            found += since
            since = None
        elif first.role not in (Role.OTHER, Role.ADJUSTMENT) or others:
            since = None
        elif since is not None and first.role is Role.OTHER:
            since.append(first)
    return found


@dataclass(frozen=True, slots=True)
class Taxed:
    """How much of a step belongs to the net. `sure`: a rate of the tax confirms it."""

    value: Decimal = ZERO
    sure: bool = True


def taxed_part(net: Part, tax: Part, step: Step, slack: Decimal) -> Taxed:
    """Return how much of `step` is taxed: the part with which the net gives the tax at its rate.

    Where no rate is printed, what stands between the net and the tax is taxed, if that gives a usual rate. If only
    another part does, that one is.
    """
    if not tax.value or not step:
        return Taxed()
    choices = list(dict.fromkeys(_choices(step)))
    fits = [value for value in choices if _has_rate(net.value + value, tax, slack)]
    between = step_total(tuple(each for each in step if _is_between(net, each, tax)))
    if tax.rate is not None and fits:
        return Taxed(fits[0])
    if between in fits or len(choices) == 1:
        return Taxed(between)
    return Taxed(fits[0]) if len(fits) == 1 else Taxed(between, sure=not between)


def _choices(step: Step) -> Iterator[Decimal]:
    for size in range(len(step) + 1):
        yield from (step_total(chosen) for chosen in combinations(step, size) if all(e.row is not None for e in chosen))


def _has_rate(base: Decimal, tax: Part, slack: Decimal) -> bool:
    """Return whether the tax is what its printed rate gives, or a usual rate, without any printed one."""
    if not base:
        return False
    rate = tax.rate
    if rate is None:
        rate = (tax.value / base / USUAL_STEP).to_integral_value() * USUAL_STEP
    return abs(base * rate - tax.value) <= slack / 2


def _is_between(net: Part, adjustment: Adjustment, tax: Part) -> bool:
    if adjustment.row is None or net.cell is None or tax.cell is None:
        return False
    return net.cell.row < adjustment.row < tax.cell.row


def with_net_adjustment(totals: Totals, lines_total: Decimal | None, steps: Sequence[Step]) -> Totals:
    """Return the totals with what lies between the lines and a printed net or total, if it is printed as well."""
    if lines_total is None or totals.net is None or totals.net_adjustment:
        return totals
    for target in (totals.net, totals.total):  # prices may include taxes
        apart = target.value - lines_total if target else ZERO
        if apart and any(step_total(step) == apart for step in steps):
            return replace(totals, net_adjustment=apart)
    return totals


def with_larger_total(totals: Totals, amounts: Sequence[Money]) -> Totals:
    """Return the totals marked as unsure if a larger total is named, and what is between the two is not printed.

    What is between them may be a payment, a deposit or the balance of the last bill.
    """
    total = totals.total
    if total is None:
        return totals
    printed = {abs(money.value) for money in amounts if money.exact}
    named = (money for money in amounts if money.exact and money.role is Role.TOTAL)
    larger = (m.value - total.value for m in named if len(m.label.split()) <= MOST_TOTAL_WORDS)
    if any(apart > 0 and apart not in printed for apart in larger):
        return replace(totals, total_unsure=True)
    return totals
