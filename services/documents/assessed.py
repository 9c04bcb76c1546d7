"""Assess a document: its best reading with people's corrections, compared with the tenant's other documents."""

import datetime as dt

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.assessment.assess import judge
from docrail.invoices.assessment.corrections import merge
from docrail.invoices.assessment.duplicates import seen_of
from docrail.services.documents.models import Assessed, ReadingKey
from docrail.services.documents.repository.corrections import load_corrections
from docrail.services.documents.repository.seen import load_known, load_read, note_seen


async def load_assessed(
    db: Database, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> Assessed:
    """Return the document as it is read, corrected, compared and checked now, with confidences.

    Uses the best reading, or the one that `reading` names. Its values are stored before similar documents are looked
    up, so that of two concurrent ones at least one sees the other. A decided document stays as it was decided, which
    `reviews.standing` knows. Raises: NotStored if the tenant has no such document or reading.
    """
    document = await load_read(db, tenant_id, document_id, reading)
    if document is None:
        raise NotStored("document", document_id, tenant_id)
    if document.reading is None:
        raise NotStored("extraction of document", document_id, tenant_id)
    invoice = document.reading.for_document(document_id)
    if document.is_corrected:
        invoice = merge(invoice, await load_corrections(db, tenant_id, document_id))
    own = seen_of(invoice, document.sha256)
    listed = (invoice.vendor_name.value, invoice.invoice_number.value, invoice.currency.value)
    if (document.seen, document.listed) != (own, listed):
        await note_seen(db, tenant_id, own, listed)
    known = await load_known(db, tenant_id, own, invoice, document)
    return Assessed(judge(invoice, known, today), document.received_at)
