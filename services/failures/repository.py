# ruff: noqa: S608  # the only thing formatted into a statement is the constant list of columns
"""Store dead letters: failed steps as reported by their runs, and how each was resolved."""

import datetime as dt
from collections.abc import Sequence

import asyncpg

from docrail.adapters.postgres.pool import Database
from docrail.dag.language.statuses import StepStatus
from docrail.services.failures.models import ClassCount, LetterFilter, LetterGroup, LetterStatus, Resolved, StoredLetter
from docrail.workflows.contract.messages import DeadLetter

_COLUMNS = """
run_id, step_id, definition_id, version, handler, document_id, status, error_type, error_message, retryable, attempts,
failed_again, failed_at, reported_at, resolution, resolved_by, resolved_at"""

# A failure after a retry: of a resolved step, of a parked one that is parked again, or of one that ended before.
_FAILED_AGAIN = """
(dead_letters.failed_again + CASE
    WHEN dead_letters.status = 'resolved' AND dead_letters.resolution = 'retry' THEN 1
    WHEN dead_letters.status = excluded.status THEN 1
    ELSE 0 END)"""

# A report counts if it is newer than all before it. Of two reports at the same time, the end of a parked step's wait is
# the later one. So late or repeated writes change nothing and reopen nothing that was resolved.
_IS_NEWER = """
(excluded.reported_at > dead_letters.reported_at
 OR (excluded.reported_at = dead_letters.reported_at
     AND dead_letters.status = 'parked' AND excluded.status <> 'parked'))"""

RECORD_FAILED = f"""
INSERT INTO dead_letters (tenant_id, run_id, step_id, definition_id, version, handler, document_id, error_type,
                          error_message, retryable, attempts, failed_at, reported_at, status)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)
ON CONFLICT (tenant_id, run_id, step_id) DO UPDATE
   SET version = excluded.version, handler = excluded.handler, status = excluded.status,
       error_type = excluded.error_type, error_message = excluded.error_message, retryable = excluded.retryable,
       attempts = excluded.attempts, failed_again = {_FAILED_AGAIN}, failed_at = excluded.failed_at,
       reported_at = excluded.reported_at, resolution = NULL, resolved_by = NULL, resolved_at = NULL
 WHERE {_IS_NEWER}"""

RECORD_RESOLVED = """
INSERT INTO dead_letters (tenant_id, run_id, step_id, definition_id, version, handler, document_id, error_type,
                          error_message, retryable, attempts, failed_at, reported_at, status,
                          resolution, resolved_by, resolved_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, 'resolved', $13, nullif($14, ''), $12)
ON CONFLICT (tenant_id, run_id, step_id) DO UPDATE
   SET status = 'resolved', reported_at = excluded.reported_at,
       resolution = coalesce(dead_letters.resolution, excluded.resolution),
       resolved_by = coalesce(dead_letters.resolved_by, excluded.resolved_by),
       resolved_at = coalesce(dead_letters.resolved_at, excluded.resolved_at)
 WHERE excluded.reported_at >= dead_letters.reported_at"""

CLOSE = """
UPDATE dead_letters
   SET status = 'resolved', resolution = $5, resolved_by = $6, resolved_at = coalesce(resolved_at, now())
 WHERE tenant_id = $1 AND run_id = $2 AND step_id = $3
   AND ((reported_at = $4 AND status <> 'resolved') OR (resolution = $5 AND resolved_by IS NULL))"""

LOAD = f"SELECT {_COLUMNS} FROM dead_letters WHERE tenant_id = $1 AND run_id = $2 AND step_id = $3"

LOAD_OF_RUN = f"""
SELECT {_COLUMNS} FROM dead_letters
 WHERE tenant_id = $1 AND status <> 'resolved'
   AND ((run_id = $2 AND ($3::text IS NULL OR step_id = $3))
        OR starts_with(run_id || '~', $2 || '~' || coalesce($3 || '~', '')))
 ORDER BY run_id, step_id"""

