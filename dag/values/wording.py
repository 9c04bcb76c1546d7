"""Translate pydantic's errors to plain words: what a field must be, and what was found."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path

_LONGEST_QUOTE = 40

MOST_NAMES = 24
"""Names that a message lists: as many as a step has fields."""

_KINDS: Mapping[str, str] = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "dict": "an object",
    "mapping": "an object",
    "model": "an object",
    "model_attributes": "an object",
    "dataclass": "an object",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
}
"""By the start of pydantic's error type: `int_type`, `int_parsing` and `int_from_float` all expect a whole number."""

_WRONG_KIND = ("_type", "_parsing", "_from_float")

_RULES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "enum": lambda context: f"must be {context['expected']}",
    "literal_error": lambda context: f"must be {context['expected']}",
    "greater_than": lambda context: f"must be more than {_number(context['gt'])}",
    "greater_than_equal": lambda context: f"must be at least {_number(context['ge'])}",
    "less_than": lambda context: f"must be less than {_number(context['lt'])}",
    "less_than_equal": lambda context: f"must be at most {_number(context['le'])}",
    "string_too_long": lambda context: f"must have at most {context['max_length']} characters",
    "string_too_short": lambda context: (
        "must not be empty" if context["min_length"] == 1 else f"must have at least {context['min_length']} characters"
    ),
    "too_short": lambda context: f"must have at least {_entries(context['min_length'])}",
    "too_long": lambda context: f"must have at most {_entries(context['max_length'])}",
    "string_pattern_mismatch": lambda context: f"must match {context['pattern']}",
    "finite_number": lambda _: "must be a finite number",
}


def wording(kind: str, context: Mapping[str, Any], message: str) -> tuple[str, str]:
    """Return the code and the broken rule (`must be a text`) for pydantic's error type, context and message."""
    expected = next((_KINDS.get(kind.removesuffix(end)) for end in _WRONG_KIND if kind.endswith(end)), None)
    if expected is not None:
        return "wrong-type", f"must be {expected}"
    if kind in _RULES:
        return "wrong-value", _RULES[kind](context)
    plain = re.sub(r"^(Value error|Assertion failed), ", "", message)
    return "wrong-value", "is not valid: " + re.sub(r"^Input should", "it should", plain)


def choices_of(context: Mapping[str, Any]) -> list[str]:
    """Return the allowed texts of a field, as pydantic lists them for an enum or a literal."""
    return re.findall(r"'([^']*)'", str(context.get("expected", "")))


def describe(value: Json) -> str:
    """Return a short description of `value`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text '{quote(value)}'" if value else "an empty text"
    kind = "list" if isinstance(value, list) else "object"
    return f"{'an' if kind == 'object' else 'a'} {kind}" if value else f"an empty {kind}"


def quote(text: str) -> str:
    """Return `text` on one line, shortened for a message."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"


def known_names(names: Iterable[str]) -> str:
    """Return the end of a message that lists the known names; empty if there are too many to read."""
    ordered = sorted(names)
    if len(ordered) == 1:
        return f"; there is only {ordered[0]}"
    return f"; there are {', '.join(ordered)}" if 0 < len(ordered) <= MOST_NAMES else ""


def field_name(path: Path) -> str:
    """Return the name of the part at `path` in messages: its field, with indices (`depends_on[0]`)."""
    for length in range(len(path), 0, -1):
        name = path[length - 1]
        if isinstance(name, str):
            return quote(name) + "".join(f"[{index}]" for index in path[length:])
    return "the definition"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
