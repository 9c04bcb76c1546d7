"""Replace references to stored values, or to parts of them, by the values."""

import asyncio
from collections.abc import Iterator

from docrail.adapters.store.values import MAX_STORED_BYTES, Kept, ValueStore
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.values.json_parts import NOTHING, lookup_written
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES, Part, Piece, lack_of, part_of

"""Digits that index a list, as in expressions."""

Path = tuple[str | int, ...]


AT_ONCE = 1_000
"""Parts of a value that are looked at before other tasks have a turn."""


class MissingValue(ValueError):  # noqa: N818  # a statement about the part
    """The stored value has no such part: `path` leads nowhere. A ValueError, because it never will."""

    def __init__(self, part: Part, found: Json, depth: int, where: str) -> None:
        inner = f"'{worded(part.path[:depth])}'" if depth else "the stored value"
        what = f"`{worded(part.path)}`: {inner} has no '{part.path[depth]}', it is {show(found)}"
        super().__init__(f"{where}: {what}" if where else what)


class ValueTooLarge(ValueError):  # noqa: N818  # a statement about the value
    """With its stored parts filled in, the value exceeds the caller's size limit."""

    def __init__(self, size: int, most_bytes: int) -> None:
        super().__init__(f"with its stored parts it takes at least {size} bytes as JSON, more than {most_bytes}")
        self.size = size


async def filled(
    values: ValueStore,
    tenant_id: str,
    value: Json,
    *,
    most_bytes: int,
    most_read: int = MAX_STORED_BYTES,
    name: str = "",
) -> Json:
    """Return `value` with the tenant's stored parts filled in, recursively; no reference remains.

    Only marks that `part_of` recognises are references. No stored value of more than `most_read` bytes is read, also
    not for a small part of it. `name` is how messages call `value`; without one they name no position in it.

    Raises: MissingValue, ValueTooLarge (trying again does not help); BlobMissing, BlobDamaged, OSError (it may).
    """
    filling = _Filling(values, tenant_id, most_bytes, most_read)
    filling.spend(size_of(value))
    return await filling.fill(value, name)


async def find_piece(
    values: ValueStore, tenant_id: str, mark: Json, *, most_bytes: int, may_stay: bool = False
) -> Piece:
    """Return the part that `mark` refers to, filled in, or the existing prefix of its path and the value found there.

    `may_stay`: a part larger than MAX_INLINE_BYTES is returned as its mark. Raises: as `filled`, and ValueError
    if `mark` is not a mark; MissingValue only for parts missing inside the part.
    """
    part = part_of(mark)
    if part is None:
        raise ValueError(f"{show(mark)} is not a reference to a stored value")
    filling = _Filling(values, tenant_id, most_bytes)
    keys: list[str | int] = []
    kept = await values.look(tenant_id, part.sha256)
    for key in part.path:
        kept = await filling.entered(kept)
        if (found := lookup_written(kept.value, key)) is NOTHING:
            return Piece(tuple(keys), None, lack_of(kept.value))
        keys.append(int(key) if isinstance(kept.value, list) else key)
        kept = Kept(found, kept.size, kept.may_hold_marks)
    try:
        value = await filled(values, tenant_id, mark, most_bytes=MAX_INLINE_BYTES if may_stay else most_bytes)
    except ValueTooLarge:
        if not may_stay:
            raise
        return Piece(tuple(keys), mark)
    return Piece(tuple(keys), value)


def marks_in(value: Json, path: Path = ()) -> Iterator[Path]:
    """Yield the paths in `value` of references to stored parts."""
    if part_of(value) is not None:
        yield path
        return
    for key, inner in _inside(value):
        yield from marks_in(inner, (*path, key))


def worded(path: Path) -> str:
    """Return `path` in the notation of expressions: `lines.3.total`."""
    return ".".join(map(str, path))


def _inside(value: Json) -> Iterator[tuple[str | int, Json]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


class _Filling:
    """Fills one value. The size is counted as it grows: marks may refer to one large value many times."""

    def __init__(self, values: ValueStore, tenant_id: str, most_bytes: int, most_read: int = MAX_STORED_BYTES) -> None:
        self._values = values
        self._tenant_id = tenant_id
        self._most_bytes = most_bytes
        self._most_read = most_read
        self._size = 0
        self._looked_at = 0

    def spend(self, size: int) -> None:
        self._size += size
        if self._size > self._most_bytes:
            raise ValueTooLarge(self._size, self._most_bytes)

    async def fill(self, value: Json, where: str) -> Json:
        self._looked_at += 1
        if self._looked_at % AT_ONCE == 0:
            await asyncio.sleep(0)
        part = part_of(value)
        if part is not None:
            return await self._load(part, where)
        if isinstance(value, dict):
            return {key: await self.fill(inner, _joined(where, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [await self.fill(inner, _joined(where, place)) for place, inner in enumerate(value)]
        return value

    async def _load(self, part: Part, where: str) -> Json:
        if part.size > self._most_read:
            raise ValueTooLarge(part.size, self._most_read)
        if part.path:
            kept = await self._find(part, where)
            value = _copy(kept.value)
        else:
            kept = await self._values.get(self._tenant_id, part.sha256)
            value = kept.value
        self.spend(kept.size - size_of(part.to_json()))  # it replaces the mark
        return await self.fill(value, where) if kept.may_hold_marks else value

    async def entered(self, kept: Kept, where: str = "") -> Kept:
        """Return the value that `kept` refers to, if it is itself a mark."""
        inner = part_of(kept.value) if kept.may_hold_marks else None
        return kept if inner is None else await self._find(inner, where)

    async def _find(self, part: Part, where: str) -> Kept:
        """Return the part, which must not be modified. Its path may lead through other stored values."""
        kept = await self._values.look(self._tenant_id, part.sha256)
        for depth, key in enumerate(part.path):
            kept = await self.entered(kept, where)
            found = lookup_written(kept.value, key)
            if found is NOTHING:
                raise MissingValue(part, kept.value, depth, where)
            kept = Kept(found, kept.size, kept.may_hold_marks)
        return Kept(kept.value, size_of(kept.value), kept.may_hold_marks)


def _joined(where: str, key: str | int) -> str:
    return f"{where}.{key}" if where else ""


def _copy(value: Json) -> Json:
    """Return a copy of a shared value: handlers may modify what they are given."""
    match value:
        case dict():
            return {key: _copy(inner) for key, inner in value.items()}
        case list():
            return [_copy(inner) for inner in value]
        case _:
            return value
