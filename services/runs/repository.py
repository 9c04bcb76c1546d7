# ruff: noqa: S608  # the only thing formatted into a statement is the constant list of columns
"""Store executions, operator actions, the chunks that runs share, overdue runs, and the step cache.

Executions are definitions submitted for a run that is triggered later, once. Operator actions are append-only. Overdue
runs record whether people were notified. The step cache keeps outputs for equal work of the same tenant until they
expire.
"""

import datetime as dt
import json
from collections.abc import Sequence

import asyncpg

from docrail.adapters.postgres.pool import Database, NotStored, StorageError, delete_all
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import STORED
from docrail.services.documents.models import UnendedDocument
from docrail.services.runs.models import (
    CachedOutput,
    ChunkedFilter,
    Execution,
    ListedChunkedRun,
    ListedPlace,
    OpenChunk,
    OperatorAction,
    StoredChunkedRun,
)
from docrail.workflows.contract.messages import OverdueRun

_COLUMNS = "tenant_id, execution_id, definition_id, version, created_at, run_id, triggered_at"


INSERT_EXECUTION = f"""
INSERT INTO executions (tenant_id, execution_id, definition_id, version) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}"""


LOAD_EXECUTION = f"SELECT {_COLUMNS} FROM executions WHERE tenant_id = $1 AND execution_id = $2"


MARK_TRIGGERED = """
UPDATE executions SET run_id = $3, triggered_at = now()
 WHERE tenant_id = $1 AND execution_id = $2 AND triggered_at IS NULL
RETURNING true"""


class ExecutionConflict(StorageError):  # noqa: N818  # a statement about the id
    """The execution id is taken by another definition or another tenant."""

    def __init__(self, execution_id: str) -> None:
        super().__init__(f"execution id {execution_id!r} is taken")
        self.execution_id = execution_id


async def insert_execution(
    db: Database, tenant_id: str, execution_id: str, *, definition_id: str, version: int
) -> Execution:
    """Store the submission and return its row; repeating it returns the first row unchanged.

    Raises: NotStored (the tenant has no such definition version), ExecutionConflict.
    """
    try:
        row = await db.fetchrow(INSERT_EXECUTION, tenant_id, execution_id, definition_id, version)
    except asyncpg.ForeignKeyViolationError:
        raise NotStored("definition version", f"{definition_id} {version}", tenant_id) from None
    stored = Execution(**row) if row else await load_execution(db, tenant_id, execution_id)
    if stored is None or (stored.definition_id, stored.version) != (definition_id, version):
        raise ExecutionConflict(execution_id)
    return stored


async def load_execution(db: Database, tenant_id: str, execution_id: str) -> Execution | None:
    """Return the tenant's execution, or None."""
    row = await db.fetchrow(LOAD_EXECUTION, tenant_id, execution_id)
    return Execution(**row) if row else None


async def mark_triggered(db: Database, tenant_id: str, execution_id: str, run_id: str) -> bool:
    """Record the run of this execution. True the first time; later calls return False and change nothing."""
    return await db.fetchval(MARK_TRIGGERED, tenant_id, execution_id, run_id) is True


INSERT_ACTION = """
INSERT INTO operator_actions (tenant_id, run_id, step_id, action, details, acted_by) VALUES ($1, $2, $3, $4, $5, $6)"""


LIST_ACTIONS = """
SELECT action_id, run_id, step_id, action, details, acted_by, acted_at FROM operator_actions
 WHERE tenant_id = $1 AND run_id = $2 AND ($3::text IS NULL OR step_id IS NULL OR step_id = $3)
   AND ($5::text IS NULL
        OR (acted_at, action_id) < (SELECT last.acted_at, last.action_id FROM operator_actions last
                                     WHERE last.action_id = $5 AND last.tenant_id = $1 AND last.run_id = $2))
 ORDER BY acted_at DESC, action_id DESC
 LIMIT $4"""


LOCK_RUN = "SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))"


async def record_action(
    db: Database,
    tenant_id: str,
    run_id: str,
    step_id: str | None,
    action: str,
    *,
    details: dict[str, Json],
    by: str,
) -> None:
    """Record a person's action, in the transaction of the action if there is one."""
    await db.execute(INSERT_ACTION, tenant_id, run_id, step_id, action, details, by)


