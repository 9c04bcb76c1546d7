"""Find stored values that may be deleted for their age, because no run needs them."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator

from docrail.adapters.store.blobs import RENEWED_AFTER, blob_path
from docrail.adapters.store.folders import FileInfo, Folder
from docrail.dag.values.stored import STORED

_DOCUMENT_ID = re.compile(rb"\bdoc_[0-9a-z]{26}\b")


_MARKED = re.compile(rb'"' + re.escape(STORED).encode() + rb'"\s*:\s*"([0-9a-f]{64})"')


def documents_in(data: bytes) -> frozenset[str]:
    """Return the document ids that occur in `data`, which is or contains JSON."""
    return frozenset(found.decode() for found in _DOCUMENT_ID.findall(data))


def marked_in(data: bytes) -> frozenset[str]:
    """Return the sha256 of each stored value referenced in `data`, which is or contains JSON."""
    return frozenset(found.decode() for found in _MARKED.findall(data))


def old_files(folder: Folder, before: dt.datetime) -> Iterator[FileInfo]:
    """Yield the files that were not written or renewed since. Blocking."""
    return (info for info in folder.files() if info.modified_at < before)


def needed_of(values: Folder, roots: Iterable[str]) -> set[str]:
    """Return `roots` and all values in a tenant's folder that are reachable from them. Blocking; reads them."""
    needed: set[str] = set()
    waiting = list(roots)
    while waiting:
        sha256 = waiting.pop()
        if sha256 in needed:
            continue
        needed.add(sha256)
        try:
            waiting += marked_in(values.read(blob_path(sha256)))
        except FileNotFoundError:  # another tenant's, or lost: there is nothing of it to delete
            continue
    return needed


def remove_if_old(folder: Folder, path: str, before: dt.datetime) -> bool:
    """Delete the file unless it was renewed since `before`, and return whether it was deleted. Blocking."""
    info = folder.stat(path)
    if info is None or info.modified_at >= before:
        return False
    folder.delete(path)
    return True


def put_before(days: float, now: dt.datetime) -> dt.datetime:
    """Return the modification time before which files are at least `days` old: a put renews files older than a day."""
    return now - dt.timedelta(days=days) - RENEWED_AFTER
