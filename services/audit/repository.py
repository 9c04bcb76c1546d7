"""Store the audit log: one append-only hash chain per tenant, in which each event's hash covers all events before it.

Adding an event locks the tenant's chain head until the transaction ends, so the order is that of the commits. Add it
last, to hold the lock briefly.
"""

import datetime as dt
from collections.abc import AsyncIterator, Sequence

from docrail.adapters.postgres.pool import Database
from docrail.dag.values.json_values import digest
from docrail.services.audit.models import Act, AuditEvent, AuditFilter, ChainCheck

GENESIS = "0" * 64
"""The hash before the first event."""


PAGE = 1000
"""Number of events that a check of the chain reads at a time."""


OPEN_HEAD = "INSERT INTO audit_heads (tenant_id, sequence, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING"


LOCK_HEAD = "SELECT sequence, hash, clock_timestamp() AS at FROM audit_heads WHERE tenant_id = $1 FOR UPDATE"


LOAD_HEAD = "SELECT sequence, hash FROM audit_heads WHERE tenant_id = $1"


MOVE_HEAD = "UPDATE audit_heads SET sequence = $2, hash = $3 WHERE tenant_id = $1"


INSERT = """
INSERT INTO audit_events (tenant_id, sequence, happened_at, actor, act, review_id, document_id, detail, state, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""


LIST = """
SELECT sequence, happened_at, actor, act, review_id, document_id, detail, state, hash FROM audit_events
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR review_id = $2)
   AND ($3::text IS NULL OR document_id = $3)
   AND sequence > $4
 ORDER BY sequence
 LIMIT $5"""


LIST_NEWEST = """
SELECT sequence, happened_at, actor, act, review_id, document_id, detail, state, hash FROM audit_events
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR actor = $2)
   AND ($3::text IS NULL OR act = $3)
   AND ($4::text IS NULL OR review_id = $4 OR document_id = $4)
   AND ($5::bigint IS NULL OR sequence < $5)
 ORDER BY sequence DESC
 LIMIT $6"""


LIST_ACTS = "SELECT DISTINCT act FROM audit_events WHERE tenant_id = $1 ORDER BY act"


LOAD_STATES = """
SELECT DISTINCT ON (review_id) review_id, state FROM audit_events
 WHERE tenant_id = $1 AND review_id = ANY ($2::text[]) AND state IS NOT NULL
 ORDER BY review_id, sequence DESC"""


LIST_ITEMS = """
SELECT DISTINCT review_id FROM audit_events
 WHERE tenant_id = $1 AND state IS NOT NULL AND review_id > $2
 ORDER BY review_id
 LIMIT $3"""


async def append_event(db: Database, tenant_id: str, act: Act) -> int:
    """Append an event to the tenant's chain, inside the caller's transaction, and return its number."""
    await db.execute(OPEN_HEAD, tenant_id, GENESIS)
    head = await db.fetchrow(LOCK_HEAD, tenant_id)
    assert head is not None, "was inserted above"
    sequence = head["sequence"] + 1
    event = AuditEvent(
        sequence, head["at"], act.actor, act.act, act.review_id, act.document_id, act.detail, act.state, ""
    )
    hash_ = hash_of(tenant_id, head["hash"], event)
    values = (event.happened_at, event.actor, event.act, event.review_id, event.document_id, event.detail, event.state)
    await db.execute(INSERT, tenant_id, sequence, *values, hash_)
    await db.execute(MOVE_HEAD, tenant_id, sequence, hash_)
    return int(sequence)


async def list_events(
    db: Database,
    tenant_id: str,
    *,
    review_id: str | None = None,
    document_id: str | None = None,
    after: int = 0,
    limit: int = 100,
) -> list[AuditEvent]:
    """Return the tenant's events after number `after`, oldest first."""
    return [AuditEvent(**row) for row in await db.fetch(LIST, tenant_id, review_id, document_id, after, limit)]


