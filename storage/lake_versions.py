"""The lake_versions table: each state of a document that was saved has a number, the same however often it is saved."""

import datetime as dt
import hashlib
from dataclasses import dataclass

import asyncpg

from invoices.model import InvoiceData
from storage.db import Database, NotStored

LATEST = """
SELECT version, saved_at, content FROM lake_versions WHERE tenant_id = $1 AND document_id = $2
 ORDER BY version DESC
 LIMIT 1"""
INSERT = """
INSERT INTO lake_versions (tenant_id, document_id, version, content) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING version, saved_at"""


@dataclass(frozen=True, slots=True)
class LakeVersion:
    """One state of a document in the lake. Numbers begin at 1; what is older than numbers counts as 0."""

    number: int
    saved_at: dt.datetime


async def claim_version(db: Database, tenant_id: str, invoice: InvoiceData) -> LakeVersion:
    """Return the version under which to save `invoice`: that of the document's last one if nothing has changed since.

    So an attempt that is repeated writes the same bytes under the same name. Raises: NotStored if the tenant has no
    such document.
    """
    content = hashlib.sha256(invoice.model_dump_json().encode()).hexdigest()
    while True:
        last = await db.fetchrow(LATEST, tenant_id, invoice.document_id)
        if last and last["content"] == content:
            return LakeVersion(last["version"], last["saved_at"])
        number = last["version"] + 1 if last else 1
        try:
            row = await db.fetchrow(INSERT, tenant_id, invoice.document_id, number, content)
        except asyncpg.ForeignKeyViolationError:
            raise NotStored("document", invoice.document_id, tenant_id) from None
        if row:
            return LakeVersion(row["version"], row["saved_at"])
        # Somebody else took the number at this moment: perhaps for the same state.
