"""List the audit log and verify its hash chain."""

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.audit.models import AuditEvent, ChainCheck
from docrail.services.audit.repository import append_event, list_events, verify_chain

__all__ = [
    "append_event",
    "list_audit",
    "list_events",
    "verify_audit",
]


async def list_audit(app: App, principal: Principal, *, after: int = 0, limit: int = 100) -> list[AuditEvent]:
    """Return the tenant's events after number `after`, oldest first."""
    return await list_events(app.db, principal.tenant_id, after=after, limit=limit)


async def verify_audit(app: App, principal: Principal, *, kept_head: str | None = None) -> ChainCheck:
    """Check the tenant's chain in one snapshot, and that it contains the head of an earlier check."""
    async with app.db.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        return await verify_chain(connection, principal.tenant_id, kept_head=kept_head)
