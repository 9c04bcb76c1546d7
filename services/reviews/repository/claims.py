# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store claims on review items, with a lease and a token; no two people get the same item."""

import datetime as dt

import asyncpg

from docrail.adapters.postgres.pool import Database
from docrail.services.reviews.models import LEASE, Claim, Wish
from docrail.services.reviews.repository.items import LIVE, ORDER, load_review

_TAKE = """
UPDATE reviews SET claimed_by = $2, claim_token = claim_token + 1, claimed_until = now() + $3::interval,
       claimed_at = CASE WHEN claimed_until > now() AND claimed_by = $2 THEN claimed_at ELSE now() END,
       postponed_until = NULL
 WHERE tenant_id = $1"""


CLAIM = f"""
{_TAKE} AND review_id = $4 AND status = 'open'
   AND (claimed_until IS NULL OR claimed_until <= now() OR claimed_by = $2)
RETURNING review_id, claim_token, claimed_until"""


# Skips rows that another transaction is claiming; a row claimed since the statement started is checked again.
CLAIM_NEXT = f"""
{_TAKE} AND review_id = (
    SELECT r.review_id FROM {LIVE}
     WHERE r.tenant_id = $1 AND r.status = 'open' AND r.document_review_id IS NULL
       AND (r.postponed_until IS NULL OR r.postponed_until <= now())
       AND (r.claimed_until IS NULL OR r.claimed_until <= now())
       AND (r.assigned_to IS NULL OR r.assigned_to = $2)
       AND NOT $2 = ANY (r.may_not_decide)
       AND r.first_approval ->> 'by' IS DISTINCT FROM $2
       AND NOT EXISTS (SELECT FROM json_array_elements(r.decided_so_far) AS made WHERE made ->> 'by' = $2)
       AND ($4::text IS NULL OR r.queue = $4)
       AND ($5::text IS NULL OR (r.step_id IS NOT NULL) = ($5 = 'step'))
       AND ($6::text IS NULL OR r.assignee_group = $6)
     ORDER BY (r.assigned_to = $2) IS TRUE DESC, {ORDER}
     LIMIT 1
       FOR UPDATE OF r SKIP LOCKED)
RETURNING review_id, claim_token, claimed_until"""


_HELD = "tenant_id = $1 AND review_id = $2 AND status = 'open' AND claimed_until > now() AND claimed_by = $3"


RENEW = f"""
UPDATE reviews SET claimed_until = now() + $5::interval WHERE {_HELD} AND claim_token = $4 RETURNING claimed_until"""


FREE = """
UPDATE reviews SET claimed_by = NULL, claimed_until = NULL, assigned_to = coalesce($3, assigned_to),
       postponed_until = $4, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""


async def claim_review(
    db: Database, tenant_id: str, review_id: str, by: str, lease: dt.timedelta = LEASE
) -> Claim | None:
    """Claim the open item for `by`; None if it is not open, or someone else has claimed it.

    Claiming one's own item again issues a new token, so that earlier sessions can no longer save.
    """
    return await _claimed(db, tenant_id, await db.fetchrow(CLAIM, tenant_id, by, lease, review_id))


async def claim_next(db: Database, tenant_id: str, by: str, wish: Wish, lease: dt.timedelta = LEASE) -> Claim | None:
    """Claim for `by` the most urgent free item that they may decide; None if there is none.

    Items assigned to them come first. Concurrent callers never get the same item.
    """
    row = await db.fetchrow(CLAIM_NEXT, tenant_id, by, lease, wish.queue, wish.kind, wish.group)
    return await _claimed(db, tenant_id, row)


async def renew_claim(
    db: Database, tenant_id: str, review_id: str, by: str, token: int, lease: dt.timedelta = LEASE
) -> dt.datetime | None:
    """Extend a claim by a lease from now, and return its end; None if it is no longer valid."""
    until: dt.datetime | None = await db.fetchval(RENEW, tenant_id, review_id, by, token, lease)
    return until


async def free_review(
    db: Database,
    tenant_id: str,
    review_id: str,
    *,
    assigned_to: str | None = None,
    postponed_until: dt.datetime | None = None,
) -> None:
    """End the item's claim, optionally assigning or postponing it. The caller holds the lock."""
    await db.execute(FREE, tenant_id, review_id, assigned_to, postponed_until)


async def _claimed(db: Database, tenant_id: str, row: asyncpg.Record | None) -> Claim | None:
    if row is None:
        return None
    review = await load_review(db, tenant_id, row["review_id"])
    assert review is not None, "was updated just now"
    return Claim(review, row["claim_token"], row["claimed_until"])