async def list_actions(
    db: Database,
    tenant_id: str,
    run_id: str,
    *,
    step_id: str | None = None,
    limit: int = 100,
    before: str | None = None,
) -> list[OperatorAction]:
    """Return the actions on a run, newest first; with a step only those on it or on the whole run.

    `before`: only actions before the one of this id; none if the run has no such action.
    """
    found = await db.fetch(LIST_ACTIONS, tenant_id, run_id, step_id, limit, before)
    return [OperatorAction(**row) for row in found]


async def lock_run(db: Database, tenant_id: str, run_id: str) -> None:
    """Lock the run until the transaction ends; only other callers of this function are blocked."""
    await db.execute(LOCK_RUN, tenant_id, run_id)


INSERT_CHUNKED = """
INSERT INTO chunked_runs (tenant_id, run_id, chunk_id, document_id, definition_id, version)
SELECT $1, run_id, chunk_id, document_id, split_part(run_id, '.', 1), version
  FROM unnest($2::text[], $3::text[], $4::text[], $5::int[]) AS added (run_id, chunk_id, document_id, version)
ON CONFLICT DO NOTHING"""

# A run that has no row starts alone for good: the row of a chunk that comes later is not inserted.
SETTLE_ALONE = """
INSERT INTO chunked_runs (tenant_id, run_id, chunk_id, document_id, definition_id, version, moved_at)
VALUES ($1, $2, '', $3, split_part($2, '.', 1), $4, now())
ON CONFLICT DO NOTHING"""

_CHUNKED = "run_id, chunk_id, document_id, version, started_at, moved_at, status"

LOAD_CHUNKED = f"SELECT {_CHUNKED} FROM chunked_runs WHERE tenant_id = $1 AND run_id = $2"

LIST_CHUNKED = f"SELECT {_CHUNKED} FROM chunked_runs WHERE tenant_id = $1 AND run_id = ANY ($2::text[])"

LOAD_CHUNK = f"SELECT {_CHUNKED} FROM chunked_runs WHERE tenant_id = $1 AND chunk_id = $2 ORDER BY run_id"

MARK_MOVED = """
UPDATE chunked_runs SET moved_at = now() WHERE tenant_id = $1 AND run_id = ANY ($2::text[]) AND moved_at IS NULL"""


END_CHUNKED = """
UPDATE chunked_runs SET status = $3, ended_at = now()
 WHERE tenant_id = $1 AND run_id = ANY ($2::text[]) AND status IS NULL AND moved_at IS NULL
RETURNING document_id, started_at AS run_started_at"""

# In random order: chunks that never answer take no time from always the same others, and several sweeps begin apart.
LIST_OPEN_CHUNKS = """
SELECT tenant_id, chunk_id FROM chunked_runs
 WHERE moved_at IS NULL AND status IS NULL AND started_at < now() - make_interval(secs => $1)
 GROUP BY tenant_id, chunk_id
 ORDER BY random()
 LIMIT $2"""

# In the order in which Temporal lists workflows: open ones first, then by their ends.
LIST_NEWEST_CHUNKED = """
SELECT run_id, definition_id, version, document_id, status, started_at, ended_at FROM chunked_runs
 WHERE tenant_id = $1 AND moved_at IS NULL
   AND ($2::text IS NULL OR definition_id = $2)
   AND ($3::text IS NULL OR document_id = $3)
   AND ($4::text IS NULL OR coalesce(status, 'running') = $4)
   AND ($5::timestamptz IS NULL OR started_at >= $5)
   AND ($6::timestamptz IS NULL OR started_at < $6)
   AND ($7::timestamptz IS NULL OR ended_at >= $7)
   AND ($8::timestamptz IS NULL OR ended_at < $8)
   AND ($9::timestamptz IS NULL
        OR (coalesce(ended_at, '9999-12-31 00:00+00'), started_at, run_id) < ($9, $10, $11))
 ORDER BY coalesce(ended_at, '9999-12-31 00:00+00') DESC, started_at DESC, run_id DESC
 LIMIT $12"""

