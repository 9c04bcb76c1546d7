"""Plain words for what Jinja's parser finds wrong with an expression, for people who know other languages."""

import re
from collections.abc import Sequence

_ANSWERS: Sequence[tuple[str, str]] = (
    (r"^unexpected 'end of template'$", "the expression ends too early: something is missing at its end"),
    (r"^unexpected end of template, expected", "a bracket is opened and not closed"),
    (r"^unexpected char ['\"](['\"])", r"a text begins with \1 and does not end with it"),
    (r"^expected token ':', got '}'$", "braces within an expression: {{ }} cannot stand inside another"),
    (r"^expected token 'name', got '\|'", "unexpected '|' after '|'; write `or`"),
)
"""Messages that are replaced: they tell of a "template" or of tokens, which the author knows nothing of."""

_ADVICE: Sequence[tuple[str, str]] = (
    (r"^unexpected '='", "to compare, write =="),
    (r"^unexpected '>'$", "for not equal, write !="),
    (r"^unexpected char '&'", "write `and`"),
    (r"^unexpected char '!'", "write `not`"),
    (r"^unexpected char '\?'", "write `a if condition else b`"),
    (r"^unexpected char '\$'", "names stand without $"),
    (r"^unexpected '(AND|OR|NOT|IN|IS)' after", "it is written in small letters"),
    (r"^unexpected '(equals|eq|equal)' after", "to compare, write =="),
)


def explain(message: str) -> str:
    """Return `message`, which reading an expression gave, in the author's terms and with what to do about it."""
    for pattern, answer in _ANSWERS:
        if found := re.search(pattern, message):
            return found.expand(answer)
    return message + next((f"; {advice}" for pattern, advice in _ADVICE if re.search(pattern, message)), "")
