"""Find the tables of charged lines: the rows from a header to the sum that ends them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import dropwhile, pairwise, takewhile

from docrail.invoices.readers.amounts.money import Role, has_money, role_of
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.page import Layout, Row
from docrail.invoices.readers.lines.numbers import Columns, columns_of, read_numbers
from docrail.invoices.values.numbers import find_amounts

MIN_COLUMNS, MIN_NUMBER_COLUMNS = 3, 2
"""Fewest columns and fewest number columns of a header."""
MAX_HEAD_WORDS, MAX_ROW_WORDS, MAX_SUM_WORDS, MAX_SUM_CELLS = 5, 16, 4, 5
"""Most words in a column heading, in a header row and in a sum's name, and most cells in a row that is a sum."""
MOST_PLAIN_WORDS = 4
"""Most words in each heading of a table with a single column of numbers."""
DAY = re.compile(r"date|day|datum|tag|dag|jour|fecha|dia|data|giorno")
WORD = re.compile(r"[^\W\d_][\w.\-]*")
"""A word of a sum's name; amounts, rates and currency signs do not count."""
MOST_BETWEEN = 4
"""Most rows from the sum of a group to the first line of the next group, for its name and description."""
MOST_UNDER = 3
"""Most rows of further description below a line."""
SUMS = (Role.TOTAL, Role.PLAIN_TOTAL, Role.NET)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that may be charged lines, and the positions of their columns."""

    rows: Sequence[Row]
    columns: Columns
    headed: bool
    summed: bool = False
    """Whether the sum below decides which rows are lines, whatever they are called."""


@lru_cache(maxsize=2)
def tables(layout: Layout) -> tuple[Table, ...]:
    """Return the rows between each header and the sum that ends it; without a header, those before a table of taxes.

    A table may span pages: only a new header or its end terminates it.
    """
    return tuple(_tables(layout))


def is_in_a_table(layout: Layout, number: int) -> bool:
    """Return whether the row of this number is below the headings of lines, before the sum that ends them."""
    return any(row.number == number for table in tables(layout) if table.headed for row in table.rows)


def _tables(layout: Layout) -> Iterator[Table]:
    headers = [row for row in layout.rows if _is_header(row)]
    if not headers:
        last = max((row.number for row in layout.rows if _counts(row)), default=len(layout.rows))
        rows = (*layout.rows[:last], *takewhile(lambda row: not is_other_header(row), layout.rows[last:]))
        yield Table(rows, Columns(), headed=False)
        return
    for header, following in pairwise([*headers, None]):
        assert header is not None
        rows = layout.rows[header.number + 1 : following.number if following else None]
        below = dropwhile(partial(_is_in_line, header), rows)  # without the second lines of its headings
        yield Table(list(_until_end(list(below))), columns_of(header), headed=True)


def _is_in_line(header: Row, row: Row) -> bool:
    return row.page == header.page and row.top - header.top < header.cells[0].height


def _until_end(rows: Sequence[Row]) -> Iterator[Row]:
    for index, row in enumerate(rows):
        if is_sum(row):
            if not _begins_with_a_group(rows[index + 1 :]):
                return
        elif vocabulary.TABLE_END.fullmatch(row.cells[0].folded.strip(" :")) or is_other_header(row):
            return
        else:
            yield row


def _begins_with_a_group(rows: Sequence[Row]) -> bool:
    """Return whether lines follow: soon a quantity and a price, or amounts that add up to the next sum.

    Only rows before any other sum, tax or header count.
    """
    group = list(takewhile(lambda row: not (is_sum(row) or _is_header(row) or _is_tax(row)), rows))
    if any(map(_counts, group[:MOST_BETWEEN])):
        return True
    exact = ([a.value for a in find_amounts(row.text) if a.exact] for row in rows[: len(group) + 1])
    amounts = [found[-1] for found in exact if found]
    return len(amounts) > 1 and sum(amounts[:-1]) == amounts[-1]


def _is_tax(row: Row) -> bool:
    return has_money(row.text) and any(role_of(cell.folded) is Role.TAX for cell in row.cells)


def _is_header(row: Row) -> bool:
    """Return whether the row heads a table of lines: a description and a quantity, price or amount.

    If the columns are so narrow that their headings share cells, all four must be present.
    """
    if has_money(row.text):
        return False
    heads = " ".join(cell.folded for cell in row.cells)
    short = len(re.findall(r"[a-z]+", heads)) <= MAX_ROW_WORDS
    if (short and all(column.search(heads) for column in vocabulary.LINE_COLUMNS)) or _names_what_and_amount(row):
        return True
    if len(row.cells) < MIN_COLUMNS:
        return False
    words = " | ".join(cell.folded for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS)
    what, how_many, price, amount = (bool(column.search(words)) for column in vocabulary.LINE_COLUMNS)
    return (what or (how_many and price)) and how_many + price + amount >= MIN_NUMBER_COLUMNS


def _names_what_and_amount(row: Row) -> bool:
    """Return whether short headings start with the description and end with the amount: `Concepto  Importe`.

    A date column may precede them. A currency or a column of subtotals may follow the amount.
    """
    first, *others = row.cells[1:] if DAY.fullmatch(row.cells[0].folded) and len(row.cells) > 1 else row.cells
    if not vocabulary.LINE_DESCRIPTION.search(first.folded):  # as of most rows: the other questions cost more
        return False
    if len(others) > 1 and role_of(others[-1].folded) is Role.NET and vocabulary.LINE_AMOUNT.search(others[-2].folded):
        others.pop()
    short = bool(others) and all(len(WORD.findall(cell.folded)) <= MOST_PLAIN_WORDS for cell in row.cells)
    named = short and vocabulary.LINE_AMOUNT.search(others[-1].folded)
    return bool(named) and role_of(first.folded) is Role.OTHER


def is_other_header(row: Row) -> bool:
    """Return whether the row heads another table, of taxes or discounts; a first sum may be in the same row."""
    heads = (cell for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS and not any(find_amounts(cell.text)))
    roles = [role_of(cell.folded) for cell in heads]
    named = [role for role in roles if role is not Role.OTHER]
    return len(named) > 1 + has_money(row.text) and bool({Role.TAX, Role.NET, Role.NOT_A_SUM} & {*named})


def is_sum(row: Row) -> bool:
    """Return whether the row is a sum rather than a line: it is named as one and has no quantity and price."""
    if not any(find_amounts(row.text)) or len(row.cells) > MAX_SUM_CELLS:
        return False
    worded = [cell.folded for cell in row.cells if re.search(r"[a-z]{2}", cell.folded)]
    last = [name for name in worded[-1:] if not any(map(str.isdigit, name))]  # not an article such as `NET-011`
    names = {*worded[:1], *last}
    called = any(len(WORD.findall(name)) <= MAX_SUM_WORDS and role_of(name) in SUMS for name in names)
    return called and not _counts(row)


def _counts(row: Row) -> bool:
    """Return whether the row's quantity times its price gives its amount: `Arbeitspreis HT  5.210 kWh`.

    A tax rate may follow the amount.
    """
    return any(
        read_numbers(row.cells[1:end], amount.value, Columns(), "").agree
        for end in (len(row.cells) - 1, len(row.cells) - 2)
        for amount in find_amounts(row.cells[end].text)[-1:]
    )


def goes_on(row: Row, line: Row) -> bool:
    """Return whether the row is further description of a line: words directly below its words, perhaps `included`."""
    (words, *others), amount = row.cells, line.cells[-1]
    if row.page != line.page or row.number - line.number > MOST_UNDER:
        return False
    if others and (len(others) > 1 or any(map(str.isdigit, others[0].text))):
        return False
    near = words.top - amount.bottom < (2 * (row.number - line.number) - 1) * words.height
    return (
        near
        and words.right < amount.left
        and any(abs(cell.left - words.left) < words.height for cell in line.cells[:-1])
    )
