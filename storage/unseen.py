# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Notes what documents say that were read before anything was compared, so that new ones are compared with them too."""

import logging

from invoices.duplicates import seen_of
from invoices.merge import merge
from invoices.model import InvoiceData
from storage.corrections import load_corrections
from storage.db import Database
from storage.extractions import BEST_FIRST, CURRENT_READER

BATCH = 200
"""Half a second's work, so that whoever does it is free for others in between."""
LOAD_UNSEEN = f"""
SELECT d.tenant_id, d.document_id, d.sha256, d.received_at, read.data
  FROM documents AS d
 CROSS JOIN LATERAL (SELECT p.data::text AS data FROM processed_documents AS p
                      WHERE p.tenant_id = d.tenant_id AND p.sha256 = d.sha256 ORDER BY {BEST_FIRST} LIMIT 1) AS read
 WHERE NOT EXISTS (SELECT FROM seen_invoices AS s
                    WHERE s.tenant_id = d.tenant_id AND s.document_id = d.document_id)
   AND d.document_id > $2
 ORDER BY d.document_id
 LIMIT $1"""
# Seen when it came: what came later is the later one, whenever this was noted.
NOTE_UNSEEN = """
INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, number_key, vat_id, iban, name_key, total,
                           issued_on, seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING"""

log = logging.getLogger(__name__)


async def note_unseen(db: Database, after: str = "") -> str | None:
    """Note what the next documents of ALL tenants say, by id; return the last one, None once there are no more.

    Safe to repeat, and to do by several at once. A reading that this code cannot understand is left out.
    """
    rows = await db.fetch(LOAD_UNSEEN, BATCH, after, CURRENT_READER)
    for row in rows:
        tenant_id, document_id = row["tenant_id"], row["document_id"]
        try:
            read = InvoiceData.model_validate_json(row["data"]).for_document(document_id)
            own = seen_of(merge(read, await load_corrections(db, tenant_id, document_id)), row["sha256"])
        except ValueError as error:
            log.warning("document %s is not compared with others: %s", document_id, error)
            continue
        which = (tenant_id, document_id, own.sha256, own.document_type.value)
        what = (own.number_key, own.vat_id, own.iban, own.name_key, own.total, own.issued_on)
        await db.execute(NOTE_UNSEEN, *which, *what, row["received_at"])
    return rows[-1]["document_id"] if rows else None
