"""Find the language of a document by the words that are frequent on invoices in it."""

import re
from collections import Counter
from collections.abc import Mapping

from docrail.invoices.languages.all import LANGUAGES
from docrail.invoices.languages.language import Language
from docrail.invoices.model import InvoiceProblem
from docrail.invoices.readers.layout.page import Layout
from docrail.invoices.values.folding import fold

LEAST, MARGIN = 3.0, 1.0
"""Fewest points of a language, and fewest more than the next one has: bilingual pages have none."""
ENOUGH, LEAST_SHARE = 30, 0.04
"""Fewest different words of a page from which its language can be unknown, and the share of points among them below
which it is: invoices in supported languages have more, those in Hungarian, Croatian or Indonesian fewer."""
WORD = re.compile(r"[^\W\d_]+")
_WORDS: Mapping[str, frozenset[str]] = {language.code: frozenset(language.common.split()) for language in LANGUAGES}
_BY_CODE: Mapping[str, Language] = {language.code: language for language in LANGUAGES}
_SHARED = Counter(word for words in _WORDS.values() for word in words)


def language_of(layout: Layout) -> Language | None:
    """Return the language of a document; None if it has few words, or words of several languages."""
    points = language_points(_words_of(layout))
    first, second = sorted(points, key=lambda code: -points[code])[:2]
    if points[first] < LEAST or points[first] - points[second] < MARGIN:
        return None
    return _BY_CODE[first]


def unsupported_language(layout: Layout) -> tuple[InvoiceProblem, ...]:
    """Return a problem if hardly any word belongs to a language whose vocabulary the readers have."""
    said = _words_of(layout)
    words = sum(len(word) > 1 for word in said)
    if words < ENOUGH or max(language_points(said).values()) >= LEAST_SHARE * words:
        return ()
    message = "The text is in a language that Docrail does not read. Check every value against the page."
    return (InvoiceProblem.error("language_unsupported", message),)


def _words_of(layout: Layout) -> set[str]:
    return set(WORD.findall(fold(layout.text)))


def language_points(said: set[str]) -> dict[str, float]:
    """Return the points of each language: each of its words once, shared between the languages that have it."""
    return {code: sum(1 / _SHARED[word] for word in words & said) for code, words in _WORDS.items()}
