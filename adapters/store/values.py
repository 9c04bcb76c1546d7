"""Keeps JSON values that are too large to travel inside a run: by their content, each tenant's in its own folder."""

import asyncio
import hashlib
import json
import re
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from docrail.adapters.store.blobs import BlobStore, blob_path
from docrail.adapters.store.folders import Folder, as_folder, local_root
from docrail.adapters.store.renewal import Turn, no_turns
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.stored import STORED, Part

MAX_STORED_BYTES = 64 * 2**20
"""Largest output of a step, and largest config with the stored values in it, as JSON. Whoever works on one holds up to
ten times as much in Python's objects; what is larger belongs into a document or a file, and goes by reference."""

CACHE_BYTES = 16 * 2**20
"""Most bytes, as JSON, of values that are kept parsed: as Python's objects they take up to ten times as much memory."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
"""Tenants whose folder has their name. No capitals: to some file systems `A` and `a` are one folder."""

_MARK = f'"{STORED}"'
"""Stands in the JSON of every value that holds a mark, and of few others: a text's own quotes are escaped."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A value of the store. `size` is its bytes as JSON; without `may_hold_marks` no part of it is stored elsewhere."""

    value: Json
    size: int
    may_hold_marks: bool


class ValueStore:
    """Values in the folder `place`. Equal values of one tenant are kept once; a tenant reaches none but its own.

    One event loop at a time may use it.
    """

    def __init__(self, place: Path | Folder, turn: Turn = no_turns, *, cache_bytes: int = CACHE_BYTES) -> None:
        self.folder = as_folder(place)
        self._turn = turn
        self._cache_bytes = cache_bytes
        self._cached: OrderedDict[str, Kept] = OrderedDict()
        self._cached_size = 0
        self._loading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def root(self) -> Path:
        """Where values lie on this machine. Raises: ValueError if they do not."""
        return local_root(self.folder)

    async def put(self, tenant_id: str, value: Json) -> Part:
        """Keep `value`, durable when this returns, and return what stands for it.

        Raises: OSError (disk full, S3 away), nothing half-written remains; ValueError (no JSON value).
        """
        data = await asyncio.to_thread(_packed, value)
        reference = await self._blobs(tenant_id).put(data)
        return Part(reference.sha256, reference.size)

    async def get(self, tenant_id: str, sha256: str) -> Kept:
        """Return the tenant's value, the caller's own. Raises: BlobMissing, BlobDamaged, ValueError (not a sha256)."""
        data = await self._blobs(tenant_id).get(sha256)
        return await asyncio.to_thread(_unpacked, data)

    async def look(self, tenant_id: str, sha256: str) -> Kept:
        """Return the tenant's value, which others look at too: nobody may change it. Raises as `get` does.

        For who needs a small part of it: the items of a list come one after the other, each for its own part.
        """
        path = f"{folder_of(tenant_id)}/{blob_path(sha256)}"
        lock = self._loading.setdefault(path, asyncio.Lock())
        async with lock:  # else all items that begin together would read and parse it together
            kept = self._cached.get(path) or await self.get(tenant_id, sha256)
            self._remember(path, kept)
        return kept

    def _remember(self, path: str, kept: Kept) -> None:
        if kept.size > self._cache_bytes:
            return
        if path not in self._cached:
            self._cached[path] = kept
            self._cached_size += kept.size
        self._cached.move_to_end(path)
        while self._cached_size > self._cache_bytes:
            self._cached_size -= self._cached.popitem(last=False)[1].size

    def _blobs(self, tenant_id: str) -> BlobStore:
        folder = folder_of(tenant_id)
        return BlobStore(self.folder.sub(folder), lambda path: self._turn(f"{folder}/{path}"))


def folder_of(tenant_id: str) -> str:
    """Return the name of the tenant's folder: a safe one, whatever the tenant is called, and no other tenant's."""
    if _PLAIN.fullmatch(tenant_id):
        return tenant_id
    return f"={hashlib.sha256(tenant_id.encode()).hexdigest()}"


def may_hold_marks(data: str | bytes) -> bool:
    """Tell whether the JSON text `data` may hold what stands for a stored value: if not, nobody needs to search it."""
    return _MARK in data if isinstance(data, str) else _MARK.encode() in data


def _packed(value: Json) -> bytes:
    return canonical(value).encode()


def _unpacked(data: bytes) -> Kept:
    return Kept(json.loads(data), len(data), may_hold_marks(data))
