"""Tells the sidebar of a page from the rest: beside a letter or a table, a narrow column about its sender.

Its lines stand level with the others by chance, and would fall into their rows.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from docrail.invoices.readers.layout.word import Word
from docrail.invoices.values.currencies import CURRENCIES

NARROW = 0.35
"""Share of the page's width that a sidebar takes at most, with the margin beside it."""
GUTTER = 8.0
"""Points at least between the two that nothing crosses on the whole page."""
MOST_GUTTERS = 12
"""Of a page; with more it is one row of words, or made to take long."""
LEAST_LINES = 6
LONELY = 0.5
"""Share of a sidebar's lines, at least, that are level with nothing beside it: those of a table's column are not."""
LEVEL = 0.5
"""Share of a word's height by which the middle of one that is level differs at most."""
IN_LINE, BY_CHANCE = 0.6, 0.25
"""Points by which the middles of words in one line differ; and the share of amounts that a sidebar's lines may meet."""
MONEY = re.compile(r"(?<![\d.,])\d[\d.,]*[.,]\d\d(?![\d.,-])")
"""A column with an amount is a table's."""
MOST_AMOUNTS, MOST_LEVEL = 300, 60
"""Amounts beside a sidebar, and words at the height of one, that are looked at."""
NAME = re.compile(r"[^\W\d_]{3}")


def without_sidebar(words: Sequence[Word], width: float) -> tuple[Sequence[Word], Sequence[Word]]:
    """Return the words of the sidebar of a page, `width` points wide, which may be none, and the others."""
    gutters = list(islice(_gutters(words), MOST_GUTTERS + 1))
    for left, right in gutters if len(gutters) <= MOST_GUTTERS else ():
        before, after = [w for w in words if w.right <= left], [w for w in words if w.left >= right]
        if left <= NARROW * width and _is_sidebar(before, after):
            return before, after
        if width - right <= NARROW * width and _is_sidebar(after, before):
            return after, before
    return [], words


def _gutters(words: Sequence[Word]) -> Iterator[tuple[float, float]]:
    """Yield the strips from the page's top to its foot in which nothing stands, between words."""
    reach = min((word.left for word in words), default=0.0)
    for word in sorted(words, key=lambda word: word.left):
        if word.left - reach >= GUTTER:
            yield reach, word.left
        reach = max(reach, word.right)


def _is_sidebar(narrow: Sequence[Word], wide: Sequence[Word]) -> bool:
    lines: list[Word] = []
    for word in sorted(narrow, key=_middle):
        if not lines or not _is_level(word, [_middle(lines[-1])]):
            lines.append(word)
    if len(lines) < LEAST_LINES or any(MONEY.search(word.text) for word in narrow):
        return False
    beside = sorted(map(_middle, wide))
    lonely = sum(not _is_level(line, beside) for line in lines)
    return lonely >= LONELY * len(lines) and _says_what_it_charges(wide) and not _is_in_line(lines, wide)


def _is_in_line(lines: Sequence[Word], wide: Sequence[Word]) -> bool:
    """Tell whether lines stand just at the height of amounts: those of a table do, a sidebar's by chance."""
    amounts = {round(_middle(word), 1) for word in wide if MONEY.search(word.text)}
    middles = sorted(map(_middle, lines))
    places = ((amount, bisect_left(middles, amount - IN_LINE)) for amount in amounts)
    level = sum(index < len(middles) and middles[index] <= amount + IN_LINE for amount, index in places)
    return level > BY_CHANCE * len(amounts)


def _says_what_it_charges(words: Sequence[Word]) -> bool:
    """Tell whether there are amounts, and words before each: elsewhere the column beside them is the table's."""
    amounts = [word for word in words if MONEY.search(word.text)]
    named = sorted((_middle(word), word.left) for word in words if _is_name(word.text))
    return 0 < len(amounts) <= MOST_AMOUNTS and all(_has_before(amount, named) for amount in amounts)


def _is_name(text: str) -> bool:
    return bool(NAME.search(text)) and text.strip(".:,").upper() not in {*CURRENCIES, "EURO"}


def _has_before(amount: Word, named: Sequence[tuple[float, float]]) -> bool:
    """Tell whether one of the `named`, middles and left edges in rising order, is level with an amount, before it."""
    reach = LEVEL * (amount.bottom - amount.top)
    begin = bisect_left(named, (_middle(amount) - reach, 0.0))
    level = takewhile(lambda place: place[0] <= _middle(amount) + reach, named[begin : begin + MOST_LEVEL])
    return any(left < amount.left for _, left in level)


def _is_level(word: Word, middles: Sequence[float]) -> bool:
    """Tell whether one of the `middles`, in rising order, is at the height of a word."""
    least = _middle(word) - LEVEL * (word.bottom - word.top)
    index = bisect_left(middles, least)
    return index < len(middles) and middles[index] <= 2 * _middle(word) - least


def _middle(word: Word) -> float:
    return (word.top + word.bottom) / 2
