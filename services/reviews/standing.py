"""Load a document as it stands: as it was decided, or else as it is assessed now."""

import datetime as dt
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.model import InvoiceData
from docrail.services.documents.assessed import load_assessed
from docrail.services.documents.models import ReadingKey
from docrail.services.documents.service import load_document
from docrail.services.reviews.repository.standing import (
    ApprovedDocument,
    load_approved,
    load_open_documents,
    load_standing,
    lock_revision,
)

__all__ = ["ApprovedDocument", "DocumentState", "load_approved", "load_open_documents", "load_state", "lock_revision"]


@dataclass(frozen=True, slots=True)
class DocumentState:
    """A document as it stands. Its status and revision are as of before it was loaded."""

    invoice: InvoiceData
    received_at: dt.datetime
    status: str = "open"
    """`approved`, `rejected`, or `open`: not decided."""
    revision: int = 0
    """Increases with every decision, reopening and correction."""


async def load_state(
    db: Database, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> DocumentState:
    """Return the document as decided, until it is reopened, or else as assessed now from `reading` or its best reading.

    Raises: NotStored if the tenant has no such document or reading.
    """
    status, revision, decided = await load_standing(db, tenant_id, document_id)
    if decided is None:
        assessed = await load_assessed(db, tenant_id, document_id, today=today, reading=reading)
        return DocumentState(assessed.invoice, assessed.received_at, status, revision)
    document = await load_document(db, tenant_id, document_id)
    if document is None:
        raise NotStored("document", document_id, tenant_id)
    return DocumentState(decided, document.received_at, status, revision)
