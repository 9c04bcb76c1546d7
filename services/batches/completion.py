"""Send the message of a batch's completion."""

from docrail.adapters.http.webhooks import Message, deliver
from docrail.services.access.models import system_principal
from docrail.services.app import App
from docrail.services.batches import repository
from docrail.services.batches.service import show_batch
from docrail.services.tools import Outside


async def notify(app: App, outside: Outside, tenant_id: str, batch_id: str) -> None:
    """Send the message, once for each completion. It may arrive twice, with the same id.

    Raises: as `deliver`.
    """
    batch = await repository.load_batch(app.db, tenant_id, batch_id)
    if batch is None or batch.completed_at is None or batch.notified_at or batch.wanted.webhook_url is None:
        return
    shown = await show_batch(app, system_principal(tenant_id), batch_id)
    body = {
        "type": "batch.completed",
        "batch_id": batch_id,
        "name": shown.name,
        "status": str(shown.status),
        "documents": shown.counts.total,
        "done": shown.counts.done,
        "asking": shown.counts.asking,
        "failed": shown.counts.failed,
        "cancelled": shown.counts.cancelled,
        "duplicates": shown.duplicates,
        "errors": [{"error_type": each.error_type, "documents": each.documents} for each in shown.errors],
    }
    message_id = f"msg_{batch_id.removeprefix('bat_')}_{batch.completions}"
    await deliver(Message(tenant_id, message_id, batch.wanted.webhook_url, body), outside.http, outside.secrets)
    await repository.note_notified(app.db, tenant_id, batch_id)


async def note_failure(app: App, tenant_id: str, batch_id: str, error: str) -> None:
    """Record why the message was not delivered."""
    await repository.note_notified(app.db, tenant_id, batch_id, error)
