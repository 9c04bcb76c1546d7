# ruff: noqa: S608  # the only thing formatted into a statement is the constant list of columns
"""The executions table: definitions that were submitted for a run that somebody triggers later, once."""

import datetime as dt
from dataclasses import dataclass

import asyncpg

from storage.db import Database, NotStored, StorageError

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
    """The execution id is taken by another definition or by someone else."""

    def __init__(self, execution_id: str) -> None:
        super().__init__(f"execution id {execution_id!r} is taken")
        self.execution_id = execution_id


@dataclass(frozen=True, slots=True)
class Execution:
    """A submitted definition; `run_id` and `triggered_at` are None until it is triggered."""

    tenant_id: str
    execution_id: str
    definition_id: str
    version: int
    created_at: dt.datetime
    run_id: str | None
    triggered_at: dt.datetime | None


async def insert_execution(
    db: Database, tenant_id: str, execution_id: str, *, definition_id: str, version: int
) -> Execution:
    """Store the submission and return its row; storing it again returns the first row unchanged.

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
    """Return the tenant's execution, None if it has none of this id."""
    row = await db.fetchrow(LOAD_EXECUTION, tenant_id, execution_id)
    return Execution(**row) if row else None


async def mark_triggered(db: Database, tenant_id: str, execution_id: str, run_id: str) -> bool:
    """Note the run that this execution became. True the first time, then False and nothing changes."""
    return await db.fetchval(MARK_TRIGGERED, tenant_id, execution_id, run_id) is True
