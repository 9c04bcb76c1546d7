"""Handler `extract_invoice`: read a stored document once for its bytes, and keep what was read."""

import datetime as dt

from pydantic import BaseModel, Field

from activities.invoice_ref import InvoiceRef
from activities.registry import Call, Handler
from activities.tools import Tools
from invoices.model import InvoiceData
from storage.db import NotStored
from storage.documents import load_document
from storage.extractions import CURRENT_READER, load_extraction, save_extraction


class Config(BaseModel, extra="forbid", frozen=True):
    """Which document."""

    document_id: str = Field(description="the document to read; its upload must be stored")


class Output(BaseModel):
    """What conditions need; the exact values are in the stored invoice."""

    document_id: str = Field(description="the document that was read")
    invoice_ref: InvoiceRef = Field(description="names the stored invoice, for the steps that save it")
    cache_hit: bool = Field(description="whether these bytes were read before")
    confidence: float = Field(description="how sure the reading is, 0 to 1")
    document_type: str = Field(description="`invoice` or `credit_note`")
    vendor_name: str | None = Field(description="who wants to be paid; null if not found, as all below")
    invoice_number: str | None = Field(description="the vendor's number for it")
    date: dt.date | None = Field(description="the day it was issued")
    currency: str | None = Field(description="ISO 4217 code")
    total: float | None = Field(description="what is to be paid, with tax, rounded to a float")
    iban: str | None = Field(description="the account to pay to, without spaces")
    problems: list[str] = Field(description="the codes of the rules that it breaks")


async def run(call: Call[Config], tools: Tools) -> Output:
    """Return the document's extraction, from the cache if these bytes were read before.

    Run twice, or for two uploads of the same bytes at once, the first stored reading is the answer of both.
    Raises: NotStored, UnreadableDocument (never retried); OSError (retried).
    """
    document_id = call.config.document_id
    document = await load_document(tools.db, call.tenant_id, document_id)
    if document is None:
        raise NotStored("document", document_id, call.tenant_id)
    cached = await load_extraction(tools.db, call.tenant_id, document.sha256, CURRENT_READER)
    invoice = cached
    if invoice is None:
        reading = await tools.reader.read(tools.blobs.path(document.sha256))
        invoice = await save_extraction(tools.db, call.tenant_id, document.sha256, CURRENT_READER, reading)
    reference = InvoiceRef(document_id=document_id, sha256=document.sha256, reader_version=CURRENT_READER)
    return _summary(reference, invoice, cache_hit=cached is not None)


def _summary(reference: InvoiceRef, invoice: InvoiceData, *, cache_hit: bool) -> Output:
    total = invoice.total.value
    return Output(
        document_id=reference.document_id,
        invoice_ref=reference,
        cache_hit=cache_hit,
        confidence=invoice.confidence,
        document_type=invoice.document_type.value,
        vendor_name=invoice.vendor_name.value,
        invoice_number=invoice.invoice_number.value,
        date=invoice.date.value,
        currency=invoice.currency.value,
        total=None if total is None else float(total),
        iban=invoice.iban.value,
        problems=[problem.code for problem in invoice.problems],
    )


HANDLER = Handler("extract_invoice", Config, Output, run, aliases=("extract", "parse_document", "ParseDocument"))
