"""Find the amounts on the pages, and the role each is labelled with: total, net, tax, adjustment or other."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import takewhile

from docrail.invoices.readers.amounts import sum_words
from docrail.invoices.readers.layout.page import Cell, Layout, Row
from docrail.invoices.values.currencies import CURRENCIES
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.numbers import PREFIXED_DOLLARS, RINGGIT, SYMBOLS, Amount, find_amounts

RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?)\s?%")
RATES = re.compile(r"^[^\d%]*%[^\d%]*$|\b(?:tipo|taux|aliquot[ae]|rate|tarief|\w*satz)\b")
"""Matches column headings of rates."""
CODE_LABEL = re.compile(r"(?:[\s-]|^)(?:nr|no|nummer|number|n[o°º]|num|numero|id|idnr|code)\W*$")
"""Matches labels of tax or customer numbers, which may look like amounts."""
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
MAX_LABEL_WORDS = 9
"""Most words in a label; a longer text before an amount is a sentence."""
LEAST_REMARK = 3
"""Fewest words after a charge or a discount in a remark: `late fees of 12.00 may be added to the next bill`."""
SIGN_LETTERS = 3
WORD = re.compile(r"[a-z]\.?[a-z]")
"""Two letters form a word, also with a dot between them: `I.V.A.`."""
PART = re.compile(r"[^\W_]\S*")
"""A word or a number of a label, not the dots of a leader."""
ABBREVIATION = re.compile(r"\b(?:[a-z]{1,2}\.)+[a-z]{1,2}\b\.?")
"""A name of a tax with full stops, `I.R.P.F.` or `M.w.St.`: the lists of words have it without."""
NEAR_ROW = 1.3
"""Largest distance between two lines of one cell, in line heights."""
HEADER_DROP = 90.0
"""Largest distance in points between a column heading and an amount below it."""

MAX_BLOCK = 9
"""Most rows to look at above and below a sum that is printed to the left of its name."""
LEAST_HEADS, SLOT = 3, 90.0
"""Fewest headings in a row of ruled boxes, and largest distance in points from a heading's end to its amount."""


class Role(Enum):
    """Role of an amount, from its label on the page."""

    TOTAL = "total"
    PLAIN_TOTAL = "plain_total"
    NET = "net"
    TAX = "tax"
    ADJUSTMENT = "adjustment"
    NOT_A_SUM = "not_a_sum"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount on a page, with its own role (from the text before it) and its column's (from the heading above)."""

    value: Decimal
    currency: str | None
    exact: bool
    cell: Cell
    label: str
    role: Role
    column: Role
    order: int
    """Index of the amount within its row, from the left."""
    rate: Decimal | None = None
    """The only tax rate in its row, as a share: 0.19 for 19 %."""


def find_money(layout: Layout) -> list[Money]:
    """Return every number that may be an amount of money, in reading order."""
    found: list[Money] = []
    for row in layout.rows:
        rate = _only_rate(row)
        found.extend(_row_money(layout, row, rate))
        found.extend(_discount_without_amount(row, rate, found))
    return found


def headed_sums(amounts: Sequence[Money], lines: Collection[int]) -> list[Money]:
    """Return the net and the total of the row that has both under their headings: `Net | VAT | Total`.

    The rows of `lines` may have the same headings. Of several rows, such as one for each rate, the last must add up
    the others.
    """
    rows: dict[int, dict[Role, Money]] = {}
    for money in amounts:
        if money.exact and money.column in (Role.NET, Role.TOTAL, Role.PLAIN_TOTAL) and money.cell.row not in lines:
            rows.setdefault(money.cell.row, {})[money.column] = money
    both = [row for row in rows.values() if Role.NET in row and len(row) > 1]
    adds_up = len(both) == 1 or (both and both[-1][Role.NET].value == sum(row[Role.NET].value for row in both[:-1]))
    return list(both[-1].values()) if adds_up else []


def has_money(text: str) -> bool:
    """Return whether a text has an amount with cents or a currency."""
    return any(amount.exact for amount in find_amounts(text))


def _only_rate(row: Row) -> Decimal | None:
    rates = rates_in(row.text)
    return rates.pop() / 100 if len(rates) == 1 else None


def rates_in(text: str) -> set[Decimal]:
    """Return the percentages in a text: 19 for 19 %."""
    return {Decimal(rate.replace(",", ".")) for rate in RATE.findall(text)}