COUNT_CHUNKED = """
SELECT definition_id,
       count(*) FILTER (WHERE status IS NULL) AS open,
       count(*) FILTER (WHERE status = 'failed' AND ended_at >= $3) AS failed
  FROM chunked_runs
 WHERE tenant_id = $1 AND definition_id = ANY ($2::text[])
   AND moved_at IS NULL AND (status IS NULL OR status = 'failed')
 GROUP BY definition_id"""

COUNT_OPEN_CHUNKED = "SELECT count(*) FROM chunked_runs WHERE moved_at IS NULL AND status IS NULL"


async def insert_chunked(db: Database, tenant_id: str, runs: Sequence[StoredChunkedRun]) -> None:
    """Record in which chunk each run is; one that is in a chunk already stays there."""
    columns = zip(*((each.run_id, each.chunk_id, each.document_id, each.version) for each in runs), strict=True)
    await db.execute(INSERT_CHUNKED, tenant_id, *map(list, columns))


async def settle_alone(
    db: Database, tenant_id: str, run_id: str, document_id: str, version: int
) -> StoredChunkedRun | None:
    """Record that the run starts alone, unless it is in a chunk; return its place."""
    await db.execute(SETTLE_ALONE, tenant_id, run_id, document_id, version)
    return await load_chunked(db, tenant_id, run_id)


async def load_chunked(db: Database, tenant_id: str, run_id: str) -> StoredChunkedRun | None:
    """Return the place of a run that is or was in a chunk, or None."""
    row = await db.fetchrow(LOAD_CHUNKED, tenant_id, run_id)
    return StoredChunkedRun(**row) if row else None


async def list_chunked(db: Database, tenant_id: str, run_ids: Sequence[str]) -> list[StoredChunkedRun]:
    """Return the places of those of the runs that are or were in a chunk."""
    return [StoredChunkedRun(**row) for row in await db.fetch(LIST_CHUNKED, tenant_id, run_ids)]


async def load_chunk(db: Database, tenant_id: str, chunk_id: str) -> list[StoredChunkedRun]:
    """Return all runs of a chunk."""
    return [StoredChunkedRun(**row) for row in await db.fetch(LOAD_CHUNK, tenant_id, chunk_id)]


async def mark_moved(db: Database, tenant_id: str, run_ids: Sequence[str]) -> None:
    """Record that the runs are in no chunk any more."""
    await db.execute(MARK_MOVED, tenant_id, run_ids)


async def end_chunked(db: Database, tenant_id: str, run_ids: Sequence[str], status: RunStatus) -> list[UnendedDocument]:
    """Record how runs have ended in their chunks, and return the documents of those that had no end."""
    return [UnendedDocument(**row) for row in await db.fetch(END_CHUNKED, tenant_id, run_ids, status)]


async def list_open_chunks(db: Database, *, older_than_seconds: float, limit: int) -> list[OpenChunk]:
    """Return some chunks, of ALL tenants, with runs that have no end. For the sweep that looks for their ends."""
    return [OpenChunk(**row) for row in await db.fetch(LIST_OPEN_CHUNKS, older_than_seconds, limit)]


async def list_newest_chunked(
    db: Database, tenant_id: str, wanted: ChunkedFilter, *, limit: int, after: ListedPlace | None
) -> list[ListedChunkedRun]:
    """Return the runs that are in chunks and match, open ones first, then by their ends, latest first."""
    filters = (wanted.definition_id, wanted.document_id, wanted.status, *wanted.started, *wanted.ended)
    place = (None, None, None) if after is None else (after.ended_at, after.started_at, after.run_id)
    rows = await db.fetch(LIST_NEWEST_CHUNKED, tenant_id, *filters, *place, limit)
    return [ListedChunkedRun(**row) for row in rows]


async def count_chunked(
    db: Database, tenant_id: str, definition_ids: Sequence[str], failed_since: dt.datetime
) -> dict[str, tuple[int, int]]:
    """Return how many runs in chunks are open, and how many have failed since, by definition."""
    rows = await db.fetch(COUNT_CHUNKED, tenant_id, definition_ids, failed_since)
    return {row["definition_id"]: (row["open"], row["failed"]) for row in rows}


async def count_open_chunked(db: Database) -> int:
    """Return how many runs of ALL tenants are open in chunks."""
    return int(await db.fetchval(COUNT_OPEN_CHUNKED))


INSERT = """
INSERT INTO overdue_runs (tenant_id, run_id, started_at, definition_id, version, document_id, deadline_seconds)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
RETURNING true"""


