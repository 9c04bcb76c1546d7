"""Review items of human steps. Each statement may run twice, late or in any order: the run's clock decides.

A step that asks in the queue `documents` asks about its run's document. That document's item, if there is one, stands
for the step's: people see one question, and whoever decides the document answers the run.
"""

import datetime as dt
import hashlib
from dataclasses import dataclass

from dag.inputs import MisfitError, check_answer
from dag.values import Json
from storage.db import Database

DECIDED, CLOSED = "decided", "closed"
"""How a step's item ends: a person decided, or its run does not ask any more."""

DOCUMENT_ANSWERS: tuple[Json, ...] = ({"approved": True, "reason": ""}, {"approved": False, "reason": "…"})
"""What a run is answered of a document, as far as it is known before."""

FIRST, ESCALATED = 0, 1
"""Bands of an item: one that nobody answered in time goes before those of its new queue."""

# A question counts if its step asked later than what is stored; or at the same time, if only the end is stored, which
# stays the end, or if it hands the open item on. A repetition, and one that comes late, changes nothing. Decisions are
# made in the document's item, and come here: an end that was decided never goes back there, where it may be open again.
ASK = """
INSERT INTO reviews AS r (tenant_id, review_id, run_id, step_id, run_document_id, queue, title, form, show, band,
                          priority, due_at, asked_at, assignee_group, may_not_decide, approvals_needed, parts, reasons,
                          summary, document_review_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::float8, $12, $13, $14, $15, $17, '{}', '[]', '{}',
        (SELECT review_id FROM reviews AS item
          WHERE item.tenant_id = $1 AND item.document_id = $5 AND $6 = 'documents' AND $16
            AND NOT EXISTS (SELECT FROM reviews AS other
                             WHERE other.tenant_id = $1 AND other.document_review_id = item.review_id
                               AND split_part(other.run_id, '~', 1) = split_part($3, '~', 1)
                               AND (other.run_id, other.step_id) <> ($3, $4)
                               AND (other.status = 'open'
                                    OR other.status = 'decided' AND item.status IN ('approved', 'rejected')))))
ON CONFLICT (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL DO UPDATE
   SET run_document_id = EXCLUDED.run_document_id, queue = EXCLUDED.queue, title = EXCLUDED.title,
       form = EXCLUDED.form, show = EXCLUDED.show, band = EXCLUDED.band, priority = EXCLUDED.priority,
       due_at = EXCLUDED.due_at, asked_at = EXCLUDED.asked_at, updated_at = now(),
       assignee_group = EXCLUDED.assignee_group, may_not_decide = EXCLUDED.may_not_decide,
       approvals_needed = EXCLUDED.approvals_needed,
       decided_so_far = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN '[]' ELSE r.decided_so_far END,
       document_review_id = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN EXCLUDED.document_review_id
                                 ELSE coalesce(EXCLUDED.document_review_id, r.document_review_id) END,
       status = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN 'open' ELSE r.status END,
       decision = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN NULL ELSE r.decision END,
       decided_by = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN NULL ELSE r.decided_by END,
       closed_at = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN NULL ELSE r.closed_at END
 WHERE r.asked_at < EXCLUDED.asked_at
    OR (r.asked_at = EXCLUDED.asked_at AND (r.title = '' OR (r.status = 'open' AND r.band < EXCLUDED.band)))
RETURNING document_review_id, status"""
CLOSE = """
INSERT INTO reviews AS r (tenant_id, review_id, run_id, step_id, status, decision, decided_by, asked_at, closed_at,
                          priority, parts, reasons, summary)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), 0, '{}', '[]', '{}')
ON CONFLICT (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL DO UPDATE
   SET status = EXCLUDED.status, decision = EXCLUDED.decision, decided_by = EXCLUDED.decided_by,
       decided_so_far = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN '[]' ELSE r.decided_so_far END,
       asked_at = EXCLUDED.asked_at, closed_at = EXCLUDED.closed_at, updated_at = now()
 WHERE r.asked_at < EXCLUDED.asked_at OR (r.asked_at = EXCLUDED.asked_at AND r.status = 'open')
RETURNING document_review_id, status"""

