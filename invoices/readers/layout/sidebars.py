"""Separate a page's sidebar, a narrow column about the sender, from the letter or table next to it.

Its lines are level with other lines only by chance and would otherwise be merged into their rows.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from docrail.invoices.readers.layout.word import Word
from docrail.invoices.values.currencies import CURRENCIES

NARROW = 0.35
"""Largest share of the page's width taken by a sidebar with its margin."""
GUTTER = 8.0
"""Smallest width in points of the empty strip between sidebar and page, along the whole page."""
MOST_GUTTERS = 12
"""Limit for a page: with more it is a single row of words, or was made to take long."""
LEAST_LINES = 6
LONELY = 0.5
"""Smallest share of a sidebar's lines that are not level with other lines; a table's column has fewer."""
LEVEL = 0.5
"""Largest vertical distance between the middles of level words, as a share of the word's height."""
IN_LINE, BY_CHANCE = 0.6, 0.25
"""Largest vertical distance in points of words in one line, and largest share of amounts level with a sidebar's line.
"""
MONEY = re.compile(r"(?<![\d.,])\d[\d.,]*[.,]\d\d(?![\d.,-])")
"""Pattern of an amount; a column with an amount belongs to a table."""
MOST_AMOUNTS, MOST_LEVEL = 300, 60
"""Limits: amounts next to a sidebar, and words examined at the height of one amount."""
NAME = re.compile(r"[^\W\d_]{3}")


def without_sidebar(words: Sequence[Word], width: float) -> tuple[Sequence[Word], Sequence[Word]]:
    """Return the words of the page's sidebar, which may be empty, and the other words. `width` is in points."""
    gutters = list(islice(_gutters(words), MOST_GUTTERS + 1))
    for left, right in gutters if len(gutters) <= MOST_GUTTERS else ():
        before, after = [w for w in words if w.right <= left], [w for w in words if w.left >= right]
        if left <= NARROW * width and _is_sidebar(before, after):
            return before, after
        if width - right <= NARROW * width and _is_sidebar(after, before):
            return after, before
    return [], words


def _gutters(words: Sequence[Word]) -> Iterator[tuple[float, float]]:
    """Yield the vertical strips between words that are empty from the top of the page to its foot."""
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
    middles = sorted(map(_middle, wide))
    lonely = sum(not _is_level(line, middles) for line in lines)
    return lonely >= LONELY * len(lines) and _says_what_it_charges(wide) and not _is_in_line(lines, wide)


def _is_in_line(lines: Sequence[Word], wide: Sequence[Word]) -> bool:
    """Return whether lines are level with amounts as in a table; a sidebar's lines are so only by chance."""
    amounts = {round(_middle(word), 1) for word in wide if MONEY.search(word.text)}
    middles = sorted(map(_middle, lines))
    places = ((amount, bisect_left(middles, amount - IN_LINE)) for amount in amounts)
    level = sum(index < len(middles) and middles[index] <= amount + IN_LINE for amount, index in places)
    return level > BY_CHANCE * len(amounts)


def _says_what_it_charges(words: Sequence[Word]) -> bool:
    """Return whether there are amounts, each with a word before it; otherwise the narrow column is the table's."""
    amounts = [word for word in words if MONEY.search(word.text)]
    named = sorted((_middle(word), word.left) for word in words if _is_name(word.text))
    return 0 < len(amounts) <= MOST_AMOUNTS and all(_has_before(amount, named) for amount in amounts)


def _is_name(text: str) -> bool:
    return bool(NAME.search(text)) and text.strip(".:,").upper() not in {*CURRENCIES, "EURO"}


def _has_before(amount: Word, named: Sequence[tuple[float, float]]) -> bool:
    """Return whether one of the `named` words (middle, left edge; ascending) is level with the amount and before it."""
    reach = LEVEL * (amount.bottom - amount.top)
    begin = bisect_left(named, (_middle(amount) - reach, 0.0))
    level = takewhile(lambda place: place[0] <= _middle(amount) + reach, named[begin : begin + MOST_LEVEL])
    return any(left < amount.left for _, left in level)


def _is_level(word: Word, middles: Sequence[float]) -> bool:
    """Return whether one of the `middles`, in ascending order, is at the height of a word."""
    least = _middle(word) - LEVEL * (word.bottom - word.top)
    index = bisect_left(middles, least)
    return index < len(middles) and middles[index] <= 2 * _middle(word) - least


def _middle(word: Word) -> float:
    return (word.top + word.bottom) / 2
