"""Correct garbled words of labels: misprints, and letters that text recognition confused.

The readers use it only for fields whose labels they did not find. A word is corrected if it is no known word, and looks
like one word of a label, or is one letter apart from exactly one: a wrong, missing, additional or displaced letter, not
the first. Finding it takes a look-up for each of its letters, in a set of words with one letter left out, whatever the
number of labels.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from docrail.invoices.languages.all import LANGUAGES, MONTH_OF
from docrail.invoices.readers.layout.page import Layout, Word, lay_out
from docrail.invoices.values.folding import fold

SHORTEST, SHORTEST_APART = 5, 6
"""Fewest letters of a word that looks like a label, and of one that is a letter apart, since short words resemble too
many others."""
WORD = re.compile(rf"[^\W_]{{{SHORTEST},}}")
ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("1", "l"), ("i", "l"), ("|", "l"), ("0", "o"), ("5", "s"), ("8", "b"))
"""Signs that look alike."""
MOST_WORDS, MOST_TIMES = 400, 2
"""Words of a page that are compared; more are no labels. A word printed more often is another word: a `Beitrag`."""


def warm_up() -> None:
    """Prepare the tables of known words and labels: it takes a millisecond."""
    _known()
    _labels()


def spelled(layout: Layout) -> Layout | None:
    """Return the layout with garbled words of labels corrected; None if it has none."""
    seen = (WORD.search(word.text) for page in layout.pages for word in page.words[:MOST_WORDS])
    times = Counter(found.group() for found in seen if found)
    right = {word: label for word, count in times.items() if count <= MOST_TIMES and (label := label_like(word))}
    if not right:
        return None
    return lay_out(
        [replace(page, words=tuple(_corrected(word, right) for word in page.words)) for page in layout.pages]
    )


def _corrected(word: Word, right: Mapping[str, str]) -> Word:
    found = WORD.search(word.text)
    label = right.get(found.group()) if found else None
    return replace(word, text=word.text.replace(found.group(), label)) if found and label else word


@cache
def label_like(word: str) -> str | None:
    """Return the only word of a label that `word` may be misspelled from; None for known words and other ones."""
    seen = fold(word)
    if seen in _known():
        return None
    shape = _shape(seen)
    alike = [label for label in _labels().get(shape, ()) if _shape(label) == shape]
    if alike or len(seen) < SHORTEST_APART:
        return alike[0] if len(alike) == 1 else None
    near = {label for key in _keys(shape) for label in _labels().get(key, ()) if _shape(label)[0] == shape[0]}
    near = {label for label in near if len(label) >= SHORTEST_APART}
    apart = [label for label in near if not (label.startswith(seen) or seen.startswith(label))]  # not an ending
    return apart[0] if len(apart) == 1 else None


def _shape(word: str) -> str:
    for seen, meant in ALIKE:
        word = word.replace(seen, meant)
    return word


def _keys(word: str) -> Iterator[str]:
    yield word
    yield from (word[:place] + word[place + 1 :] for place in range(len(word)))


@cache
def _known() -> frozenset[str]:
    return frozenset(
        word for language in LANGUAGES for words in (language.common, language.printed) for word in words.split()
    ).union(MONTH_OF)


@cache
def _labels() -> Mapping[str, set[str]]:
    labels: dict[str, set[str]] = defaultdict(set)
    for language in LANGUAGES:
        for word in language.printed.split():
            for key in _keys(_shape(word)):
                labels[key].add(word)
    return labels
