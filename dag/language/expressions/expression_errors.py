"""Write error messages for expressions: what a value is, what it has instead, and what Jinja's parser rejected.

The messages are meant for authors who know other languages, so they avoid Jinja's own terms.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import MAX_INTEGER, Json, canonical

SHOWN_CHARACTERS = 40

MOST_KEYS = 8
"""Keys of an object that a message lists."""

MOST_COMPARED = 20
"""Keys compared with a misspelt one: thousands of conditions may fail in one turn."""

ALIKE = 0.6
"""Similarity from which a key is suggested in place of another one."""


def show(value: Json) -> str:  # noqa: PLR0911 - a case a kind of value
    """Return a short text for a message: the kind of the value, and its beginning."""
    match value:
        case None | bool():
            return canonical(value)
        case int() if abs(value) > MAX_INTEGER:
            return "an integer of more than 64 bits"  # Python refuses to print the longest ones
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value[:SHOWN_CHARACTERS]!r}"
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def called(path: Sequence[str | int]) -> str:
    """Return how a path is written in messages."""
    return f"'{'.'.join(map(str, path))}'"


def no_value(name: str) -> str:
    """Return the message for a name without a value."""
    why = "the run has none" if name == "document" else "a step has one once it completed"
    return f"'{name}' has no value here: {why}; `{name} | default(...)` gives another"


class LackError(ExpressionError):
    """`found` has no part `key`. `subject` is the author's name for `found`, if known.

    The message is short: listing the parts that `found` has is expensive and done by `of` only.
    """

    def __init__(self, found: Json, key: Json, subject: str = "") -> None:
        super().__init__(_lacks(found, key, subject))
        self.found = found
        self.key = key
        self.subject = subject

    def of(self, subject: str = "", *, is_whole: bool) -> ExpressionError:
        """Return the error of `subject`, listing the parts it has if all of them are loaded (`is_whole`)."""
        describe = lack if is_whole else _lacks
        return ExpressionError(describe(self.found, self.key, self.subject or subject))


def lack(value: Json, key: Json, subject: str = "") -> str:
    """Return the message that `value`, called `subject`, has no part `key`, and which parts it has."""
    message = _lacks(value, key, subject)
    match value:
        case dict() if isinstance(key, str):
            return f"{message}: {_keys(value, key)}"
        case dict():
            return f"{message}: an object's keys are texts"
        case list() if isinstance(key, str) and key.isidentifier():
            return f"{message}: it is a list; read an element, as in [0], or all, `| map(attribute='{key}')`"
        case list():
            return f"{message}: it is a list of {len(value)}, numbered from 0"
        case _:
            return f"{message}: it is {show(value)}" if subject else message


def _lacks(value: Json, key: Json, subject: str = "") -> str:
    missing = f"'{key[:SHOWN_CHARACTERS]}'" if isinstance(key, str) else f"part that {show(key)} names"
    if isinstance(key, int) and abs(key) <= MAX_INTEGER and not isinstance(value, dict) and not isinstance(key, bool):
        missing = f"element {key}"
    return f"{subject or show(value)} has no {missing}"


def _keys(value: Mapping[str, Json], key: str) -> str:
    if not value:
        return "it is empty"
    named = [name[:SHOWN_CHARACTERS] if isinstance(name, str) else show(name) for name in islice(value, MOST_KEYS)]
    more = f" and {len(value) - MOST_KEYS} more" if len(value) > MOST_KEYS else ""
    near = _nearest(key, tuple(islice(value, MOST_COMPARED)))
    meant = f" (did you mean '{near}'?)" if near else ""
    return f"it has {', '.join(named)}{more}{meant}"


@lru_cache(maxsize=64)
def _nearest(key: str, names: tuple[Json, ...]) -> str:
    """Return the name most similar to `key`; empty if they are too long or none is similar."""
    short = [name for name in names if isinstance(name, str) and len(name) <= SHOWN_CHARACTERS >= len(key)]
    alike, near = max(((_alike(key, name), name) for name in short), key=itemgetter(0), default=(0, ""))
    return near if alike >= ALIKE else ""


def _alike(one: str, other: str) -> float:
    """Return the similarity of two texts by their common prefix and suffix: cheap, and most typos are a single slip."""
    start = _same(one, other)
    end = _same(one[start:][::-1], other[start:][::-1])
    return 2 * (start + end) / (len(one) + len(other) or 1)


def _same(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


NO_ELSE = "`if` without `else` gave nothing: add an `else`"

SIDE_BY_SIDE = "; texts go side by side, {{ a }}{{ b }}"

NOTHING_IN_LIST = "an empty list has no first, last, least or greatest element; `| default(...)` gives one"

_SYMBOLS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "le": "<=", "gt": ">", "gteq": ">=", "ge": ">="}

_USAGE: Mapping[str, str] = {
    "default": "default(0)",
    "round": "round(2)",
    "join": "join(', ')",
    "sum": "sum(attribute='amount')",
    **{name: f"{name}(attribute='amount')" for name in ("min", "max", "unique")},
    "sort": "sort(attribute='date')",
    "map": "map(attribute='amount')",
    **{name: f"{name}('gt', 5)" for name in ("select", "reject")},
    **{name: f"{name}('amount', 'gt', 5)" for name in ("selectattr", "rejectattr")},
}
"""Example usage of filters that take arguments; all others are written by their name alone."""

_ONE_KIND = ("sort", "min", "max", "unique")

_NO_LIST = ("default", "round", "int", "float", "lower", "upper", "trim")


def incomparable(name: str, left: Json, right: Json) -> str:
    """Return the message that two values cannot be compared, given the name of the operator or test."""
    if name in ("in", "notin"):
        if isinstance(right, str | list | tuple | dict):
            return f"`in` finds only texts in {show(right)}, got {show(left)}"
        return f"`in` looks into a list, an object or a text, got {show(right)}"
    message = f"`{_SYMBOLS.get(name, name)}` cannot compare {show(left)} with {show(right)}"
    if left is None or right is None:
        return f"{message}: check `is not none` first"
    if {type(left), type(right)} in ({str, int}, {str, float}):
        return f"{message}: `| float` converts a text to a number"
    return f"{message}: only texts with texts and numbers with numbers"


def failed_filter(name: str, value: Json) -> str:
    """Return why the filter `name` failed with `value` or its arguments."""
    if name not in _NO_LIST and not isinstance(value, str | list | tuple | dict):
        needed = "a list, an object or a text" if name == "length" else "a list"
        return f"`{name}` needs {needed}, got {show(value)}"
    if name in _ONE_KIND:
        return f"`{name}` compares texts with texts and numbers with numbers; objects by a part, {_usage(name)}"
    return wrong_filter_call(name)


def wrong_filter_call(name: str) -> str:
    """Return the message that the filter `name` got too many or too few arguments, with an example."""
    return f"`{name}` cannot be called like this; write it as in {_usage(name)}"


def _usage(name: str) -> str:
    return f"`| {_USAGE.get(name, name)}`"


def wrong_test_call(name: str, *, is_alone: bool) -> str:
    """Return the message that the test `name` got too many or too few arguments."""
    return f"`is {name}` takes {'nothing' if is_alone else 'one value'}"


_ANSWERS: Sequence[tuple[str, str]] = (
    (r"^unexpected 'end of template'$", "the expression ends too early: something is missing at its end"),
    (r"^unexpected end of template, expected", "a bracket is opened and not closed"),
    (r"^unexpected char ['\"](['\"])", r"a text begins with \1 and does not end with it"),
    (r"^expected token ':', got '}'$", "braces within an expression: {{ }} cannot be nested"),
    (r"^expected token 'name', got '\|'", "unexpected '|' after '|'; write `or`"),
)
"""Messages to replace, because they mention templates or tokens, which authors do not know."""

_ADVICE: Sequence[tuple[str, str]] = (
    (r"^unexpected '='", "to compare, write =="),
    (r"^unexpected '>'$", "for not equal, write !="),
    (r"^unexpected char '&'", "write `and`"),
    (r"^unexpected char '!'", "write `not`"),
    (r"^unexpected char '\?'", "write `a if condition else b`"),
    (r"^unexpected char '\$'", "names are written without $"),
    (r"^unexpected '(AND|OR|NOT|IN|IS)' after", "it is written in lowercase"),
    (r"^unexpected '(equals|eq|equal)' after", "to compare, write =="),
)


def explain(message: str) -> str:
    """Return Jinja's parser message in the author's terms, with advice."""
    for pattern, answer in _ANSWERS:
        if found := re.search(pattern, message):
            return found.expand(answer)
    return message + next((f"; {advice}" for pattern, advice in _ADVICE if re.search(pattern, message)), "")
