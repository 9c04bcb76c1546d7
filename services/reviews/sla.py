"""Record the shares of their SLA that open review items have used, once each, in the audit log too."""

import asyncpg

from docrail.adapters.postgres.pool import Database, transaction
from docrail.adapters.postgres.tenants import all_tenants
from docrail.dag.values.json_values import Json
from docrail.services.access.models import WATCH
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.reviews.models import SLA, SlaEvent
from docrail.services.reviews.repository.items import count_review, load_review
from docrail.services.reviews.repository.sla import load_unsent, mark_sent, record_due

__all__ = [
    "list_unsent",
    "mark_sent",
    "record_due_sla",
]


async def record_due_sla(db: asyncpg.Pool, *, limit: int) -> list[SlaEvent]:
    """Record the newly due shares of ALL tenants' open items, and return them."""
    with all_tenants():
        async with transaction(db) as tx:
            return await _record_due(tx, limit)


async def list_unsent(db: asyncpg.Pool, *, within_seconds: float, limit: int) -> list[SlaEvent]:
    """Return the events of ALL tenants that have yet to be sent, one per open item."""
    with all_tenants():
        return await load_unsent(db, within_seconds=within_seconds, limit=limit)


async def _record_due(tx: Database, limit: int) -> list[SlaEvent]:
    events = sorted(await record_due(tx, limit=limit), key=lambda event: (event.tenant_id, event.percent))
    for event in events:  # by tenant: all that add to several audits at once do so in this order
        review = await load_review(tx, event.tenant_id, event.review_id)
        assert review is not None, "was found just now"
        detail: dict[str, Json] = {
            "percent": event.percent,
            "due_at": event.due_at.isoformat(),
            "band": review.band,
        }
        await count_review(tx, event.tenant_id, SLA, str(event.percent))
        await append_event(tx, event.tenant_id, Act(WATCH, "sla", event.review_id, review.document_id, detail))
    return events