LOCK_DOCUMENT = "SELECT FROM reviews WHERE tenant_id = $1 AND document_id = $2 FOR UPDATE"
LOCK_ITEM = "SELECT FROM reviews WHERE tenant_id = $1 AND review_id = $2 FOR UPDATE"
# The item stands for all that are asked: it lies where the most urgent of them does, and who may not answer one of them
# decides none. It is open as long as somebody asks, unless it was decided.
SHOW_ASKED = """
WITH asked AS (
SELECT queue, assignee_group, band, asked_at, may_not_decide FROM reviews
 WHERE tenant_id = $1 AND document_review_id = $2 AND status = 'open')
UPDATE reviews AS item
   SET queue = first.queue, assignee_group = first.assignee_group, band = greatest(item.band, first.band),
       may_not_decide = ARRAY(SELECT DISTINCT unnest(may_not_decide) FROM asked ORDER BY 1),
       updated_at = now(), closed_at = NULL, status = 'open'
  FROM (SELECT * FROM asked ORDER BY band DESC, asked_at DESC LIMIT 1) AS first
 WHERE item.tenant_id = $1 AND item.review_id = $2 AND item.status IN ('open', 'closed')
RETURNING item.review_id"""
SETTLE = """
UPDATE reviews SET status = 'closed', closed_at = now(), updated_at = now(), claimed_by = NULL, claimed_until = NULL
 WHERE tenant_id = $1 AND review_id = $2 AND status = 'open'
RETURNING review_id, document_id"""

LOAD_DOCUMENT_REVIEW = """
SELECT document_review_id FROM reviews WHERE tenant_id = $1 AND run_id = $2 AND step_id = $3 AND status = 'open'"""


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """What a human step asks. `asked_at` is when it began to wait, in seconds since the epoch."""

    queue: str
    title: str
    form: dict[str, Json]
    show: dict[str, Json]
    priority: float
    due_at: dt.datetime | None
    asked_at: float
    group: str | None = None
    """The people that it is for."""
    may_not_decide: tuple[str, ...] = ()
    """Names of principals whose decision the run does not take."""
    approvals: int = 1
    """How many people must decide alike."""
    document_id: str | None = None
    band: int = FIRST


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How the asking that began at `asked_at` ended."""

    status: str
    asked_at: float
    decision: Json = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class SettledItem:
    """A document's item that was closed with the step that asked about it: nobody decided, and its run asks no more."""

    review_id: str
    document_id: str


def step_review_id(tenant_id: str, run_id: str, step_id: str) -> str:
    """Return the id of a human step's review item: the same on every attempt."""
    return "rev_" + hashlib.sha256(f"{tenant_id}/{run_id}/{step_id}".encode()).hexdigest()[:26]


async def ask_question(db: Database, tenant_id: str, run_id: str, step_id: str, question: StepQuestion) -> None:
    """Open the step's item, or hand the open one on to another queue. One that has ended stays as it ended.

    Its document's item stands for it only if the step's form takes what is decided of documents, and for no second step
    of the run, or of the runs around and inside it, by the same decision. The caller is in a transaction.
    """
    if question.document_id is not None:  # else two that ask at once would both take it
        await db.execute(LOCK_DOCUMENT, tenant_id, question.document_id)
    kept = await db.fetchrow(
        ASK,
        *(tenant_id, step_review_id(tenant_id, run_id, step_id), run_id, step_id, question.document_id),
        *(question.queue, question.title, question.form, question.show, question.band, question.priority),
        *(question.due_at, question.asked_at, question.group, question.may_not_decide, _takes(question.form)),
        question.approvals,
    )
    if kept is not None:
        await _show(db, tenant_id, kept["document_review_id"], kept["status"])


def _takes(form: dict[str, Json]) -> bool:
    """Tell whether a form takes both that a document is approved, and that it is rejected with a reason."""
    try:
        for answer in DOCUMENT_ANSWERS:
            check_answer(form, answer)
    except MisfitError:
        return False
    return True


async def close_question(db: Database, tenant_id: str, run_id: str, step_id: str, end: StepEnd) -> SettledItem | None:
    """Close the step's item; one that is not open yet will never be. The caller is in a transaction.

    Return the document's item if it ended with it: nobody decided, and no other run asks.
    """
    item_id = await load_document_review(db, tenant_id, run_id, step_id)
    await db.execute(LOCK_ITEM, tenant_id, item_id)  # first, as whoever asks does
    place = (tenant_id, step_review_id(tenant_id, run_id, step_id), run_id, step_id)
    kept = await db.fetchrow(CLOSE, *place, end.status, end.decision, end.decided_by, end.asked_at)
    return None if kept is None else await _show(db, tenant_id, kept["document_review_id"], kept["status"])


async def _show(db: Database, tenant_id: str, item_id: str | None, status: str) -> SettledItem | None:
    """Let the document's item show what is asked now that a step's question is so; return it if it ended with that."""
    if item_id is None:
        return None
    await db.execute(LOCK_ITEM, tenant_id, item_id)
    if await db.fetchval(SHOW_ASKED, tenant_id, item_id) is not None or status != CLOSED:
        return None
    row = await db.fetchrow(SETTLE, tenant_id, item_id)
    return SettledItem(**row) if row else None


async def load_document_review(db: Database, tenant_id: str, run_id: str, step_id: str) -> str | None:
    """Return the document's item that stands for the step's open one; None if the step asks for itself."""
    review_id: str | None = await db.fetchval(LOAD_DOCUMENT_REVIEW, tenant_id, run_id, step_id)
    return review_id