IS_NOTIFIED = """
SELECT notified_at IS NOT NULL FROM overdue_runs WHERE tenant_id = $1 AND run_id = $2 AND started_at = $3"""


MARK_NOTIFIED = """
UPDATE overdue_runs SET notified_at = now()
 WHERE tenant_id = $1 AND run_id = $2 AND started_at = $3 AND notified_at IS NULL"""


async def insert_overdue(db: Database, run: OverdueRun) -> bool:
    """Record that the run is overdue; return whether this call was the first."""
    facts = (run.definition_id, run.version, run.document_id, run.deadline_seconds)
    return await db.fetchval(INSERT, *_identity(run), *facts) is True


async def is_notified(db: Database, run: OverdueRun) -> bool:
    """Check whether people were notified of this overdue run."""
    return await db.fetchval(IS_NOTIFIED, *_identity(run)) is True


async def mark_notified(db: Database, run: OverdueRun) -> None:
    """Record that people were notified; safe to repeat."""
    await db.execute(MARK_NOTIFIED, *_identity(run))


def _identity(run: OverdueRun) -> tuple[str, str, dt.datetime]:
    return run.tenant_id, run.run_id, dt.datetime.fromtimestamp(run.started_at, dt.UTC)


REMOVED_AT_ONCE = 20
"""Expired rows removed by each write: more than it adds, so they decrease with every write."""


# A definition with a shortened `ttl_seconds` gets no output older than it now allows.
LOAD = """
SELECT output FROM step_cache
 WHERE tenant_id = $1 AND cache_key = $2 AND expires_at > now() AND made_at > now() - make_interval(secs => $3)"""


# If two workers did the same work concurrently, the later write wins: its output is newer.
SAVE = """
INSERT INTO step_cache (tenant_id, cache_key, handler, output, expires_at)
VALUES ($1, $2, $3, $4::text::json, now() + make_interval(secs => $5))
ON CONFLICT (tenant_id, cache_key) DO UPDATE
   SET output = excluded.output, made_at = excluded.made_at, expires_at = excluded.expires_at"""


# SKIP LOCKED: two concurrent writes remove different rows and do not wait.
REMOVE_EXPIRED = """
DELETE FROM step_cache
 WHERE tenant_id = $1 AND cache_key IN (
       SELECT cache_key FROM step_cache
        WHERE tenant_id = $1 AND expires_at <= now()
        ORDER BY expires_at
        LIMIT $2
          FOR UPDATE SKIP LOCKED)"""


DELETE_EXPIRED = """
DELETE FROM step_cache WHERE (tenant_id, cache_key) IN (
       SELECT tenant_id, cache_key FROM step_cache WHERE expires_at <= now() LIMIT $1)
   AND expires_at <= now()"""


FORGET_STORED = """
DELETE FROM step_cache WHERE made_at < $1 AND output::text LIKE $2"""


async def load_cached(db: Database, tenant_id: str, cache_key: str, ttl_seconds: float) -> CachedOutput | None:
    """Return the output of equal work that is at most `ttl_seconds` old, or None."""
    row = await db.fetchrow(LOAD, tenant_id, cache_key, ttl_seconds)
    return CachedOutput(row["output"]) if row else None


async def save_cached(
    db: Database, tenant_id: str, cache_key: str, handler: str, output: Json, ttl_seconds: float
) -> None:
    """Store an output for `ttl_seconds`, and remove some expired ones. Raises: ValueError (not JSON)."""
    text = json.dumps(output, allow_nan=False)  # encoded here because the column's codec would store null as no value
    await db.execute(SAVE, tenant_id, cache_key, handler, text, ttl_seconds)
    await db.execute(REMOVE_EXPIRED, tenant_id, REMOVED_AT_ONCE)


async def delete_expired_outputs(db: Database) -> int:
    """Delete all tenants' expired outputs, also of tenants that store no more, and return how many."""
    return await delete_all(db, DELETE_EXPIRED)


async def forget_stored_outputs(db: Database, before: dt.datetime) -> None:
    """Delete the cached outputs of all tenants, made before, that refer to stored values, so that no run uses them."""
    await db.execute(FORGET_STORED, before, f'%"{STORED}"%')
