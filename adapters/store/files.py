"""Write files atomically: a reader sees either nothing or all of it, even after a crash."""

import contextlib
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

LEFTOVER_SECONDS = 3600.0
"""No write takes an hour: an older temporary file belongs to a process that is gone."""


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` to `path`, durable on return; folders are created. Blocking: call it in a thread.

    Only this user may read the file, whatever the process's umask is. With two concurrent writers, the bytes of one of
    them remain. Raises: OSError (disk full, no permission); then `path` is unchanged and no temporary file is left.
    """
    write_all_atomic({path: data})


def write_for_now(path: Path, data: bytes) -> None:
    """Write what can be made again: a power failure may leave it missing, empty or incomplete.

    Raises: as `write_atomic`.
    """
    make_folder(path.parent, durable=False)
    _replace(path, data, durable=False)


def write_all_atomic(files: Mapping[Path, bytes]) -> None:
    """Write each file as `write_atomic` does, and make the names in each folder durable once, for all of them.

    Raises: OSError; then some may be written, and no temporary file is left.
    """
    folders = dict.fromkeys(path.parent for path in files)
    for folder in folders:
        make_folder(folder)
    for path, data in files.items():
        _replace(path, data, durable=True)
    for folder in folders:
        sync_folder(folder)


def _replace(path: Path, data: bytes, *, durable: bool) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open_private(temporary, "xb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file, and if it is new, let no other user read it."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def make_folder(folder: Path, *, durable: bool = True) -> None:
    """Create `folder` and its parents for this user alone; `durable`: on return."""
    if folder.is_dir():
        return
    make_folder(folder.parent, durable=durable)
    folder.mkdir(mode=0o700, exist_ok=True)
    if durable:
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
