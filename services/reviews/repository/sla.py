"""Record which shares of a review item's SLA have been used and notified, each once."""

from docrail.adapters.postgres.pool import Database
from docrail.services.reviews.models import SlaEvent

PERCENTS = (50, 80, 100)
"""Shares of the SLA at which people are notified; from 80 on an item is urgent, from 100 overdue."""


# Concurrent sweeps find the same rows: the primary key lets one of them insert.
RECORD_DUE = """
INSERT INTO sla_events (tenant_id, review_id, due_at, percent)
SELECT due.* FROM (
    SELECT r.tenant_id, r.review_id, r.due_at, share.percent
      FROM reviews AS r, unnest($1::int[]) AS share (percent)
     WHERE r.status = 'open' AND r.sla_from IS NOT NULL AND r.document_review_id IS NULL
       AND now() >= r.sla_from + (r.due_at - r.sla_from) * share.percent / 100.0
       AND NOT EXISTS (SELECT FROM sla_events AS e
                        WHERE (e.tenant_id, e.review_id, e.due_at, e.percent)
                            = (r.tenant_id, r.review_id, r.due_at, share.percent))
     ORDER BY r.due_at, share.percent
     LIMIT $2) AS due
ON CONFLICT DO NOTHING
RETURNING tenant_id, review_id, due_at, percent"""


# If an item passed several shares since the last look, only the last is sent; it covers the others.
LOAD_UNSENT = """
SELECT DISTINCT ON (e.tenant_id, e.review_id) e.tenant_id, e.review_id, e.due_at, e.percent
  FROM sla_events AS e JOIN reviews AS r USING (tenant_id, review_id)
 WHERE e.notified_at IS NULL AND e.recorded_at > now() - make_interval(secs => $1) AND r.status = 'open'
 ORDER BY e.tenant_id, e.review_id, e.percent DESC
 LIMIT $2"""


MARK_SENT = """
UPDATE sla_events SET notified_at = now()
 WHERE tenant_id = $1 AND review_id = $2 AND due_at = $3 AND percent <= $4 AND notified_at IS NULL"""


async def record_due(db: Database, *, limit: int) -> list[SlaEvent]:
    """Record the newly due events of ALL tenants' open items, and return them."""
    return [SlaEvent(**row) for row in await db.fetch(RECORD_DUE, list(PERCENTS), limit)]


async def load_unsent(db: Database, *, within_seconds: float, limit: int) -> list[SlaEvent]:
    """Return the events of ALL tenants that have yet to be sent, one per open item."""
    return [SlaEvent(**row) for row in await db.fetch(LOAD_UNSENT, within_seconds, limit)]


async def mark_sent(db: Database, event: SlaEvent) -> None:
    """Record that the event, and with it the item's earlier ones, was sent."""
    await db.execute(MARK_SENT, event.tenant_id, event.review_id, event.due_at, event.percent)
