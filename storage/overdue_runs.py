"""The overdue_runs table: runs that did not end within their deadline, and whether people were notified."""

import datetime as dt

from dag.calls import OverdueRun
from storage.db import Database

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
    """Keep that the run is overdue; tell whether this call was the first to do so."""
    told = (run.definition_id, run.version, run.document_id, run.deadline_seconds)
    return await db.fetchval(INSERT, *_identity(run), *told) is True


async def is_notified(db: Database, run: OverdueRun) -> bool:
    """Tell whether people were notified of this overdue run."""
    return await db.fetchval(IS_NOTIFIED, *_identity(run)) is True


async def mark_notified(db: Database, run: OverdueRun) -> None:
    """Keep that people were notified; safe to repeat."""
    await db.execute(MARK_NOTIFIED, *_identity(run))


def _identity(run: OverdueRun) -> tuple[str, str, dt.datetime]:
    return run.tenant_id, run.run_id, dt.datetime.fromtimestamp(run.started_at, dt.UTC)
