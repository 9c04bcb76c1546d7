"""Activity that handles SLA events: record what is due once, also in the audit log, and notify people."""

import logging
from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.activities.internal.notifications import MAY_PASS, Notification, send
from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import digest
from docrail.services.reviews.items import load_review
from docrail.services.reviews.models import SlaEvent
from docrail.services.reviews.sla import list_unsent, mark_sent, record_due_sla
from docrail.services.tools import Tools

MOST_RECORDED, MOST_SENT = 500, 100
"""Limits per run of the activity. The rest is left to the next one."""

SEND_WITHIN_SECONDS = 86_400.0
"""An event that could not be sent for a day is dropped; the item's next one is sent."""

OVERDUE = 100

log = logging.getLogger(__name__)


def sla_activity(tools: Tools) -> Callable[[], Awaitable[int]]:
    """Return the activity. It is safe to repeat: an event is recorded once, and always sent with the same id."""

    @activity.defn(name="notify_sla")
    async def notify_sla() -> int:
        events = await _record(tools)
        if tools.outside.notify_url is not None:
            for event in await list_unsent(tools.db, within_seconds=SEND_WITHIN_SECONDS, limit=MOST_SENT):
                with of_tenant(event.tenant_id):
                    is_done = await _notify(tools, event, tools.outside.notify_url)
                if not is_done:
                    break  # the receiver is unavailable: the next run tries again
        return len(events)

    return notify_sla


async def _record(tools: Tools) -> list[SlaEvent]:
    events = await record_due_sla(tools.db, limit=MOST_RECORDED)
    for event in events:
        log.warning("%s (tenant %s)", _message(event), event.tenant_id)
    return events


async def _notify(tools: Tools, event: SlaEvent, url: str) -> bool:
    """Notify people; False if it may succeed later."""
    try:
        await send(tools, url, await _notification(tools, event))
    except MAY_PASS as error:
        log.warning("not sent yet: %s: %s", _message(event), error)
        return False
    await mark_sent(tools.db, event)
    return True


def _message(event: SlaEvent) -> str:
    due = f"{event.due_at:%Y-%m-%d %H:%M} UTC"
    if event.percent >= OVERDUE:
        return f"the review item {event.review_id} is overdue: it was due {due}"
    return f"the review item {event.review_id} has used {event.percent} % of its time: it is due {due}"


async def _notification(tools: Tools, event: SlaEvent) -> Notification:
    review = await load_review(tools.db, event.tenant_id, event.review_id)
    assert review is not None, "no item is ever deleted"
    return Notification(
        tenant_id=event.tenant_id,
        message_id=f"sla_{digest([event.tenant_id, event.review_id, event.due_at.isoformat(), event.percent])[:32]}",
        title="SLA",
        level="error" if event.percent >= OVERDUE else "warning",
        message=f"{_message(event)} ({review.title})",
        details={
            "review_id": event.review_id,
            "document_id": review.document_id,
            "percent": event.percent,
            "due_at": event.due_at.isoformat(),
            "claimed_by": review.claimed_by,
            "summary": review.summary,
        },
        run_id=review.run_id,
    )
