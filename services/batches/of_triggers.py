"""Close the batches that a trigger has ordered, and find the last one."""

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.batches import repository
from docrail.services.batches.service import close_batch


async def close_batches_of(app: App, principal: Principal, trigger: str) -> None:
    """Close a trigger's batches, also those of passes that were cut off. Safe to repeat."""
    for batch_id in await repository.list_open_of(app.db, principal.tenant_id, trigger):
        await close_batch(app, principal, batch_id)


async def last_batch_of(app: App, principal: Principal, trigger: str) -> str | None:
    """Return the id of the batch that a trigger has ordered last; None if there is none."""
    return await repository.load_last_of(app.db, principal.tenant_id, trigger)
