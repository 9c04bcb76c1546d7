"""Routes of the audit log: list events, and verify the chain."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from docrail.api.auth import MayOperateRuns
from docrail.api.errors import problems
from docrail.api.parameters import MOST, AppDep, Limit
from docrail.services.audit import service as audit
from docrail.services.audit.models import AuditEvent, ChainCheck
from docrail.services.reviews import records

router = APIRouter(prefix="/v1/audit", tags=["audit"])


AfterEvent = Annotated[int, Query(ge=0, le=MOST, description="number of the last event of the previous page")]


class AuditOut(BaseModel):
    """A page of events, oldest first."""

    events: list[AuditEvent]


@router.get("", responses=problems())
async def list_audit(
    who: MayOperateRuns,
    app: AppDep,
    *,
    after: AfterEvent = 0,
    limit: Limit = 100,
) -> AuditOut:
    """List all events, oldest first."""
    return AuditOut(events=await audit.list_events(app.db, who.tenant_id, after=after, limit=limit))


@router.get("/verify", responses=problems())
async def verify_audit(
    who: MayOperateRuns,
    app: AppDep,
    *,
    head: Annotated[
        str | None, Query(pattern="^[0-9a-f]{64}$", description="of an earlier check; the chain must still contain it")
    ] = None,
) -> ChainCheck:
    """Verify that no event was changed, removed, inserted or cut off, and that every review item is as they left it."""
    return await records.verify_audit(app, who, kept_head=head)
