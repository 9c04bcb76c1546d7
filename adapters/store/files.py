"""Write files atomically: a reader sees either nothing or all of it, even after a crash."""

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import IO, Any

LEFTOVER_SECONDS = 3600.0
"""No write takes an hour: an older temporary file belongs to a process that is gone."""


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` to `path`, durable on return; folders are created. Blocking: call it in a thread.

    Only this user may read the file, whatever the process's umask is. With two concurrent writers, the bytes of one of
    them remain. Raises: OSError (disk full, no permission); then `path` is unchanged and no temporary file is left.
    """
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open_private(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file, and if it is new, let no other user read it."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def make_folder(folder: Path) -> None:
    """Create `folder` and its parents for this user alone, durable on return."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: otherwise a completed rename may be lost in a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(root: Path, *, older_than_seconds: float = LEFTOVER_SECONDS) -> int:
    """Delete the temporary files of killed writers, and return how many. Blocking: call it in a thread."""
    limit = time.time() - older_than_seconds
    removed = 0
    for path in root.rglob(".*.tmp"):
        with contextlib.suppress(FileNotFoundError):  # its writer finished, or another worker cleans up too
            if path.stat().st_mtime < limit:
                path.unlink()
                removed += 1
    return removed
