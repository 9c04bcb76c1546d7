"""Tell how all documents ended, for the operator's dashboards."""

import asyncio

import asyncpg

from operations.app import App
from storage.document_counts import DocumentCount, load_counts

ANSWER_SECONDS = 3.0
"""Prometheus gives a scrape 10 s; the page's other metrics must not be lost with a database that hangs."""


async def load_document_counts(app: App) -> list[DocumentCount] | None:
    """Return the totals of all tenants and workers, None if PostgreSQL does not tell them. Never raises for that."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await load_counts(app.db)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None
