"""Read a stored document with the local readers, once per content, and decide whether Gemini reads it too."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docrail.adapters.postgres.pool import NotStored
from docrail.handlers import StepCall
from docrail.invoices.by_schema.reading import FieldsReading
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.facts import Severity
from docrail.invoices.model import FieldValue, InvoiceData, InvoiceProblem
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.services.documents.models import FALLBACK, Document, reading_version
from docrail.services.documents.service import keep_words, load_document, load_extraction, save_extraction
from docrail.services.reviews.items import load_review
from docrail.services.reviews.models import APPROVED, REJECTED, Review, review_id_of
from docrail.services.tools import Tools

EXACT = frozenset({"ubl", "cii", "xml"})
"""Readers of structured e-invoices, whose values are exact: a model could add nothing."""


class DocumentDecidedError(ValueError):
    """A document that was already decided was to be read again."""

    def __init__(self, document_id: str, review: Review) -> None:
        super().__init__(
            f"document {document_id} was {review.status} by {review.decided_by}, and that rests on what was read: "
            f"expected an open item; reopen {review.review_id} to read the document again"
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """A stored reading and its version. `cached`: it was stored before."""

    version: str
    invoice: InvoiceData
    cached: bool


async def load_stored(tools: Tools, tenant_id: str, document_id: str, *, fresh: bool) -> Document:
    """Return the tenant's document. Raises: NotStored; DocumentDecidedError if `fresh` and it was already decided."""
    document = await load_document(tools.db, tenant_id, document_id)
    if document is None:
        raise NotStored("document", document_id, tenant_id)
    review = await load_review(tools.db, tenant_id, review_id_of(tenant_id, document_id)) if fresh else None
    if review is not None and review.status in (APPROVED, REJECTED):
        raise DocumentDecidedError(document_id, review)
    return document


async def find_reading(tools: Tools, tenant_id: str, sha256: str, version: str) -> Reading | None:
    """Return the stored reading of these bytes under a version, or None."""
    invoice = await load_extraction(tools.db, tenant_id, sha256, version)
    return None if invoice is None else Reading(version, invoice, cached=True)


async def read_locally(tools: Tools, tenant_id: str, sha256: str, *, fresh_run_id: str | None) -> Reading:
    """Return the reading of the local readers, from the cache if these bytes were read before.

    For two documents with the same bytes at the same time, both get the reading stored first. With `fresh_run_id`
    they are read again, once for that run. Raises: UnreadableDocument (never retried); OSError (retried).
    """
    version = reading_version(fresh_run_id=fresh_run_id)
    found = await find_reading(tools, tenant_id, sha256, version)
    tools.metrics.reading_lookups.labels("local", "miss" if found is None else "hit").inc()
    if found:
        return found
    async with tools.blobs.at_hand(sha256) as path:
        read = await tools.reader.read_with_words(path)
    saving = save_extraction(tools.db, tenant_id, sha256, version, read.invoice)
    if not read.words:
        return Reading(version, await saving, cached=False)
    # Of a reading that is stored without its words, they are read again when someone looks at them.
    invoice, _ = await asyncio.gather(saving, keep_words(tools.blobs.folder, sha256, read.words))
    return Reading(version, invoice, cached=False)


async def read_or_leave_to_gemini(tools: Tools, call: StepCall[Any], sha256: str, *, fresh: bool) -> Reading:
    """Return the local reading.

    For an image that needs an OCR that is not installed, an empty one if there is a Gemini key.
    Raises: as `read_locally`.
    """
    try:
        return await read_locally(tools, call.tenant_id, sha256, fresh_run_id=call.run_id if fresh else None)
    except UnreadableDocument as error:
        if error.code is not Unreadable.NEEDS_OCR or not tools.outside.gemini.api_key:
            raise
        unread = InvoiceProblem(code=error.code.value, severity=Severity.ERROR, message=error.message)
    version = reading_version(FALLBACK, fresh_run_id=call.run_id)
    empty = await save_extraction(tools.db, call.tenant_id, sha256, version, InvoiceData(problems=(unread,)))
    return Reading(version, empty, cached=False)


async def read_fields_locally(tools: Tools, path: Path, schema: FieldsSchema) -> FieldsReading:
    """Return what the labels name. Of a picture without OCR, nothing if there is a Gemini key.

    Raises: UnreadableDocument (never retried); OSError (retried).
    """
    try:
        return await tools.reader.read_fields(path, schema)
    except UnreadableDocument as error:
        if error.code is not Unreadable.NEEDS_OCR or not tools.outside.gemini.api_key:
            raise
        return FieldsReading(fields={name: FieldValue() for name in schema.properties}, page_count=1)


def is_for_gemini(tools: Tools, reading: Reading) -> bool:
    """Check whether Gemini should also read a document that the local readers have read."""
    return bool(tools.outside.gemini.api_key) and reading.invoice.reader not in EXACT
