"""How document items are decided, and which runs have yet to be told.

The decision is stored first. An open question of a run whose document's item is decided is an answer to be given: there
is no other list of those, so none can be forgotten.
"""

import datetime as dt
from dataclasses import dataclass

from dag.values import Json
from storage.db import Database

DECIDE = """
UPDATE reviews SET status = $3, decision = $4, decided_by = $5, decision_digest = $6, closed_at = now(),
       claimed_by = NULL, claimed_until = NULL, postponed_until = NULL, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""
APPROVE_FIRST = """
UPDATE reviews SET first_approval = $3, claimed_by = NULL, claimed_until = NULL, assigned_to = NULL, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""
REOPEN = """
UPDATE reviews SET status = 'open', decision = NULL, decided_by = NULL, decision_digest = NULL, closed_at = NULL,
       first_approval = NULL, claimed_by = NULL, claimed_until = NULL, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""
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
 ORDER BY item.closed_at
 LIMIT $2"""
LOAD_FORMS = """
SELECT form FROM reviews WHERE tenant_id = $1 AND document_review_id = $2 AND status = 'open' AND form IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of a document. `digest` is of what was shown to whoever decided; None: nothing was."""

    status: str
    """`approved` or `rejected`."""
    answer: dict[str, Json]
    by: str
    digest: str | None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A run's question whose document was decided, and what to answer."""

    tenant_id: str
    run_id: str
    step_id: str
    asked_at: float
    review_id: str
    document_id: str
    decision: Json
    decided_by: str


async def record_decision(db: Database, tenant_id: str, review_id: str, decision: Decision) -> None:
    """Close the item as decided. The caller has it locked, and knows that it is open."""
    values = (decision.status, decision.answer, decision.by, decision.digest)
    await db.execute(DECIDE, tenant_id, review_id, *values)


async def record_first_approval(
    db: Database, tenant_id: str, review_id: str, *, by: str, at: dt.datetime, digest: str
) -> None:
    """Keep the first of two approvals, and free the item for somebody else. The caller has it locked."""
    approval = {"by": by, "at": at.isoformat(), "digest": digest}
    await db.execute(APPROVE_FIRST, tenant_id, review_id, approval)


async def reopen_review(db: Database, tenant_id: str, review_id: str) -> None:
    """Open a decided item again, as if it had never been approved. The caller has it locked."""
    await db.execute(REOPEN, tenant_id, review_id)


async def mark_touched(db: Database, tenant_id: str, review_id: str) -> None:
    """Keep that somebody corrected a field of the item's document."""
    await db.execute(TOUCH, tenant_id, review_id)


async def load_unanswered(db: Database, tenant_id: str, review_id: str) -> list[Unanswered]:
    """Return the questions that wait for the decision of this item."""
    return [Unanswered(**row) for row in await db.fetch(LOAD_UNANSWERED, tenant_id, review_id)]


async def load_all_unanswered(db: Database, *, older_than_seconds: float, limit: int = 100) -> list[Unanswered]:
    """Return such questions of ALL tenants, for the sweep that ends what an API that died began. Never for a caller."""
    return [Unanswered(**row) for row in await db.fetch(LOAD_ALL_UNANSWERED, older_than_seconds, limit)]


async def load_forms(db: Database, tenant_id: str, review_id: str) -> list[dict[str, Json]]:
    """Return the forms that the runs' open questions about this item's document want an answer to fit."""
    return [row["form"] for row in await db.fetch(LOAD_FORMS, tenant_id, review_id)]
