# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store documents: what was uploaded, by whom, when, and whether its run was started."""

import datetime as dt
from collections.abc import Mapping, Sequence

from docrail.adapters.postgres.pool import COMMITS_LATER, Database, is_alone
from docrail.adapters.store.blobs import BlobRef
from docrail.dag.values.json_values import Json
from docrail.services.documents.models import Document, DocumentConflict, OldOriginal, PartOf, UnendedDocument

_COLUMNS = """
tenant_id, document_id, sha256, size_bytes, media_type, file_name, sla_hours, received_at, run_id, run_started_at,
metrics_recorded_at, duplicate_of, definition, batch_id, inputs, source, uploaded_by, key_id,
original_removed_at, part_of, first_page, last_page,
ARRAY(SELECT p.document_id FROM documents AS p WHERE p.tenant_id = documents.tenant_id
         AND p.part_of = documents.document_id ORDER BY p.first_page) AS parts,
extract(epoch FROM clock_timestamp() - received_at)::float8 AS age_seconds"""

INSERT_DOCUMENT = f"""
INSERT INTO documents (tenant_id, document_id, sha256, size_bytes, media_type, file_name, sla_hours, run_id,
                       definition, source, uploaded_by, key_id, batch_id, inputs, part_of, first_page, last_page,
                       received_at, duplicate_of)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
        coalesce((SELECT received_at FROM documents WHERE tenant_id = $1 AND document_id = $15), now()),
        (SELECT document_id FROM documents WHERE tenant_id = $1 AND sha256 = $3 AND duplicate_of IS NULL))
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}"""

LOAD_DOCUMENT = f"SELECT {_COLUMNS} FROM documents WHERE tenant_id = $1 AND document_id = $2"

LOAD_DOCUMENTS = f"SELECT {_COLUMNS} FROM documents WHERE tenant_id = $1 AND document_id = ANY ($2::text[])"

LOAD_UNSTARTED = f"""
SELECT {_COLUMNS} FROM documents
 WHERE run_started_at IS NULL AND batch_id IS NULL AND received_at < now() - make_interval(secs => $1)
   AND ($3::timestamptz IS NULL OR (received_at, tenant_id, document_id) > ($3, $4, $5))
 ORDER BY received_at, tenant_id, document_id
 LIMIT $2"""

LOAD_UNENDED = """
SELECT document_id, run_started_at FROM documents
 WHERE ended_as IS NULL AND decision IS NULL AND run_started_at < now() - make_interval(secs => $1)
   AND ($3::timestamptz IS NULL OR (run_started_at, document_id) < ($3, $4::text))
 ORDER BY run_started_at DESC, document_id DESC
 LIMIT $2"""

LOAD_FILE_NAMES = """
SELECT document_id, file_name FROM documents WHERE tenant_id = $1 AND document_id = ANY ($2::text[])"""

MARK_ORIGINAL_SENT_AGAIN = f"""
UPDATE documents SET original_removed_at = NULL
 WHERE tenant_id = $1 AND document_id = $2 AND original_removed_at IS NOT NULL
RETURNING {_COLUMNS}"""

# Bytes belong to all documents that have them: the youngest decides, and one whose run has not started.
LOAD_OLD_ORIGINALS = """
SELECT sha256, min(received_at) AS received_at, array_agg(document_id) AS document_ids FROM documents
 WHERE sha256 IN (SELECT sha256 FROM documents WHERE received_at < $1 AND original_removed_at IS NULL)
   AND original_removed_at IS NULL
 GROUP BY sha256
HAVING max(received_at) < $1 AND bool_and(run_started_at IS NOT NULL)
   AND ($3::timestamptz IS NULL OR (min(received_at), sha256) > ($3, $4::text))
 ORDER BY min(received_at), sha256
 LIMIT $2"""

# An upload of the same bytes after they were deleted brings them back.
MARK_ORIGINAL_REMOVED = """
UPDATE documents SET original_removed_at = now()
 WHERE sha256 = $1 AND received_at < $2 AND original_removed_at IS NULL"""

# If it is lost, the run is started again, which changes nothing.
MARK_RUN_STARTED = f"""
UPDATE documents SET run_id = $3, run_started_at = now()
 WHERE tenant_id = $1 AND document_id = $2 AND run_started_at IS NULL
   AND {COMMITS_LATER.format(is_alone="$4")}
RETURNING true"""

MARK_RUNS_STARTED = """
UPDATE documents AS d SET run_id = r.run_id, run_started_at = r.started_at
  FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS r (document_id, run_id, started_at)
 WHERE d.tenant_id = $1 AND d.document_id = r.document_id AND d.run_started_at IS NULL"""

# A document that was read again meanwhile has another start, and ends with its later run. A run may end before its
# start is recorded.
MARK_ENDED = """
UPDATE documents AS d SET ended_as = $3
  FROM unnest($1::text[], $2::timestamptz[]) AS r (document_id, started_at)
 WHERE d.document_id = r.document_id AND d.ended_as IS NULL
   AND coalesce(d.run_started_at, r.started_at) = r.started_at"""

# Its run gets the time again that every run gets before it is looked for.
MARK_READ_AGAIN = """
UPDATE documents SET ended_as = NULL, run_started_at = now()
 WHERE tenant_id = $1 AND document_id = $2 AND run_started_at IS NOT NULL"""

# A document that is decided again is exported again.
MARK_DECIDED = """
UPDATE documents SET decision = $3, decided_at = CASE WHEN $3::text IS NOT NULL THEN now() END, export_id = NULL,
       exported_at = NULL
 WHERE tenant_id = $1 AND document_id = $2"""

INSERT_ATTEMPTS = 3
"""An insert loses at most once to the first upload of the same bytes, and then sees it."""


