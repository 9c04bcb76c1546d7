"""Merge a tenant's many small Parquet files into few large ones, by month of issue.

Parts are named by their content and written before the manifest that lists them: a run that is killed in between has
changed nothing, and the next one writes the same files. Small files are deleted once a manifest covers them. Readers
list the small files first, then the manifest's parts, and use the latest version of each document
(services/lake/query.py). Imports pyarrow, so import this module lazily.
"""

import datetime as dt
import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from docrail.adapters.store.folders import Folder
from docrail.services.lake.files import saved_in
from docrail.services.lake.manifest import PATH, Manifest, Part, Read, Retired, read_manifest, swap_manifest
from docrail.services.lake.models import Saved
from docrail.services.lake.parquet import (
    LAKE_SCHEMA_VERSION,
    LakeFileDamaged,
    joined,
    pack,
    read_document,
    read_rows,
    read_versions,
    schema_version_of,
    versions_in,
)
from docrail.workflows.contract.messages import Compacted

BATCH_FILES = 5_000
"""Number of small files merged at once: about 150 MB of memory. Each batch writes its own manifest."""
PART_ROWS = 10_000
"""Rows of a full part. It is rewritten only if one of its documents gets another version."""
UNKNOWN = "unknown"
"""Month of documents without a date."""

log = logging.getLogger(__name__)

Beat = Callable[[], None]
"""Called often; raises to stop the work, which leaves the files consistent for readers."""


def compact(
    tenant: Folder, *, now: dt.datetime, beat: Beat = lambda: None, batch_files: int = BATCH_FILES
) -> Compacted:
    """Merge all small files of the tenant's folder. Blocking. Safe to repeat, to stop and to kill.

    A small file that is not a Docrail Parquet file, or that a later release wrote, is left in place and logged; the
    latest readable version of its document is merged. A tenant with a part of a later release is left unchanged.
    Raises: FileChanged (another process compacts this tenant: try again), LakeFileDamaged (a part: its documents are
    unknown), OSError (disk full, S3 unavailable), and whatever `beat` raises.
    """
    done, skipped = Compacted(), set[str]()
    while True:
        read = read_manifest(tenant)
        waiting = [saved for saved in saved_in(tenant, "parquet") if saved.path not in skipped]
        if later := [part.path for part in read.manifest.parts if part.schema_version > LAKE_SCHEMA_VERSION]:
            log.warning("nothing is compacted: a later release wrote %s; upgrade this worker", later[0])
            return done
        stale = any(part.schema_version < LAKE_SCHEMA_VERSION for part in read.manifest.parts)
        if not waiting and not stale:
            return done
        merge = _Merge(tenant, read, beat)
        done += merge.run(waiting[:batch_files], now)
        skipped |= merge.left


def tidy(tenant: Folder, *, now: dt.datetime, grace: dt.timedelta, beat: Beat = lambda: None) -> int:
    """Delete files that have not been needed for `grace` and return their number. Blocking; safe to repeat.

    These are replaced parts, parts that no manifest lists (their writer was killed), and JSON files of earlier
    versions. Raises: as `compact`.
    """
    read = read_manifest(tenant)
    manifest, removed = read.manifest, 0
    over = [retired for retired in manifest.retired if retired.retired_at < now - grace]
    kept = {PATH, *(part.path for part in manifest.parts), *(part.path for part in manifest.retired)}
    orphans = (
        info.path for info in tenant.files("compacted") if info.path not in kept and info.modified_at < now - grace
    )
    for path in (*(retired.path for retired in over), *orphans, *_earlier_json(tenant, now - grace)):
        beat()
        tenant.delete(path)
        removed += 1
    if over:
        left = tuple(retired for retired in manifest.retired if retired not in over)
        swap_manifest(tenant, Manifest(parts=manifest.parts, retired=left), read)
    return removed


def latest(saved: Sequence[Saved]) -> list[Saved]:
    """Return the latest version's file of each document. `saved` must be sorted, as `saved_in` returns it."""
    return [list(versions)[-1] for _, versions in groupby(saved, key=attrgetter("document_id"))]


def month_of(date: dt.date | None) -> str:
    """Return the lake's partition for documents of that day: YYYY-MM."""
    return f"{date.year:04d}-{date.month:02d}" if date else UNKNOWN


