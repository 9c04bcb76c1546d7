"""Tells the sidebar of a page from the rest: beside a letter or a table, a narrow column about its sender.

Its lines stand level with the others by chance, and would fall into their rows.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from invoices.readers.word import Word

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
MONEY = re.compile(r"(?<![\d.,])\d[\d.,]*[.,]\d\d(?![\d.,-])")
"""A column with an amount is a table's."""
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
    return lonely >= LONELY * len(lines) and _says_what_it_charges(wide)


def _says_what_it_charges(words: Sequence[Word]) -> bool:
    """Tell whether there are words beside each amount: elsewhere the column beside it is the table's."""
    names = sorted(_middle(word) for word in words if NAME.search(word.text))
    return all(_is_level(word, names) for word in words if MONEY.search(word.text))


def _is_level(word: Word, middles: Sequence[float]) -> bool:
    """Tell whether one of the `middles`, in rising order, is at the height of a word."""
    least = _middle(word) - LEVEL * (word.bottom - word.top)
    index = bisect_left(middles, least)
    return index < len(middles) and middles[index] <= 2 * _middle(word) - least


def _middle(word: Word) -> float:
    return (word.top + word.bottom) / 2