def _discount_without_amount(row: Row, rate: Decimal | None, before: Sequence[Money]) -> Iterator[Money]:
    """Yield what `Less 10 % discount` takes off the net above it: some pages print its rate only."""
    if not rate or len(row.cells) > 1:
        return
    label = RATE.sub(" ", row.cells[0].folded)
    if len(label.split()) > MAX_LABEL_WORDS or role_of(label) is not Role.ADJUSTMENT:
        return
    base = next((money for money in reversed(before) if money.exact and money.role is Role.NET), None)
    if base and base.cell.page == row.page and not sum_words.CASH_DISCOUNT.search(row.cells[0].folded):
        value = -round(base.value * rate, 2)
        yield Money(value, base.currency, False, row.cells[0], label, Role.ADJUSTMENT, Role.OTHER, 0)


@lru_cache(maxsize=256)  # called for each amount below the same heading
def role_of(label: str) -> Role:
    """Return the role that a folded label gives its amount; more specific words are checked first."""
    label = _without_stops(label)
    if CODE_LABEL.search(label) or sum_words.TENDERED.match(label):
        return Role.NOT_A_SUM
    if sum_words.NOT_A_SUM.search(label) and not sum_words.TOTAL.search(label):
        return Role.NOT_A_SUM
    net = not sum_words.GROSS_WORDS.search(label)
    tax = not sum_words.TAX_RETURN.search(label)
    order = (
        (Role.ADJUSTMENT, net, sum_words.ADJUSTMENT),
        (Role.TAX, tax, sum_words.TAX_SUM),
        (Role.NET, net, sum_words.NET_WORDS),
        (Role.TOTAL, True, sum_words.TOTAL),
        (Role.NET, net, sum_words.NET),
        (Role.TAX, tax, sum_words.TAX),
        (Role.PLAIN_TOTAL, True, sum_words.PLAIN_TOTAL),
    )
    return next((role for role, may_be, words in order if may_be and words.search(label)), Role.OTHER)


def _without_stops(label: str) -> str:
    return ABBREVIATION.sub(lambda match: match.group().replace(".", ""), label)


def _row_money(layout: Layout, row: Row, rate: Decimal | None) -> Iterator[Money]:
    first, label, order = "", _label_across(layout, row) or _label_after(layout, row), 0
    for cell in row.cells:
        amounts = [amount for amount in find_amounts(cell.text) if not _in_date(amount, cell)]
        if not amounts:
            if _is_label(cell) and not (label and _is_sign(cell)):
                label = cell.folded
                first = first or label
            continue
        end = 0
        for amount in amounts:
            own = cell.folded[end : amount.start]
            if WORD.search(own):
                label = own
            end = amount.end
            column = _column_role(layout, cell) if amount.exact else Role.OTHER
            discounted = role_of(first) is Role.ADJUSTMENT
            yield _money(amount, cell, first if discounted else label, column, order, rate=rate)
            order += 1
        if not any(amount.exact for amount in amounts) and _is_label(cell):
            label = cell.folded  # such as `19 % Umsatzsteuer Nr. 7008 VV`
            first = first or label


def _label_across(layout: Layout, row: Row) -> str:
    """Return the label of a row without words from half a line above or below: narrow columns split cells into two.

    Empty if the row has words, or if the other row has its own amount or is a row of headings.
    """
    labels = list(_labels_across(layout, row)) if not any(WORD.search(cell.folded) for cell in row.cells) else []
    named = (label for label in labels if role_of(RATE.sub(" ", label)) not in (Role.OTHER, Role.NOT_A_SUM))
    return next(named, next(iter(labels), ""))


def _labels_across(layout: Layout, row: Row) -> Iterator[str]:
    for number in (row.number + 1, row.number - 1):
        near = layout.rows[number] if 0 <= number < len(layout.rows) else None
        if near is None or near.page != row.page or abs(near.top - row.top) > NEAR_ROW * row.cells[0].height:
            continue
        cell = near.cells[0]
        own = any(has_money(other.text) for other in near.cells)
        heads = len([other for other in near.cells if _is_label(other)]) > 1
        if not (own or heads) and _is_label(cell) and cell.right < row.cells[-1].left:
            yield cell.folded


def _label_after(layout: Layout, row: Row) -> str:
    """Return the name to the right of an amount in a block of such rows: sums of different roles, and nothing else.

    Below headings, and where a row has no role, the rows are lines that begin with their amounts.
    """
    if not _is_amount_and_name(row):
        return ""
    start = max(0, row.number - MAX_BLOCK)
    above = list(takewhile(lambda other: _is_shaped_like(other, row), reversed(layout.rows[start : row.number])))
    below = layout.rows[row.number + 1 : row.number + 1 + MAX_BLOCK]
    block = [*above, row, *takewhile(lambda other: _is_shaped_like(other, row), below)]
    roles = {role_of(RATE.sub(" ", other.cells[1].folded)) for other in block}
    heads = layout.rows[row.number - len(above) - 1].cells if row.number > len(above) else ()
    is_headed = len(heads) > 1 and heads[0].page == row.page and not any(has_money(head.text) for head in heads)
    return "" if len(roles) == 1 or Role.OTHER in roles or is_headed else row.cells[1].folded


