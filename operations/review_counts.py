"""Tell what reviewers did, for the operator's dashboards."""

import asyncio

import asyncpg

from operations.app import App
from operations.document_counts import ANSWER_SECONDS
from storage.review_counts import ReviewCount, load_review_counts


async def load_review_totals(app: App) -> list[ReviewCount] | None:
    """Return the totals of all tenants, None if PostgreSQL does not tell them. Never raises for that."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await load_review_counts(app.db)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None
