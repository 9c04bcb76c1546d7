# ruff: noqa: S608  # the only thing formatted into a statement is the constant list of columns
"""The reviews table: one question to a person for each document and each human step, most urgent first."""

import datetime as dt
import hashlib
from dataclasses import dataclass

import asyncpg

from dag.values import Json
from storage.db import Database, NotStored

OPEN = "open"
DOCUMENT, STEP = "document", "step"
"""The kinds of items: what asks."""

COLUMNS = """
tenant_id, review_id, coalesce(document_id, run_document_id) AS document_id, run_id, step_id, queue, title, status,
band, priority::float8 AS priority, parts, reasons, summary, assignee_group AS "group", may_not_decide, decided_by,
due_at, created_at, updated_at, closed_at"""
"""All but what may be long: form, show and decision."""

UPSERT_REVIEW = f"""
INSERT INTO reviews (tenant_id, review_id, document_id, run_id, band, priority, parts, reasons, summary, due_at)
VALUES ($1, $2, $3, $4, $5, $6::float8, $7, $8, $9, $10)
ON CONFLICT (document_id) DO UPDATE
   SET run_id = EXCLUDED.run_id, band = EXCLUDED.band, priority = EXCLUDED.priority, parts = EXCLUDED.parts,
       reasons = EXCLUDED.reasons, summary = EXCLUDED.summary, due_at = EXCLUDED.due_at, updated_at = now()
 WHERE reviews.tenant_id = EXCLUDED.tenant_id AND reviews.status = 'open'
RETURNING {COLUMNS}"""
LOAD_REVIEW = f"SELECT {COLUMNS} FROM reviews WHERE tenant_id = $1 AND review_id = $2"
LOAD_CONTENT = "SELECT form, show, decision FROM reviews WHERE tenant_id = $1 AND review_id = $2"
LIST_REVIEWS = f"""
SELECT {COLUMNS} FROM reviews
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR status = $2)
   AND ($5::text IS NULL OR queue = $5)
   AND ($6::text IS NULL OR (step_id IS NOT NULL) = ($6 = 'step'))
   AND ($7::text IS NULL OR assignee_group = $7)
   AND ($4::text IS NULL OR (-band, -priority, created_at, review_id) >
        (SELECT -band, -priority, created_at, review_id FROM reviews WHERE tenant_id = $1 AND review_id = $4))
 ORDER BY -band, -priority, created_at, review_id
 LIMIT $3"""


@dataclass(frozen=True, slots=True)
class Question:
    """What a document's review item shows. Items of a higher band come first, then by `priority` (0 to 100)."""

    run_id: str
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    due_at: dt.datetime
    band: int = 0


@dataclass(frozen=True, slots=True)
class Review:
    """A stored review item: a document's, or of the human step `step_id` of the run `run_id`."""

    tenant_id: str
    review_id: str
    document_id: str | None
    """Of a step's item the document of its run, if it has one."""
    run_id: str
    step_id: str | None
    queue: str
    title: str
    status: str
    """`open`; a step's item ends as `decided`, or as `closed` if its run does not ask any more."""
    band: int
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    group: str | None
    """The people that it is for; None: no people in particular."""
    may_not_decide: list[str]
    """Names of principals whose decision the run does not take."""
    decided_by: str | None
    due_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime
    closed_at: dt.datetime | None

    @property
    def kind(self) -> str:
        """What asks: `document` or `step`."""
        return DOCUMENT if self.step_id is None else STEP


@dataclass(frozen=True, slots=True)
class ReviewContent:
    """What may be long of an item: the form that a decision must fit, what is shown beside it, the decision."""

    form: dict[str, Json]
    show: dict[str, Json]
    decision: Json


def review_id_of(tenant_id: str, document_id: str) -> str:
    """Return the id of a document's review item: the same on every attempt."""
    return "rev_" + hashlib.sha256(f"{tenant_id}/{document_id}".encode()).hexdigest()[:26]


async def upsert_review(db: Database, tenant_id: str, document_id: str, question: Question) -> Review:
    """Open the document's review item, or renew the open one. An item that was decided stays as it was decided.

    Raises: NotStored if the tenant has no such document.
    """
    review_id = review_id_of(tenant_id, document_id)
    ordering = (question.band, question.priority)
    content = (question.parts, question.reasons, question.summary, question.due_at)
    try:
        row = await db.fetchrow(UPSERT_REVIEW, tenant_id, review_id, document_id, question.run_id, *ordering, *content)
    except asyncpg.ForeignKeyViolationError:
        raise NotStored("document", document_id, tenant_id) from None
    stored = Review(**row) if row else await load_review(db, tenant_id, review_id)
    if stored is None:
        raise NotStored("document", document_id, tenant_id)
    return stored


async def load_review(db: Database, tenant_id: str, review_id: str) -> Review | None:
    """Return the tenant's review item, None if it has none of this id."""
    row = await db.fetchrow(LOAD_REVIEW, tenant_id, review_id)
    return Review(**row) if row else None


async def load_content(db: Database, tenant_id: str, review_id: str) -> ReviewContent | None:
    """Return what the tenant's review item asks and shows, None if it has none of this id."""
    row = await db.fetchrow(LOAD_CONTENT, tenant_id, review_id)
    return ReviewContent(row["form"] or {}, row["show"] or {}, row["decision"]) if row else None


async def list_reviews(
    db: Database,
    tenant_id: str,
    *,
    status: str | None = OPEN,
    queue: str | None = None,
    kind: str | None = None,
    group: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> list[Review]:
    """Return the tenant's review items, most urgent first; `after` is the last review id of the page before.

    `status`, `queue`, `kind` and `group` None list all.
    """
    found = await db.fetch(LIST_REVIEWS, tenant_id, status, limit, after, queue, kind, group)
    return [Review(**row) for row in found]
