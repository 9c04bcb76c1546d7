"""Read how the review of a document stands."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from docrail.adapters.postgres.pool import Database
from docrail.invoices.model import InvoiceData
from docrail.services.reviews.models import APPROVED, REJECTED

LOAD_STANDING = """
SELECT document_id, status, revision, decided_invoice::text FROM reviews
 WHERE tenant_id = $1 AND document_id = ANY ($2::text[])"""


LOAD_OPEN_DOCUMENTS = "SELECT document_id FROM reviews WHERE document_id = ANY ($1::text[]) AND status = 'open'"


LOCK_REVISIONS = """
SELECT document_id, revision FROM reviews WHERE tenant_id = $1 AND document_id = ANY ($2::text[])
 ORDER BY document_id FOR SHARE"""


LOAD_APPROVED = """
SELECT document_id, decided_by, closed_at, decided_invoice::text FROM reviews
 WHERE tenant_id = $1 AND document_id = ANY ($2::text[]) AND status = 'approved' AND decided_invoice IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class ApprovedDocument:
    """A document as it was approved; `decided_invoice` is the JSON text of an InvoiceData."""

    document_id: str
    decided_by: str
    closed_at: dt.datetime
    decided_invoice: str


async def load_approved(db: Database, tenant_id: str, document_ids: Sequence[str]) -> dict[str, ApprovedDocument]:
    """Return those of the documents that are approved, by id."""
    rows = await db.fetch(LOAD_APPROVED, tenant_id, document_ids)
    return {row["document_id"]: ApprovedDocument(**row) for row in rows}


async def load_standing(
    db: Database, tenant_id: str, document_ids: Sequence[str]
) -> dict[str, tuple[str, int, InvoiceData | None]]:
    """Return `approved`, `rejected` or `open`, the review's revision, and the document as it was decided, by id."""
    rows = {row["document_id"]: row for row in await db.fetch(LOAD_STANDING, tenant_id, document_ids)}
    return {name: _standing(rows.get(name)) for name in document_ids}


def _standing(row: asyncpg.Record | None) -> tuple[str, int, InvoiceData | None]:
    if row is None:
        return "open", 0, None
    if row["status"] not in (APPROVED, REJECTED):
        return "open", row["revision"], None
    decided = row["decided_invoice"]
    return row["status"], row["revision"], InvoiceData.model_validate_json(decided) if decided else None


async def load_open_documents(db: Database, document_ids: Sequence[str]) -> set[str]:
    """Return which of these documents, of ANY tenant, have an open review. For internal use only."""
    return {row["document_id"] for row in await db.fetch(LOAD_OPEN_DOCUMENTS, document_ids)}


async def lock_revisions(db: Database, tenant_id: str, document_ids: Sequence[str]) -> dict[str, int]:
    """Return the revisions of the documents' reviews; no one changes them until the caller's transaction ends."""
    return {row["document_id"]: row["revision"] for row in await db.fetch(LOCK_REVISIONS, tenant_id, document_ids)}