LOAD_OF_DOCUMENT = f"""
SELECT {_COLUMNS} FROM dead_letters
 WHERE tenant_id = $1 AND document_id = $2 AND status <> 'resolved'
 ORDER BY status = 'parked' DESC, failed_at DESC, run_id, step_id"""

_MATCHES = """
tenant_id = $1
   AND ($2::text IS NULL OR error_type = $2)
   AND ($3::text IS NULL OR definition_id = $3)
   AND ($4::text IS NULL OR handler = $4)
   AND ($5::text = 'all' OR ($5 = 'open') = (status <> 'resolved'))
   AND ($6::text = 'all' OR ($6 = 'retryable') = (retryable AND status <> 'parked'))
   AND ($7::timestamptz IS NULL OR failed_at < $7)
   AND ($8::text IS NULL OR step_id = $8)"""

LIST = f"""
SELECT {_COLUMNS} FROM dead_letters
 WHERE {_MATCHES}
   AND ($10::text IS NULL OR (failed_at, run_id, step_id) <
        (SELECT failed_at, run_id, step_id FROM dead_letters WHERE tenant_id = $1 AND run_id = $10 AND step_id = $11))
 ORDER BY failed_at DESC, run_id DESC, step_id DESC
 LIMIT $9"""

LIST_OLDEST = f"SELECT {_COLUMNS} FROM dead_letters WHERE {_MATCHES} ORDER BY failed_at, run_id, step_id LIMIT $9"

COUNT_ALL_OPEN = "SELECT status, count(*) AS letters FROM dead_letters WHERE status <> 'resolved' GROUP BY status"

COUNT = f"""
SELECT error_type, count(*) AS letters, count(*) FILTER (WHERE status = 'parked') AS parked,
       count(*) FILTER (WHERE retryable) AS retryable, min(failed_at) AS oldest, max(failed_at) AS newest
  FROM dead_letters
 WHERE {_MATCHES}
 GROUP BY error_type
 ORDER BY count(*) DESC, error_type"""

COUNT_BY_STEP = f"""
SELECT error_type, definition_id, step_id, count(*) AS letters,
       count(*) FILTER (WHERE status = 'parked') AS parked, count(*) FILTER (WHERE retryable) AS retryable,
       count(*) FILTER (WHERE failed_again > 0) AS failed_again, count(DISTINCT run_id) AS runs,
       min(failed_at) AS oldest, max(failed_at) AS newest,
       (array_agg(error_message ORDER BY failed_at DESC))[1] AS message
  FROM dead_letters
 WHERE {_MATCHES}
 GROUP BY error_type, definition_id, step_id
 ORDER BY count(*) DESC, error_type, definition_id, step_id
 LIMIT $9"""

_FILTERS = {"class": "error_type", "definition": "definition_id", "handler": "handler", "step": "step_id"}

LIST_VALUES = {
    name: f"""
SELECT {column} FROM dead_letters
 WHERE tenant_id = $1 AND {column} IS NOT NULL
 GROUP BY {column}
 ORDER BY {column} = $2 DESC, count(*) DESC, {column}
 LIMIT $3"""
    for name, column in _FILTERS.items()
}
"""By filter name."""

_STATUSES = {StepStatus.PARKED: LetterStatus.PARKED, StepStatus.FAILED: LetterStatus.FAILED}

_RESOLUTIONS = {
    StepStatus.SKIPPED: Resolved.SKIP,
    StepStatus.COMPLETED: Resolved.OUTPUT,
    StepStatus.CANCELLED: Resolved.ABORT,
}
"""The resolution that a step's status implies, if no operation has recorded one; any other status means retry."""


async def record_report(db: Database, letter: DeadLetter) -> None:
    """Store a run's report of a failed step. The newest report counts; repeated and late ones change nothing."""
    at = dt.datetime.fromtimestamp(letter.failed_at or 0.0, dt.UTC)
    error = (_storable(letter.error_type), _storable(letter.error_message), letter.retryable, letter.attempts)
    row = (
        *(letter.tenant_id, letter.run_id, letter.step_id),
        *(letter.definition_id, letter.version, letter.handler, letter.document_id),
        *(*error, at),
    )
    if letter.status in _STATUSES:
        await db.execute(RECORD_FAILED, *row, _STATUSES[letter.status])
    else:
        resolution = _RESOLUTIONS.get(letter.status, Resolved.RETRY)
        await db.execute(RECORD_RESOLVED, *row, resolution, letter.resolved_by)


