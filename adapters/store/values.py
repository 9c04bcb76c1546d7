"""Store JSON values that are too large for a run's history, by content, in one folder per tenant."""

import asyncio
import gc
import hashlib
import json
import re
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from docrail.adapters.store.blobs import BlobStore, blob_path
from docrail.adapters.store.folders import Folder, as_folder
from docrail.adapters.store.renewal import Turn, no_turns
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.stored import STORED, Part

MAX_STORED_BYTES = 64 * 2**20
"""Largest step output, and largest config with its stored values filled in, as JSON. Processing takes up to ten times
as much memory in Python objects; larger data belongs in a document or a file, passed by reference."""

CACHE_BYTES = 16 * 2**20
"""Size limit of the cache of parsed values, as JSON: as Python objects they take up to ten times as much memory."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
"""Tenants whose folder has their name. No capitals: on some file systems `A` and `a` are one folder."""

_MARK = f'"{STORED}"'
"""Occurs in the JSON of every value that contains a mark, and in few others: quotes inside texts are escaped."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored value. `size` is in bytes as JSON; without `may_hold_marks` it contains no references."""

    value: Json
    size: int
    may_hold_marks: bool


class ValueStore:
    """Values in the folder `place`. Equal values of one tenant are stored once; a tenant can only reach its own.

    Use it from one event loop at a time.
    """

    def __init__(self, place: Path | Folder, turn: Turn = no_turns, *, cache_bytes: int = CACHE_BYTES) -> None:
        self.folder = as_folder(place)
        self._turn = turn
        self._cache_bytes = cache_bytes
        self._cached: OrderedDict[str, Kept] = OrderedDict()
        self._cached_size = 0
        self._loading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def put(self, tenant_id: str, value: Json) -> Part:
        """Store `value`, durable on return, and return its reference.

        Raises: OSError (disk full, S3 unavailable), nothing half-written remains; ValueError (not a JSON value).
        """
        data = await asyncio.to_thread(_packed, value)
        reference = await self._blobs(tenant_id).put(data)
        return Part(reference.sha256, reference.size)

    async def get(self, tenant_id: str, sha256: str) -> Kept:
        """Return a private copy of the tenant's value. Raises: BlobMissing, BlobDamaged, ValueError (not a sha256)."""
        data = await self._blobs(tenant_id).get(sha256)
        return await asyncio.to_thread(_unpacked, data)

    async def look(self, tenant_id: str, sha256: str) -> Kept:
        """Return the tenant's value, shared with other callers: it must not be modified. Raises: as `get`.

        For callers that need a small part of it: a list's items arrive one after the other, each for its own part.
        """
        path = f"{folder_of(tenant_id)}/{blob_path(sha256)}"
        lock = self._loading.setdefault(path, asyncio.Lock())
        async with lock:  # otherwise all items that start together would read and parse it
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
    """Return the name of the tenant's folder: safe for any tenant id, and unique to the tenant."""
    if _PLAIN.fullmatch(tenant_id):
        return tenant_id
    return f"={hashlib.sha256(tenant_id.encode()).hexdigest()}"


def may_hold_marks(data: str | bytes) -> bool:
    """Check whether the JSON text `data` may contain references to stored values; if not, no search is needed."""
    return _MARK in data if isinstance(data, str) else _MARK.encode() in data


def _packed(value: Json) -> bytes:
    return canonical(value).encode()


def _unpacked(data: bytes) -> Kept:
    return Kept(_parsed(data), len(data), may_hold_marks(data))


def _parsed(data: bytes) -> Json:
    """Return the value, parsed in one go: a value has no cycles, and collecting again and again takes most of the time.

    Nothing else runs in this process meanwhile, so it takes longer for others too.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return json.loads(data)
    finally:
        if collects:
            gc.enable()
