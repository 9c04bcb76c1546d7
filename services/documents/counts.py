"""Load totals of document outcomes for the operator's dashboards."""

import asyncio

import asyncpg

from docrail.services.app import ANSWER_SECONDS, App
from docrail.services.documents.models import DocumentCount
from docrail.services.documents.repository.counts import load_counts


async def load_document_counts(app: App) -> list[DocumentCount] | None:
    """Return the totals of all tenants and workers; None if PostgreSQL does not answer. Never raises for that."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await load_counts(app.db)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None
