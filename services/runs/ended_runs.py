"""Store copies of ended runs, for the time after Temporal has deleted them."""

import datetime as dt
from collections.abc import Sequence

from docrail.adapters.postgres.pool import Database, delete_all
from docrail.services.runs.models import EndedRun

SAVE_ENDED = """
INSERT INTO ended_runs (tenant_id, run_id, ended_at, document_id, outer_run_id, report)
SELECT tenant_id, run_id, ended_at, document_id, outer_run_id, report
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::jsonb[])
       AS ended (tenant_id, run_id, ended_at, document_id, outer_run_id, report)
ON CONFLICT (tenant_id, run_id) DO UPDATE SET ended_at = excluded.ended_at, report = excluded.report
 WHERE ended_runs.ended_at <= excluded.ended_at"""


SELECT_COPIED = """
SELECT e.tenant_id, e.run_id, e.ended_at FROM ended_runs AS e
  JOIN unnest($1::text[], $2::text[]) AS wanted (tenant_id, run_id) USING (tenant_id, run_id)"""


# Of a run that ended in a chunk only its row is left.
LOAD_ENDED = """
SELECT tenant_id, run_id, ended_at, document_id, outer_run_id, report FROM ended_runs
 WHERE tenant_id = $1 AND run_id = $2
 UNION ALL
SELECT tenant_id, run_id, ended_at, document_id, NULL, jsonb_build_object(
       'run_id', run_id, 'tenant_id', tenant_id, 'definition_id', definition_id, 'version', version, 'digest', '',
       'status', status, 'started_at', extract(epoch FROM started_at), 'ended_at', extract(epoch FROM ended_at),
       'duration_seconds', extract(epoch FROM ended_at - started_at))
  FROM chunked_runs WHERE tenant_id = $1 AND run_id = $2 AND ended_at IS NOT NULL AND moved_at IS NULL
 LIMIT 1"""


LAST_END = "SELECT max(ended_at) FROM ended_runs"


DELETE_ENDED = """
DELETE FROM ended_runs WHERE (tenant_id, run_id) IN (
       SELECT tenant_id, run_id FROM ended_runs WHERE ended_at < $2 LIMIT $1)
   AND ended_at < $2"""


DELETE_ENDED_CHUNKED = """
DELETE FROM chunked_runs WHERE (tenant_id, run_id) IN (
       SELECT tenant_id, run_id FROM chunked_runs WHERE coalesce(moved_at, ended_at) < $2 LIMIT $1)
   AND coalesce(moved_at, ended_at) < $2"""


async def save_ended_runs(db: Database, runs: Sequence[EndedRun]) -> None:
    """Store the copies of ended runs, each run once; that of a later end replaces the one before."""
    if runs:
        rows = [
            (run.tenant_id, run.run_id, run.ended_at, run.document_id, run.outer_run_id, run.report) for run in runs
        ]
        await db.execute(SAVE_ENDED, *map(list, zip(*rows, strict=True)))


async def select_copied(db: Database, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], dt.datetime]:
    """Return which of these runs, (tenant, run id), are copied, and the ends that were copied."""
    found = await db.fetch(SELECT_COPIED, [tenant for tenant, _ in keys], [run_id for _, run_id in keys])
    return {(row["tenant_id"], row["run_id"]): row["ended_at"] for row in found}


async def load_ended(db: Database, tenant_id: str, run_id: str) -> EndedRun | None:
    """Return the copy of an ended run; None if there is none."""
    row = await db.fetchrow(LOAD_ENDED, tenant_id, run_id)
    return EndedRun(**row) if row else None


async def load_last_end(db: Database) -> dt.datetime | None:
    """Return when the last of the copied runs ended, of those that the caller may see."""
    found: dt.datetime | None = await db.fetchval(LAST_END)
    return found


async def delete_ended_runs(db: Database, before: dt.datetime) -> int:
    """Delete all tenants' copies of runs that ended before, and the rows of those in chunks. Return how many."""
    return await delete_all(db, DELETE_ENDED, before) + await delete_all(db, DELETE_ENDED_CHUNKED, before)
