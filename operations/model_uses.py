"""Tell what models were asked and what it cost: of one document, and of all."""

import asyncio

from operations.app import App
from operations.document_counts import ANSWER_SECONDS
from operations.documents import show_document
from operations.principal import Principal
from storage.db import DATABASE_ERRORS
from storage.model_usage import DocumentUse, ModelTotal, load_document_uses, load_model_totals


async def list_document_uses(app: App, principal: Principal, document_id: str) -> list[DocumentUse]:
    """Return every answer of a model that was paid for this document, in order. Raises: NotFound."""
    await show_document(app, principal, document_id)
    return await load_document_uses(app.db, principal.tenant_id, document_id)


async def load_totals(app: App) -> list[ModelTotal] | None:
    """Return the totals of all tenants and workers, None if PostgreSQL does not tell them. Never raises for that."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await load_model_totals(app.db)
    except (OSError, TimeoutError, *DATABASE_ERRORS):
        return None
