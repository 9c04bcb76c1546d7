"""Assign lake versions: each saved state of a document has one number, however often it is saved.

Also lists the documents that were decided or corrected since their last lake version; there is no other list of those.
"""

import datetime as dt
import hashlib

import asyncpg

from docrail.adapters.postgres.pool import Database, NotStored, transaction
from docrail.invoices.model import InvoiceData
from docrail.services.documents.assessed import load_arrived
from docrail.services.documents.models import Standing
from docrail.services.documents.repository.readings import ReadingKey
from docrail.services.lake.models import LakeVersion, StandingChanged, Unfiled

# Holds a share lock on the review's row: a decision or correction commits either before this or after it.
CLAIM = """
WITH review AS (
    SELECT revision FROM reviews WHERE tenant_id = $1 AND document_id = $2 FOR SHARE),
known AS (SELECT coalesce((SELECT revision FROM review), 0) = $4 AS is_current),
last AS (
    SELECT version, saved_at, content FROM lake_versions WHERE tenant_id = $1 AND document_id = $2
     ORDER BY version DESC
     LIMIT 1),
made AS (
    INSERT INTO lake_versions (tenant_id, document_id, version, content)
    SELECT $1, $2, coalesce((SELECT version FROM last), 0) + 1, $3
     WHERE (SELECT is_current FROM known) AND NOT EXISTS (SELECT FROM last WHERE content = $3)
    ON CONFLICT DO NOTHING
    RETURNING version, saved_at),
claimed AS (
    SELECT version, saved_at FROM made
    UNION ALL
    SELECT version, saved_at FROM last WHERE content = $3)
SELECT is_current, version, saved_at FROM known LEFT JOIN claimed ON true"""


NEW = Standing()


async def claim_version(db: Database, tenant_id: str, invoice: InvoiceData, standing: Standing = NEW) -> LakeVersion:
    """Return the version under which to save `invoice`: the document's last one if nothing has changed since.

    A repeated attempt thus writes the same bytes under the same name. Raises: NotStored if the tenant has no
    such document, StandingChanged.
    """
    content = _digest(invoice, standing.status)
    while True:
        try:
            row = await db.fetchrow(CLAIM, tenant_id, invoice.document_id, content, standing.revision)
        except asyncpg.ForeignKeyViolationError:
            raise NotStored("document", invoice.document_id, tenant_id) from None
        assert row is not None, "one row, whatever is known"
        if not row["is_current"]:
            raise StandingChanged(invoice.document_id)
        if row["version"] is not None:
            return LakeVersion(row["version"], row["saved_at"], standing.status)

        # A concurrent caller took the number, perhaps for the same state.


async def load_version(
    db: Database, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> tuple[InvoiceData, LakeVersion]:
    """Return the document as `load_arrived` does, and the version of that state in the lake.

    Raises: NotStored if the tenant has no such document or reading.
    """
    while True:
        arrived = await load_arrived(db, tenant_id, document_id, today=today, reading=reading)
        try:
            return arrived.invoice, await claim_version(db, tenant_id, arrived.invoice, arrived.standing)
        except StandingChanged:
            continue


def _digest(invoice: InvoiceData, status: str) -> str:
    """Return the digest of a state as the lake stores it; without a decision it covers the invoice alone."""
    text = invoice.model_dump_json()
    return hashlib.sha256((text if status == "open" else f"{text}{status}").encode()).hexdigest()


LOAD = """
SELECT tenant_id, document_id, revision FROM reviews
 WHERE revision > filed_revision AND (tenant_id, document_id) > ($2, $3)
 ORDER BY tenant_id, document_id
 LIMIT $1"""


LOCK = "SELECT FROM reviews WHERE tenant_id = $1 AND document_id = $2 FOR UPDATE"


IS_SAVED = "SELECT EXISTS (SELECT FROM lake_versions WHERE tenant_id = $1 AND document_id = $2)"


MARK = """
UPDATE reviews SET filed_revision = $3
 WHERE tenant_id = $1 AND document_id = $2 AND filed_revision < $3"""


async def load_unfiled(db: Database, *, limit: int, after: Unfiled | None = None) -> list[Unfiled]:
    """Return the documents of ALL tenants that need a new lake version, by id, starting after `after`.

    For internal use only.
    """
    behind = (after.tenant_id, after.document_id) if after else ("", "")
    return [Unfiled(**row) for row in await db.fetch(LOAD, limit, *behind)]


async def is_to_be_filed(db: asyncpg.Pool, unfiled: Unfiled) -> bool:
    """Check whether the document is in the lake; if it is not, mark it as filed.

    A later save includes the corrections and decision anyway. The row is locked, so a concurrent save has either
    finished
    or has yet to read it (see CLAIM).
    """
    place = (unfiled.tenant_id, unfiled.document_id)
    async with transaction(db) as tx:
        await tx.execute(LOCK, *place)
        is_saved: bool = await tx.fetchval(IS_SAVED, *place)
        if not is_saved:
            await mark_filed(tx, unfiled)
    return is_saved


async def mark_filed(db: Database, unfiled: Unfiled) -> None:
    """Record that the lake contains the document's acts up to `revision`."""
    await db.execute(MARK, unfiled.tenant_id, unfiled.document_id, unfiled.revision)
