"""Values too large to travel inside a run: what stands for one, or for a part of one, until somebody needs it.

An output above `MAX_INLINE_BYTES` is kept in the value store, and the run carries `{"$stored": sha256, "bytes": n}` in
its place. Only the same tenant's runs can get at it, and only who knows its digest can name it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic_core import to_json

from docrail.dag.values.json_values import Json

STORED = "$stored"

MAX_INLINE_BYTES = 65_536
"""Largest output, as JSON, that a run carries itself; the language's limit."""

Path = tuple[str | int, ...]
"""Keys of objects and places in lists, from the outside in."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAMED = f'"{STORED}"'.encode()
_FIELDS = {STORED, "bytes", "path"}


@dataclass(frozen=True, slots=True)
class Part:
    """A stored value, or the part of it at `path`. `size` is the whole's."""

    sha256: str
    size: int
    path: Path = ()

    def at(self, path: Path) -> "Part":
        """Return the part at `path` in this part."""
        return Part(self.sha256, self.size, (*self.path, *path))

    def to_json(self) -> dict[str, Json]:
        """Return what stands for the part in a run's data."""
        marker: dict[str, Json] = {STORED: self.sha256, "bytes": self.size}
        return {**marker, "path": list(self.path)} if self.path else marker


class Lack(StrEnum):
    """What is where the next key of a path leads nowhere."""

    OBJECT = "object"
    LIST = "list"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Want:
    """A stored part that an expression reads at `place`; what stands for its value stands at the first `depth` keys."""

    place: Path
    part: Part
    depth: int
    may_stay: bool = False
    """What stands for it will do, where it is large."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a place that was read: a value at `place`, or nothing, and there what `lack` says."""

    place: Path
    value: Json = None
    lack: Lack | None = None


@dataclass(frozen=True, slots=True)
class ForStep:
    """A step reads stored values before it is judged."""

    step: str


@dataclass(frozen=True, slots=True)
class ForUndo:
    """The config of the handler that undoes a step reads stored values."""

    step: str


@dataclass(frozen=True, slots=True)
class ForOutputs:
    """The run's outputs read stored values."""


Reader = ForStep | ForUndo | ForOutputs


@dataclass(frozen=True, slots=True)
class Loading:
    """Parts on their way, and the readers after the first that wait for just these."""

    wants: tuple[Want, ...]
    followers: list[Reader] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part that was looked for: its value, or what there was where the way to it ended.

    `keys` are those of the part's path that lead somewhere, as they do: a place in a list is a number.
    """

    keys: Path
    value: Json = None
    lack: Lack | None = None


def part_of(value: Json) -> Part | None:
    """Return what `value` stands for; None for all that is not exactly such a marker: it is plain data."""
    if not isinstance(value, dict) or STORED not in value or not value.keys() <= _FIELDS:
        return None
    sha256, size, path = value[STORED], value.get("bytes"), value.get("path", [])
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or type(size) is not int or size < 0:
        return None
    if not isinstance(path, list) or not all(type(key) in (str, int) for key in path):
        return None
    return Part(sha256, size, tuple(path))


def lack_of(value: Json) -> Lack:
    """Return what kind of value it is that has not the key that was asked for."""
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
    """Yield what stands for stored values in `value`, and where it stands, in order."""
    part = part_of(value)
    if part is not None:
        yield path, part
        return
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield from parts_in(inner, (*path, key))


def has_parts(value: Json) -> bool:
    """Tell whether something may stand for a stored value in `value`: fast, and never False if something does."""
    return isinstance(value, dict | list) and _NAMED in to_json(value, inf_nan_mode="constants")
