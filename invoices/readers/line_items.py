"""Finds the table of charged lines: from its header to the first sum, page after page."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice, pairwise

from invoices.model import LineItem
from invoices.readers.found import box_around
from invoices.readers.geometry import Cell, Layout, Row
from invoices.readers.line_numbers import (
    QUANTITY,
    Columns,
    Numbers,
    Span,
    apart,
    before_rate,
    columns_of,
    rate_of,
    tell_apart,
)
from invoices.readers.money import Money, Role, role_of
from invoices.readers.numbers import Amount, find_amounts
from invoices.readers.vocabulary import LINE_COLUMNS, TABLE_END

MIN_COLUMNS, MIN_NUMBER_COLUMNS = 3, 2
"""Fewer column names do not make a header."""
MAX_HEAD_WORDS, MAX_ROW_WORDS, MAX_SUM_WORDS, MAX_SUM_CELLS = 5, 16, 4, 5
"""Of a column's name, of a row of them, of a sum's name, and of a row that is a sum."""
ALIGNED = 14.0
"""Points by which an amount's right edge may miss its column."""
UNDER_HEAD = 3
"""An edge under the amount column's head counts so many times: discounts and prices make columns too."""
LEAST_COLUMNS = 4
"""Before an amount: a row of so many is a line, though it is called shipping. A sum's shipping has its name alone."""
MAX_CHOICES = 12
"""Ways to leave lines out that are tried."""
SUMS = (Role.TOTAL, Role.PLAIN_TOTAL, Role.NET)
NUMBERED = re.compile(r"^\(?\d{1,3}[.)]?(?:\s+\S|$)")


@dataclass(frozen=True, slots=True)
class _Table:
    rows: Sequence[Row]
    columns: Columns
    headed: bool
    summed: bool = False
    """The sum below tells which rows are lines, whatever they are called."""


@dataclass(frozen=True, slots=True)
class _Charge:
    """A row with an amount in the table's amount column."""

    row: Row
    cell: Cell
    amount: Amount


@dataclass(frozen=True, slots=True)
class _Line:
    item: LineItem
    sure: bool
    """It is numbered, or its quantity and price make its amount."""
    extra: bool = False
    """Shipping, a surcharge, a row that counts nothing: a line only where the net is the sum with it."""


def find_line_items(layout: Layout, amounts: Sequence[Money] = ()) -> tuple[LineItem, ...]:
    """Return the charged lines; none if there is no table. `amounts` holds the sums that they should add up to."""
    lines = [line for table in _tables(layout) for line in _lines(layout, table)]
    sums = {abs(money.value) for money in amounts if money.role in SUMS}
    nets = {abs(money.value) for money in amounts if money.role is Role.NET}
    plain = _adding_up([line for line in lines if not line.extra], sums)
    chosen = plain if not plain or _sum(plain) in sums or _sum(lines) not in nets else lines
    return tuple(line.item for line in chosen or _above_their_sum(layout, sums))


def sum_of_lines(lines: Sequence[LineItem]) -> Decimal | None:
    """Return what the lines add up to; None if there are none or one has no amount."""
    amounts = [line.amount for line in lines if line.amount is not None]
    return sum(amounts, Decimal(0)) if amounts and len(amounts) == len(lines) else None


def _sum(lines: Sequence[_Line]) -> Decimal | None:
    total = sum_of_lines([line.item for line in lines])
    return None if total is None else abs(total)


def _adding_up(lines: Sequence[_Line], sums: Collection[Decimal]) -> Sequence[_Line]:
    """Leave out unsure lines, all or the last ones, where the others add up to a sum on the page."""
    last_sure = max((index for index, line in enumerate(lines) if line.sure), default=0)
    choices = chain(
        (lines, [line for line in lines if line.sure]),
        (lines[:end] for end in range(len(lines) - 1, last_sure, -1)),
    )
    for choice in islice(choices, MAX_CHOICES):
        if _sum(choice) in sums:
            return choice
    return lines


