"""Routes of the audit log: list events, and verify the chain."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayOperateRuns
from docrail.api.errors import problems
from docrail.api.parameters import AppDep, Limit
from docrail.services.audit import service as audit
from docrail.services.audit.models import AuditEvent

router = APIRouter(prefix="/v1/audit", tags=["audit"])


AfterEvent = Annotated[int, Query(ge=0, le=2**53, description="number of the last event of the page before")]


class AuditOut(BaseModel):
    """A page of events, oldest first."""

    events: list[AuditEvent]


class AuditVerdictOut(BaseModel):
    """The result of verifying the chain: the number of valid events, and the first one that is not."""

    model_config = ConfigDict(from_attributes=True)

    intact: bool
    events: int
    head: str = Field(description="hash of the last event: kept elsewhere, it proves later that nothing was rewritten")
    broken_at: int | None = Field(description="null also where only the `head` of an earlier check is missing")
    problem: str


@router.get("", responses=problems())
async def list_audit(
    who: MayOperateRuns,
    app: AppDep,
    *,
    after: AfterEvent = 0,
    limit: Limit = 100,
) -> AuditOut:
    """List all events, oldest first."""
    events = await audit.list_audit(app, who, after=after, limit=limit)
    return AuditOut(events=events)


@router.get("/verify", responses=problems())
async def verify_audit(
    who: MayOperateRuns,
    app: AppDep,
    *,
    head: Annotated[
        str | None, Query(pattern="^[0-9a-f]{64}$", description="of an earlier check: the chain must have it still")
    ] = None,
) -> AuditVerdictOut:
    """Verify that no event was changed, removed, inserted, or cut off at the end."""
    verdict = await audit.verify_audit(app, who, kept_head=head)
    return AuditVerdictOut(
        intact=not verdict.problem,
        events=verdict.events,
        head=verdict.head,
        broken_at=verdict.broken_at,
        problem=verdict.problem,
    )
