"""Which documents people decided or corrected since the lake last heard of them. There is no other list of those."""

from dataclasses import dataclass

import asyncpg

from storage.db import Database, transaction

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


@dataclass(frozen=True, slots=True)
class Unfiled:
    """A document whose acts up to `revision` the lake has yet to be told."""

    tenant_id: str
    document_id: str
    revision: int


async def load_unfiled(db: Database, *, limit: int, after: Unfiled | None = None) -> list[Unfiled]:
    """Return such documents of ALL tenants, in the order of their ids from behind `after` on. Never for a caller."""
    behind = (after.tenant_id, after.document_id) if after else ("", "")
    return [Unfiled(**row) for row in await db.fetch(LOAD, limit, *behind)]


async def is_to_be_filed(db: asyncpg.Pool, unfiled: Unfiled) -> bool:
    """Tell whether the lake has the document at all; one that it has not is to be filed no more.

    Whoever saves it later saves what people said. The row is locked, so whoever saves it now is done or has yet to look
    (see storage/lake_versions.CLAIM).
    """
    place = (unfiled.tenant_id, unfiled.document_id)
    async with transaction(db) as tx:
        await tx.execute(LOCK, *place)
        is_saved: bool = await tx.fetchval(IS_SAVED, *place)
        if not is_saved:
            await mark_filed(tx, unfiled)
    return is_saved


async def mark_filed(db: Database, unfiled: Unfiled) -> None:
    """Keep that the lake knows of the document's acts up to `revision`."""
    await db.execute(MARK, unfiled.tenant_id, unfiled.document_id, unfiled.revision)
