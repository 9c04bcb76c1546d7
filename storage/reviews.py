# ruff: noqa: S608  # the only thing formatted into a statement is the constant list of columns
"""The reviews table: one question to a person for each document, most urgent first."""

import datetime as dt
import hashlib
from dataclasses import dataclass

import asyncpg

from dag.values import Json
from storage.db import Database, NotStored

OPEN = "open"

_COLUMNS = """
tenant_id, review_id, document_id, run_id, status, band, priority::float8 AS priority, parts, reasons, summary, due_at,
created_at, updated_at"""

UPSERT_REVIEW = f"""
INSERT INTO reviews (tenant_id, review_id, document_id, run_id, band, priority, parts, reasons, summary, due_at)
VALUES ($1, $2, $3, $4, $5, $6::float8, $7, $8, $9, $10)
ON CONFLICT (document_id) DO UPDATE
   SET run_id = EXCLUDED.run_id, band = EXCLUDED.band, priority = EXCLUDED.priority, parts = EXCLUDED.parts,
       reasons = EXCLUDED.reasons, summary = EXCLUDED.summary, due_at = EXCLUDED.due_at, updated_at = now()
 WHERE reviews.tenant_id = EXCLUDED.tenant_id AND reviews.status = 'open'
RETURNING {_COLUMNS}"""
LOAD_REVIEW = f"SELECT {_COLUMNS} FROM reviews WHERE tenant_id = $1 AND review_id = $2"
LIST_REVIEWS = f"""
SELECT {_COLUMNS} FROM reviews
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR status = $2)
   AND ($4::text IS NULL OR (-band, -priority, created_at, review_id) >
        (SELECT -band, -priority, created_at, review_id FROM reviews WHERE tenant_id = $1 AND review_id = $4))
 ORDER BY -band, -priority, created_at, review_id
 LIMIT $3"""


@dataclass(frozen=True, slots=True)
class Question:
    """What a review item shows. Items of a higher band come first, then by `priority` (0 to 100)."""

    run_id: str
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    due_at: dt.datetime
    band: int = 0


@dataclass(frozen=True, slots=True)
class Review:
    """A stored review item."""

    tenant_id: str
    review_id: str
    document_id: str
    run_id: str
    status: str
    band: int
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    due_at: dt.datetime
    created_at: dt.datetime
    updated_at: dt.datetime


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


async def list_reviews(
    db: Database, tenant_id: str, *, status: str | None = OPEN, limit: int = 100, after: str | None = None
) -> list[Review]:
    """Return the tenant's review items, most urgent first; `after` is the last review id of the page before.

    `status` None lists all.
    """
    return [Review(**row) for row in await db.fetch(LIST_REVIEWS, tenant_id, status, limit, after)]
