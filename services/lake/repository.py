"""Assign lake versions: each saved state of a document has one number, however often it is saved."""

import hashlib
from collections.abc import Mapping

import asyncpg

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.model import InvoiceData
from docrail.services.lake.models import LakeVersion

CLAIM = """
WITH asked AS (
    SELECT asked.document_id, asked.content, last.version, last.saved_at, last.content AS last_content
      FROM unnest($2::text[], $3::text[]) AS asked (document_id, content)
      LEFT JOIN LATERAL (
          SELECT version, saved_at, content FROM lake_versions
           WHERE tenant_id = $1 AND document_id = asked.document_id
           ORDER BY version DESC
           LIMIT 1) AS last ON true),
made AS (
    INSERT INTO lake_versions (tenant_id, document_id, version, content)
    SELECT $1, document_id, coalesce(version, 0) + 1, content FROM asked WHERE last_content IS DISTINCT FROM content
     ORDER BY document_id -- concurrent statements lock in this order
    ON CONFLICT DO NOTHING
    RETURNING document_id, version, saved_at)
SELECT document_id, version, saved_at FROM made
UNION ALL
SELECT document_id, version, saved_at FROM asked WHERE last_content = content"""

IS_SAVED = "SELECT EXISTS (SELECT FROM lake_versions WHERE tenant_id = $1 AND document_id = $2)"


async def claim_versions(
    db: Database, tenant_id: str, states: Mapping[str, tuple[InvoiceData, str]]
) -> dict[str, LakeVersion]:
    """Return the version under which to save each document's invoice and status: its last one if nothing has changed.

    A repeated attempt thus writes the same bytes under the same name. Raises: NotStored if the tenant does not have one
    of the documents.
    """
    left = {document_id: _digest(*state) for document_id, state in states.items()}
    claimed: dict[str, LakeVersion] = {}
    while left:
        try:
            rows = await db.fetch(CLAIM, tenant_id, [*left], [*left.values()])
        except asyncpg.ForeignKeyViolationError:
            raise NotStored("document", ", ".join(left), tenant_id) from None
        for row in rows:
            name = row["document_id"]
            claimed[name] = LakeVersion(row["version"], row["saved_at"], states[name][1])
            del left[name]
        # Of those that are left, a concurrent caller took the number, perhaps for the same state.
    return claimed


async def is_saved(db: Database, tenant_id: str, document_id: str) -> bool:
    """Return whether the lake has a version of the document."""
    return await db.fetchval(IS_SAVED, tenant_id, document_id) is True


def _digest(invoice: InvoiceData, status: str) -> str:
    """Return the digest of a state as the lake stores it; without a decision it covers the invoice alone."""
    text = invoice.model_dump_json()
    return hashlib.sha256((text if status == "open" else f"{text}{status}").encode()).hexdigest()
