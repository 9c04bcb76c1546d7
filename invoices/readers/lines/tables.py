"""Finds where tables of charged lines begin and end: at a header, and at the first sum or another table's header."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout.page import Layout, Row
from docrail.invoices.readers.layout.vocabulary import LINE_AMOUNT, LINE_COLUMNS, LINE_DESCRIPTION, TABLE_END
from docrail.invoices.readers.lines.numbers import Columns, columns_of, tell_apart
from docrail.invoices.values.currencies import CURRENCIES
from docrail.invoices.values.numbers import find_amounts

MIN_COLUMNS, MIN_NUMBER_COLUMNS = 3, 2
"""Fewer column names do not make a header."""
MAX_HEAD_WORDS, MAX_ROW_WORDS, MAX_SUM_WORDS, MAX_SUM_CELLS = 5, 16, 4, 5
"""Of a column's name, of a row of them, of a sum's name, and of a row that is a sum."""
MOST_PLAIN_WORDS = 2
"""Of each head of a table with a single column of numbers."""
DAY = re.compile(r"date|day|datum|tag|dag|jour|fecha|dia|data|giorno")
SUM_CELLS = 2
"""Its name and its amount."""
WORD = re.compile(r"[^\W\d_][\w.\-]*")
"""Amounts, rates and currencies' signs beside it are no words of a sum's name."""
POSITION = re.compile(r"(?:pos\.? ?)?0{0,3}(\d{1,3})\.?", re.IGNORECASE)
"""What a line that is numbered begins with, in a cell of its own."""
MOST_BETWEEN = 4
"""Rows from the sum of a group to the next group's first line: its name, and what is said of it."""
MOST_UNDER = 3
"""Rows under a line that say more about it."""
SUMS = (Role.TOTAL, Role.PLAIN_TOTAL, Role.NET)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that can be charged lines, and where their columns are."""

    rows: Sequence[Row]
    columns: Columns
    headed: bool
    summed: bool = False
    """The sum below tells which rows are lines, whatever they are called."""


def tables(layout: Layout) -> Iterator[Table]:
    """Yield the rows between each header and the sum that ends it; without any header, all rows.

    A table may go on over pages: only a new header or its end ends it.
    """
    headers = [row for row in layout.rows if _is_header(row)]
    if not headers:
        yield Table(layout.rows, Columns(), headed=False)
        return
    for header, following in pairwise([*headers, None]):
        assert header is not None
        rows = layout.rows[header.number + 1 : following.number if following else None]
        yield Table(list(_until_end(rows)), columns_of(header), headed=True)


def _until_end(rows: Sequence[Row]) -> Iterator[Row]:
    begun, number = False, 0
    for index, row in enumerate(rows):
        number = _number(row) or number
        if is_sum(row) and _goes_on(rows[index + 1 : index + 1 + MOST_BETWEEN], number):
            continue  # of a group
        if is_sum(row) or TABLE_END.fullmatch(row.cells[0].folded.strip(" :")) or (begun and is_other_header(row)):
            return
        begun = begun or _has_money(row)
        yield row


def _number(row: Row) -> int | None:
    """Return which line of its table a row says that it is; None if it does not."""
    first = POSITION.fullmatch(row.cells[0].text)
    return int(first[1]) if first and _has_money(row) else None


def _goes_on(rows: Sequence[Row], number: int) -> bool:
    """Tell whether one of the rows is the line after line `number`, or has a quantity and a price as lines do.

    It stands before any other sum, tax or header.
    """
    begin = list(takewhile(lambda row: not (is_sum(row) or _is_header(row) or _is_tax(row)), rows))
    return any(_number(row) == number + 1 for row in begin) if number else any(map(_counts, begin))


def _is_tax(row: Row) -> bool:
    return _has_money(row) and any(role_of(cell.folded) is Role.TAX for cell in row.cells)


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
    if _names_what_and_amount(row):
        return True
    if len(row.cells) < MIN_COLUMNS:
        return False
    words = " | ".join(cell.folded for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS)
    what, how_many, price, amount = (bool(column.search(words)) for column in LINE_COLUMNS)
    return (what or (how_many and price)) and how_many + price + amount >= MIN_NUMBER_COLUMNS


def _names_what_and_amount(row: Row) -> bool:
    """Tell whether a row of short heads begins with what is charged and ends with its amount: `Concepto  Importe`.

    The day may stand before it, and the currency behind the amount.
    """
    first, *others = row.cells[1:] if DAY.fullmatch(row.cells[0].folded) and len(row.cells) > 1 else row.cells
    short = bool(others) and all(len(cell.words) <= MOST_PLAIN_WORDS for cell in row.cells)
    amount = others[-1].folded.strip(" :()€") if short else ""
    amount = amount[:-4] if amount[-3:].upper() in CURRENCIES and amount[-4:-3] == " " else amount
    return bool(LINE_DESCRIPTION.match(first.folded) and LINE_AMOUNT.fullmatch(amount))


def is_other_header(row: Row) -> bool:
    """Tell whether the row names columns of another table, of taxes or discounts; a first sum may stand beside it."""
    heads = (cell for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS and not any(find_amounts(cell.text)))
    roles = [role_of(cell.folded) for cell in heads]
    told = [role for role in roles if role is not Role.OTHER]
    return len(told) > 1 + _has_money(row) and bool({Role.TAX, Role.NET, Role.NOT_A_SUM} & {*told})


def _has_money(row: Row) -> bool:
    return any(amount.exact for amount in find_amounts(row.text))


def is_sum(row: Row) -> bool:
    """Tell whether the row is a sum rather than a line: it is called one and has nothing else to say."""
    worded = [cell.folded for cell in row.cells if re.search(r"[a-z]{2}", cell.folded)]
    if not any(find_amounts(row.text)) or len(row.cells) > MAX_SUM_CELLS:
        return False
    names = {*worded[:1], *(worded[-1:] if _is_two_sums(row) else ())}
    called = any(len(WORD.findall(name)) <= MAX_SUM_WORDS and role_of(name) in SUMS for name in names)
    return called and not _counts(row)


def _is_two_sums(row: Row) -> bool:
    """Tell whether the row is a name and an amount twice: sums stand beside each other."""
    if len(row.cells) != 2 * SUM_CELLS:
        return False
    amounts = [any(amount.exact for amount in find_amounts(cell.text)) for cell in row.cells]
    return amounts == [False, True] * SUM_CELLS


def _counts(row: Row) -> bool:
    """Tell whether the row has a quantity and a price that make its amount: `Arbeitspreis HT  5.210 kWh`."""
    amounts = find_amounts(row.cells[-1].text)
    return bool(amounts) and tell_apart(row.cells[1:-1], amounts[-1].value, Columns(), "").agree


def goes_on(row: Row, line: Row) -> bool:
    """Tell whether the row is but words right under those of a line, which say more about it."""
    words, amount = row.cells[0], line.cells[-1]
    if len(row.cells) > 1 or row.page != line.page or row.number - line.number > MOST_UNDER or is_sum(row):
        return False
    near = words.top - amount.bottom < (2 * (row.number - line.number) - 1) * words.height
    return (
        near
        and words.right < amount.left
        and any(abs(cell.left - words.left) < words.height for cell in line.cells[:-1])
    )