async def insert_document(
    db: Database,
    tenant_id: str,
    document_id: str,
    blob: BlobRef,
    *,
    media_type: str,
    file_name: str,
    sla_hours: float,
    run_id: str | None = None,
    definition: str | None = None,
    source: str = "",
    uploaded_by: str = "",
    key_id: str | None = None,
    batch_id: str | None = None,
    inputs: Mapping[str, Json] | None = None,
    part: PartOf | None = None,
) -> Document:
    """Store the upload and return its row. Repeating it returns the first row, with its original restored.

    A part was received when its file was.

    Raises: DocumentConflict if the id is taken by other bytes or another tenant.
    """
    values = (
        *(tenant_id, document_id, blob.sha256, blob.size, media_type, file_name, sla_hours, run_id),
        *(definition, source, uploaded_by, key_id, batch_id, dict(inputs or {})),
        *((part.document_id, part.pages.first, part.pages.last) if part else (None, None, None)),
    )
    for _ in range(INSERT_ATTEMPTS):
        row = await db.fetchrow(INSERT_DOCUMENT, *values)
        stored = Document(**row, is_new=True) if row else await load_document(db, tenant_id, document_id)
        if stored and stored.sha256 == blob.sha256:
            again = stored.original_removed_at and await db.fetchrow(MARK_ORIGINAL_SENT_AGAIN, tenant_id, document_id)
            return Document(**again) if again else stored
        if stored:
            break
    raise DocumentConflict(document_id)


async def load_document(db: Database, tenant_id: str, document_id: str) -> Document | None:
    """Return the tenant's document, or None."""
    row = await db.fetchrow(LOAD_DOCUMENT, tenant_id, document_id)
    return Document(**row) if row else None


async def load_documents(db: Database, tenant_id: str, document_ids: Sequence[str]) -> dict[str, Document]:
    """Return the tenant's documents with these ids, by id."""
    rows = await db.fetch(LOAD_DOCUMENTS, tenant_id, document_ids)
    return {row["document_id"]: Document(**row) for row in rows}


async def load_file_names(db: Database, tenant_id: str, document_ids: Sequence[str]) -> dict[str, str]:
    """Return the file names of the tenant's documents with these ids, by id."""
    if not document_ids:
        return {}
    rows = await db.fetch(LOAD_FILE_NAMES, tenant_id, document_ids)
    return {row["document_id"]: row["file_name"] for row in rows}


async def load_unstarted(
    db: Database, *, older_than_seconds: float, limit: int = 100, after: Document | None = None
) -> list[Document]:
    """Return documents of ALL tenants whose run was never started, oldest first, starting after `after`.

    For the sweep that starts the runs of interrupted uploads; each row names its tenant. For internal use only.
    """
    key = (after.received_at, after.tenant_id, after.document_id) if after else (None, None, None)
    return [Document(**row) for row in await db.fetch(LOAD_UNSTARTED, older_than_seconds, limit, *key)]


async def load_unended(
    db: Database, *, older_than_seconds: float, limit: int, after: UnendedDocument | None = None
) -> list[UnendedDocument]:
    """Return undecided documents of ALL tenants that have an open run as far as is known, the latest first.

    `after` is the last one of the previous page. For the sweep that asks for their ends; for internal use only.
    """
    key = (after.run_started_at, after.document_id) if after else (None, None)
    return [UnendedDocument(**row) for row in await db.fetch(LOAD_UNENDED, older_than_seconds, limit, *key)]


async def load_old_originals(
    db: Database, before: dt.datetime, limit: int, after: OldOriginal | None = None
) -> list[OldOriginal]:
    """Return bytes, of ALL tenants, whose documents were all received before and have a run; oldest first.

    `after` is the last one of the previous page.
    """
    key = (after.received_at, after.sha256) if after else (None, None)
    return [OldOriginal(**row) for row in await db.fetch(LOAD_OLD_ORIGINALS, before, limit, *key)]


async def mark_run_started(db: Database, tenant_id: str, document_id: str, run_id: str) -> bool:
    """Record that the document's run was started. True the first time; later calls return False and change nothing."""
    return await db.fetchval(MARK_RUN_STARTED, tenant_id, document_id, run_id, is_alone(db)) is True


async def mark_runs_started(db: Database, tenant_id: str, runs: Sequence[tuple[UnendedDocument, str]]) -> None:
    """Record that documents' runs were started, and when; later calls change nothing."""
    ids, starts = [each.document_id for each, _ in runs], [each.run_started_at for each, _ in runs]
    await db.execute(MARK_RUNS_STARTED, tenant_id, ids, [run_id for _, run_id in runs], starts)


async def mark_ended(db: Database, documents: Sequence[UnendedDocument], status: str) -> None:
    """Record, for documents of ALL tenants, the status in which the runs that were started then have ended."""
    ids, starts = [each.document_id for each in documents], [each.run_started_at for each in documents]
    await db.execute(MARK_ENDED, ids, starts, status)


async def mark_read_again(db: Database, tenant_id: str, document_id: str) -> None:
    """Record that another run of the document starts, or an ended one again."""
    await db.execute(MARK_READ_AGAIN, tenant_id, document_id)


async def mark_decided(db: Database, tenant_id: str, document_id: str, decision: str | None) -> None:
    """Record how the document was decided, None if that was withdrawn. Call it in the decision's transaction."""
    await db.execute(MARK_DECIDED, tenant_id, document_id, decision)


async def mark_original_removed(db: Database, sha256: str, before: dt.datetime) -> None:
    """Note that the bytes are gone, for all documents received before that had them."""
    await db.execute(MARK_ORIGINAL_REMOVED, sha256, before)
