"""Find the charged lines: in their tables, or as the rows that add up to the sum below them.

Amounts carried over from page to page (`A reporter`, `Riporto`) are recognized by arithmetic, whatever they are called.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, chain, islice, pairwise, product

from docrail.invoices.assessment.checks import lines_total
from docrail.invoices.model import LineItem
from docrail.invoices.readers.amounts.money import Money, Role, role_of
from docrail.invoices.readers.amounts.sum_words import TURNOVER_TAX
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.layout.places import box_around
from docrail.invoices.readers.lines.charges import Charge, charges_of, last_amount
from docrail.invoices.readers.lines.numbers import (
    NUMBERED,
    QUANTITY,
    Columns,
    Numbers,
    apart,
    before_rate,
    descriptions,
    rate_of,
    read_numbers,
)
from docrail.invoices.readers.lines.tables import (
    SUMS,
    Table,
    goes_on,
    is_other_header,
    is_sum,
    tables,
)
from docrail.invoices.values.folding import fold

COUNTED = re.compile(r"(?:^|\s)[x\u00d7*@]\s?(?:[^\w\s]\s?)?\d|\d\s?[x\u00d7*@](?:\s|$)", re.IGNORECASE)
"""A count or a price: `2 x 3,25`, `850 words x €0.11`."""
GOODS = re.compile(r"\d{1,3} [^\W\d_]{3,}")
LEAST_LINES = 2
"""Fewest lines before a carried-over sum: an amount equal to a single line may be another line of the same price."""
INDENT = 9.0
"""Points by which the words of a line may be to the right or left of those of another."""
MAX_CHOICES = 12
"""Most combinations of omitted lines to try."""


@dataclass(frozen=True, slots=True)
class _Line:
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


def find_line_items(layout: Layout, amounts: Sequence[Money] = ()) -> tuple[LineItem, ...]:
    """Return the charged lines; empty if there is no table. `amounts` contains the sums they should add up to."""
    every = [line for table in tables(layout) for line in _lines(layout, table)]
    carried = carried_over([line.item for line in every])
    lines = [line for index, line in enumerate(every) if index not in carried]
    sums = {abs(money.value) for money in amounts if money.role in SUMS} - {every[n].item.amount for n in carried}
    groups = _of_groups(amounts)
    sums -= groups
    whole = _adding_up(lines, sums, ()) if groups else []
    chosen = _above_their_sums(lines, sums) or (whole if _sum(whole) in sums else [])
    chosen = chosen or _choose(layout, _without_a_last_sum(lines), amounts, sums)
    counted = any(line.item.unit_price is not None for line in chosen)  # then discounts have no price
    return tuple(line.item for line in chosen if not ((line.listed or counted) and _is_taken_off(line.item)))


def _of_groups(amounts: Sequence[Money]) -> set[Decimal]:
    """Return the sums of groups of lines: those before a net that they add up to."""
    nets = [abs(money.value) for money in amounts if money.role is Role.NET and money.exact]
    end = next((end for end in range(2, len(nets)) if nets[end] == sum(nets[:end])), 0)
    return set(nets[:end])


def _choose(
    layout: Layout, lines: list[_Line], amounts: Sequence[Money], sums: AbstractSet[Decimal]
) -> Sequence[_Line]:
    """Return the lines of the tables, or rows elsewhere if only they add up to a sum."""
    nets = {abs(money.value) for money in amounts if Role.NET in (money.role, money.column)}
    headed = {abs(money.value) for money in amounts if money.exact and money.column in SUMS}
    plain = [line for line in lines if not line.extra]
    adjustments = {abs(money.value) for money in amounts if money.role is Role.ADJUSTMENT}
    added = _adding_up(plain, sums, adjustments)
    chosen = added if not added or _sum(added) in sums or _sum(lines) not in nets else lines
    if _sum(chosen) not in sums:
        above = _above_their_sum(layout, headed | sums) or _above_tax_and_total(layout, amounts)
        longer = _charging(above) > _charging(chosen)
        above = [] if _begins_with_the_sum(above, chosen) else above
        chosen = above if above and (longer or _sum(chosen) not in headed) else chosen
    return chosen or _above_a_number_like_it(layout) or _alone_above_its_sum(layout)


def _begins_with_the_sum(rows: Sequence[_Line], lines: Sequence[_Line]) -> bool:
    """Return whether the rows are the sum of the lines above them and what is added to it or taken off."""
    return bool(rows and lines) and rows[0].row > lines[-1].row and rows[0].item.amount == _sum(lines)


def _is_taken_off(item: LineItem) -> bool:
    """Return whether a line takes something off the lines before it, by its name and its sign."""
    less = (item.amount or 0) < 0 and item.quantity is item.unit_price is None
    return less and role_of(fold(item.description)) is Role.ADJUSTMENT


def _above_their_sums(lines: Sequence[_Line], sums: Collection[Decimal]) -> Sequence[_Line]:
    """Return the lines without the rows that only add up others, whatever they are called; else an empty list.

    All but these rows make a named sum. What follows the last of them is a line where lines begin; with its name
    elsewhere, as those of sums are, it is charged on the whole, such as freight or a surcharge.
    """
    plain = [line for line in lines if not line.extra]
    for least, some in () if _sum(plain) in sums else product((1, LEAST_LINES), (plain, lines)):
        adding = _adding_up_others(some, least)
        others = [line for line in some if line not in adding]
        if adding and _sum(others) in sums:
            first, end = others[0], adding[-1].row
            lefts = {first.begin, first.name} if abs(adding[-1].name - first.name) > INDENT else {first.begin}
            charging = (line for line in some if line.item.amount and not _is_a_tax(line))
            goes_on = {line.row for line in charging if any(abs(line.name - left) < INDENT for left in lefts)}
            return [line for line in others if line.row < end or line.row in goes_on]
    return []


def _without_a_last_sum(lines: list[_Line]) -> list[_Line]:
    """Omit the last line if it counts nothing and adds up the others, although no sum confirms it."""
    plain = [line for line in lines if not line.extra]
    last = plain[-1:] if len(plain) > LEAST_LINES and plain[-1].item.quantity is None else []
    return [line for line in lines if line not in last] if last and _sum(last) == _sum(plain[:-1]) else lines


def _adding_up_others(lines: Sequence[_Line], least: int) -> Sequence[_Line]:
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


def _counts(line: _Line) -> bool:
    return line.item.quantity is not None and line.item.unit_price is not None


def _charging(lines: Sequence[_Line]) -> int:
    return sum((line.item.amount or 0) > 0 for line in lines)


def _sum(lines: Sequence[_Line]) -> Decimal | None:
    total = lines_total([line.item for line in lines])
    return None if total is None else abs(total)


def _adding_up(lines: Sequence[_Line], sums: Collection[Decimal], adjustments: Collection[Decimal]) -> Sequence[_Line]:
    """Omit unsure lines, all of them or the last ones, if the others then add up to a sum on the page.

    Return the lines unchanged if several omitted ones add up to one of `adjustments`: an amount paid on behalf of the
    buyer.
    """
    last_sure = max((index for index, line in enumerate(lines) if line.sure), default=0)
    choices = chain(
        (lines, [line for line in lines if line.sure]),
        (lines[:end] for end in range(len(lines) - 1, last_sure, -1)),
    )
    for choice in islice(choices, MAX_CHOICES):
        if _sum(choice) in sums:
            rest = lines[len(choice) :] if choice == lines[: len(choice)] else []
            return lines if len(rest) > 1 and _sum(rest) in adjustments else choice
    return lines


def _above_their_sum(layout: Layout, headed: Collection[Decimal]) -> Sequence[_Line]:
    """Return the rows of words and one amount that add up to the sum directly below them; else an empty list.

    The sum may be in a table, in which case its headings are directly below. The rows may include a tax, such as one on
    electricity, if they add up to the net.
    """
    for lines, row in _runs(layout):
        taxed = any(map(_is_a_tax, lines))
        charge = last_amount(row)
        if _sum(lines) in headed and is_other_header(row) and not taxed:
            return lines
        ends = charge is not None and is_sum(row) and _sum(lines) == abs(charge.amount.value)
        if ends and (not taxed or any(role_of(cell.folded) is Role.NET for cell in row.cells)):
            return lines
    return []


def _above_tax_and_total(layout: Layout, amounts: Sequence[Money]) -> Sequence[_Line]:
    """Return the rows of words and one amount followed by taxes and by the sum of both, where no net is printed."""
    exact = (money for money in amounts if money.exact and money.role is Role.TAX)
    taxes = {money.cell.row: abs(money.value) for money in exact if TURNOVER_TAX.search(money.label)}
    for run, _ in _runs(layout):
        lines = [line for line in run if line.row not in taxes]
        made, taxed = _sum(lines) or Decimal(0), False
        below = layout.rows[lines[-1].row + 1 :] if made else ()
        for row in (row for row in below if not goes_on(row, layout.rows[lines[-1].row])):
            charge = last_amount(row)
            if row.number not in taxes:
                if taxed and charge and is_sum(row) and abs(charge.amount.value) == made:
                    return lines
                break
            made, taxed = made + taxes[row.number], True
    return []


def _above_a_number_like_it(layout: Layout) -> Sequence[_Line]:
    """Return the rows that add up to the amount of the next row, whatever its name: fees, a card payment."""
    for run, row in _runs(layout):
        charge = last_amount(row)
        made = [line.item.amount or Decimal(0) for line in run]
        made += [charge.amount.value] if charge else []
        for end, total in islice(enumerate(accumulate(made[:-1]), 1), LEAST_LINES - 1, None):
            if abs(total) == abs(made[end]) and not any(map(_is_a_tax, run[:end])):
                return run[:end]
    return []


def _alone_above_its_sum(layout: Layout) -> Sequence[_Line]:
    """Return the row above a sum of the same number, a table of one line without a head; cents do not matter."""
    for above, row in pairwise(layout.rows):
        charge, total = last_amount(above, loose=True), last_amount(row, loose=True)
        if charge and total and is_sum(row) and charge.amount.value == total.amount.value:
            line = _summed_line(layout, above, charge)
            if line and not _is_a_tax(line):
                return [line]
    return []


def _is_a_tax(line: _Line) -> bool:
    return role_of(fold(line.item.description)) is Role.TAX


def _runs(layout: Layout) -> Iterator[tuple[Sequence[_Line], Row]]:
    """Yield each run of rows with words and one amount, with the row that ends it."""
    lines: list[_Line] = []
    for row in layout.rows:
        charge = None if is_sum(row) else last_amount(row)
        line = charge and (_summed_line(layout, row, charge) or _under_its_words(layout, row, charge))
        if lines and not line:
            if (
                _is_next_to(layout, row, lines)
                or goes_on(row, layout.rows[lines[-1].row])
                or _heads_a_count(layout, row)
            ):
                continue
            yield lines, row
        lines = [*lines, line] if line else []
    if lines:
        yield lines, layout.rows[-1]


def _is_next_to(layout: Layout, row: Row, lines: Sequence[_Line]) -> bool:
    """Return whether the row is a ruling or only has words of a column to the left of the lines."""
    left = max(layout.rows[line.row].cells[0].left for line in lines)
    return row.cells[-1].right < left or not any(map(str.isalnum, row.text))


def _under_its_words(layout: Layout, row: Row, charge: Charge) -> _Line | None:
    """Return the line of a row with a count, a price and an amount below its words, as tills print several of one."""
    above = layout.rows[max(0, row.number - 1)]
    before = [cell for cell in row.cells if cell.left < charge.cell.left]
    if above.page != row.page or last_amount(above) or not any(COUNTED.search(cell.text) for cell in before):
        return None
    return _line(layout, Table((row,), Columns(), headed=True, summed=True), charge, [*above.cells, *before])


def _heads_a_count(layout: Layout, row: Row) -> bool:
    """Return whether the row has the words of a line whose count, price and amount are in the next row."""
    below = layout.rows[row.number + 1 : row.number + 2]
    charge = last_amount(below[0]) if below else None
    return charge is not None and _under_its_words(layout, below[0], charge) is not None


def _summed_line(layout: Layout, row: Row, charge: Charge) -> _Line | None:
    before = [cell for cell in row.cells if cell.left < charge.cell.left]
    return _line(layout, Table((row,), Columns(), headed=True, summed=True), charge, before)


def _lines(layout: Layout, table: Table) -> Iterator[_Line]:
    held: _Line | None = None
    made: list[Decimal] = []
    charges = charges_of(table)
    taken = {charge.row.number for charge in charges}
    for charge in charges:
        before = [cell for cell in charge.row.cells if cell.left < charge.cell.left] or apart(charge.cell)
        is_sum_of_lines = held is not None and len(made) >= LEAST_LINES and held.item.amount == sum(made)
        if held is not None and not is_sum_of_lines and _is_discount(charge, before, held):
            amount = (held.item.amount or Decimal(0)) + charge.amount.value
            held = replace(held, item=held.item.model_copy(update={"amount": amount}))
            continue
        line = _line(layout, table, charge, _with_words(table, charge, before, taken))
        if line:
            if held is not None:
                made.append(held.item.amount or Decimal(0))
                yield held
            held = line
    if held is not None:
        yield held


def _is_discount(charge: Charge, before: Sequence[Cell], held: _Line) -> bool:
    """Return whether the row is a discount on the line `held` before it: it is named so and has no quantity.

    A discount above that line's amount also applies to other lines, and is a line of its own.
    """
    counts = any(QUANTITY.match(cell.text) for cell in before)
    counts = counts or abs(charge.amount.value) > abs(held.item.amount or charge.amount.value)
    return charge.amount.value <= 0 and role_of(fold(charge.row.text)) is Role.ADJUSTMENT and not counts


def _line(layout: Layout, table: Table, charge: Charge, cells: Sequence[Cell]) -> _Line | None:
    described = descriptions(cells) or _counted_goods(layout, charge.row, cells)
    if not described:
        return None
    description = max(described, key=len)
    numbers = read_numbers(cells, charge.amount.value, table.columns, description)
    numbered = bool(NUMBERED.match(cells[0].text))
    is_next = len(described) > 1 and role_of(cells[-1].folded) in (*SUMS, Role.TAX)  # to words of another block
    charged = (numbers.agree or not is_next) and _is_charged(table, description, numbers, numbered=numbered)
    called = role_of(fold(description))
    if not charged and (called in SUMS or (called is Role.TAX and not table.headed)):
        return None
    item = LineItem(
        description=description,
        quantity=numbers.quantity,
        unit_price=numbers.price,
        amount=charge.amount.value,
        tax_rate=rate_of(charge.row.cells),
        page=charge.row.page,
        box=box_around(layout, [*cells, charge.cell]),
    )
    sure, number = numbers.agree or numbered, charge.row.number
    listed = (table.summed or not table.headed) and sum(any(map(str.isalnum, cell.text)) for cell in cells) == 1
    words = [cell.left for cell in cells if before_rate(cell.text) in described]
    return _Line(item, sure, listed, extra=not charged, row=number, begin=words[0], name=words[-1])


def _counted_goods(layout: Layout, row: Row, cells: Sequence[Cell]) -> list[str]:
    """Return the only text of a row if it is a count and one word, as `1 Grappa`; a unit stands under its words."""
    alone = len(cells) == 1 and GOODS.fullmatch(cells[0].text)
    return [cells[0].text] if alone and row.number and last_amount(layout.rows[row.number - 1]) else []


def _with_words(table: Table, charge: Charge, before: Sequence[Cell], taken: Collection[int]) -> Sequence[Cell]:
    """Prepend the row above if this row has no words: some amounts are printed slightly lower than their words."""
    index = charge.row.number - table.rows[0].number
    if descriptions(before) or not table.headed or index == 0 or charge.row.number - 1 in taken:
        return before
    return [*table.rows[index - 1].cells, *before]


def _is_charged(table: Table, description: str, numbers: Numbers, *, numbered: bool) -> bool:
    """Return whether a row is a line rather than a sum, a discount on the whole invoice or a remark."""
    if numbers.agree or numbered or table.summed:
        return True
    called = role_of(fold(description))
    if called in (*SUMS, Role.TAX):
        return numbers.quantity is not None and numbers.price is not None
    return numbers.quantity is not None or (table.headed and called is not Role.ADJUSTMENT)


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
