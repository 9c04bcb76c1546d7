"""Find the tables of charged lines, their columns, and the numbers of each row: quantity, price and tax rate."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise, takewhile

from docrail.invoices.features import Feature, leaders
from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.page import Cell, Layout, Row, Word
from docrail.invoices.values.currencies import CURRENCIES
from docrail.invoices.values.folding import fold
from docrail.invoices.values.numbers import find_amounts, parse_number

QUANTITY = re.compile(r"^(?:x\s?)?(-?\d[\d.,'\u2019 ]{0,12})(?:\s?[^\W\d_][^\W\d_.()/]{0,9}[²³]?\.?(?:\(s\))?)?$")
"""A number with at most a unit: `5`, `x5`, `10000,0000 KWh`, `20 Unit(s)`."""
ARTICLE = re.compile(r"\d{4,}")
NUMBERED = re.compile(r"^\(?\d{1,3}[.)]?(?:\s+\S|$)")
TIMES = re.compile(r"\bx\s?(\d{1,5})\b|\b(\d{1,5})\s?x\b")
THREE_DECIMALS = re.compile(r"^\d{1,3}[.,]\d{3}(?![\d.,])")
RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?)\s?%")
_CODE = rf"(?:{'|'.join(CURRENCIES)})?"
MONEY = re.compile(rf"-?{_CODE}\s?-?[\d.,'\u2019 ]*{_CODE}$")
TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
CENT = Decimal("0.01")
ROUNDED = Decimal("0.005")
"""Error of a price rounded to cents, for each unit of the quantity."""


@dataclass(frozen=True, slots=True)
class Span:
    """Horizontal extent of a column heading, in points."""

    left: float
    right: float

    def over(self, cell: Cell) -> float:
        """Return the horizontal overlap of the cell and the heading; negative values are their distance."""
        return min(self.right, cell.right) - max(self.left, cell.left)


@dataclass(frozen=True, slots=True)
class Columns:
    """The headings of a table's number columns; None if there is none."""

    quantity: Span | None = None
    price: Span | None = None
    amount: Span | None = None
    box: Span | None = None
    """From the amount column's heading to the next one: in ruled tables headings are left-aligned and amounts
    right-aligned."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a line. `agree`: quantity times price gives the amount."""

    quantity: Decimal | None = None
    price: Decimal | None = None
    agree: bool = False


@dataclass(frozen=True, slots=True)
class _Number:
    value: Decimal
    cell: Cell
    is_quantity: bool
    is_price: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """A quantity and a price whose product is the line's amount."""

    quantity: _Number
    price: _Number
    columns: Columns


PAIR: tuple[Feature[Pair], ...] = (
    Feature("the quantity is under its heading", 1.0, lambda p: _fits(p.quantity, p.columns.quantity)),
    Feature("the price is under its heading", 1.0, lambda p: _fits(p.price, p.columns.price)),
)


def columns_of(header: Row) -> Columns:
    """Return the positions of the columns. Headings are found by their words, since narrow columns share a cell."""
    quantities, prices, amounts = (
        _spans(header, name) for name in (vocabulary.LINE_QUANTITY, vocabulary.LINE_PRICE, vocabulary.LINE_AMOUNT)
    )
    amounts = amounts or prices[1:]  # "Unit price", "Price"
    amount = amounts[-1] if amounts else None
    nexts = [cell.left for cell in header.cells if amount and cell.left > amount.right]
    box = Span(amount.left, min(nexts)) if amount and nexts else None
    return Columns(next(iter(quantities), None), next(iter(prices), None), amount, box)


def _spans(header: Row, name: re.Pattern[str]) -> list[Span]:
    """Return the positions of the pattern's matches in the row."""
    spans = []
    for cell in header.cells:
        for match in name.finditer(cell.folded):
            end, words = 0, []
            for word in cell.words:
                start, end = end, end + len(word.text) + 1
                words += [word] * (start < match.end() and end > match.start() + 1)
            spans.append(Span(words[0].left, words[-1].right))
    return spans


def read_numbers(cells: Sequence[Cell], amount: Decimal, columns: Columns, description: str) -> Numbers:
    """Return the quantity and the price before an amount: a pair whose product it is, else by their columns."""
    numbers = list(_numbers(cells))
    first = cells[0] if cells else None
    either = [*numbers, *_thousandths(numbers)]
    pairs = (
        Pair(one, other, columns)
        for one in either
        for other in either
        if one.cell is not other.cell and one.is_quantity and _makes(one.value, other.value, amount)
    )
    if best := leaders(PAIR, pairs):
        return Numbers(best[0].quantity.value, best[0].price.value, agree=True)
    quantity_ = _at([n for n in numbers if n.is_quantity and n.cell is not first], columns.quantity)
    price_ = _at([n for n in numbers if n.is_price and n is not quantity_ and n.cell is not first], columns.price)
    times = TIMES.search(description)
    value = quantity_.value if quantity_ else Decimal(times[1] or times[2]) if times else None
    return Numbers(value, price_.value if price_ else None)


