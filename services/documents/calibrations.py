"""Manage a tenant's calibrations: store a fit or return to an earlier one; both are recorded in the audit log."""

import asyncpg

from docrail.adapters.postgres.pool import NotStored, transaction
from docrail.invoices.assessment.calibration import Calibration, Observation
from docrail.services.access.models import Principal
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.documents.repository import calibrations as stored
from docrail.services.documents.repository.calibrations import StoredCalibration
from docrail.services.errors import NotFound

SHIPPED = "shipped"
"""The calibration of a tenant without a fit of its own."""
CALIBRATED = "calibrated"


async def show_calibration(db: asyncpg.Pool, principal: Principal) -> Calibration | None:
    """Return the tenant's active fit; None: the shipped one is active."""
    return await stored.load_calibration(db, principal.tenant_id)


async def list_calibrations(db: asyncpg.Pool, principal: Principal) -> list[StoredCalibration]:
    """Return every fit that the tenant stored, oldest first."""
    return await stored.list_calibrations(db, principal.tenant_id)


async def list_outcomes(db: asyncpg.Pool, principal: Principal) -> list[Observation]:
    """Return the outcomes of the values in the tenant's latest decided documents."""
    return await stored.load_outcomes(db, principal.tenant_id)


async def keep_calibration(db: asyncpg.Pool, principal: Principal, fitted: Calibration, fitted_on: str) -> int:
    """Store and activate a fit, and return its version. `fitted_on` describes the data."""
    async with transaction(db) as tx:
        before = await stored.load_calibration(tx, principal.tenant_id)
        version = await stored.save_calibration(tx, principal.tenant_id, fitted, fitted_on)
        detail = {"counts": f"v{version}", "was": _name(before), "fitted_on": fitted_on, "values": fitted.observations}
        await append_event(tx, principal.tenant_id, Act(principal.name, CALIBRATED, None, None, detail))
    return version


async def choose_calibration(db: asyncpg.Pool, principal: Principal, version: int | None) -> None:
    """Activate an earlier fit; None: the shipped one. Raises: NotFound."""
    async with transaction(db) as tx:
        before = await stored.load_calibration(tx, principal.tenant_id)
        try:
            await stored.activate_calibration(tx, principal.tenant_id, version)
        except NotStored as error:
            raise NotFound(error.kind, str(version)) from None
        detail = {"counts": SHIPPED if version is None else f"v{version}", "was": _name(before)}
        await append_event(tx, principal.tenant_id, Act(principal.name, CALIBRATED, None, None, detail))


def _name(calibration: Calibration | None) -> str:
    return SHIPPED if calibration is None else calibration.name