async def close(db: Database, tenant_id: str, letter: StoredLetter, resolution: Resolved, *, by: str) -> bool:
    """Mark a letter as resolved if it has not changed since it was loaded; False if its run has reported since."""
    done = await db.execute(CLOSE, tenant_id, *letter.key, letter.reported_at, resolution, by)
    return done.endswith(" 1")


async def load_letter(db: Database, tenant_id: str, run_id: str, step_id: str) -> StoredLetter | None:
    """Return the tenant's letter of that step; None if it never failed."""
    row = await db.fetchrow(LOAD, tenant_id, run_id, step_id)
    return _letter(row) if row else None


async def load_open_letters(
    db: Database, tenant_id: str, run_id: str, step_id: str | None = None
) -> list[StoredLetter]:
    """Return the unresolved letters of a run, or of one step of it, including its nested runs."""
    return [_letter(row) for row in await db.fetch(LOAD_OF_RUN, tenant_id, run_id, step_id)]


async def load_of_document(db: Database, tenant_id: str, document_id: str) -> list[StoredLetter]:
    """Return the unresolved letters of a document's runs, those whose run waits first."""
    return [_letter(row) for row in await db.fetch(LOAD_OF_DOCUMENT, tenant_id, document_id)]


async def list_letters(
    db: Database, tenant_id: str, wanted: LetterFilter, *, limit: int = 100, after: Sequence[str] | None = None
) -> list[StoredLetter]:
    """Return letters, latest failure first; `after` is the key of the last one of the previous page."""
    run_id, step_id = after or (None, None)
    rows = await db.fetch(LIST, tenant_id, *_parameters(wanted), limit, run_id, step_id)
    return [_letter(row) for row in rows]


async def list_oldest(db: Database, tenant_id: str, wanted: LetterFilter, *, limit: int) -> list[StoredLetter]:
    """Return letters, oldest failure first: a letter that fails again moves to the end."""
    return [_letter(row) for row in await db.fetch(LIST_OLDEST, tenant_id, *_parameters(wanted), limit)]


async def count_all_open(db: Database) -> dict[str, int]:
    """Count the unresolved failures of all tenants by status."""
    return {row["status"]: row["letters"] for row in await db.fetch(COUNT_ALL_OPEN)}


async def count_letters(db: Database, tenant_id: str, wanted: LetterFilter) -> list[ClassCount]:
    """Return the number of letters per error class, most frequent first."""
    return [ClassCount(**row) for row in await db.fetch(COUNT, tenant_id, *_parameters(wanted))]


async def group_letters(db: Database, tenant_id: str, wanted: LetterFilter, *, limit: int) -> list[LetterGroup]:
    """Return the letters by error class and step, the largest group first."""
    return [LetterGroup(**row) for row in await db.fetch(COUNT_BY_STEP, tenant_id, *_parameters(wanted), limit)]


async def list_values(db: Database, tenant_id: str, name: str, value: str, *, limit: int) -> list[str]:
    """Return the values of `class`, `definition`, `handler` or `step` in all letters: `value` first if it exists.

    The others follow by frequency.
    """
    return [row[0] for row in await db.fetch(LIST_VALUES[name], tenant_id, value, limit)]


def _parameters(wanted: LetterFilter) -> tuple[str | dt.datetime | None, ...]:
    named = (wanted.error_type, wanted.definition_id, wanted.handler, wanted.status, wanted.view)
    return (*named, wanted.failed_before, wanted.step_id)


def _letter(row: asyncpg.Record) -> StoredLetter:
    resolution = row["resolution"]
    typed = {"status": LetterStatus(row["status"]), "resolution": None if resolution is None else Resolved(resolution)}
    return StoredLetter(**{**row, **typed, "file_name": None})


def _storable(text: str) -> str:
    """Return `text` in a form that PostgreSQL can store: a refused text would be written again forever."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