def _above_their_sum(layout: Layout, sums: Collection[Decimal]) -> Sequence[_Line]:
    """Return the rows of words and one amount that add up to the sum right below them; none otherwise."""
    lines: list[_Line] = []
    for row in layout.rows:
        charge = _last_amount(row)
        if charge is None or not charge.amount.exact:
            lines = []
            continue
        before = [cell for cell in row.cells if cell.left < charge.cell.left]
        if _is_sum(row):
            if _sum(lines) == abs(charge.amount.value) and _sum(lines) in sums:
                return lines
            lines = []
        elif line := _line(layout, _Table((row,), Columns(), headed=True, summed=True), charge, before):
            lines.append(line)
        else:
            lines = []
    return []


def _tables(layout: Layout) -> Iterator[_Table]:
    """Yield the rows between each header and the sum that ends it; without any header, all rows.

    A table may go on over pages: only a new header or its end ends it.
    """
    headers = [row for row in layout.rows if _is_header(row)]
    if not headers:
        yield _Table(layout.rows, Columns(), headed=False)
        return
    for header, following in pairwise([*headers, None]):
        assert header is not None
        rows = layout.rows[header.number + 1 : following.number if following else None]
        yield _Table(list(_until_end(rows)), columns_of(header), headed=True)


def _until_end(rows: Sequence[Row]) -> Iterator[Row]:
    begun = False
    for row in rows:
        if _is_sum(row) or TABLE_END.fullmatch(row.cells[0].folded.strip(" :")) or (begun and _is_other_header(row)):
            return
        begun = begun or _has_money(row)
        yield row


def _is_header(row: Row) -> bool:
    """Tell whether the row names columns of a table of lines: what, and how many or at what price or amount.

    Where the columns are so narrow that their heads run into each other, all four must be named.
    """
    if _has_money(row):
        return False
    heads = " ".join(cell.folded for cell in row.cells)
    short = len(re.findall(r"[a-z]+", heads)) <= MAX_ROW_WORDS and not re.search(r"\d", heads)
    if short and all(column.search(heads) for column in LINE_COLUMNS):
        return True
    if len(row.cells) < MIN_COLUMNS:
        return False
    words = " | ".join(cell.folded for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS)
    what, how_many, price, amount = (bool(column.search(words)) for column in LINE_COLUMNS)
    return (what or (how_many and price)) and how_many + price + amount >= MIN_NUMBER_COLUMNS


def _is_other_header(row: Row) -> bool:
    """Tell whether the row names columns of another table, of taxes or discounts; a first sum may stand beside it."""
    heads = (cell for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS and not any(find_amounts(cell.text)))
    roles = [role_of(cell.folded) for cell in heads]
    told = [role for role in roles if role is not Role.OTHER]
    return len(told) > 1 + _has_money(row) and bool({Role.TAX, Role.NET, Role.NOT_A_SUM} & {*told})


def _has_money(row: Row) -> bool:
    return any(amount.exact for amount in find_amounts(row.text))


def _is_sum(row: Row) -> bool:
    """Tell whether the row is a sum rather than a line: it is called one and has nothing else to say."""
    label = next((cell.folded for cell in row.cells if re.search(r"[a-z]{2}", cell.folded)), "")
    if len(label.split()) > MAX_SUM_WORDS or not any(find_amounts(row.text)):
        return False
    return role_of(label) in SUMS and len(row.cells) <= MAX_SUM_CELLS


def _lines(layout: Layout, table: _Table) -> Iterator[_Line]:
    held: _Line | None = None
    charges = _charges(table)
    taken = {charge.row.number for charge in charges}
    for charge in charges:
        before = [cell for cell in charge.row.cells if cell.left < charge.cell.left] or apart(charge.cell)
        if held is not None and _is_discount(charge, before):
            amount = (held.item.amount or Decimal(0)) + charge.amount.value
            held = replace(held, item=held.item.model_copy(update={"amount": amount}))
            continue
        line = _line(layout, table, charge, _with_words(table, charge, before, taken))
        if line:
            if held is not None:
                yield held
            held = line
    if held is not None:
        yield held


