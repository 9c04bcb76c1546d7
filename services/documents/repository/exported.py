# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Choose approved documents for an export, and mark those that have been exported.

A document belongs to the first export that takes it (`export_id`) and is exported once that one has its file
(`exported_at`); a new decision forgets both.
"""

from collections.abc import Sequence

from docrail.adapters.postgres.pool import Database
from docrail.services.documents.models import ApprovedFilter, ApprovedSum, PeriodOf

_CHOSEN = """
  FROM documents d LEFT JOIN seen_invoices s ON s.tenant_id = $1 AND s.document_id = d.document_id
 WHERE d.tenant_id = $1 AND d.decision = 'approved' AND (NOT $2 OR d.export_id IS NULL)
   AND ($4::timestamptz IS NULL OR CASE WHEN $3 = 'received' THEN d.received_at ELSE d.decided_at END >= $4)
   AND ($5::timestamptz IS NULL OR CASE WHEN $3 = 'received' THEN d.received_at ELSE d.decided_at END < $5)
   AND ($6::date IS NULL OR s.issued_on >= $6) AND ($7::date IS NULL OR s.issued_on < $7)"""

LIST_APPROVED = f"SELECT d.document_id {_CHOSEN} ORDER BY d.decided_at, d.document_id LIMIT $8"

SUM_APPROVED = f"""
SELECT s.currency, count(*) AS documents, count(d.export_id) AS exported, coalesce(sum(s.total), 0) AS total
 {_CHOSEN} GROUP BY s.currency ORDER BY documents DESC, s.currency"""

# Of two exports at the same time, one takes a new document: the other waits for its row and then finds it taken.
TAKE_APPROVED = f"""
WITH chosen AS (
    SELECT d.document_id, d.decided_at {_CHOSEN} ORDER BY d.decided_at, d.document_id LIMIT $8 FOR UPDATE OF d
), taken AS (
    UPDATE documents AS d SET export_id = $9 FROM chosen AS c
     WHERE d.tenant_id = $1 AND d.document_id = c.document_id AND d.export_id IS NULL
)
SELECT document_id FROM chosen ORDER BY decided_at, document_id"""

MARK_TAKEN_EXPORTED = """
UPDATE documents SET exported_at = now() WHERE tenant_id = $1 AND export_id = $2 AND exported_at IS NULL"""

GIVE_BACK = """
UPDATE documents SET export_id = NULL
 WHERE tenant_id = $1 AND export_id = $2 AND exported_at IS NULL AND ($3::text[] IS NULL OR document_id = ANY ($3))"""


async def list_approved(db: Database, tenant_id: str, wanted: ApprovedFilter, *, limit: int) -> list[str]:
    """Return the ids of the first documents, earliest approval first."""
    return [row["document_id"] for row in await db.fetch(LIST_APPROVED, tenant_id, *_given(wanted), limit)]


async def sum_approved(db: Database, tenant_id: str, wanted: ApprovedFilter) -> list[ApprovedSum]:
    """Return the numbers and totals by currency, the most frequent one first."""
    return [ApprovedSum(**row) for row in await db.fetch(SUM_APPROVED, tenant_id, *_given(wanted))]


async def take_approved(
    db: Database, tenant_id: str, wanted: ApprovedFilter, export_id: str, *, limit: int
) -> list[str]:
    """Give the documents that no export has to this one, and return the ids of all, earliest approval first."""
    rows = await db.fetch(TAKE_APPROVED, tenant_id, *_given(wanted), limit, export_id)
    return [row["document_id"] for row in rows]


async def mark_taken_exported(db: Database, tenant_id: str, export_id: str) -> None:
    """Record that the documents of the export are exported."""
    await db.execute(MARK_TAKEN_EXPORTED, tenant_id, export_id)


async def give_back(db: Database, tenant_id: str, export_id: str, document_ids: Sequence[str] | None = None) -> None:
    """Let other exports take the documents, or those with these ids, unless they are exported."""
    await db.execute(GIVE_BACK, tenant_id, export_id, document_ids)


def _given(wanted: ApprovedFilter) -> tuple[object, ...]:
    ends = (wanted.since, wanted.before)
    by_date = wanted.of is PeriodOf.INVOICE_DATE
    return (
        wanted.only_new,
        wanted.of.value,
        *((None, None) if by_date else ends),
        *(ends if by_date else (None, None)),
    )
