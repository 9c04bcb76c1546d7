"""Read the audit of what people did, and check that its chain is whole."""

import re

from operations.app import App
from operations.errors import NotFound
from operations.principal import Principal
from operations.review_items import REVIEW_ID_PATTERN
from storage.audit import AuditEvent, Verdict, list_events, verify_chain
from storage.reviews import load_review


async def list_audit(app: App, principal: Principal, *, after: int = 0, limit: int = 100) -> list[AuditEvent]:
    """Return the tenant's events after number `after`, oldest first."""
    return await list_events(app.db, principal.tenant_id, after=after, limit=limit)


async def list_item_events(
    app: App, principal: Principal, review_id: str, *, after: int = 0, limit: int = 100
) -> list[AuditEvent]:
    """Return what people did to one item after event number `after`, oldest first. Raises: NotFound."""
    known = re.fullmatch(REVIEW_ID_PATTERN, review_id)
    if not known or await load_review(app.db, principal.tenant_id, review_id) is None:
        raise NotFound("review item", review_id)
    return await list_events(app.db, principal.tenant_id, review_id=review_id, after=after, limit=limit)


async def verify_audit(app: App, principal: Principal, *, kept_head: str | None = None) -> Verdict:
    """Check the tenant's chain, as it stands at one moment, and that it has the head of an earlier check."""
    async with app.db.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        return await verify_chain(connection, principal.tenant_id, kept_head=kept_head)
