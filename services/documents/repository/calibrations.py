"""Store calibrations: every fit, the active one, and the outcomes of values in people's decisions."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.assessment.calibration import Calibration, Observation

MOST_OUTCOMES = 50_000
"""Number of latest outcomes used for a fit: enough for any curve, and readers change."""

LOCK_CALIBRATIONS = "SELECT pg_advisory_xact_lock(hashtext('calibrations'), hashtext($1))"
DEACTIVATE = "UPDATE calibrations SET active = false WHERE tenant_id = $1 AND active"
ACTIVATE = "UPDATE calibrations SET active = true WHERE tenant_id = $1 AND version = $2 RETURNING true"
INSERT = """
INSERT INTO calibrations (tenant_id, version, body, fitted_on, active)
SELECT $1, coalesce(max(version), 0) + 1, $2::text::json, $3, true FROM calibrations WHERE tenant_id = $1
RETURNING version"""
LOAD_ACTIVE = "SELECT version, body::text FROM calibrations WHERE tenant_id = $1 AND active"
LIST = """
SELECT version, fitted_on, active, created_at, (body ->> 'observations')::int AS observations
  FROM calibrations WHERE tenant_id = $1 ORDER BY version"""
SAVE_OUTCOME = """
INSERT INTO field_outcomes (tenant_id, document_id, field, raw, was_right, family)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, document_id, field) DO UPDATE
   SET raw = EXCLUDED.raw, was_right = EXCLUDED.was_right, family = EXCLUDED.family, decided_at = now()"""
FORGET_OUTCOMES = "DELETE FROM field_outcomes WHERE tenant_id = $1 AND document_id = $2"
LOAD_OUTCOMES = """
SELECT field, raw, was_right, family FROM field_outcomes WHERE tenant_id = $1 ORDER BY decided_at DESC LIMIT $2"""


@dataclass(frozen=True, slots=True)
class StoredCalibration:
    """One fit; `fitted_on` describes the data."""

    version: int
    fitted_on: str
    active: bool
    created_at: dt.datetime
    observations: int


def named(version: int, body: str) -> Calibration:
    """Return a stored calibration, named by its version."""
    return Calibration.model_validate_json(body).model_copy(update={"name": f"v{version}"})


async def load_calibration(db: Database, tenant_id: str) -> Calibration | None:
    """Return the tenant's active calibration; None: the shipped one is active."""
    row = await db.fetchrow(LOAD_ACTIVE, tenant_id)
    return named(row["version"], row["body"]) if row else None


async def list_calibrations(db: Database, tenant_id: str) -> list[StoredCalibration]:
    """Return every fit that the tenant stored, oldest first."""
    return [StoredCalibration(**row) for row in await db.fetch(LIST, tenant_id)]


async def save_calibration(db: Database, tenant_id: str, calibration: Calibration, fitted_on: str) -> int:
    """Store and activate a fit, and return its version. Call it in a transaction."""
    await db.execute(LOCK_CALIBRATIONS, tenant_id)
    await db.execute(DEACTIVATE, tenant_id)
    version: int = await db.fetchval(INSERT, tenant_id, calibration.model_dump_json(), fitted_on)
    return version


async def activate_calibration(db: Database, tenant_id: str, version: int | None) -> None:
    """Activate an earlier fit; None: the shipped one. Call it in a transaction. Raises: NotStored."""
    await db.execute(LOCK_CALIBRATIONS, tenant_id)
    await db.execute(DEACTIVATE, tenant_id)
    if version is not None and not await db.fetchval(ACTIVATE, tenant_id, version):
        raise NotStored("calibration", str(version), tenant_id)


async def save_outcomes(db: Database, tenant_id: str, document_id: str, outcomes: Iterable[Observation]) -> None:
    """Store the outcomes of a decided document's values; a later decision replaces an earlier one."""
    rows = [(tenant_id, document_id, each.field, each.raw, each.right, each.family) for each in outcomes]
    await db.executemany(SAVE_OUTCOME, rows)


async def forget_outcomes(db: Database, tenant_id: str, document_id: str) -> None:
    """Delete the outcomes of a document's values, because its decision was withdrawn."""
    await db.execute(FORGET_OUTCOMES, tenant_id, document_id)


async def load_outcomes(db: Database, tenant_id: str) -> list[Observation]:
    """Return the outcomes of the values in the latest decided documents."""
    rows = await db.fetch(LOAD_OUTCOMES, tenant_id, MOST_OUTCOMES)
    return [Observation(row["field"], row["raw"], row["was_right"], row["family"]) for row in rows]
