"""Define the interface to a folder of files, and implement it for a local disk; s3.py implements it for S3.

Every call blocks: make it in a thread. Paths are relative, with `/` between their parts.
"""

import contextlib
import datetime as dt
import fcntl
import hashlib
import io
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.files import (
    make_folder,
    open_private,
    remove_leftovers,
    sync_folder,
    write_all_atomic,
    write_atomic,
    write_for_now,
)


class FileChanged(StorageError):  # noqa: N818  # a statement about the file
    """Another process wrote the file since it was read. Worth a retry that reads it again."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed by another process after it was read")
        self.path = path


class StoreUnavailable(OSError):  # noqa: N818  # a statement about the service
    """The service that keeps the files does not answer, or refused the request. A retry may help."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """An existing file; `size` in bytes."""

    path: str
    size: int
    modified_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Tagged:
    """A file's bytes, and a tag that identifies this content."""

    data: bytes
    tag: str


class Folder(Protocol):
    """A folder whose files exist completely or not at all, and are durable once written.

    All calls may raise OSError: a full disk, an unavailable service. Half-written files are never visible.
    """

    def read(self, path: str) -> bytes:
        """Return the file's bytes. Raises: FileNotFoundError."""

    def read_tagged(self, path: str) -> Tagged | None:
        """Return the file's bytes with their tag, for `swap`; None if there is no such file."""

    def open(self, path: str) -> io.BufferedReader:
        """Open the file to read parts of it. Raises: FileNotFoundError."""

    def write(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write the file, replacing any previous content.

        If not `durable`, a power failure may leave it missing, empty or incomplete: for what can be made again.
        """

    def write_all(self, files: Mapping[str, bytes]) -> None:
        """Write the files, by path, which is cheaper than one by one. After an error some of them may be written."""

    def create(self, path: str, data: bytes) -> bool:
        """Write the file unless it exists; return whether it was written.

        For files named by their content: of several concurrent callers, more than one may get True.
        """

    def swap(self, path: str, data: bytes, tag: str | None) -> None:
        """Replace the file if its tag is still `tag`; None: if it does not exist. Raises: FileChanged."""

    def stat(self, path: str) -> FileInfo | None:
        """Return the file's metadata; None if there is no such file."""

    def files(self, under: str = "") -> Iterator[FileInfo]:
        """Yield all files below the folder `under`, in no order. Files created or deleted meanwhile may be missing."""

    def folders(self, under: str = "") -> list[str]:
        """Return the names of the folders in `under`, sorted."""

    def delete(self, path: str) -> None:
        """Delete the file if it exists."""

    def sub(self, name: str) -> "Folder":
        """Return the folder `name` in this one."""

    def local_path(self, path: str) -> Path | None:
        """Return the file's path on this machine; None if it is stored elsewhere."""

    def free_bytes(self) -> int | None:
        """Return the free space in bytes; None: there is no known limit."""

    def remove_leftovers(self) -> int:
        """Delete the leftovers of killed writers, and return the number of files."""


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """The files under `root`, on a disk or a mounted volume."""

    root: Path

    def __str__(self) -> str:
        return str(self.root)

    def read(self, path: str) -> bytes:
        """Return the file's bytes. Raises: FileNotFoundError."""
        return self._at(path).read_bytes()

    def read_tagged(self, path: str) -> Tagged | None:
        """Return the file's bytes; their sha256 is the tag."""
        try:
            data = self.read(path)
        except FileNotFoundError:
            return None
        return Tagged(data, _tag(data))

    def open(self, path: str) -> io.BufferedReader:
        """Open the file to read parts of it."""
        return self._at(path).open("rb")

    def write(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write a temporary file, then rename it: a reader sees all of the old bytes or all of the new ones."""
        (write_atomic if durable else write_for_now)(self._at(path), data)

    def write_all(self, files: Mapping[str, bytes]) -> None:
        """Write the files as `write` does, with one round of making their names durable."""
        write_all_atomic({self._at(path): data for path, data in files.items()})

    def create(self, path: str, data: bytes) -> bool:
        """Write the file unless it exists."""
        target = self._at(path)
        if target.exists():
            # Its writer may only just have renamed it: make the name durable before the caller relies on it.
            sync_folder(target.parent)
            return False
        write_atomic(target, data)
        return True

    def swap(self, path: str, data: bytes, tag: str | None) -> None:
        """Compare and write under a lock that all writers on this machine take."""
        with self._lock(path):
            now = self.read_tagged(path)
            if (now and now.tag) != tag:
                raise FileChanged(path)
            self.write(path, data)

    def stat(self, path: str) -> FileInfo | None:
        """Return the file's metadata; None if there is no such file."""
        try:
            found = self._at(path).stat()
        except FileNotFoundError:
            return None
        return FileInfo(path, found.st_size, dt.datetime.fromtimestamp(found.st_mtime, dt.UTC))

    def files(self, under: str = "") -> Iterator[FileInfo]:
        """Yield all files except hidden ones, which are being written."""
        for folder, _, names in os.walk(self._at(under)):
            for name in names:
                path = (Path(folder) / name).relative_to(self.root).as_posix()
                if not name.startswith(".") and (info := self.stat(path)):
                    yield info

    def folders(self, under: str = "") -> list[str]:
        """Return the names of the folders in `under`, sorted."""
        place = self._at(under)
        return sorted(path.name for path in place.iterdir() if path.is_dir()) if place.is_dir() else []

    def delete(self, path: str) -> None:
        """Delete the file, but not an empty folder: another writer may be about to use it."""
        self._at(path).unlink(missing_ok=True)

    def sub(self, name: str) -> "LocalFolder":
        """Return the folder `name` in this one."""
        return LocalFolder(self.root / name)

    def local_path(self, path: str) -> Path | None:
        """Return the path of the file, whether it exists or not."""
        return self._at(path)

    def free_bytes(self) -> int:
        """Return the free space of the disk, as far as this user may use it."""
        folder = next(path for path in (self.root, *self.root.absolute().parents) if path.exists())
        return shutil.disk_usage(folder).free

    def remove_leftovers(self) -> int:
        """Delete the temporary files of killed writers."""
        return remove_leftovers(self.root)

    @contextlib.contextmanager
    def _lock(self, path: str) -> Iterator[None]:
        target = self._at(path)
        make_folder(target.parent)
        with open_private(target.with_name(f".{target.name}.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield  # closing releases the lock, as does the end of the process

    def _at(self, path: str) -> Path:
        return self.root / checked_path(path)


def checked_path(path: str) -> str:
    """Return `path` if it stays inside its folder. Raises: ValueError."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
        raise ValueError(f"{path!r} does not stay in its folder")
    return path


def as_folder(place: Path | Folder) -> Folder:
    """Return the folder at `place`."""
    return LocalFolder(place) if isinstance(place, Path) else place


def local_root(folder: Folder) -> Path:
    """Return the folder's path on this machine. Raises: ValueError if it is elsewhere."""
    path = folder.local_path("")
    if path is None:
        raise ValueError("these files are kept in S3, and have no path on this machine")
    return path


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
