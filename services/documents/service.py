"""Store and show documents, their readings and their corrections."""

import re
from typing import TYPE_CHECKING

from docrail.services.access.models import Principal
from docrail.services.documents.models import Document
from docrail.services.documents.repository.corrections import insert_change, load_changes, load_corrections, undo_last
from docrail.services.documents.repository.counts import claim_metrics, load_counts, load_tenant_counts
from docrail.services.documents.repository.documents import (
    insert_document,
    load_document,
    load_documents,
    load_file_names,
    load_old_originals,
    load_unended,
    load_unstarted,
    mark_decided,
    mark_ended,
    mark_original_removed,
    mark_read_again,
    mark_run_started,
    mark_runs_started,
)
from docrail.services.documents.repository.exported import (
    give_back,
    list_approved,
    mark_taken_exported,
    sum_approved,
    take_approved,
)
from docrail.services.documents.repository.page_images import keep_words, remove_images
from docrail.services.documents.repository.readings import (
    list_readings,
    load_best_extraction,
    load_extraction,
    save_extraction,
)
from docrail.services.documents.repository.vendors import forget, remember
from docrail.services.errors import NotFound

if TYPE_CHECKING:  # handlers load this module, and checking a definition opens nothing
    from docrail.services.app import App

__all__ = [
    "DOCUMENT_ID_PATTERN",
    "claim_metrics",
    "forget",
    "give_back",
    "insert_change",
    "insert_document",
    "keep_words",
    "list_approved",
    "list_readings",
    "load_best_extraction",
    "load_changes",
    "load_corrections",
    "load_counts",
    "load_document",
    "load_documents",
    "load_extraction",
    "load_file_names",
    "load_old_originals",
    "load_tenant_counts",
    "load_unended",
    "load_unstarted",
    "mark_decided",
    "mark_ended",
    "mark_original_removed",
    "mark_read_again",
    "mark_run_started",
    "mark_runs_started",
    "mark_taken_exported",
    "remember",
    "remove_images",
    "save_extraction",
    "show_document",
    "sum_approved",
    "take_approved",
    "undo_last",
]

DOCUMENT_ID_PATTERN = r"^doc_[0-9a-z]{26}$"


async def show_document(app: "App", principal: Principal, document_id: str) -> Document:
    """Return the tenant's document. Raises: NotFound."""
    document = None
    if re.fullmatch(DOCUMENT_ID_PATTERN, document_id):
        document = await load_document(app.db, principal.tenant_id, document_id)
    if document is None:
        raise NotFound("document", document_id)
    return document
