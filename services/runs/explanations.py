"""Store the explanations of ended runs, packed (dag/explain/packing.py): they outlive the runs in Temporal."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database, delete_all

SAVE_EXPLANATIONS = """
INSERT INTO run_explanations (tenant_id, run_id, execution_id, ended_at, facts)
SELECT tenant_id, run_id, execution_id, ended_at, facts
  FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::bytea[])
       AS ended (tenant_id, run_id, execution_id, ended_at, facts)
ON CONFLICT (tenant_id, run_id) DO UPDATE
   SET execution_id = excluded.execution_id, ended_at = excluded.ended_at, facts = excluded.facts
 WHERE run_explanations.ended_at <= excluded.ended_at"""


LOAD_EXPLANATION = """
SELECT tenant_id, run_id, execution_id, ended_at, facts FROM run_explanations WHERE tenant_id = $1 AND run_id = $2"""


DELETE_EXPLANATIONS = """
DELETE FROM run_explanations WHERE (tenant_id, run_id) IN (
       SELECT tenant_id, run_id FROM run_explanations WHERE ended_at < $2 LIMIT $1)
   AND ended_at < $2"""


@dataclass(frozen=True, slots=True)
class KeptExplanation:
    """The explanation of an ended run: packed facts, without sentences."""

    tenant_id: str
    run_id: str
    execution_id: str
    """Temporal's id of what has ended: a retried run ends again."""
    ended_at: dt.datetime
    facts: bytes


async def save_explanations(db: Database, explanations: Sequence[KeptExplanation]) -> None:
    """Store the explanations of ended runs, each run once; that of a later end replaces the one before."""
    if explanations:
        rows = [(each.tenant_id, each.run_id, each.execution_id, each.ended_at, each.facts) for each in explanations]
        await db.execute(SAVE_EXPLANATIONS, *map(list, zip(*rows, strict=True)))


async def load_explanation(db: Database, tenant_id: str, run_id: str) -> KeptExplanation | None:
    """Return the explanation of a run's latest end that was explained; None if there is none."""
    row = await db.fetchrow(LOAD_EXPLANATION, tenant_id, run_id)
    return KeptExplanation(**row) if row else None


async def delete_explanations(db: Database, before: dt.datetime) -> int:
    """Delete all tenants' explanations of runs that ended before, and return how many."""
    return await delete_all(db, DELETE_EXPLANATIONS, before)
