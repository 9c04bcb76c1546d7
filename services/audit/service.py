"""List the audit log, and offer its parts to the nouns that write to it and verify it."""

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.audit.models import AuditEvent
from docrail.services.audit.repository import append_event, list_events, list_items, load_states, verify_chain

__all__ = [
    "append_event",
    "list_audit",
    "list_events",
    "list_items",
    "load_states",
    "verify_chain",
]


async def list_audit(app: App, principal: Principal, *, after: int = 0, limit: int = 100) -> list[AuditEvent]:
    """Return the tenant's events after number `after`, oldest first."""
    return await list_events(app.db, principal.tenant_id, after=after, limit=limit)