async def list_newest(
    db: Database, tenant_id: str, wanted: AuditFilter, *, before: int | None = None, limit: int = 100
) -> list[AuditEvent]:
    """Return the tenant's events of the filter before number `before`, newest first."""
    values = (wanted.actor, wanted.act, wanted.subject, before, limit)
    return [AuditEvent(**row) for row in await db.fetch(LIST_NEWEST, tenant_id, *values)]


async def list_acts(db: Database, tenant_id: str) -> list[str]:
    """Return the names of the acts that occur in the tenant's log."""
    return [row["act"] for row in await db.fetch(LIST_ACTS, tenant_id)]


async def load_states(db: Database, tenant_id: str, review_ids: Sequence[str]) -> dict[str, str]:
    """Return the items' states after their last acts that changed a decision."""
    return {row["review_id"]: row["state"] for row in await db.fetch(LOAD_STATES, tenant_id, review_ids)}


async def list_items(db: Database, tenant_id: str, *, after: str, limit: int) -> list[str]:
    """Return the ids of items whose decisions have events, in their order."""
    return [row["review_id"] for row in await db.fetch(LIST_ITEMS, tenant_id, after, limit)]


async def verify_chain(db: Database, tenant_id: str, *, kept_head: str | None = None) -> ChainCheck:
    """Check the tenant's chain for events that were changed, removed, inserted or cut off at the end.

    `kept_head`: the head of an earlier check, which the chain must contain. The owner of the database can rewrite the
    whole chain with its head, but not so that it contains that one. For a single snapshot pass a connection in a
    repeatable-read transaction; otherwise events that are added meanwhile may look like a break.
    """
    head = await db.fetchrow(LOAD_HEAD, tenant_id)
    length, expected = (head["sequence"], head["hash"]) if head else (0, GENESIS)
    previous, count, is_met = GENESIS, 0, kept_head in (None, GENESIS)
    try:
        async for event in _events(db, tenant_id):
            count += 1
            if event.sequence != count:
                problem = f"event {count} is missing: the next one is {event.sequence}"
                return ChainCheck(count - 1, expected, count, problem)
            if not _fits(tenant_id, previous, event):
                problem = f"event {count} is not as it was written, or not in its place"
                return ChainCheck(count - 1, expected, count, problem)
            previous = event.hash
            is_met = is_met or previous == kept_head
    except (ValueError, OverflowError, RecursionError) as error:  # raised only by events that Docrail did not write
        return ChainCheck(count, expected, count + 1, f"an event from {count + 1} on cannot be read: {error}")
    if (count, previous) != (length, expected):
        problem = f"the chain ends with event {count}, expected {length}: events were cut off at its end"
        return ChainCheck(count, expected, count + 1, problem)
    if not is_met:
        problem = f"no event has the head {kept_head}: the chain was rewritten, or cut off and continued"
        return ChainCheck(count, expected, None, problem)
    return ChainCheck(count, expected)


def _fits(tenant_id: str, previous: str, event: AuditEvent) -> bool:
    try:
        return hash_of(tenant_id, previous, event) == event.hash
    except (ValueError, RecursionError):  # JSON that PostgreSQL accepts but that has no digest
        return False


def hash_of(tenant_id: str, previous: str, event: AuditEvent) -> str:
    """Return the sha256 (hex) of an event and, through `previous`, the hash before it, of all earlier ones."""
    at = event.happened_at.astimezone(dt.UTC).isoformat(timespec="microseconds")
    subject = [event.review_id, event.document_id]
    return digest(
        [previous, tenant_id, event.sequence, at, event.actor, event.act, *subject, event.detail, event.state]
    )


async def _events(db: Database, tenant_id: str) -> AsyncIterator[AuditEvent]:
    after = 0
    while page := await list_events(db, tenant_id, after=after, limit=PAGE):
        for event in page:
            yield event
        after = page[-1].sequence
