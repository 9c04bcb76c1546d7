"""Find the base and the tax at each rate, wherever the page prints them: no rate's share is the whole."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, permutations

from docrail.invoices.readers.amounts.money import Money, Role
from docrail.invoices.readers.amounts.sum_words import INSIDE, TAX
from docrail.invoices.readers.amounts.sums import ZERO


@dataclass(frozen=True, slots=True)
class RatedPart:
    """What one rate applies to. `rate` is a share: 0.19 for 19 %."""

    rate: Decimal
    base: Decimal
    tax: Decimal


def rated_parts(amounts: Sequence[Money], slack: Decimal) -> list[RatedPart]:
    """Return the base and tax at each of several rates; empty if fewer than two rates have both.

    At each rate the largest base counts, because lines may repeat their rate, and smaller ones are its parts.
    """
    rows = [list(row) for _, row in groupby((m for m in amounts if m.exact), key=lambda money: money.cell.row)]
    rated = _largest(part for row in rows for part in _of_row(row, amounts, slack))
    found = rated or _largest(part for row in rows for part in _under_headings(row))
    return list(found.values()) if len(found) > 1 else []


def _largest(parts: Iterable[RatedPart]) -> dict[Decimal, RatedPart]:
    """Return the part with the largest base at each rate."""
    found: dict[Decimal, RatedPart] = {}
    for part in parts:
        if part.rate not in found or abs(part.base) > abs(found[part.rate].base):
            found[part.rate] = part
    return found


def _of_row(row: Sequence[Money], amounts: Sequence[Money], slack: Decimal) -> Iterator[RatedPart]:
    rate = row[0].rate
    charge = row[0].role is Role.ADJUSTMENT and not TAX.search(row[0].label)
    if rate is None or charge:
        return  # `Fuel surcharge 8.5 % on 2,303.50` is no tax
    if not rate:
        bases = [m.value for m in row if m.value and m.role not in (Role.TAX, Role.NOT_A_SUM)]
        yield from (RatedPart(rate, base, ZERO) for base in bases[:1])
        return
    for base, tax in permutations((m.value for m in row), 2):
        if tax and abs(base * rate - tax) <= slack / 2:
            yield RatedPart(rate, base, tax)
            return
    for money in row:
        inside = bool(INSIDE.search(money.label))
        if money.value and (inside or money.role is Role.TAX):
            found = _base_of(money, rate, amounts, slack, inside=inside)
            if found is not None:
                yield RatedPart(rate, found, money.value)
                return


def _under_headings(row: Sequence[Money]) -> Iterator[RatedPart]:
    """Yield the base and the tax under their headings, in a table that prints its rates without a percent sign."""
    bases, taxes = ([m.value for m in row if m.column is role] for role in (Role.NET, Role.TAX))
    if len(bases) == len(taxes) == 1 and bases[0]:
        yield RatedPart(round(taxes[0] / bases[0], 2), bases[0], taxes[0])


def _base_of(tax: Money, rate: Decimal, amounts: Sequence[Money], slack: Decimal, *, inside: bool) -> Decimal | None:
    """Return the printed base of a tax, or what a printed gross amount leaves without it.

    The gross amount is in a row with the same rate, or anywhere above a tax that is named as part of it.
    """
    for money in amounts:
        if abs(money.value * rate - tax.value) <= slack / 2:
            return money.value
        gross = money.rate == rate or (inside and money.cell.row < tax.cell.row)
        if gross and abs(money.value * rate - tax.value * (1 + rate)) <= slack / 2:
            return money.value - tax.value
    return None
