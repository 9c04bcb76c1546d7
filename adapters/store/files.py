"""Writes files so that a reader sees either nothing or all of it, whatever dies in between."""

import contextlib
import os
import secrets
import time
from pathlib import Path

LEFTOVER_SECONDS = 3600.0
"""No write takes an hour: a temporary file this old belongs to a process that is gone."""


def write_atomic(path: Path, data: bytes) -> None:
    """Make `path` hold `data`, durable when this returns; folders are made. Blocking: call it in a thread.

    Two writers at once leave the bytes of one of them. Raises: OSError (disk full, no permission); then `path` is
    as it was and no temporary file is left.
    """
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make `folder` and its parents, durable when this returns."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: without this a finished rename may be lost with the power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(root: Path, *, older_than_seconds: float = LEFTOVER_SECONDS) -> int:
    """Delete the temporary files of writers that were killed, and return how many. Blocking: call it in a thread."""
    limit = time.time() - older_than_seconds
    removed = 0
    for path in root.rglob(".*.tmp"):
        with contextlib.suppress(FileNotFoundError):  # its writer finished, or another worker cleans up too
            if path.stat().st_mtime < limit:
                path.unlink()
                removed += 1
    return removed
