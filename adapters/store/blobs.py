"""Keeps uploaded bytes as files named by their sha256: equal bytes are kept once, and never change."""

import asyncio
import datetime as dt
import hashlib
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.folders import Folder, as_folder, local_root
from docrail.adapters.store.renewal import Turn, no_turns

RENEWED_AFTER = dt.timedelta(days=1)
"""Bytes that are put again are written again if they are older: what nobody has put for long may be deleted."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class BlobMissing(StorageError):  # noqa: N818  # a statement about the blob
    """No blob has this sha256. Worth a retry: a blob is stored before its row, so its volume is probably away."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f"no blob {sha256} in the store: what it lies on is away, or it was deleted for its age")
        self.sha256 = sha256


class BlobDamaged(StorageError):  # noqa: N818  # a statement about the blob
    """The bytes kept under this sha256 have another one: the disk or a person changed them."""

    def __init__(self, sha256: str, found: str) -> None:
        super().__init__(f"blob {sha256} holds bytes with the sha256 {found}")
        self.sha256 = sha256
        self.found = found


@dataclass(frozen=True, slots=True)
class BlobRef:
    """What names a blob. `size` is in bytes."""

    sha256: str
    size: int


class BlobStore:
    """Blobs in the folder `place`, shared by all tenants: who may see which is told by the rows naming them."""

    def __init__(self, place: Path | Folder, turn: Turn = no_turns) -> None:
        self.folder = as_folder(place)
        self._turn = turn

    async def put(self, data: bytes) -> BlobRef:
        """Keep `data`, durable when this returns. Bytes that are kept already are not written again for a day.

        Raises: OSError (disk full, S3 away); nothing half-written remains.
        """
        reference, kept = await asyncio.to_thread(self._offer, data)
        if not kept:
            path = blob_path(reference.sha256)
            async with self._turn(path):  # else whoever found it old a moment ago would delete what is written now
                await asyncio.to_thread(self.folder.write, path, data)
        return reference

    async def get(self, sha256: str) -> bytes:
        """Return the blob's bytes, checked. Raises: BlobMissing, BlobDamaged, OSError, ValueError (not a sha256)."""
        return await asyncio.to_thread(self._get, sha256)

    @asynccontextmanager
    async def at_hand(self, sha256: str) -> AsyncIterator[Path]:
        """Give a path on this machine where the blob can be read: a file of ours alone if it is kept elsewhere.

        Raises: as `get`, but what lies on this machine is not read, so neither missed nor checked.
        """
        path = self.folder.local_path(blob_path(sha256))
        if path is not None:
            yield path
            return
        data = await self.get(sha256)
        with tempfile.TemporaryDirectory(prefix="docrail-") as folder:  # readable by this user alone
            copy = Path(folder) / sha256
            await asyncio.to_thread(copy.write_bytes, data)
            yield copy

    @property
    def root(self) -> Path:
        """Where blobs lie on this machine. Raises: ValueError if they do not."""
        return local_root(self.folder)

    def path(self, sha256: str) -> Path:
        """Return where the blob lies or would lie. Raises: ValueError if elsewhere, or if `sha256` is not one."""
        return self.root / blob_path(sha256)

    def _offer(self, data: bytes) -> tuple[BlobRef, bool]:
        """Return what names the bytes, and whether they are kept now: new ones, or ones that need not be renewed."""
        reference = BlobRef(hashlib.sha256(data).hexdigest(), len(data))
        path = blob_path(reference.sha256)
        return reference, self.folder.create(path, data) or self._holds(path, data)

    def _holds(self, path: str, data: bytes) -> bool:
        """Compare the bytes, not only the size, so that an upload heals a damaged blob; one that is old is none."""
        info = self.folder.stat(path)
        if info is None or info.size != len(data) or info.modified_at < dt.datetime.now(dt.UTC) - RENEWED_AFTER:
            return False
        try:
            return self.folder.read(path) == data
        except FileNotFoundError:
            return False

    def _get(self, sha256: str) -> bytes:
        try:
            data = self.folder.read(blob_path(sha256))
        except FileNotFoundError:
            raise BlobMissing(sha256) from None
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise BlobDamaged(sha256, found)
        return data


def blob_path(sha256: str) -> str:
    """Return where the blob is or would be in its folder. Raises: ValueError if `sha256` is not one."""
    if not _SHA256.fullmatch(sha256):
        raise ValueError(f"a blob is named by 64 lowercase hexadecimal digits, not by {sha256!r}")
    return f"{sha256[:2]}/{sha256}"
