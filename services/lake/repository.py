"""Assign lake versions: each saved state of a document has one number, however often it is saved."""

import hashlib

import asyncpg

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.model import InvoiceData
from docrail.services.lake.models import LakeVersion

CLAIM = """
WITH last AS (
    SELECT version, saved_at, content FROM lake_versions WHERE tenant_id = $1 AND document_id = $2
     ORDER BY version DESC
     LIMIT 1),
made AS (
    INSERT INTO lake_versions (tenant_id, document_id, version, content)
    SELECT $1, $2, coalesce((SELECT version FROM last), 0) + 1, $3
     WHERE NOT EXISTS (SELECT FROM last WHERE content = $3)
    ON CONFLICT DO NOTHING
    RETURNING version, saved_at)
SELECT version, saved_at FROM made
UNION ALL
SELECT version, saved_at FROM last WHERE content = $3"""

IS_SAVED = "SELECT EXISTS (SELECT FROM lake_versions WHERE tenant_id = $1 AND document_id = $2)"


async def claim_version(db: Database, tenant_id: str, invoice: InvoiceData, status: str = "open") -> LakeVersion:
    """Return the version under which to save `invoice`: the document's last one if nothing has changed since.

    A repeated attempt thus writes the same bytes under the same name. Raises: NotStored if the tenant has no such
    document.
    """
    content = _digest(invoice, status)
    while True:
        try:
            row = await db.fetchrow(CLAIM, tenant_id, invoice.document_id, content)
        except asyncpg.ForeignKeyViolationError:
            raise NotStored("document", invoice.document_id, tenant_id) from None
        if row is not None:
            return LakeVersion(row["version"], row["saved_at"], status)
        # A concurrent caller took the number, perhaps for the same state.


async def is_saved(db: Database, tenant_id: str, document_id: str) -> bool:
    """Return whether the lake has a version of the document."""
    return await db.fetchval(IS_SAVED, tenant_id, document_id) is True


def _digest(invoice: InvoiceData, status: str) -> str:
    """Return the digest of a state as the lake stores it; without a decision it covers the invoice alone."""
    text = invoice.model_dump_json()
    return hashlib.sha256((text if status == "open" else f"{text}{status}").encode()).hexdigest()
