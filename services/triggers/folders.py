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


def settled_files(folder: Path, most: int) -> list[str]:
    """Return the places of the first `most` settled files below a folder, in order, without hidden ones and links.

    A name that is not UTF-8 has surrogates, as os.fsdecode gives them.
    """
    return heapq.nsmallest(most, _settled_files(folder, time.time() - SETTLED_SECONDS))


def _settled_files(folder: Path, latest: float) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for path in (Path(parent, each) for each in names if not each.startswith(".")):
            if path.suffix.lower() not in PARTIAL and _is_settled(path, latest):
                yield path.relative_to(folder).as_posix()


def _is_settled(path: Path, latest: float) -> bool:
    try:
        found = path.lstat()
    except OSError:  # it was moved meanwhile
        return False
    return stat.S_ISREG(found.st_mode) and found.st_mtime <= latest


def read_file(own: Path, place: str, limit_bytes: int) -> bytes | None:
    """Return the content of the file at a place in `own`; None if it was moved, replaced or changed meanwhile.

    Raises: TooLarge, InvalidInput (it cannot be read).
    """
    try:
        opened = _open(own, PurePosixPath(place))
        data = None if opened is None else _read(opened, limit_bytes + 1)
    except OSError as error:
        raise InvalidInput([InputProblem("file", f"cannot be read: {error.strerror}")]) from error
    if data is not None and len(data) > limit_bytes:
        raise TooLarge(limit_bytes)
    return data


def _read(opened: int, most: int) -> bytes | None:
    """Return the first bytes of an open file, and close it; None if it is none, or has changed meanwhile."""
    try:
        before = os.fstat(opened)
        if not stat.S_ISREG(before.st_mode):
            return None
        with open(opened, "rb", closefd=False) as file:
            data = file.read(most)
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
