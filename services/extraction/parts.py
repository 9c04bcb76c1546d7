"""Split a file of several invoices: each becomes a document of its own, whose run starts like that of an upload."""

import hashlib
from pathlib import PurePath

from docrail.adapters.postgres.pool import Database, NotStored, transaction
from docrail.adapters.store.blobs import BlobRef
from docrail.invoices.model import PageRange
from docrail.services.documents.models import Document, PartOf
from docrail.services.documents.service import insert_document, load_document, load_extraction
from docrail.services.lake.reference import InvoiceRef
from docrail.services.tools import Tools

PDF = "application/pdf"


async def split(tools: Tools, tenant_id: str, reference: InvoiceRef) -> list[str]:
    """Return the documents that the file was split into, in the order of its pages; none if it is not to be split.

    A file is split once: later calls return the same documents, also if a newer reader saw other breaks. All documents
    are stored in one transaction, without a run; the sweep that starts interrupted uploads starts their runs. Raises:
    NotStored, UnreadableDocument (pages that cannot be cut; never retried); OSError (retried).
    """
    document = await load_document(tools.db, tenant_id, reference.document_id)
    if document is None:
        raise NotStored("document", reference.document_id, tenant_id)
    if document.parts or document.part_of:
        return [*document.parts]
    reading = await load_extraction(tools.db, tenant_id, reference.sha256, reference.reader_version)
    if reading is None:
        raise NotStored("extraction of document", reference.document_id, tenant_id)
    async with tools.blobs.at_hand(document.sha256) as path:
        blobs = [await tools.blobs.put(await tools.reader.cut(path, part.first, part.last)) for part in reading.parts]
    async with transaction(tools.db) as tx:
        parts = [await _insert(tx, document, *part) for part in zip(reading.parts, blobs, strict=True)]
    return [part.document_id for part in parts]


async def _insert(tx: Database, document: Document, pages: PageRange, blob: BlobRef) -> Document:
    return await insert_document(
        tx,
        document.tenant_id,
        part_id_of(document, pages),
        blob,
        media_type=PDF,
        file_name=_name_of(document.file_name, pages),
        sla_hours=document.sla_hours,
        definition=document.definition,
        source=document.source,
        uploaded_by=document.uploaded_by,
        key_id=document.key_id,
        inputs=document.inputs,
        part=PartOf(document.document_id, pages),
    )


def part_id_of(document: Document, pages: PageRange) -> str:
    """Return the id of the document that has these pages of a file: always the same."""
    name = f"{document.tenant_id}/{document.document_id}/{pages.first}-{pages.last}"
    return f"doc_{hashlib.sha256(name.encode()).hexdigest()[:26]}"


def _name_of(file_name: str, pages: PageRange) -> str:
    path = PurePath(file_name)
    numbers = f"{pages.first}" if pages.first == pages.last else f"{pages.first}-{pages.last}"
    return f"{path.stem[:200]}, p. {numbers}{path.suffix[:20]}"
