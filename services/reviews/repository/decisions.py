"""Store decisions on document items, and find the runs that have yet to be answered.

The decision is stored first. A run's open question whose document's item is decided is a pending answer; there is no
other list of those, so none can be lost.
"""

import datetime as dt
from collections.abc import Sequence

from docrail.adapters.postgres.pool import Database
from docrail.dag.values.json_values import Json
from docrail.invoices.model import InvoiceData
from docrail.services.access.models import PASSED_BY, Principal
from docrail.services.documents.service import forget, mark_decided
from docrail.services.reviews.models import Decision, Unanswered

DECIDE = """
UPDATE reviews SET status = $3, decision = $4, decided_by = $5, decision_digest = $6, closed_at = now(),
       decided_invoice = $7::text::json, taught_vendor = $8, revision = revision + 1,
       first_approval = CASE WHEN first_approval ->> 'digest' = $6 THEN first_approval END,
       claimed_by = NULL, claimed_until = NULL, postponed_until = NULL, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""


APPROVE_FIRST = """
UPDATE reviews SET first_approval = $3, claimed_by = NULL, claimed_until = NULL, assigned_to = NULL, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""


REOPEN = """
UPDATE reviews SET status = 'open', decision = NULL, decided_by = NULL, decision_digest = NULL, closed_at = NULL,
       decided_invoice = NULL, taught_vendor = NULL, first_approval = NULL, claimed_by = NULL, claimed_until = NULL,
       revision = revision + 1, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2
RETURNING document_id"""


LOAD_DECIDED = """
SELECT decided_by, decided_invoice::text, taught_vendor FROM reviews
 WHERE tenant_id = $1 AND review_id = $2 AND status = 'approved' AND decided_invoice IS NOT NULL"""


TOUCH = """
UPDATE reviews SET touched = true, updated_at = now() WHERE tenant_id = $1 AND review_id = $2"""


_UNANSWERED = """
SELECT step.tenant_id, step.run_id, step.step_id, step.asked_at, item.review_id, item.document_id, item.decision,
       item.decided_by
  FROM reviews AS step
  JOIN reviews AS item ON item.tenant_id = step.tenant_id AND item.review_id = step.document_review_id
 WHERE step.status = 'open' AND step.document_review_id IS NOT NULL AND item.status IN ('approved', 'rejected')"""


LOAD_UNANSWERED = f"{_UNANSWERED} AND item.tenant_id = $1 AND item.review_id = $2 ORDER BY step.run_id, step.step_id"


LOAD_ALL_UNANSWERED = f"""{_UNANSWERED}
   AND item.closed_at < now() - make_interval(secs => $1)
   AND step.updated_at < now() - make_interval(secs => $1)
 ORDER BY step.updated_at
 LIMIT $2"""


PUT_OFF = """
UPDATE reviews AS step SET updated_at = clock_timestamp()
  FROM unnest($1::text[], $2::text[], $3::text[]) AS put (tenant_id, run_id, step_id)
 WHERE step.tenant_id = put.tenant_id AND step.run_id = put.run_id AND step.step_id = put.step_id
   AND step.status = 'open'"""


LOAD_FORMS = """
SELECT form FROM reviews WHERE tenant_id = $1 AND document_review_id = $2 AND status = 'open' AND form IS NOT NULL"""


async def record_decision(db: Database, tenant_id: str, review_id: str, decision: Decision) -> None:
    """Close the item as decided. The caller holds the lock, and has checked that it is open."""
    values = (decision.status, decision.answer, decision.by, decision.digest)
    kept = decision.invoice.model_dump_json() if decision.invoice else None
    await db.execute(DECIDE, tenant_id, review_id, *values, kept, decision.taught_vendor)


async def record_first_approval(db: Database, who: Principal, review_id: str, digest: str) -> None:
    """Store the first of two approvals, and free the item for another person. The caller holds the lock."""
    made = {"by": who.name, "at": dt.datetime.now(dt.UTC).isoformat(), "digest": digest}
    known = {"known_to": who.known_to} if who.known_to else {}
    await db.execute(APPROVE_FIRST, who.tenant_id, review_id, made | known)


async def reopen_review(db: Database, tenant_id: str, review_id: str) -> None:
    """Reopen a decided item as if it had never been approved: what the approval taught is forgotten.

    The caller holds the lock, and is in a transaction.
    """
    decided = await db.fetchrow(LOAD_DECIDED, tenant_id, review_id)
    if decided is not None and decided["decided_by"] != PASSED_BY:
        invoice = InvoiceData.model_validate_json(decided["decided_invoice"])
        await forget(db, tenant_id, invoice, decided["taught_vendor"])
    document_id = await db.fetchval(REOPEN, tenant_id, review_id)
    await mark_decided(db, tenant_id, document_id, None)


async def mark_touched(db: Database, tenant_id: str, review_id: str) -> None:
    """Record that a person corrected a field of the item's document."""
    await db.execute(TOUCH, tenant_id, review_id)


async def load_unanswered(db: Database, tenant_id: str, review_id: str) -> list[Unanswered]:
    """Return the open questions about this item, once it is decided."""
    return [Unanswered(**row) for row in await db.fetch(LOAD_UNANSWERED, tenant_id, review_id)]


async def load_all_unanswered(db: Database, *, older_than_seconds: float, limit: int = 100) -> list[Unanswered]:
    """Return pending answers of ALL tenants for the sweep, least recently put off first. For internal use only."""
    return [Unanswered(**row) for row in await db.fetch(LOAD_ALL_UNANSWERED, older_than_seconds, limit)]


async def put_off(db: Database, questions: Sequence[Unanswered]) -> None:
    """Move the questions to the end of the sweep's order."""
    places = [(each.tenant_id, each.run_id, each.step_id) for each in questions]
    await db.execute(PUT_OFF, *(list(column) for column in zip(*places, strict=True)))


async def load_forms(db: Database, tenant_id: str, review_id: str) -> list[dict[str, Json]]:
    """Return the answer forms of the runs' open questions about this item's document."""
    return [row["form"] for row in await db.fetch(LOAD_FORMS, tenant_id, review_id)]