def _charges(table: _Table) -> list[_Charge]:
    """Return the rows with an amount in the amount column: where most amounts end, first under the column's head."""
    found = [charge for row in table.rows if (charge := _last_amount(row))]
    head = table.columns.amount or (None if found else table.columns.price)
    if head is not None and not any(head.over(charge.cell) > 0 for charge in found):
        boxed = [charge for row in table.rows if (charge := _boxed_amount(row, table.columns.box))]
        if boxed:
            return boxed
        found = [charge for row in table.rows if (charge := _last_amount(row, loose=True))] or found
        found = [charge for charge in found if charge.amount.exact or head.over(charge.cell) > 0]
    if not found:
        return []
    weights: Counter[int] = Counter()
    for charge in found:
        weights[round(charge.cell.right)] += UNDER_HEAD if head is not None and head.over(charge.cell) > 0 else 1
    edge = max(weights, key=lambda edge: sum(weights[other] for other in weights if abs(other - edge) <= ALIGNED))
    return [charge for charge in found if abs(charge.cell.right - edge) <= ALIGNED]


def _boxed_amount(row: Row, box: Span | None) -> _Charge | None:
    """Return the row's amount that ends inside the box under the amounts' head."""
    for cell in row.cells:
        amounts = [amount for amount in find_amounts(cell.text) if amount.exact]
        if box and amounts and box.left < cell.right <= box.right and cell.left >= box.left:
            return _Charge(row, cell, amounts[-1])
    return None


def _last_amount(row: Row, *, loose: bool = False) -> _Charge | None:
    """Return the row's rightmost amount of money. `loose`: any number will do, as where no line has cents."""
    for cell in reversed(row.cells):
        amounts = [amount for amount in find_amounts(cell.text) if amount.exact or loose]
        if amounts:
            return _Charge(row, cell, amounts[-1])
    return None


def _is_discount(charge: _Charge, before: Sequence[Cell]) -> bool:
    """Tell whether the row takes something off the line before it: it says so, and counts nothing itself."""
    counts = any(QUANTITY.match(cell.text) for cell in before)
    return charge.amount.value <= 0 and role_of(charge.row.text.lower()) is Role.ADJUSTMENT and not counts


def _line(layout: Layout, table: _Table, charge: _Charge, cells: Sequence[Cell]) -> _Line | None:
    described = _descriptions(cells)
    if not described:
        return None
    description = max(described, key=len)
    numbers = tell_apart(cells, charge.amount.value, table.columns, description)
    numbered = bool(NUMBERED.match(cells[0].text))
    charged = _is_charged(table, description, numbers, len(cells), numbered=numbered)
    if not charged and role_of(description.lower()) in (*SUMS, Role.TAX):
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
    return _Line(item, sure=numbers.agree or numbered, extra=not charged)


def _with_words(table: _Table, charge: _Charge, before: Sequence[Cell], taken: Collection[int]) -> Sequence[Cell]:
    """Add the row above to a row that says nothing: some amounts are set a little lower than their words."""
    index = charge.row.number - table.rows[0].number
    if _descriptions(before) or not table.headed or index == 0 or charge.row.number - 1 in taken:
        return before
    return [*table.rows[index - 1].cells, *before]


def _is_charged(table: _Table, description: str, numbers: Numbers, columns: int, *, numbered: bool) -> bool:
    """Tell a line from a sum, a discount on the whole invoice and a remark, by what it counts or is called.

    `columns` are those before the amount that the row fills.
    """
    called = role_of(description.lower())
    if numbers.agree or numbered or (called is Role.ADJUSTMENT and (table.summed or columns >= LEAST_COLUMNS)):
        return True
    if called in (*SUMS, Role.TAX, Role.ADJUSTMENT):
        return numbers.quantity is not None and numbers.price is not None
    return table.headed or numbers.quantity is not None


def _descriptions(cells: Sequence[Cell]) -> list[str]:
    """Return what says what is charged: no quantities with their units, no tax rates.

    Where nothing else does, a first `4 Kingfisher` before other numbers is a position with its goods, not a quantity.
    """
    texts = [text for cell in cells if re.search(r"[^\W\d_]{2}", text := before_rate(cell.text))]
    described = [text for text in texts if not QUANTITY.match(text)]
    numbered = len(cells) > 1 and NUMBERED.match(cells[0].text)
    return described or (texts[:1] if numbered and cells[0].text in texts else [])
