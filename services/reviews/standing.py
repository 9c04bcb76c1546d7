"""Load documents as they stand: as they were decided, or else as they are assessed now."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.model import InvoiceData
from docrail.services.documents.assessed import load_all_assessed
from docrail.services.documents.models import ReadingKey, WantedReading
from docrail.services.documents.service import load_document
from docrail.services.reviews.repository.standing import (
    ApprovedDocument,
    load_approved,
    load_open_documents,
    load_standing,
    lock_revisions,
)

__all__ = [
    "ApprovedDocument",
    "DocumentState",
    "load_approved",
    "load_open_documents",
    "load_state",
    "load_states",
    "lock_revisions",
]


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
    """Return one document as `load_states` does."""
    wanted = WantedReading(document_id, reading)
    return (await load_states(db, tenant_id, [wanted], today=today))[wanted]


async def load_states(
    db: Database, tenant_id: str, wanted: Sequence[WantedReading], *, today: dt.date
) -> dict[WantedReading, DocumentState]:
    """Return the documents as decided, until they are reopened, or else as assessed now from the reading.

    Each document is named once. Raises: NotStored for the first one that the tenant does not have, or of which it has
    no such reading.
    """
    standing = await load_standing(db, tenant_id, [each.document_id for each in wanted])
    undecided = [each for each in wanted if standing[each.document_id][2] is None]
    assessed = await load_all_assessed(db, tenant_id, undecided, today=today)
    states = {}
    for each in wanted:
        status, revision, decided = standing[each.document_id]
        if decided is None:
            states[each] = DocumentState(assessed[each].invoice, assessed[each].received_at, status, revision)
            continue
        document = await load_document(db, tenant_id, each.document_id)
        if document is None:
            raise NotStored("document", each.document_id, tenant_id)
        states[each] = DocumentState(decided, document.received_at, status, revision)
    return states
