"""Review items of human steps. Each statement may run twice, late or in any order: the run's clock decides.

A step that asks in the queue `documents` asks about its run's document. That document's item, if there is one, stands
for the step's: people see one question, and whoever decides the document answers the run.

What each of several people has decided of a human step's question, as far as its run has told.

The run counts who agrees; here is what the queue shows of it. A decision that comes before its question, or before an
earlier one, is refused: its run tells it until it is kept.
"""

import hashlib
from dataclasses import asdict

from docrail.adapters.postgres.pool import Database
from docrail.dag.language.inputs import MisfitError, check_answer
from docrail.dag.values.json_values import Json
from docrail.services.reviews.models import CLOSED, PersonsDecision, SettledItem, StepEnd, StepQuestion

DOCUMENT_ANSWERS: tuple[Json, ...] = ({"approved": True, "reason": ""}, {"approved": False, "reason": "…"})
"""What a run is answered of a document, as far as it is known before."""


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


LOCK = """
SELECT review_id, asked_at, decided_so_far FROM reviews
 WHERE tenant_id = $1 AND run_id = $2 AND step_id = $3 FOR UPDATE"""


KEEP = """
UPDATE reviews SET decided_so_far = $3, updated_at = now(),
       claimed_until = CASE WHEN claimed_by IS DISTINCT FROM $4 THEN claimed_until END -- whoever has decided is done
 WHERE tenant_id = $1 AND review_id = $2"""


class TooEarlyError(Exception):
    """What comes before this decision has not been told yet."""


async def keep_decision(
    db: Database, tenant_id: str, run_id: str, step_id: str, *, asked_at: float, made: PersonsDecision
) -> str | None:
    """Show the decision in the place of the person's earlier one, and return the item's id.

    None: it was kept before, or the step has asked anew since. The caller is in a transaction. Raises: TooEarlyError.
    """
    row = await db.fetchrow(LOCK, tenant_id, run_id, step_id)
    if row is None or row["asked_at"] < asked_at:
        raise TooEarlyError(f"{run_id} has not asked {step_id} yet")
    kept: list[dict[str, Json]] = row["decided_so_far"]
    last = kept[-1]["number"] if kept else 0
    if row["asked_at"] > asked_at or made.number <= last:
        return None
    if made.number > last + 1:
        raise TooEarlyError(f"decision {last + 1} of {run_id}, {step_id}, is yet to come")
    others = [each for each in kept if each["by"] != made.by]
    await db.execute(KEEP, tenant_id, row["review_id"], [*others, asdict(made)], made.by)
    return str(row["review_id"])