def apart(cell: Cell) -> list[Cell]:
    """Split a cell that is a whole line into its words and its numbers except the last; empty for other cells."""
    end = len(cell.words)
    while end and re.fullmatch(r"[^\w\s]*[\d.,]+[^\w\s]*", cell.words[end - 1].text):
        end -= 1
    if not 0 < end < len(cell.words):
        return []
    return [_part_of(cell, cell.words[:end]), *(_part_of(cell, [word]) for word in cell.words[end:-1])]


def _part_of(cell: Cell, words: Sequence[Word]) -> Cell:
    text = " ".join(word.text for word in words)
    return replace(cell, words=tuple(words), text=text, folded=fold(text), left=words[0].left, right=words[-1].right)


def rate_of(cells: Sequence[Cell]) -> Decimal | None:
    """Return the tax rate if the line contains exactly one percentage."""
    rates = {match[1].replace(",", ".") for cell in cells for match in RATE.finditer(cell.text)}
    return Decimal(rates.pop()) if len(rates) == 1 else None


def before_rate(text: str) -> str:
    """Return the text before a tax rate: narrow columns merge `2 Stk 19 % VAT` into one cell."""
    match = RATE.search(text)
    return text[: match.start()].strip() if match else text


def descriptions(cells: Sequence[Cell]) -> list[str]:
    """Return the texts that describe the charge, without quantities with units and tax rates.

    If nothing else does, a leading `4 Kingfisher` before other numbers is a position with its goods, not a quantity;
    `1 Maisgries` after the number of an article is a count with its goods.
    """
    texts = [text for cell in cells if TWO_LETTERS.search(text := before_rate(cell.text)) and not MONEY.match(text)]
    described = [text for text in texts if not QUANTITY.match(text)]
    numbered = len(cells) > 1 and NUMBERED.match(cells[0].text) and cells[0].text in texts
    return described or (texts[:1] if numbered or (cells and ARTICLE.fullmatch(cells[0].text)) else [])


def _numbers(cells: Sequence[Cell]) -> Iterator[_Number]:
    for cell in cells:
        text = before_rate(cell.text)
        match = QUANTITY.match(text)
        value = parse_number(match[1].lstrip("-")) if match else None
        exact = [amount for amount in find_amounts(text) if amount.exact or amount.value != int(amount.value)]
        if match and value is not None:
            value = -value if match[1].startswith("-") else value
            yield _Number(value, cell, is_quantity=True, is_price=bool(exact) or not re.search(r"[^\W\d_]", text))
        elif exact:
            yield _Number(exact[0].value, cell, is_quantity=False, is_price=True)


def _thousandths(numbers: Sequence[_Number]) -> Iterator[_Number]:
    """Yield numbers that may have three decimals, as wholesale prices and weights do: `8,450`."""
    for number in numbers:
        if THREE_DECIMALS.match(number.cell.text):
            yield replace(number, value=number.value / 1000)


def _makes(quantity: Decimal, price: Decimal, amount: Decimal) -> bool:
    return bool(quantity and price) and abs(abs(quantity * price) - abs(amount)) <= CENT + ROUNDED * abs(quantity)


def _fits(number: _Number, column: Span | None) -> bool:
    return column is not None and column.over(number.cell) > 0


def _at(numbers: Sequence[_Number], column: Span | None) -> _Number | None:
    """Return the number under the column's heading; without a heading, the last number."""
    if column is None:
        return numbers[-1] if numbers else None
    return next((number for number in reversed(numbers) if column.over(number.cell) > 0), None)


MIN_COLUMNS, MIN_NUMBER_COLUMNS = 3, 2
"""Fewest columns and fewest number columns of a header."""
MAX_HEAD_WORDS, MAX_ROW_WORDS, MAX_SUM_WORDS, MAX_SUM_CELLS = 5, 16, 4, 5
"""Most words in a column heading, in a header row and in a sum's name, and most cells in a row that is a sum."""
MOST_PLAIN_WORDS = 4
"""Most words in each heading of a table with a single column of numbers."""
DAY = re.compile(r"date|day|datum|tag|dag|jour|fecha|dia|data|giorno")
CREDIT = re.compile(r"credits?|haben|abonos?|avere|accrediti")
"""Heading of a column of payments, next to the one of charges."""
WORD = re.compile(r"[^\W\d_][\w.\-]*")
"""A word of a sum's name; amounts, rates and currency signs do not count."""
POSITION = re.compile(r"(?:pos\.? ?)?0{0,3}(\d{1,3})\.?", re.IGNORECASE)
"""Number of a line, in the first cell of its row."""
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
        yield Table(list(_until_end(rows)), columns_of(header), headed=True)


def _until_end(rows: Sequence[Row]) -> Iterator[Row]:
    begun, number = False, 0
    for index, row in enumerate(rows):
        number = _number(row) or number
        if is_sum(row) and (
            _goes_on(rows[index + 1 : index + 1 + MOST_BETWEEN], number) or _adds_up(rows[index + 1 :])
        ):
            continue  # the sum of a group
        if (
            is_sum(row)
            or vocabulary.TABLE_END.fullmatch(row.cells[0].folded.strip(" :"))
            or (begun and is_other_header(row))
        ):
            return
        begun = begun or _has_money(row)
        yield row


