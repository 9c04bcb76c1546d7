"""Look at the files of a watched folder, into which others write: nothing outside of it is read, and nothing waits.

A name may become a link, a pipe or another file between two looks. So each folder of a path is opened from the one
before it, no link is followed, and what was opened is read only if it is a regular file that no one changes meanwhile.
"""

import errno
import heapq
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from docrail.dag.language.inputs import InputProblem
from docrail.services.errors import InvalidInput, TooLarge

SETTLED_SECONDS = 2.0
"""A file that changed within this time may still be written: a later pass uploads it."""
PARTIAL = frozenset({".part", ".tmp", ".crdownload", ".filepart"})
"""Suffixes of files that are still being written."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Without waiting: a pipe has no end until someone writes into it."""
_REPLACED = frozenset({errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO})
"""What is there no more, or is now a link, no folder, or a socket."""


class FolderUnknown(ValueError):  # noqa: N818  # a statement about the folder
    """A watched folder is not there. A ValueError: another attempt would find the same."""


def find_folder(inbox: Path | None, tenant_id: str, name: str) -> tuple[Path, str]:
    """Return the tenant's own folder, and the place of a watched one in it, without links. Raises: FolderUnknown."""
    if inbox is None:
        raise FolderUnknown("this worker watches no folders: set DOCRAIL_INBOX_DIR to the folder above them")
    own = (inbox / tenant_id).resolve()
    folder = (own / name).resolve()
    if not folder.is_relative_to(own) or not folder.is_dir():
        raise FolderUnknown(f"there is no folder {name!r} in {own}: create it, where every worker sees it")
    return own, folder.relative_to(own).as_posix()


@dataclass(frozen=True, slots=True, order=True)
class SettledFile:
    """A file that no one writes any more."""

    place: str
    """Its path in the folder. A name that is not UTF-8 has surrogates, as os.fsdecode gives them."""
    stamp: str
    """Inode, size, and times of the last change of the content and of what the file system knows of it.

    The last one follows the clock whatever a program sets the others to: an equal stamp is an unchanged file.
    """


def settled_files(folder: Path, most: int) -> list[SettledFile]:
    """Return the first `most` settled files below a folder, by place, without hidden ones and links."""
    return heapq.nsmallest(most, _settled_files(folder, time.time() - SETTLED_SECONDS))


def _settled_files(folder: Path, latest: float) -> Iterator[SettledFile]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for path in (Path(parent, each) for each in names if not each.startswith(".")):
            if path.suffix.lower() not in PARTIAL and (stamp := _stamp_of(path, latest)):
                yield SettledFile(path.relative_to(folder).as_posix(), stamp)


def _stamp_of(path: Path, latest: float) -> str:
    """Return the stamp of a file; empty if it is none, or has changed since `latest`."""
    try:
        found = path.lstat()
    except OSError:  # it was moved meanwhile
        return ""
    if not stat.S_ISREG(found.st_mode) or found.st_mtime > latest:
        return ""
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def read_file(own: Path, place: str, limit_bytes: int) -> bytes | None:
    """Return the content of the file at a place in `own`; None if it was moved, replaced or changed meanwhile.

    Raises: TooLarge, InvalidInput (it cannot be read).
    """
    try:
        opened = _open(own, PurePosixPath(place))
        return None if opened is None else _read(opened, limit_bytes)
    except OSError as error:
        raise InvalidInput([InputProblem("file", f"cannot be read: {error.strerror}")]) from error


def _read(opened: int, limit_bytes: int) -> bytes | None:
    """Return the content of an open file, and close it; None if it is none, or has changed meanwhile."""
    try:
        before = os.fstat(opened)
        if not stat.S_ISREG(before.st_mode):
            return None
        if before.st_size > limit_bytes:
            raise TooLarge(limit_bytes)
        with open(opened, "rb", closefd=False) as file:
            data = file.read(limit_bytes)
        after = os.fstat(opened)
    finally:
        os.close(opened)
    is_same = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    return data if is_same else None


def _open(own: Path, place: PurePosixPath) -> int | None:
    """Open a file through the folders above it; None if one of the names is now a link, or no more there."""
    at = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in place.parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(place.name, _FILE, dir_fd=at)
    except OSError as error:
        if error.errno in _REPLACED:
            return None
        raise
    finally:
        os.close(at)
