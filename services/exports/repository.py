# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store exports and the documents of each."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from docrail.adapters.postgres.pool import Database
from docrail.services.exports.models import DocumentExport, Export, ExportOrder, StoredFile

_COLUMNS = """
tenant_id, export_id, status, wanted, documents, done, size_bytes, sha256, error, created_by, created_at, ended_at, path
"""

INSERT_EXPORT = f"""
INSERT INTO exports (tenant_id, export_id, wanted, documents, created_by) VALUES ($1, $2, $3, 0, $4)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}"""

INSERT_DOCUMENTS = """
INSERT INTO export_documents (tenant_id, export_id, position, document_id)
SELECT $1, $2, position, document_id FROM unnest($3::text[]) WITH ORDINALITY AS chosen (document_id, position)"""

SET_DOCUMENTS = f"UPDATE exports SET documents = $3 WHERE tenant_id = $1 AND export_id = $2 RETURNING {_COLUMNS}"

LOAD_EXPORT = f"SELECT {_COLUMNS} FROM exports WHERE tenant_id = $1 AND export_id = $2"

LOCK_EXPORT = f"{LOAD_EXPORT} FOR UPDATE"

LIST_EXPORTS = f"""
SELECT {_COLUMNS} FROM exports
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR (created_at, export_id) <
        (SELECT created_at, export_id FROM exports WHERE tenant_id = $1 AND export_id = $2))
 ORDER BY created_at DESC, export_id DESC
 LIMIT $3"""

COUNT_OPEN = "SELECT count(*) FROM exports WHERE tenant_id = $1 AND ended_at IS NULL"

LIST_OPEN = f"""
SELECT {_COLUMNS} FROM exports
 WHERE ended_at IS NULL AND created_at < now() - make_interval(secs => $1)
   AND ($3::text IS NULL OR (tenant_id, export_id) > ($3, $4))
 ORDER BY tenant_id, export_id
 LIMIT $2"""

LIST_DOCUMENTS = """
SELECT position, document_id FROM export_documents
 WHERE tenant_id = $1 AND export_id = $2 AND position > $3
 ORDER BY position
 LIMIT $4"""

REMOVE_DOCUMENTS = """
DELETE FROM export_documents WHERE tenant_id = $1 AND export_id = $2 AND document_id = ANY ($3::text[])"""

NOTE_DONE = "UPDATE exports SET done = $3 WHERE tenant_id = $1 AND export_id = $2 AND status = $4"

KEEP_FILE = """
UPDATE exports SET status = $3, documents = $4, done = $5, path = $6, sha256 = $7, size_bytes = $8,
       ended_at = CASE WHEN $3 = 'ready' THEN now() END
 WHERE tenant_id = $1 AND export_id = $2"""

END_EXPORT = """
UPDATE exports SET status = $3, error = $4, ended_at = now() WHERE tenant_id = $1 AND export_id = $2"""

LIST_OF_DOCUMENT = """
SELECT export_id, created_by, ended_at, wanted -> 'to' ->> 'format' AS format
  FROM export_documents JOIN exports USING (tenant_id, export_id)
 WHERE tenant_id = $1 AND document_id = $2 AND status = 'ready'
 ORDER BY ended_at"""

_ORDER = TypeAdapter(ExportOrder)
_EXPORT = TypeAdapter(Export)


async def insert_export(db: Database, tenant_id: str, export_id: str, order: ExportOrder, by: str) -> Export | None:
    """Store an export without documents; None if there is one of this id."""
    row = await db.fetchrow(INSERT_EXPORT, tenant_id, export_id, _ORDER.dump_python(order, mode="json"), by)
    return _export(row)


async def insert_documents(db: Database, tenant_id: str, export_id: str, document_ids: Sequence[str]) -> Export:
    """Store the documents of an export in their order. Call it in the transaction that inserted the export."""
    await db.execute(INSERT_DOCUMENTS, tenant_id, export_id, document_ids)
    found = _export(await db.fetchrow(SET_DOCUMENTS, tenant_id, export_id, len(document_ids)))
    assert found is not None, "was inserted in this transaction"
    return found


async def load_export(db: Database, tenant_id: str, export_id: str) -> Export | None:
    """Return the tenant's export, or None."""
    return _export(await db.fetchrow(LOAD_EXPORT, tenant_id, export_id))


async def lock_export(db: Database, tenant_id: str, export_id: str) -> Export | None:
    """Return the tenant's export, locked until the caller's transaction ends."""
    return _export(await db.fetchrow(LOCK_EXPORT, tenant_id, export_id))


async def list_exports(db: Database, tenant_id: str, *, limit: int, after: str | None) -> list[Export]:
    """Return exports, newest first; `after` is the id of the last one of the previous page."""
    return [_EXPORT.validate_python(dict(row)) for row in await db.fetch(LIST_EXPORTS, tenant_id, after, limit)]


async def count_open(db: Database, tenant_id: str) -> int:
    """Return how many exports of the tenant are being made or sent."""
    return int(await db.fetchval(COUNT_OPEN, tenant_id))


async def list_open(db: Database, *, older_than_seconds: float, limit: int, after: Export | None) -> list[Export]:
    """Return exports of ALL tenants that have not ended. For internal use only."""
    place = (after.tenant_id, after.export_id) if after else (None, None)
    rows = await db.fetch(LIST_OPEN, older_than_seconds, limit, *place)
    return [_EXPORT.validate_python(dict(row)) for row in rows]


async def list_documents(db: Database, tenant_id: str, export_id: str, *, after: int, limit: int) -> dict[int, str]:
    """Return the ids of documents by their positions, in this order."""
    rows = await db.fetch(LIST_DOCUMENTS, tenant_id, export_id, after, limit)
    return {row["position"]: row["document_id"] for row in rows}


async def remove_documents(db: Database, tenant_id: str, export_id: str, document_ids: Sequence[str]) -> None:
    """Remove documents from an export: they are not in its file."""
    await db.execute(REMOVE_DOCUMENTS, tenant_id, export_id, document_ids)


async def note_done(db: Database, export: Export, done: int) -> None:
    """Record how many documents are written or sent."""
    await db.execute(NOTE_DONE, export.tenant_id, export.export_id, done, export.status)


async def keep_file(db: Database, export: Export, status: str, documents: int, file: StoredFile) -> None:
    """Record the file of an export, and its status with it: `ready`, or `sending`."""
    done = documents if status == "ready" else 0
    values = (status, documents, done, *asdict(file).values())
    await db.execute(KEEP_FILE, export.tenant_id, export.export_id, *values)


async def end_export(db: Database, export: Export, status: str, error: str = "") -> None:
    """End an export."""
    await db.execute(END_EXPORT, export.tenant_id, export.export_id, status, error)


async def list_of_document(db: Database, tenant_id: str, document_id: str) -> list[DocumentExport]:
    """Return the exports that have the document, oldest first."""
    return [DocumentExport(**row) for row in await db.fetch(LIST_OF_DOCUMENT, tenant_id, document_id)]


def _export(row: Any) -> Export | None:
    return None if row is None else _EXPORT.validate_python(dict(row))
