"""Where files are kept: one small interface to a folder of files, of which a local disk is one kind and S3 the other.

Every call blocks: make it in a thread. Paths are relative, with `/` between their parts.
"""

import contextlib
import datetime as dt
import fcntl
import hashlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.files import make_folder, remove_leftovers, sync_folder, write_atomic


class FileChanged(StorageError):  # noqa: N818  # a statement about the file
    """Somebody else wrote the file since it was read. Worth a retry that reads it anew."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed by somebody else since it was read")
        self.path = path


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file that is there; `size` in bytes."""

    path: str
    size: int
    modified_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Tagged:
    """A file's bytes, and what tells this content of it from any other one."""

    data: bytes
    tag: str


class Folder(Protocol):
    """Files that are there as a whole or not at all, and durable once a call that wrote them has returned.

    All calls may raise OSError: a full disk, a service that is away. Nothing half-written is ever seen.
    """

    def read(self, path: str) -> bytes:
        """Return the file's bytes. Raises: FileNotFoundError."""

    def read_tagged(self, path: str) -> Tagged | None:
        """Return the file's bytes with their tag, for `swap`; None if there is no such file."""

    def open(self, path: str) -> io.BufferedReader:
        """Open the file to read parts of it. Raises: FileNotFoundError."""

    def write(self, path: str, data: bytes) -> None:
        """Make the file hold `data`, whatever it held."""

    def create(self, path: str, data: bytes) -> bool:
        """Make the file hold `data` unless it is there, and tell whether it was not.

        For files that are named by what they hold: of several at once, more than one may be told so.
        """

    def swap(self, path: str, data: bytes, tag: str | None) -> None:
        """Make the file hold `data` if it still is what `tag` says; None: if it is not there. Raises: FileChanged."""

    def stat(self, path: str) -> FileInfo | None:
        """Return the file's facts, None if there is no such file."""

    def files(self, under: str = "") -> Iterator[FileInfo]:
        """Yield all files below the folder `under`, in no order. One that is made or deleted meanwhile may miss."""

    def folders(self, under: str = "") -> list[str]:
        """Return the names of the folders in `under`, sorted."""

    def delete(self, path: str) -> None:
        """Delete the file. One that is not there is deleted already."""

    def sub(self, name: str) -> "Folder":
        """Return the folder `name` in this one."""

    def local_path(self, path: str) -> Path | None:
        """Return where the file lies on this machine, None if it does not lie on it."""

    def remove_leftovers(self) -> int:
        """Delete what killed writers left behind, and return how many files that were."""


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """The files under `root`, on a disk or on what is mounted like one."""

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

    def write(self, path: str, data: bytes) -> None:
        """Write beside the file, then rename: a reader sees all of the old bytes or all of the new ones."""
        write_atomic(self._at(path), data)

    def create(self, path: str, data: bytes) -> bool:
        """Write the file unless it is there."""
        target = self._at(path)
        if target.exists():
            # Its writer may have got as far as its rename: what our caller says next must not outlive the name.
            sync_folder(target.parent)
            return False
        write_atomic(target, data)
        return True

    def swap(self, path: str, data: bytes, tag: str | None) -> None:
        """Compare and write under a lock that all writers of this machine take."""
        with self._lock(path):
            now = self.read_tagged(path)
            if (now and now.tag) != tag:
                raise FileChanged(path)
            self.write(path, data)

    def stat(self, path: str) -> FileInfo | None:
        """Return the file's facts, None if there is no such file."""
        try:
            found = self._at(path).stat()
        except FileNotFoundError:
            return None
        return FileInfo(path, found.st_size, dt.datetime.fromtimestamp(found.st_mtime, dt.UTC))

    def files(self, under: str = "") -> Iterator[FileInfo]:
        """Yield all files but hidden ones, which are nobody's: they are being written."""
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
        """Delete the file, and not the folder that it leaves empty: somebody may be about to write into it."""
        self._at(path).unlink(missing_ok=True)

    def sub(self, name: str) -> "LocalFolder":
        """Return the folder `name` in this one."""
        return LocalFolder(self.root / name)

    def local_path(self, path: str) -> Path | None:
        """Return where the file is or would be."""
        return self._at(path)

    def remove_leftovers(self) -> int:
        """Delete the temporary files of writers that were killed."""
        return remove_leftovers(self.root)

    @contextlib.contextmanager
    def _lock(self, path: str) -> Iterator[None]:
        target = self._at(path)
        make_folder(target.parent)
        with target.with_name(f".{target.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield  # closing gives it back, as dying does

    def _at(self, path: str) -> Path:
        return self.root / checked_path(path)


def checked_path(path: str) -> str:
    """Return `path` if it stays below its folder. Raises: ValueError."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
        raise ValueError(f"{path!r} does not stay in its folder")
    return path


def as_folder(place: Path | Folder) -> Folder:
    """Return the folder at `place`."""
    return LocalFolder(place) if isinstance(place, Path) else place


def local_root(folder: Folder) -> Path:
    """Return the folder's place on this machine. Raises: ValueError if it is elsewhere."""
    path = folder.local_path("")
    if path is None:
        raise ValueError("these files are kept in S3, and have no path on this machine")
    return path


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
