"""Read the numbers of a line, by arithmetic and by their columns: quantity, price and tax rate."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from docrail.invoices.features import Feature, leaders
from docrail.invoices.readers.amounts.money import RATE, rates_in
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.page import Cell, Row, Word
from docrail.invoices.values.folding import fold
from docrail.invoices.values.numbers import find_amounts, parse_number

QUANTITY = re.compile(
    r"^(?!\d\d?\.\d\d?\.$)(?:x\s?)?(-?\d[\d.,'\u2019 ]{0,12})(?:\s?[^\W\d_][^\W\d_.()/]{0,9}[²³]?\.?(?:\(s\))?)?$"
)
"""A number with at most a unit: `5`, `x5`, `10000,0000 KWh`, `20 Unit(s)`; no day of a year: `02.09.`"""
ARTICLE = re.compile(r"\d{4,}")
NUMBERED = re.compile(r"^\(?\d{1,3}[.)]?(?:\s+\S|$)")
WITH_DECIMALS = re.compile(r"-?\d[\d.,'\u2019]*[.,]\d{1,4}")
CODE = re.compile(r"\d{1,2}")
MOST_BEFORE_A_CODE = 2
"""Words of an amount: its thousands may be apart, or a discount touches it."""
TIMES = re.compile(r"(?<![.,]\d )(?<![.,]\d\d )(?<![.,]\d\d\d )\bx\s?(\d{1,5})\b(?![.,]\d)|(?<![.,])\b(\d{1,5})\s?x\b")
"""A count in words, `x 31 days`; not the size `8.5 x 11`, nor the price in `kWh x 0,14`."""
THREE_DECIMALS = re.compile(r"^\d{1,3}[.,]\d{3}(?![\d.,])")
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
    parts = {id(cell): _columns_in(cell) for cell in cells}
    numbers = list(_numbers([cell for cell in cells if len(parts[id(cell)]) == 1]))
    first = cells[0] if cells else None
    touching = _numbers([part for own in parts.values() if len(own) > 1 for part in own])
    either = [*numbers, *_thousandths(numbers), *touching]
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


def before_code(cell: Cell) -> Cell:
    """Return a cell of an amount without the number of at most two digits after it: a code or rate of a column."""
    *words, code = cell.words
    touches = words and len(words) <= MOST_BEFORE_A_CODE and WITH_DECIMALS.fullmatch(words[-1].text)
    return _part_of(cell, words) if touches and CODE.fullmatch(code.text) else cell


def _part_of(cell: Cell, words: Sequence[Word]) -> Cell:
    text = " ".join(word.text for word in words)
    return replace(cell, words=tuple(words), text=text, folded=fold(text), left=words[0].left, right=words[-1].right)


def rate_of(cells: Sequence[Cell]) -> Decimal | None:
    """Return the tax rate if the line contains exactly one percentage."""
    rates = {rate for cell in cells for rate in rates_in(cell.text)}
    return rates.pop() if len(rates) == 1 else None


def before_rate(text: str) -> str:
    """Return the text before a tax rate: narrow columns merge `2 Stk 19 % VAT` into one cell."""
    match = RATE.search(text)
    return text[: match.start()].strip() if match else text


def descriptions(cells: Sequence[Cell]) -> list[str]:
    """Return the texts that describe the charge, without quantities with units and tax rates.

    If nothing else does, a leading `4 Kingfisher` before other numbers is a position with its goods, not a quantity;
    `1 Maisgries` after the number of an article is a count with its goods.
    """
    texts = [text for cell in cells if TWO_LETTERS.search(text := before_rate(cell.text))]
    described = [text for text in texts if not QUANTITY.match(text)]
    goods = len(cells) > 1 and (cells[0].text in texts or ARTICLE.fullmatch(cells[0].text))
    return described or (texts[:1] if goods else [])


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


def _columns_in(cell: Cell) -> list[Cell]:
    """Return the words of a cell of several numbers with decimals, `1,50 310,00`: only their product can tell them."""
    several = len(cell.words) > 1 and all(WITH_DECIMALS.fullmatch(word.text) for word in cell.words)
    return [_part_of(cell, [word]) for word in cell.words] if several else [cell]


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
