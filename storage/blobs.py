"""Keeps uploaded bytes as files named by their sha256: equal bytes are kept once, and never change."""

import asyncio
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from storage.db import StorageError
from storage.files import sync_folder, write_atomic

_SHA256 = re.compile(r"[0-9a-f]{64}")


class BlobMissing(StorageError):  # noqa: N818  # a statement about the blob
    """No blob has this sha256. Worth a retry: a blob is stored before its row, so its volume is probably away."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f"no blob {sha256} in the blob store")
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


@dataclass(frozen=True, slots=True)
class BlobStore:
    """Blobs under the folder `root`, shared by all tenants: who may see which is told by the rows naming them."""

    root: Path

    async def put(self, data: bytes) -> BlobRef:
        """Keep `data`, durable when this returns. Bytes that are kept already are not written again.

        Raises: OSError (disk full); nothing half-written remains.
        """
        return await asyncio.to_thread(self._put, data)

    async def get(self, sha256: str) -> bytes:
        """Return the blob's bytes, checked. Raises: BlobMissing, BlobDamaged, ValueError (not a sha256)."""
        return await asyncio.to_thread(self._get, sha256)

    def path(self, sha256: str) -> Path:
        """Return where the blob is or would be. Raises: ValueError if `sha256` is not one: it becomes a path."""
        if not _SHA256.fullmatch(sha256):
            raise ValueError(f"a blob is named by 64 lowercase hexadecimal digits, not by {sha256!r}")
        return self.root / sha256[:2] / sha256

    def _put(self, data: bytes) -> BlobRef:
        reference = BlobRef(hashlib.sha256(data).hexdigest(), len(data))
        path = self.path(reference.sha256)
        if _holds(path, data):
            # Another upload of these bytes may have got as far as its rename: our caller's row must not outlive it.
            sync_folder(path.parent)
        else:
            write_atomic(path, data)
        return reference

    def _get(self, sha256: str) -> bytes:
        try:
            data = self.path(sha256).read_bytes()
        except FileNotFoundError:
            raise BlobMissing(sha256) from None
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise BlobDamaged(sha256, found)
        return data


def _holds(path: Path, data: bytes) -> bool:
    """Compare the bytes, not only the size, so that an upload heals a damaged blob."""
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False
