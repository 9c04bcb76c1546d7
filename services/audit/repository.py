"""The audit: what people did, in a chain for each tenant that can only grow, every event's hash covering those before.

Whoever adds an event holds the tenant's head until the transaction ends: so there is one order, that of the commits.
Add it last, to hold it shortly.
"""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database
from docrail.dag.values.json_values import digest
from docrail.services.audit.models import Act, AuditEvent

GENESIS = "0" * 64
"""What the first event's hash covers."""


PAGE = 1000
"""Events that a check of the chain reads at once."""


OPEN_HEAD = "INSERT INTO audit_heads (tenant_id, sequence, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING"


LOCK_HEAD = "SELECT sequence, hash, clock_timestamp() AS at FROM audit_heads WHERE tenant_id = $1 FOR UPDATE"


LOAD_HEAD = "SELECT sequence, hash FROM audit_heads WHERE tenant_id = $1"


MOVE_HEAD = "UPDATE audit_heads SET sequence = $2, hash = $3 WHERE tenant_id = $1"


INSERT = """
INSERT INTO audit_events (tenant_id, sequence, happened_at, actor, act, review_id, document_id, detail, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"""


LIST = """
SELECT sequence, happened_at, actor, act, review_id, document_id, detail, hash FROM audit_events
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR review_id = $2)
   AND ($3::text IS NULL OR document_id = $3)
   AND sequence > $4
 ORDER BY sequence
 LIMIT $5"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check of a chain found. `problem` is empty if it is whole; `broken_at` the first event that does not fit.

    Where every event fits, but not the head that somebody kept, nobody can say which was the first: None.
    """

    events: int
    head: str
    broken_at: int | None = None
    problem: str = ""


async def append_event(db: Database, tenant_id: str, act: Act) -> int:
    """Add an event to the tenant's chain, inside the caller's transaction, and return its number."""
    await db.execute(OPEN_HEAD, tenant_id, GENESIS)
    head = await db.fetchrow(LOCK_HEAD, tenant_id)
    assert head is not None, "was inserted above"
    sequence = head["sequence"] + 1
    event = AuditEvent(sequence, head["at"], act.actor, act.act, act.review_id, act.document_id, act.detail, "")
    hash_ = hash_of(tenant_id, head["hash"], event)
    values = (event.happened_at, event.actor, event.act, event.review_id, event.document_id, event.detail)
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


async def verify_chain(db: Database, tenant_id: str, *, kept_head: str | None = None) -> Verdict:
    """Check every event of the tenant's chain: that none was changed, taken out, put in or cut off at the end.

    `kept_head`: the head of an earlier check, which the chain must have passed through; whoever owns the database can
    write the whole chain and its head anew, but not so that it has that one. In one snapshot if `db` is a connection
    in a repeatable-read transaction; else events that are added meanwhile may be taken for a break.
    """
    head = await db.fetchrow(LOAD_HEAD, tenant_id)
    length, expected = (head["sequence"], head["hash"]) if head else (0, GENESIS)
    previous, count, is_met = GENESIS, 0, kept_head in (None, GENESIS)
    try:
        async for event in _events(db, tenant_id):
            count += 1
            if event.sequence != count:
                problem = f"event {count} is missing: the next one is {event.sequence}"
                return Verdict(count - 1, expected, count, problem)
            if not _fits(tenant_id, previous, event):
                problem = f"event {count} is not as it was written, or not in its place"
                return Verdict(count - 1, expected, count, problem)
            previous = event.hash
            is_met = is_met or previous == kept_head
    except (ValueError, OverflowError, RecursionError) as error:  # nothing that we wrote is such
        return Verdict(count, expected, count + 1, f"an event from {count + 1} on cannot be read: {error}")
    if (count, previous) != (length, expected):
        problem = f"the chain ends with event {count}, expected {length}: events were cut off at its end"
        return Verdict(count, expected, count + 1, problem)
    if not is_met:
        problem = f"no event has the head {kept_head}: the chain was written anew, or cut off and gone on with"
        return Verdict(count, expected, None, problem)
    return Verdict(count, expected)


def _fits(tenant_id: str, previous: str, event: AuditEvent) -> bool:
    try:
        return hash_of(tenant_id, previous, event) == event.hash
    except (ValueError, RecursionError):  # JSON that PostgreSQL takes, and that has no digest
        return False


def hash_of(tenant_id: str, previous: str, event: AuditEvent) -> str:
    """Return the sha256 (hex) of an event and of all before it, whose hash `previous` is."""
    at = event.happened_at.astimezone(dt.UTC).isoformat(timespec="microseconds")
    subject = [event.review_id, event.document_id]
    return digest([previous, tenant_id, event.sequence, at, event.actor, event.act, *subject, event.detail])


async def _events(db: Database, tenant_id: str) -> AsyncIterator[AuditEvent]:
    after = 0
    while page := await list_events(db, tenant_id, after=after, limit=PAGE):
        for event in page:
            yield event
        after = page[-1].sequence