def _is_amount_and_name(row: Row) -> bool:
    """Return whether the row has an amount, a name to the right of it, and nothing else."""
    amount, *names = row.cells
    alone = len(names) == 1 and _is_label(names[0]) and not has_money(names[0].text)
    return alone and has_money(amount.text) and not WORD.search(amount.folded)


def _is_shaped_like(other: Row, row: Row) -> bool:
    """Return whether the other row also has an amount and its name, in the same columns."""
    in_columns = all(cell.shares_column(own) for cell, own in zip(other.cells, row.cells, strict=False))
    return other.page == row.page and in_columns and _is_amount_and_name(other)


def _in_date(amount: Amount, cell: Cell) -> bool:
    """Return whether the number is part of a date."""
    if amount.exact or not YEAR.search(cell.text):
        return False
    return any(date.start < amount.end and amount.start < date.end for date in find_dates(cell.text))


def _is_label(cell: Cell) -> bool:
    """Return whether the cell is a label, not a rate or a currency between a label and its amount."""
    return bool(WORD.search(cell.folded)) and not (
        RATE.fullmatch(cell.text) or cell.text in CURRENCIES or cell.text in (*SYMBOLS, *PREFIXED_DOLLARS, RINGGIT)
    )


def _is_sign(cell: Cell) -> bool:
    """Return whether the cell is two or three letters without a role: a misread currency, a tax code."""
    return len(cell.text) <= SIGN_LETTERS and role_of(cell.folded) is Role.OTHER


def _money(amount: Amount, cell: Cell, label: str, column: Role, order: int, *, rate: Decimal | None) -> Money:
    label = _without_stops(label)
    sentence = len(PART.findall(label)) > MAX_LABEL_WORDS
    role = Role.OTHER if sentence else role_of(RATE.sub(" ", label))
    if len(cell.words) > MAX_LABEL_WORDS and sum_words.CASH_DISCOUNT.search(
        sum_words.OTHERWISE.split(cell.folded[: amount.start])[-1]
    ):
        role = column = Role.NOT_A_SUM
    if role is Role.ADJUSTMENT and amount.value > 0 and _in_remark(amount, cell):
        role = column = Role.NOT_A_SUM
    remark = role is Role.TAX and sum_words.INSIDE.search(label) and cell.text.startswith("(")  # not a minus
    value = abs(amount.value) if remark else amount.value
    return Money(value, amount.currency, amount.exact, cell, label, role, column, order, rate)


def _in_remark(amount: Amount, cell: Cell) -> bool:
    """Return whether the amount is in a sentence that goes on after it, or in the last line of one."""
    is_sentence = len(PART.findall(cell.folded)) > MAX_LABEL_WORDS or cell.text.endswith(".")
    return is_sentence and len(PART.findall(cell.folded[amount.end :])) >= LEAST_REMARK


def _column_role(layout: Layout, cell: Cell) -> Role:
    """Return the role of the nearest words above the amount in its column."""
    for row in reversed(layout.rows[max(0, cell.row - 9) : cell.row]):
        if row.page != cell.page or cell.top - row.top > HEADER_DROP:
            return Role.OTHER
        above = _above(row.cells, cell) or _in_slot(row.cells, cell)
        if above and WORD.search(above.folded) and not has_money(above.text):
            return Role.OTHER if RATES.search(above.folded) else role_of(above.folded)
    return Role.OTHER


def _in_slot(cells: Sequence[Cell], cell: Cell) -> Cell | None:
    """Return the heading to the left of the amount in a row of headings only.

    In ruled boxes headings are left-aligned and amounts right-aligned.
    """
    if len(cells) < LEAST_HEADS or any(has_money(other.text) for other in cells):
        return None
    before = [other for other in cells if other.left <= cell.left]
    return before[-1] if before and cell.left - before[-1].right < SLOT else None


def _above(cells: Sequence[Cell], cell: Cell) -> Cell | None:
    over = [other for other in cells if min(other.right, cell.right) - max(other.left, cell.left) > 0]
    return min(over, key=lambda other: abs(other.right - cell.right), default=None)
