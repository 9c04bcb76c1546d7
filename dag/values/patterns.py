"""Search authors' regular expressions in time linear in the text, with the Rust engine of pydantic.

Python's own `re` takes time exponential in the text for `^(a+)+$`, and cannot be interrupted.
"""

import re
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

LONGEST_PATTERN = 500
"""Longest pattern, in characters."""
LONGEST_FAULT = 100
"""Characters of the engine's error that are shown."""

_TOKENS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]|\{(\d+)(?:,(\d*))?\}|.", re.DOTALL)


class PatternError(ValueError):
    """A text is not a regular expression that can be searched in linear time. The message is the engine's."""


def search(pattern: str, text: str) -> bool:
    """Return whether `pattern` matches anywhere in `text`. Raises: PatternError."""
    try:
        _compile(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def check_pattern(pattern: str) -> None:
    """Check that `pattern` can be searched. Raises: PatternError."""
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"it has {len(pattern)} characters, more than {LONGEST_PATTERN}")
    _compile(pattern)


@lru_cache(maxsize=1024)
def weight_of(pattern: str) -> int:
    """Return how many positions of `pattern` may be tried per character: its length, with `{n}` expanded n times."""
    outer: list[int] = []
    total = last = 0
    for token in _TOKENS.finditer(pattern):
        if token[0] == "(":
            outer.append(total)
            total = 0
        elif token[0] == ")" and outer:
            total, last = total + outer.pop(), total
        elif token[1]:
            times = max(1, int(token[2] or token[1]))
            total, last = total + last * (times - 1), last * times
        else:
            total, last = total + 1, 1
    return total + sum(outer)


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> SchemaValidator:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError as error:
        last = str(error).strip().rsplit("\n", 1)[-1].strip()
        raise PatternError(re.sub(r"^(error|SchemaError): ", "", last)[:LONGEST_FAULT]) from error
