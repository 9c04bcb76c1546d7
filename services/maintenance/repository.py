"""Find what may be deleted for its age: stored values that no run needs, and originals that are no longer in use."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database
from docrail.adapters.store.blobs import RENEWED_AFTER, blob_path
from docrail.adapters.store.folders import FileInfo, Folder
from docrail.dag.values.stored import STORED

# Bytes belong to all documents that have them: the youngest decides, and one that is still worked on.
LOAD_OLD_ORIGINALS = """
SELECT sha256, min(received_at) AS received_at, array_agg(document_id) AS document_ids FROM documents
 WHERE sha256 IN (SELECT sha256 FROM documents WHERE received_at < $1 AND original_removed_at IS NULL)
   AND original_removed_at IS NULL
 GROUP BY sha256
HAVING max(received_at) < $1 AND bool_and(run_started_at IS NOT NULL)
   AND NOT EXISTS (
       SELECT 1 FROM reviews
        WHERE reviews.document_id = ANY(array_agg(documents.document_id)) AND reviews.status = 'open')
   AND ($3::timestamptz IS NULL OR (min(received_at), sha256) > ($3, $4::text))
 ORDER BY min(received_at), sha256
 LIMIT $2"""


_DOCUMENT_ID = re.compile(rb"\bdoc_[0-9a-z]{26}\b")


_MARKED = re.compile(rb'"' + re.escape(STORED).encode() + rb'"\s*:\s*"([0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class OldOriginal:
    """Bytes shared by all of `document_ids`, across tenants; first received at `received_at`."""

    sha256: str
    received_at: dt.datetime
    document_ids: Sequence[str]


async def load_old_originals(
    db: Database, before: dt.datetime, limit: int, after: OldOriginal | None = None
) -> list[OldOriginal]:
    """Return bytes, of ALL tenants, whose documents were all received before, none under review; oldest first.

    `after` is the last one of the previous page.
    """
    key = (after.received_at, after.sha256) if after else (None, None)
    return [OldOriginal(**row) for row in await db.fetch(LOAD_OLD_ORIGINALS, before, limit, *key)]


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
