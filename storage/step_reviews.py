"""Review items of human steps. Each statement may run twice, late or in any order: the run's clock decides."""

import datetime as dt
import hashlib
from dataclasses import dataclass

from dag.values import Json
from storage.db import Database

DECIDED, CLOSED = "decided", "closed"
"""How a step's item ends: a person decided, or its run does not ask any more."""

FIRST, ESCALATED = 0, 1
"""Bands of an item: one that nobody answered in time goes before those of its new queue."""

# A question counts if its step asked later than what is stored; or at the same time, if only the end is stored, which
# stays the end, or if it hands the open item on. A repetition, and one that comes late, changes nothing.
ASK = """
INSERT INTO reviews AS r (tenant_id, review_id, run_id, step_id, run_document_id, queue, title, form, show, band,
                          priority, due_at, asked_at, assignee_group, may_not_decide, parts, reasons, summary)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::float8, $12, $13, $14, $15, '{}', '[]', '{}')
ON CONFLICT (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL DO UPDATE
   SET run_document_id = EXCLUDED.run_document_id, queue = EXCLUDED.queue, title = EXCLUDED.title,
       form = EXCLUDED.form, show = EXCLUDED.show, band = EXCLUDED.band, priority = EXCLUDED.priority,
       due_at = EXCLUDED.due_at, asked_at = EXCLUDED.asked_at, updated_at = now(),
       assignee_group = EXCLUDED.assignee_group, may_not_decide = EXCLUDED.may_not_decide,
       status = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN 'open' ELSE r.status END,
       decision = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN NULL ELSE r.decision END,
       decided_by = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN NULL ELSE r.decided_by END,
       closed_at = CASE WHEN r.asked_at < EXCLUDED.asked_at THEN NULL ELSE r.closed_at END
 WHERE r.asked_at < EXCLUDED.asked_at
    OR (r.asked_at = EXCLUDED.asked_at AND (r.title = '' OR (r.status = 'open' AND r.band < EXCLUDED.band)))"""
CLOSE = """
INSERT INTO reviews AS r (tenant_id, review_id, run_id, step_id, status, decision, decided_by, asked_at, closed_at,
                          priority, parts, reasons, summary)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), 0, '{}', '[]', '{}')
ON CONFLICT (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL DO UPDATE
   SET status = EXCLUDED.status, decision = EXCLUDED.decision, decided_by = EXCLUDED.decided_by,
       asked_at = EXCLUDED.asked_at, closed_at = EXCLUDED.closed_at, updated_at = now()
 WHERE r.asked_at < EXCLUDED.asked_at OR (r.asked_at = EXCLUDED.asked_at AND r.status = 'open')"""


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
    document_id: str | None = None
    band: int = FIRST


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How the asking that began at `asked_at` ended."""

    status: str
    asked_at: float
    decision: Json = None
    decided_by: str | None = None


def step_review_id(tenant_id: str, run_id: str, step_id: str) -> str:
    """Return the id of a human step's review item: the same on every attempt."""
    return "rev_" + hashlib.sha256(f"{tenant_id}/{run_id}/{step_id}".encode()).hexdigest()[:26]


async def ask_question(db: Database, tenant_id: str, run_id: str, step_id: str, question: StepQuestion) -> None:
    """Open the step's item, or hand the open one on to another queue. One that has ended stays as it ended."""
    await db.execute(
        ASK,
        *(tenant_id, step_review_id(tenant_id, run_id, step_id), run_id, step_id, question.document_id),
        *(question.queue, question.title, question.form, question.show, question.band, question.priority),
        *(question.due_at, question.asked_at, question.group, question.may_not_decide),
    )


async def close_question(db: Database, tenant_id: str, run_id: str, step_id: str, end: StepEnd) -> None:
    """Close the step's item; one that is not open yet will never be."""
    place = (tenant_id, step_review_id(tenant_id, run_id, step_id), run_id, step_id)
    await db.execute(CLOSE, *place, end.status, end.decision, end.decided_by, end.asked_at)