class _Merge:
    """The merge of one batch of small files into parts."""

    def __init__(self, tenant: Folder, read: Read, beat: Beat) -> None:
        self._tenant = tenant
        self._read = read
        self._beat = beat
        self._parts = {part.path: part for part in read.manifest.parts}
        self.left: set[str] = set()

    def run(self, batch: Sequence[Saved], now: dt.datetime) -> Compacted:
        """Write the parts that change, swap the manifest, and delete the small files that it covers."""
        new = joined(list(self._load(batch)))
        held = {path: self._versions(path) for path in self._parts}
        new = _without(new, {document: version for part in held.values() for document, version in part.items()})
        changed = self._changed(held, new)
        written = list(self._write(changed, new))
        self._swap(written, changed, now)  # even if nothing changes: fails if these parts were replaced meanwhile
        merged = [saved.path for saved in batch if saved.path not in self.left]
        for path in merged:
            self._beat()
            self._tenant.delete(path)
        rows, size_bytes = sum(part.rows for part in written), sum(part.size_bytes for part in written)
        return Compacted(files=len(merged), parts=len(written), rows=rows, size_bytes=size_bytes)

    def _load(self, batch: Sequence[Saved]) -> Iterator[pa.Table]:
        """Yield the row of each document's latest readable version."""
        for _, versions in groupby(batch, key=attrgetter("document_id")):
            found = (self._read_small(saved) for saved in reversed(list(versions)))
            yield from islice((table for table in found if table is not None), 1)

    def _read_small(self, saved: Saved) -> pa.Table | None:
        self._beat()
        try:
            table = read_document(self._tenant, saved.path, saved.document_id, saved.version)
        except LakeFileDamaged as error:
            log.warning("%s is skipped: %s", saved.path, error)
        else:
            if schema_version_of(table) <= LAKE_SCHEMA_VERSION:
                return table
            log.warning("%s is skipped: a later release wrote it; upgrade this worker", saved.path)
        self.left.add(saved.path)
        return None

    def _versions(self, path: str) -> dict[str, int]:
        self._beat()
        return read_versions(self._tenant, path)

    def _changed(self, held: Mapping[str, Mapping[str, int]], new: pa.Table) -> set[str]:
        """Return the parts that lose rows to later versions, those with room for new rows, and one of an old schema."""
        documents = versions_in(new).keys()
        changed = {path for path, versions in held.items() if not documents.isdisjoint(versions)}
        changed |= {path for month in set(_months(new)) if (path := self._part_with_room(month))}
        old = sorted(path for path, part in self._parts.items() if part.schema_version < LAKE_SCHEMA_VERSION)
        return changed | set(old[:1])

    def _part_with_room(self, month: str) -> str | None:
        parts = [part for part in self._parts.values() if part.issue_month == month and part.rows < PART_ROWS]
        return min(parts, key=lambda part: (part.rows, part.path)).path if parts else None

    def _write(self, changed: set[str], new: pa.Table) -> Iterator[Part]:
        """Write the changed months one after the other, so that only one month's data is in memory at a time."""
        gone = pa.array(list(versions_in(new)), pa.string())
        months = pa.array(_months(new), pa.string())
        for month in sorted({*_months(new), *(self._parts[path].issue_month for path in changed)}):
            paths = [path for path in sorted(changed) if self._parts[path].issue_month == month]
            old = [read_rows(self._tenant, path) for path in paths]
            kept = [table.filter(pc.invert(pc.is_in(table["document_id"], value_set=gone))) for table in old]
            mine = pa.array([one == month for one in months.to_pylist()], pa.bool_())
            rows = joined([*kept, new.filter(mine)]).sort_by([("date", "ascending"), ("document_id", "ascending")])
            for start in range(0, rows.num_rows, PART_ROWS):
                self._beat()
                yield self._put(month, rows.slice(start, PART_ROWS))

    def _put(self, month: str, table: pa.Table) -> Part:
        data = pack(table)
        path = f"compacted/issue_month={month}/part-{hashlib.sha256(data).hexdigest()[:32]}.parquet"
        self._tenant.write(path, data)  # rewrite a leftover file too: that renews its age, so that `tidy` keeps it
        size, rows = len(data), table.num_rows
        return Part(path=path, issue_month=month, rows=rows, size_bytes=size, schema_version=LAKE_SCHEMA_VERSION)

    def _swap(self, written: Sequence[Part], changed: set[str], now: dt.datetime) -> None:
        parts = {path: part for path, part in self._parts.items() if path not in changed}
        parts |= {part.path: part for part in written}
        waiting = {**{one.path: one.retired_at for one in self._read.manifest.retired}, **dict.fromkeys(changed, now)}
        manifest = Manifest(
            parts=tuple(sorted(parts.values(), key=attrgetter("issue_month", "path"))),
            retired=tuple(
                Retired(path=path, retired_at=at) for path, at in sorted(waiting.items()) if path not in parts
            ),
        )
        self._beat()
        swap_manifest(self._tenant, manifest, self._read)


def _without(new: pa.Table, held: Mapping[str, int]) -> pa.Table:
    """Return the rows with later versions than the compacted ones. Others come from a late or repeated writer."""
    later = [version > held.get(document, -1) for document, version in versions_in(new).items()]
    return new.filter(pa.array(later, pa.bool_()))


def _months(table: pa.Table) -> list[str]:
    return [month_of(cast("dt.date | None", date)) for date in table["date"].to_pylist()]


def _earlier_json(tenant: Folder, before: dt.datetime) -> Iterator[str]:
    """Yield the JSON files of versions that have since been replaced."""
    saved = saved_in(tenant, "json")
    for one in set(saved) - set(latest(saved)):
        info = tenant.stat(one.path)
        if info and info.modified_at < before:
            yield one.path
