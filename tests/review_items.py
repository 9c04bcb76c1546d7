"""Open the review items of documents, one at a time."""

from docrail.adapters.postgres.pool import Database
from docrail.services.reviews.models import Question, Review
from docrail.services.reviews.repository.items import open_or_renew


async def upsert_review(db: Database, tenant_id: str, document_id: str, question: Question) -> Review:
    """Open the document's item, or renew the open one."""
    return (await open_or_renew(db, tenant_id, document_id, question))[0]