def _number(row: Row) -> int | None:
    """Return the line number at the start of a row; None if there is none."""
    first = POSITION.fullmatch(row.cells[0].text)
    return int(first[1]) if first and _has_money(row) else None


def _goes_on(rows: Sequence[Row], number: int) -> bool:
    """Return whether the table continues: a row has a number above `number`, or has a quantity and a price as lines do.

    Only rows before any other sum, tax or header count.
    """
    begin = list(takewhile(lambda row: not (is_sum(row) or _is_header(row) or _is_tax(row)), rows))
    return any((_number(row) or 0) > number for row in begin) if number else any(map(_counts, begin))


def _adds_up(rows: Sequence[Row]) -> bool:
    """Return whether the rows before the next sum add up to it: they are another group."""
    group = list(takewhile(lambda row: not (is_sum(row) or _is_header(row) or _is_tax(row)), rows))
    exact = ([a.value for a in find_amounts(row.text) if a.exact] for row in rows[: len(group) + 1])
    amounts = [found[-1] for found in exact if found]
    return len(amounts) > 1 and sum(amounts[:-1]) == amounts[-1]


def _is_tax(row: Row) -> bool:
    return _has_money(row) and any(role_of(cell.folded) is Role.TAX for cell in row.cells)


def _is_header(row: Row) -> bool:
    """Return whether the row heads a table of lines: a description and a quantity, price or amount.

    If the columns are so narrow that their headings share cells, all four must be present.
    """
    if _has_money(row):
        return False
    heads = " ".join(cell.folded for cell in row.cells)
    short = len(re.findall(r"[a-z]+", heads)) <= MAX_ROW_WORDS and not re.search(r"\d", heads)
    if short and all(column.search(heads) for column in vocabulary.LINE_COLUMNS):
        return True
    if _names_what_and_amount(row):
        return True
    if len(row.cells) < MIN_COLUMNS:
        return False
    words = " | ".join(cell.folded for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS)
    what, how_many, price, amount = (bool(column.search(words)) for column in vocabulary.LINE_COLUMNS)
    return (what or (how_many and price)) and how_many + price + amount >= MIN_NUMBER_COLUMNS


def _names_what_and_amount(row: Row) -> bool:
    """Return whether short headings start with the description and end with the amount: `Concepto  Importe`.

    A date column may precede them. A currency, or a column of credits or subtotals, may follow the amount.
    """
    first, *others = row.cells[1:] if DAY.fullmatch(row.cells[0].folded) and len(row.cells) > 1 else row.cells
    if not vocabulary.LINE_DESCRIPTION.search(first.folded):  # as of most rows: the other questions cost more
        return False
    if len(others) > 1 and (CREDIT.fullmatch(others[-1].folded) or role_of(others[-1].folded) is Role.NET):
        others.pop()
    short = bool(others) and all(len(WORD.findall(cell.folded)) <= MOST_PLAIN_WORDS for cell in row.cells)
    amount = others[-1].folded.strip(" :()€") if short else ""
    amount = amount[:-4] if amount[-3:].upper() in CURRENCIES and amount[-4:-3] == " " else amount
    return bool(vocabulary.LINE_AMOUNT.search(amount)) and role_of(first.folded) is Role.OTHER


def is_other_header(row: Row) -> bool:
    """Return whether the row heads another table, of taxes or discounts; a first sum may be in the same row."""
    heads = (cell for cell in row.cells if len(cell.words) <= MAX_HEAD_WORDS and not any(find_amounts(cell.text)))
    roles = [role_of(cell.folded) for cell in heads]
    named = [role for role in roles if role is not Role.OTHER]
    return len(named) > 1 + _has_money(row) and bool({Role.TAX, Role.NET, Role.NOT_A_SUM} & {*named})


def _has_money(row: Row) -> bool:
    return any(amount.exact for amount in find_amounts(row.text))


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
    """Return whether the row's quantity times its price gives its amount: `Arbeitspreis HT  5.210 kWh`."""
    amounts = find_amounts(row.cells[-1].text)
    return bool(amounts) and read_numbers(row.cells[1:-1], amounts[-1].value, Columns(), "").agree


def goes_on(row: Row, line: Row) -> bool:
    """Return whether the row is further description of a line: words directly below its words, perhaps `included`."""
    (words, *others), amount = row.cells, line.cells[-1]
    if row.page != line.page or row.number - line.number > MOST_UNDER or is_sum(row):
        return False
    if others and (len(others) > 1 or any(map(str.isdigit, others[0].text)) or is_other_header(row)):
        return False
    near = words.top - amount.bottom < (2 * (row.number - line.number) - 1) * words.height
    return (
        near
        and words.right < amount.left
        and any(abs(cell.left - words.left) < words.height for cell in line.cells[:-1])
    )
