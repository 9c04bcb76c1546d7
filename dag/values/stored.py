"""Define placeholders for values too large for a run's data, which are loaded only when they are needed.

An output above `MAX_INLINE_BYTES` is kept in the value store, and the run carries `{"$stored": sha256, "bytes": n}`
instead. Only runs of the same tenant can load it, and only with its digest.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic_core import to_json

from docrail.dag.values.json_parts import children
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path

STORED = "$stored"

MAX_INLINE_BYTES = 65_536
"""Largest output that a run carries inline, in bytes of JSON."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAMED = f'"{STORED}"'.encode()
_FIELDS = {STORED, "bytes", "path"}


@dataclass(frozen=True, slots=True)
class Part:
    """A stored value, or the part of it at `path`. `size` is that of the whole value, in bytes."""

    sha256: str
    size: int
    path: Path = ()

    def at(self, path: Path) -> "Part":
        """Return the part at `path` in this part."""
        return Part(self.sha256, self.size, (*self.path, *path))

    def to_json(self) -> dict[str, Json]:
        """Return the part's placeholder in a run's data."""
        marker: dict[str, Json] = {STORED: self.sha256, "bytes": self.size}
        return {**marker, "path": list(self.path)} if self.path else marker


class Lack(StrEnum):
    """The kind of value in which the next key of a path does not exist."""

    OBJECT = "object"
    LIST = "list"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Want:
    """A stored part that an expression reads at `place`; its placeholder is at the first `depth` keys of `place`."""

    place: Path
    part: Part
    depth: int
    may_stay: bool = False
    """Whether the placeholder suffices if the value is large."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result for a path that was read: a value at `place`, or the `lack` found there."""

    place: Path
    value: Json = None
    lack: Lack | None = None


@dataclass(frozen=True, slots=True)
class ForStep:
    """A step reads stored values before it is judged."""

    step: str


@dataclass(frozen=True, slots=True)
class ForUndo:
    """The config of a step's compensation reads stored values."""

    step: str


@dataclass(frozen=True, slots=True)
class ForOutputs:
    """The run's outputs read stored values."""


Reader = ForStep | ForUndo | ForOutputs


@dataclass(frozen=True, slots=True)
class Loading:
    """Parts being loaded, and further readers that wait for the same parts."""

    wants: tuple[Want, ...]
    followers: list[Reader] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Piece:
    """A loaded part: its value, or what was found where its path ended early.

    `keys` are the keys of the part's path that exist; list indices are numbers.
    """

    keys: Path
    value: Json = None
    lack: Lack | None = None


def part_of(value: Json) -> Part | None:
    """Return the part for which `value` is a placeholder; None for any other value, which is plain data."""
    if not isinstance(value, dict) or STORED not in value or not value.keys() <= _FIELDS:
        return None
    sha256, size, path = value[STORED], value.get("bytes"), value.get("path", [])
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or type(size) is not int or size < 0:
        return None
    if not isinstance(path, list) or not all(type(key) in (str, int) for key in path):
        return None
    return Part(sha256, size, tuple(path))


def lack_of(value: Json) -> Lack:
    """Return the kind of a value that lacks the requested key."""
    match value:
        case dict():
            return Lack.OBJECT
        case list():
            return Lack.LIST
        case str():
            return Lack.TEXT
        case _:
            return Lack.OTHER


def parts_in(value: Json, path: Path = ()) -> Iterator[tuple[Path, Part]]:
    """Yield the placeholders in `value` with their paths, in order."""
    part = part_of(value)
    if part is not None:
        yield path, part
        return
    for key, inner in children(value):
        yield from parts_in(inner, (*path, key))


def has_parts(value: Json) -> bool:
    """Return whether `value` may contain placeholders: fast, and never False if it does."""
    return isinstance(value, dict | list) and _NAMED in to_json(value, inf_nan_mode="constants")
