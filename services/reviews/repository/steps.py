"""Store review items of human steps. Each statement may run twice, late or out of order: the run's clock decides.

A step with the queue `documents` asks about its run's document. The document's item, if there is one, represents the
step's: people see one question, and deciding the document answers the run.

If several people must agree, the run counts their decisions; the queue only displays them. A decision that arrives
before its question, or before an earlier decision, is refused; the run sends it again until it is stored.
"""

import hashlib
from dataclasses import asdict

from docrail.adapters.postgres.pool import Database
from docrail.dag.language.inputs import InvalidValueError, check_answer
from docrail.dag.values.json_values import Json
from docrail.services.reviews.models import CLOSED, PersonsDecision, SettledItem, StepEnd, StepQuestion

DOCUMENT_ANSWERS: tuple[Json, ...] = ({"approved": True, "reason": ""}, {"approved": False, "reason": "…"})
"""The possible answers about a document; the reason is a placeholder."""


# A question counts if its step asked later than the stored one; at equal times, if only the end is stored (which stays
# the end), or if it hands the open item over. Repeated and late questions change nothing. Decisions are made in the
# document's item and copied here: a decided end is never copied back, because the document's item may have been
# reopened.
ASK = """
INSERT INTO reviews AS r (tenant_id, review_id, run_id, step_id, run_document_id, queue, title, form, show, band,
                          priority, due_at, asked_at, assignee_group, may_not_decide, approvals_needed, file_name,
                          parts, reasons, summary, document_review_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::float8, $12, $13, $14, $15, $17, $18, '{}', '[]', '{}',
        (SELECT review_id FROM reviews AS item
          WHERE item.tenant_id = $1 AND item.document_id = $5 AND $6 = 'documents' AND $16
            AND NOT EXISTS (SELECT FROM reviews AS other
                             WHERE other.tenant_id = $1 AND other.document_review_id = item.review_id
                               AND split_part(other.run_id, '~', 1) = split_part($3, '~', 1)
                               AND (other.run_id, other.step_id) <> ($3, $4)
                               AND (other.status = 'open'
                                    OR other.status = 'decided' AND item.status IN ('approved', 'rejected')))))
ON CONFLICT (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL DO UPDATE
   SET run_document_id = EXCLUDED.run_document_id, file_name = EXCLUDED.file_name,
       queue = EXCLUDED.queue, title = EXCLUDED.title, form = EXCLUDED.form, show = EXCLUDED.show,
       band = EXCLUDED.band, priority = EXCLUDED.priority,
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


# The document's item represents all open questions about it: it takes the queue of the most urgent one, and people who
# may not answer one of them cannot decide. It stays open while any question is, unless it was decided.
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
    """Open the step's item, or hand the open one over to another queue. An ended item stays unchanged.

    Its document's item represents it only if the step's form accepts decisions about documents, and only for one step
    of the run and of the runs around and inside it. The caller is in a transaction.
    """
    if question.document_id is not None:  # otherwise two concurrent questions could both take it
        await db.execute(LOCK_DOCUMENT, tenant_id, question.document_id)
    kept = await db.fetchrow(
        ASK,
        *(tenant_id, step_review_id(tenant_id, run_id, step_id), run_id, step_id, question.document_id),
        *(question.queue, question.title, question.form, question.show, question.band, question.priority),
        *(question.due_at, question.asked_at, question.group, question.may_not_decide, _takes(question.form)),
        *(question.approvals, question.file_name),
    )
    if kept is not None:
        await _show(db, tenant_id, kept["document_review_id"], kept["status"])


def _takes(form: dict[str, Json]) -> bool:
    """Check whether a form accepts both an approval of a document and a rejection with a reason."""
    try:
        for answer in DOCUMENT_ANSWERS:
            check_answer(form, answer)
    except InvalidValueError:
        return False
    return True


async def close_question(db: Database, tenant_id: str, run_id: str, step_id: str, end: StepEnd) -> SettledItem | None:
    """Close the step's item; an item that is not open yet stays closed. The caller is in a transaction.

    Return the document's item if it was closed too: it is not decided, and no other run asks about it.
    """
    item_id = await load_document_review(db, tenant_id, run_id, step_id)
    await db.execute(LOCK_ITEM, tenant_id, item_id)  # first, in the same order as when asking
    place = (tenant_id, step_review_id(tenant_id, run_id, step_id), run_id, step_id)
    kept = await db.fetchrow(CLOSE, *place, end.status, end.decision, end.decided_by, end.asked_at)
    return None if kept is None else await _show(db, tenant_id, kept["document_review_id"], kept["status"])


async def _show(db: Database, tenant_id: str, item_id: str | None, status: str) -> SettledItem | None:
    """Update the document's item after a change to a step's question; return it if that closed it."""
    if item_id is None:
        return None
    await db.execute(LOCK_ITEM, tenant_id, item_id)
    if await db.fetchval(SHOW_ASKED, tenant_id, item_id) is not None or status != CLOSED:
        return None
    row = await db.fetchrow(SETTLE, tenant_id, item_id)
    return SettledItem(**row) if row else None


async def load_document_review(db: Database, tenant_id: str, run_id: str, step_id: str) -> str | None:
    """Return the document's item that represents the step's open one; None if there is none."""
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
    """An earlier event of this question has not arrived yet."""


async def keep_decision(
    db: Database, tenant_id: str, run_id: str, step_id: str, *, asked_at: float, made: PersonsDecision
) -> str | None:
    """Store the decision, replacing the person's earlier one, and return the item's id.

    None: it was stored before, or the step has asked again since. The caller is in a transaction. Raises:
    TooEarlyError.
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
    others = [each for each in kept if not _people(PersonsDecision(**each)) & _people(made)]
    await db.execute(KEEP, tenant_id, row["review_id"], [*others, asdict(made)], made.by)
    return str(row["review_id"])


def _people(made: PersonsDecision) -> set[str]:
    """Return the names of those who may have made it."""
    return {made.by, made.known_to or made.by}
