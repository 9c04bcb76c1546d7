"""Rewrite the alternatives of a pattern so that most of them are rejected by their first letter.

Python's `re` compares the first letter of an alternative before it enters it, but not what a group begins with: `due
date|payment due date` is searched several times as fast as `(?:payment )?due date`. Labels have hundreds of those.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
"""An escaped character, a set of characters, or another character of a pattern."""

LETTER = re.compile(r"[a-z](?![?*+{])")


def spread(*patterns: str) -> str:
    """Return alternatives that match the same texts as `patterns`, in the same order of preference.

    Groups at their start are multiplied out: `(?:a|b)?c` becomes `ac|bc|c`; they must not capture. Then alternatives
    with the same first letter are joined.
    """
    return "|".join(_by_letter(dict.fromkeys(each for pattern in patterns for each in _spread(pattern))))


def _by_letter(alternatives: Iterable[str]) -> Iterator[str]:
    """Yield the alternatives, those with the same first letter as one, as far as no other kind is between them."""
    for plain, run in groupby(alternatives, key=lambda each: LETTER.match(each) is not None):
        if not plain:
            yield from run
            continue
        rests: dict[str, list[str]] = {}
        for each in run:
            rests.setdefault(each[0], []).append(each[1:])
        yield from (letter + (each[0] if len(each) == 1 else f"(?:{'|'.join(each)})") for letter, each in rests.items())


def _spread(pattern: str) -> Iterator[str]:
    for alternative in _split(pattern):
        inner, rest = _first_group(alternative)
        if inner is None or rest.startswith(("*", "+", "{", "??", "?+")):
            yield alternative
            continue
        optional = rest.startswith("?")
        for start in _split(inner):
            yield from _spread(start + rest[optional:])
        if optional:
            yield from _spread(rest[1:])


def _split(pattern: str) -> list[str]:
    """Return the alternatives of a pattern."""
    parts, depth = [""], 0
    for part in PART.findall(pattern):
        depth += (part == "(") - (part == ")")
        if part == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += part
    return parts


def _first_group(pattern: str) -> tuple[str | None, str]:
    """Return what is inside the group at the start of a pattern, None if there is none, and the rest of the pattern."""
    if not pattern.startswith("(?:"):
        return None, pattern
    depth, end = 0, 0
    for part in PART.findall(pattern):
        depth += (part == "(") - (part == ")")
        end += len(part)
        if not depth:
            break
    return pattern[3 : end - 1], pattern[end:]
