"""Find the documents that people decided or corrected since the lake last saved them. No other list of them exists."""

from docrail.adapters.postgres.pool import Database
from docrail.services.reviews.models import Unfiled

LOAD = """
SELECT tenant_id, document_id, revision FROM reviews
 WHERE revision > filed_revision AND (tenant_id, document_id) > ($2, $3)
 ORDER BY tenant_id, document_id
 LIMIT $1"""


LOCK = "SELECT FROM reviews WHERE tenant_id = $1 AND document_id = $2 FOR UPDATE"


MARK = """
UPDATE reviews SET filed_revision = $3
 WHERE tenant_id = $1 AND document_id = $2 AND filed_revision < $3"""


async def load_unfiled(db: Database, *, limit: int, after: Unfiled | None = None) -> list[Unfiled]:
    """Return such documents of ALL tenants, in the order of their ids, after `after`. For internal use only."""
    place = (after.tenant_id, after.document_id) if after else ("", "")
    return [Unfiled(**row) for row in await db.fetch(LOAD, limit, *place)]


async def lock_unfiled(db: Database, unfiled: Unfiled) -> None:
    """Lock the document's item until the caller's transaction ends."""
    await db.execute(LOCK, unfiled.tenant_id, unfiled.document_id)


async def mark_filed(db: Database, unfiled: Unfiled) -> None:
    """Record that the lake has the document up to `revision`."""
    await db.execute(MARK, unfiled.tenant_id, unfiled.document_id, unfiled.revision)
