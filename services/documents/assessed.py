"""Assess documents: the best reading of each with people's corrections, compared with the tenant's other documents."""

import datetime as dt
from collections.abc import Sequence

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.assessment.assess import judge
from docrail.invoices.assessment.corrections import merge
from docrail.invoices.assessment.duplicates import seen_of
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import Assessed, ReadingKey, WantedReading
from docrail.services.documents.repository.corrections import load_corrections
from docrail.services.documents.repository.seen import ReadDocument, load_known, load_read, note_seen


async def load_assessed(
    db: Database, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> Assessed:
    """Return one document as `load_all_assessed` does."""
    wanted = WantedReading(document_id, reading)
    return (await load_all_assessed(db, tenant_id, [wanted], today=today))[wanted]


async def load_all_assessed(
    db: Database, tenant_id: str, wanted: Sequence[WantedReading], *, today: dt.date
) -> dict[WantedReading, Assessed]:
    """Return the documents as they are read, corrected, compared and checked now, with confidences. Each is named once.

    Their values are stored before similar documents are looked up, so that of two concurrent ones at least one sees the
    other. A decided document stays as it was decided, which `reviews.standing` knows. Raises: NotStored for the first
    one that the tenant does not have, or of which it has no such reading.
    """
    if not wanted:
        return {}
    found = await load_read(db, tenant_id, wanted)
    read = [await _corrected(db, tenant_id, each, found.get(each)) for each in wanted]
    seen = [seen_of(invoice, document.sha256) for invoice, document in read]
    listed = [(each.vendor_name.value, each.invoice_number.value, each.currency.value) for each, _ in read]
    news = [
        (own, shown)
        for own, shown, (_, document) in zip(seen, listed, read, strict=True)
        if (document.seen, document.listed) != (own, shown)
    ]
    if news:
        await note_seen(db, tenant_id, news)
    known = await load_known(db, tenant_id, [(own, *each) for own, each in zip(seen, read, strict=True)])
    return {
        each: Assessed(judge(invoice, others, today), document.received_at)
        for each, others, (invoice, document) in zip(wanted, known, read, strict=True)
    }


async def _corrected(
    db: Database, tenant_id: str, wanted: WantedReading, document: ReadDocument | None
) -> tuple[InvoiceData, ReadDocument]:
    if document is None:
        raise NotStored("document", wanted.document_id, tenant_id)
    if document.reading is None:
        raise NotStored("extraction of document", wanted.document_id, tenant_id)
    invoice = document.reading.for_document(wanted.document_id)
    if document.is_corrected:
        invoice = merge(invoice, await load_corrections(db, tenant_id, wanted.document_id))
    return invoice, document
