"""Store corrections: the fields of a document that people locked, their values, and undone changes."""

from docrail.adapters.postgres.pool import Database
from docrail.invoices.assessment.corrections import Correction
from docrail.services.documents.models import Change, StoredChange

INSERT = """
INSERT INTO corrections (tenant_id, document_id, field, act, value, read_value, read_source, page, box, corrected_by,
                         why)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING correction_id"""

LOAD_LOCKS = """
SELECT field, value, corrected_by, corrected_at, why, page, box
  FROM (SELECT DISTINCT ON (field) * FROM corrections
         WHERE tenant_id = $1 AND document_id = $2 AND undone_at IS NULL
         ORDER BY field, correction_id DESC) AS last
 WHERE act = 'lock'
 ORDER BY correction_id"""

LOAD_HISTORY = """
SELECT correction_id, field, act, value, read_value, read_source, corrected_by, corrected_at, why, undone_at
  FROM corrections WHERE tenant_id = $1 AND document_id = $2 ORDER BY correction_id"""

UNDO_LAST = """
UPDATE corrections SET undone_at = clock_timestamp()
 WHERE correction_id = (SELECT max(correction_id) FROM corrections
                         WHERE tenant_id = $1 AND document_id = $2 AND undone_at IS NULL)
   AND corrected_by = $3
RETURNING correction_id, field, act, value, read_value, read_source, corrected_by, corrected_at, why, undone_at"""


async def load_corrections(db: Database, tenant_id: str, document_id: str) -> list[Correction]:
    """Return the document's locked fields, in the order in which they were locked."""
    return [
        Correction(
            field=row["field"],
            value=row["value"],
            by=row["corrected_by"],
            at=row["corrected_at"],
            why=row["why"],
            page=row["page"],
            box=None if row["box"] is None else tuple(row["box"]),
        )
        for row in await db.fetch(LOAD_LOCKS, tenant_id, document_id)
    ]


async def insert_change(db: Database, tenant_id: str, document_id: str, change: Change) -> int:
    """Store a change and return its number."""
    read = (change.read_value, change.read_source)
    place = (change.page, None if change.box is None else list(change.box))
    values = (change.field, change.act, change.value, *read, *place, change.by, change.why)
    number: int = await db.fetchval(INSERT, tenant_id, document_id, *values)
    return number


async def undo_last(db: Database, tenant_id: str, document_id: str, by: str) -> StoredChange | None:
    """Undo the document's last change if it is this person's, and return it; None if there is nothing to undo."""
    row = await db.fetchrow(UNDO_LAST, tenant_id, document_id, by)
    return StoredChange(**row) if row else None


async def load_changes(db: Database, tenant_id: str, document_id: str) -> list[StoredChange]:
    """Return every change of the document, including undone ones, oldest first."""
    return [StoredChange(**row) for row in await db.fetch(LOAD_HISTORY, tenant_id, document_id)]
