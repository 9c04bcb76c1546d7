"""Routes of the audit log: list events, in either order, and verify the chain."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from docrail.api.auth import MayOperateRuns
from docrail.api.errors import problems
from docrail.api.parameters import MOST, AppDep, Limit, SearchWords
from docrail.api.prefix_router import PrefixRouter
from docrail.services.access.models import person
from docrail.services.audit import service as audit
from docrail.services.audit.models import AuditEvent, AuditFilter, ChainCheck
from docrail.services.reviews import records

router = PrefixRouter(prefix="/v1/audit", tags=["audit"])


AfterEvent = Annotated[int, Query(ge=0, le=MOST, description="number of the last event of the previous page")]


class AuditOut(BaseModel):
    """A page of events, oldest first."""

    events: list[AuditEvent]


class NewestOut(BaseModel):
    """A page of events, newest first."""

    events: list[AuditEvent]
    before: int | None = Field(description="what to ask for the next page with; null if this is the last one")
    acts: list[str] = Field(description="all acts that occur in the log, for a filter")


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


@router.get("/newest", responses=problems())
async def list_newest_events(
    who: MayOperateRuns,
    app: AppDep,
    *,
    actor: Annotated[SearchWords | None, Query(description="events of this person or system")] = None,
    act: Annotated[SearchWords | None, Query(description="events of this act, as `key_created`")] = None,
    subject: Annotated[SearchWords | None, Query(description="events about this review item or document")] = None,
    before: Annotated[
        int | None, Query(ge=1, le=MOST, description="number of the last event of the previous page")
    ] = None,
    limit: Limit = 100,
) -> NewestOut:
    """List events, newest first, with filters."""
    wanted = AuditFilter(person(actor) if actor else None, act, subject)
    events = await audit.list_newest(app.db, who.tenant_id, wanted, before=before, limit=limit + 1)
    page = events[:limit]
    acts = await audit.list_acts(app.db, who.tenant_id)
    return NewestOut(events=page, before=page[-1].sequence if len(events) > limit else None, acts=acts)


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
