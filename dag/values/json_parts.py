"""Walk JSON values: the part under a key, the parts along a path, all parts, and copies with one part changed."""

import re
from collections.abc import Iterable, Iterator
from copy import copy

from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path

NOTHING = object()
"""Marks a part that does not exist; None is a value."""

_INDEX = re.compile("[0-9]{1,9}")


def lookup(value: Json, key: Json) -> Json:
    """Return a key of an object or an index of a list, NOTHING if it is missing."""
    if isinstance(value, dict):
        return value.get(key, NOTHING) if isinstance(key, str) else NOTHING
    if isinstance(value, list) and isinstance(key, int) and not isinstance(key, bool):
        return value[key] if -len(value) <= key < len(value) else NOTHING
    return NOTHING


def lookup_written(value: Json, key: str | int) -> Json:
    """Return what `lookup` returns; digits in a path that was written as text also index a list."""
    is_index = isinstance(value, list) and isinstance(key, str) and _INDEX.fullmatch(key)
    return lookup(value, int(key) if is_index else key)


def children(value: Json) -> Iterable[tuple[str | int, Json]]:
    """Return the parts directly in an object or a list, by key or index; none in other values."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def walk(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield `value` and all parts in it with their paths, in text order, without recursion."""
    pending = [(path, value)]
    while pending:
        where, part = pending.pop()
        yield where, part
        pending.extend(((*where, key), inner) for key, inner in reversed([*children(part)]))


def along(value: Json, path: Path) -> Iterator[Json]:
    """Yield `value` and its parts along `path`, as far as they exist."""
    yield value
    for key in path:
        value = lookup(value, key)
        if value is NOTHING:
            return
        yield value


def replaced(value: Json, path: Path, part: Json) -> Json:
    """Return a copy of `value` with `part` at `path`."""
    if not path:
        return part
    key, *rest = path
    copied = copy(value)
    copied[key] = replaced(value[key], tuple(rest), part)
    return copied
