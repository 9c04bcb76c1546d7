"""Find the charged lines: in their tables, or as the rows that add up to the sum below them."""

import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate, chain, islice, pairwise

from docrail.invoices.model import LineItem
from docrail.invoices.readers.amounts.money import Money, Role, headed_sums, rates_in, role_of
from docrail.invoices.readers.amounts.sum_words import TURNOVER_TAX
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.readers.layout.places import box_around
from docrail.invoices.readers.lines.charges import Charge, charges_of, last_amount
from docrail.invoices.readers.lines.numbers import (
    CENT,
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
from docrail.invoices.readers.lines.partial_sums import (
    LEAST_LINES,
    Line,
    carried_over,
    is_a_tax,
    sum_of,
    without_a_last_sum,
    without_sums_above,
    without_sums_below,
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
from docrail.invoices.values.numbers import find_amounts

COUNTED = re.compile(r"(?:^|\s)[x\u00d7*@]\s?(?:[^\w\s]\s?)?\d|\d\s?[x\u00d7*@](?:\s|$)", re.IGNORECASE)
"""A count or a price: `2 x 3,25`, `850 words x €0.11`."""
GOODS = re.compile(r"\d{1,3} [^\W\d_]{3,}")
"""A count and what is counted: `2 Espresso`."""
MAX_CHOICES = 12
"""Most combinations of omitted lines to try."""


def find_line_items(layout: Layout, amounts: Sequence[Money] = ()) -> tuple[LineItem, ...]:
    """Return the charged lines; empty if there is no table. `amounts` contains the sums they should add up to."""
    every = [line for table in tables(layout) for line in _lines(layout, table)]
    carried = carried_over([line.item for line in every])
    lines = [line for index, line in enumerate(every) if index not in carried]
    named = [money for money in amounts if money.role in SUMS] + headed_sums(amounts, {line.row for line in every})
    sums = {abs(money.value) for money in named} - {every[n].item.amount for n in carried}
    groups = _of_groups(amounts)
    sums -= groups
    whole = _adding_up(lines, sums, ()) if groups else []
    last_sum = max((money.cell.row for money in named), default=0)
    # The order matters: from the strictest rule to the last ones, which may omit any lines.
    chosen = without_sums_above([line for line in lines if line.row < last_sum], sums)
    chosen = chosen or without_sums_below(lines, sums) or (whole if sum_of(whole) in sums else [])
    chosen = chosen or _choose(layout, without_a_last_sum(lines), amounts, sums)
    counted = any(line.item.unit_price is not None for line in chosen)  # then discounts have no price
    return tuple(line.item for line in chosen if not ((line.listed or counted) and _is_taken_off(line.item)))


def _of_groups(amounts: Sequence[Money]) -> set[Decimal]:
    """Return the sums of groups of lines: those before a net that they add up to."""
    nets = [abs(money.value) for money in amounts if money.role is Role.NET and money.exact]
    end = next((end for end in range(2, len(nets)) if nets[end] == sum(nets[:end])), 0)
    return set(nets[:end])


def _choose(layout: Layout, lines: list[Line], amounts: Sequence[Money], sums: AbstractSet[Decimal]) -> Sequence[Line]:
    """Return the lines of the tables, or rows elsewhere if only they add up to a sum."""
    nets = {abs(money.value) for money in amounts if Role.NET in (money.role, money.column)}
    headed = {abs(money.value) for money in amounts if money.exact and money.column in SUMS}
    plain = [line for line in lines if not line.extra]
    adjustments = {abs(money.value) for money in amounts if money.role is Role.ADJUSTMENT}
    added = _adding_up(plain, sums, adjustments)
    chosen = added if not added or sum_of(added) in sums or sum_of(lines) not in nets else lines
    if sum_of(chosen) not in sums:
        above = _above_their_sum(layout, headed | sums) or _above_tax_and_total(layout, amounts)
        longer = _charging(above) > _charging(chosen)
        above = [] if _begins_with_the_sum(above, chosen) else above
        chosen = above if above and (longer or sum_of(chosen) not in headed) else chosen
        # words such as those of a surcharge may name all lines, on both pages
        chosen = lines if sum_of(lines) in nets and _charging(lines) > _charging(chosen) else chosen
    return chosen or _above_a_number_like_it(layout) or _alone_above_its_sum(layout)


def _begins_with_the_sum(rows: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Return whether the rows are the sum of the lines above them and what is added to it or taken off."""
    return bool(rows and lines) and rows[0].row > lines[-1].row and rows[0].item.amount == sum_of(lines)


def _is_taken_off(item: LineItem) -> bool:
    """Return whether a line takes something off the lines before it, by its name and its sign."""
    less = (item.amount or 0) < 0 and item.quantity is item.unit_price is None
    return less and not GOODS.match(item.description) and role_of(fold(item.description)) is Role.ADJUSTMENT


def _charging(lines: Sequence[Line]) -> int:
    return sum((line.item.amount or 0) > 0 for line in lines)


def _adding_up(lines: Sequence[Line], sums: Collection[Decimal], adjustments: Collection[Decimal]) -> Sequence[Line]:
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
        if sum_of(choice) in sums:
            rest = lines[len(choice) :] if choice == lines[: len(choice)] else []
            return lines if len(rest) > 1 and sum_of(rest) in adjustments else choice
    return lines


def _above_their_sum(layout: Layout, headed: Collection[Decimal]) -> Sequence[Line]:
    """Return the rows of words and one amount that add up to the sum directly below them; else an empty list.

    The sum may be in a table, in which case its headings are directly below. The rows may include a tax, such as one on
    electricity, if they add up to the net.
    """
    for lines, row in _runs(layout):
        taxed = any(map(is_a_tax, lines))
        charge = last_amount(row)
        if sum_of(lines) in headed and is_other_header(row) and not taxed:
            return lines
        ends = charge is not None and is_sum(row) and sum_of(lines) == abs(charge.amount.value)
        if ends and (not taxed or any(role_of(cell.folded) is Role.NET for cell in row.cells)):
            return lines
    return []


def _above_tax_and_total(layout: Layout, amounts: Sequence[Money]) -> Sequence[Line]:
    """Return the rows of words and one amount followed by taxes and by the sum of both, where no net is printed."""
    exact = (money for money in amounts if money.exact and money.role is Role.TAX)
    taxes = {money.cell.row: abs(money.value) for money in exact if TURNOVER_TAX.search(money.label)}
    for run, _ in _runs(layout):
        lines = [line for line in run if line.row not in taxes]
        made, taxed = sum_of(lines) or Decimal(0), False
        below = layout.rows[lines[-1].row + 1 :] if made else ()
        for row in (row for row in below if not goes_on(row, layout.rows[lines[-1].row])):
            charge = last_amount(row)
            if row.number not in taxes:
                if taxed and charge and is_sum(row) and abs(charge.amount.value) == made:
                    return lines
                break
            made, taxed = made + taxes[row.number], True
    return []


def _above_a_number_like_it(layout: Layout) -> Sequence[Line]:
    """Return the rows that add up to the amount of the next row, whatever its name: fees, a card payment."""
    for run, row in _runs(layout):
        charge = last_amount(row)
        made = [line.item.amount or Decimal(0) for line in run]
        made += [charge.amount.value] if charge else []
        for end, total in islice(enumerate(accumulate(made[:-1]), 1), LEAST_LINES - 1, None):
            if abs(total) == abs(made[end]) and not any(map(is_a_tax, run[:end])):
                return run[:end]
    return []


def _alone_above_its_sum(layout: Layout) -> Sequence[Line]:
    """Return the row above a sum of the same number, a table of one line without a head; cents do not matter."""
    for above, row in pairwise(layout.rows):
        charge, total = last_amount(above, loose=True), last_amount(row, loose=True)
        if charge and total and is_sum(row) and charge.amount.value == total.amount.value:
            line = _summed_line(layout, above, charge)
            if line and not is_a_tax(line):
                return [line]
    return []


def _runs(layout: Layout) -> Iterator[tuple[Sequence[Line], Row]]:
    """Yield each run of rows with words and one amount, with the row that ends it."""
    lines: list[Line] = []
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


def _is_next_to(layout: Layout, row: Row, lines: Sequence[Line]) -> bool:
    """Return whether the row is a ruling or only has words of a column to the left of the lines."""
    left = max(layout.rows[line.row].cells[0].left for line in lines)
    return row.cells[-1].right < left or not any(map(str.isalnum, row.text))


def _under_its_words(layout: Layout, row: Row, charge: Charge) -> Line | None:
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


def _summed_line(layout: Layout, row: Row, charge: Charge) -> Line | None:
    before = [cell for cell in row.cells if cell.left < charge.cell.left]
    return _line(layout, Table((row,), Columns(), headed=True, summed=True), charge, before)


def _lines(layout: Layout, table: Table) -> Iterator[Line]:
    held: Line | None = None
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


def _is_discount(charge: Charge, before: Sequence[Cell], held: Line) -> bool:
    """Return whether the row is a discount on the line `held` before it: it is named so and has no quantity.

    A discount above that line's amount also applies to other lines, and is a line of its own.
    """
    counts = any(QUANTITY.match(cell.text) for cell in before) or any(GOODS.match(cell.text) for cell in before[:1])
    counts = counts or abs(charge.amount.value) > abs(held.item.amount or charge.amount.value)
    return charge.amount.value <= 0 and role_of(fold(charge.row.text)) is Role.ADJUSTMENT and not counts


def _line(layout: Layout, table: Table, charge: Charge, cells: Sequence[Cell]) -> Line | None:
    described = descriptions(cells) or _counted_goods(layout, charge.row, cells)
    if not described or (len(cells) > 1 and _is_a_tax(cells[-1], charge)):
        return None
    description = max(described, key=len)
    numbers = read_numbers(cells, charge.amount.value, table.columns, description)
    numbered = bool(NUMBERED.match(cells[0].text))
    is_next = len(described) > 1 and role_of(cells[-1].folded) in (*SUMS, Role.TAX)  # to words of another block
    charged = (numbers.agree or not is_next) and _is_charged(table, description, numbers, numbered=numbered)
    called = role_of(fold(description))
    is_free = numbers.quantity and numbers.price == 0
    is_zero_tax = not (charge.amount.value or is_free) and any(role_of(fold(text)) is Role.TAX for text in described)
    if is_zero_tax or (not charged and (called in SUMS or (called is Role.TAX and not table.headed))):
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
    return Line(item, sure, listed, extra=not charged, row=number, begin=words[0], name=words[-1])


def _is_a_tax(cell: Cell, charge: Charge) -> bool:
    """Return whether a cell says that the charge is a tax on an amount: then words before it are of another block."""
    bases = [amount.value for amount in find_amounts(cell.text) if amount.exact]
    taxes = [base * rate / 100 for base in bases for rate in rates_in(cell.text)]
    taxed = any(abs(tax - charge.amount.value) <= CENT for tax in taxes)
    return taxed and role_of(cell.folded) is Role.TAX


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
