"""Store uploaded bytes as files named by their sha256: equal bytes are stored once, and never change."""

import asyncio
import contextlib
import datetime as dt
import errno
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.checked import CheckedFile, FileDamaged, open_checked
from docrail.adapters.store.files import LEFTOVER_SECONDS
from docrail.adapters.store.folders import Folder, as_folder
from docrail.adapters.store.renewal import Turn, no_turns

RENEWED_AFTER = dt.timedelta(days=1)
"""Age at which a repeated put rewrites the file: files that have not been put for long may be deleted."""

LEAST_FREE_BYTES = 50 * 2**20
"""Below it a disk counts as full: two uploads of the largest size."""

COPY_PREFIX = "docrail-copy-"
"""Names of the folders with local copies of blobs, next to other temporary files."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class BlobMissing(StorageError):  # noqa: N818  # a statement about the blob
    """There is no such blob. Worth a retry: a blob is stored before its row, so its volume is probably unavailable."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f"no blob {sha256} in the store: its volume is unavailable, or it was deleted by retention")
        self.sha256 = sha256


class BlobDamaged(StorageError):  # noqa: N818  # a statement about the blob
    """The stored bytes have another sha256: the disk or a person changed them."""

    def __init__(self, sha256: str, found: str) -> None:
        super().__init__(f"blob {sha256} contains bytes with the sha256 {found}")
        self.sha256 = sha256
        self.found = found


@dataclass(frozen=True, slots=True)
class BlobRef:
    """A reference to a blob. `size` is in bytes."""

    sha256: str
    size: int


class BlobStore:
    """Blobs in the folder `place`, shared by all tenants: access is decided by the rows that refer to them."""

    def __init__(self, place: Path | Folder, turn: Turn = no_turns) -> None:
        self.folder = as_folder(place)
        self._turn = turn
        self._probing: asyncio.Task[int | None] | None = None

    async def probe(self) -> int | None:
        """Return the free space in bytes if blobs can be stored; None: there is no known limit.

        Concurrent calls share one look: a volume that hangs holds one thread.

        Raises: OSError (disk full, not writable, S3 unavailable).
        """
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(asyncio.to_thread(self._probe))
        return await asyncio.shield(self._probing)

    async def put(self, data: bytes) -> BlobRef:
        """Store `data`, durable on return. Existing bytes are not rewritten within a day.

        Raises: OSError (disk full, S3 unavailable); nothing half-written remains.
        """
        reference, kept = await asyncio.to_thread(self._offer, data)
        if not kept:
            path = blob_path(reference.sha256)
            # otherwise a concurrent cleanup, which found the old file, would delete the new one
            async with self._turn(path):
                await asyncio.to_thread(self.folder.write, path, data)
        return reference

    async def get(self, sha256: str) -> bytes:
        """Return the blob's verified bytes. Raises: BlobMissing, BlobDamaged, OSError, ValueError (not a sha256)."""
        return await asyncio.to_thread(self._get, sha256)

    async def open(self, sha256: str) -> CheckedFile:
        """Open the blob's verified file. Raises: as `get`."""
        return await asyncio.to_thread(self._open, sha256)

    @contextlib.asynccontextmanager
    async def at_hand(self, sha256: str) -> AsyncIterator[Path]:
        """Yield a local path for reading the blob: a temporary copy if it is stored elsewhere.

        Raises: as `get`; a local file is not read, so neither its existence nor its content is checked.
        """
        path = self.folder.local_path(blob_path(sha256))
        if path is not None:
            yield path
            return
        data = await self.get(sha256)
        with tempfile.TemporaryDirectory(prefix=COPY_PREFIX) as folder:  # readable by this user only
            copy = Path(folder) / sha256
            await asyncio.to_thread(copy.write_bytes, data)
            yield copy

    def _probe(self) -> int | None:
        place = blob_path("0" * 64)
        path = self.folder.local_path(place)
        if path is None:
            self.folder.stat(place)
            return None
        folder = next(parent for parent in path.parents if parent.exists())
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "not writable", str(folder))
        free = self.folder.free_bytes()
        if free is not None and free < LEAST_FREE_BYTES:
            raise OSError(errno.ENOSPC, "full", str(folder))
        return free

    def _offer(self, data: bytes) -> tuple[BlobRef, bool]:
        """Return the reference of the bytes, and whether they are stored now and need no rewrite."""
        reference = BlobRef(hashlib.sha256(data).hexdigest(), len(data))
        path = blob_path(reference.sha256)
        return reference, self.folder.create(path, data) or self._holds(path, data)

    def _holds(self, path: str, data: bytes) -> bool:
        """Check for equal bytes, not only the size, so that an upload repairs a damaged blob.

        An old file counts as missing.
        """
        info = self.folder.stat(path)
        if info is None or info.size != len(data) or info.modified_at < dt.datetime.now(dt.UTC) - RENEWED_AFTER:
            return False
        try:
            return self.folder.read(path) == data
        except FileNotFoundError:
            return False

    def _open(self, sha256: str) -> CheckedFile:
        try:
            return open_checked(self.folder, blob_path(sha256), sha256)
        except FileNotFoundError:
            raise BlobMissing(sha256) from None
        except FileDamaged as error:
            raise BlobDamaged(sha256, error.found) from None

    def _get(self, sha256: str) -> bytes:
        try:
            data = self.folder.read(blob_path(sha256))
        except FileNotFoundError:
            raise BlobMissing(sha256) from None
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise BlobDamaged(sha256, found)
        return data


def remove_copies(*, older_than_seconds: float = LEFTOVER_SECONDS) -> int:
    """Delete the local copies of documents that killed workers left, and return how many. Blocking."""
    limit = time.time() - older_than_seconds
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{COPY_PREFIX}*"):
        with contextlib.suppress(OSError):  # its reader has just finished, or another user's worker made it
            if folder.stat().st_mtime < limit:
                shutil.rmtree(folder)
                removed += 1
    return removed


def blob_path(sha256: str) -> str:
    """Return the blob's path in its folder. Raises: ValueError if `sha256` is not one."""
    if not _SHA256.fullmatch(sha256):
        raise ValueError(f"a blob is named by 64 lowercase hexadecimal digits, not by {sha256!r}")
    return f"{sha256[:2]}/{sha256}"
