"""The table of what people did to runs and their failed steps: only ever added to."""

import datetime as dt
from dataclasses import dataclass

from dag.values import Json
from storage.db import Database

INSERT_ACTION = """
INSERT INTO operator_actions (tenant_id, run_id, step_id, action, details, acted_by) VALUES ($1, $2, $3, $4, $5, $6)"""
LIST_ACTIONS = """
SELECT action_id, run_id, step_id, action, details, acted_by, acted_at FROM operator_actions
 WHERE tenant_id = $1 AND run_id = $2 AND ($3::text IS NULL OR step_id IS NULL OR step_id = $3)
   AND ($5::bigint IS NULL OR action_id < $5)
 ORDER BY action_id DESC
 LIMIT $4"""
LOCK_RUN = "SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))"


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """One thing that a person did. `step_id` None: to the whole run; `details` holds what was given by hand."""

    action_id: int
    run_id: str
    step_id: str | None
    action: str
    details: dict[str, Json]
    acted_by: str
    acted_at: dt.datetime


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
    """Write down what somebody does: in the transaction in which it is done, if it is done in one."""
    await db.execute(INSERT_ACTION, tenant_id, run_id, step_id, action, details, by)


async def list_actions(
    db: Database,
    tenant_id: str,
    run_id: str,
    *,
    step_id: str | None = None,
    limit: int = 100,
    before: int | None = None,
) -> list[OperatorAction]:
    """Return what was done to a run, newest first; with a step only what concerned it, or the whole run.

    `before`: only what came before that action.
    """
    found = await db.fetch(LIST_ACTIONS, tenant_id, run_id, step_id, limit, before)
    return [OperatorAction(**row) for row in found]


async def lock_run(db: Database, tenant_id: str, run_id: str) -> None:
    """Let no other transaction that asks for the same lock act on the run until this one ends."""
    await db.execute(LOCK_RUN, tenant_id, run_id)
