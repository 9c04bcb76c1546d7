"""Define the output of steps that read a document: enough for conditions, and a reference to the stored invoice."""

import datetime as dt

from pydantic import BaseModel, Field

from docrail.invoices.model import InvoiceData
from docrail.services.lake.reference import InvoiceRef


class Extraction(BaseModel):
    """The values that conditions need; the exact values are in the stored invoice."""

    document_id: str = Field(description="the document that was read")
    invoice_ref: InvoiceRef = Field(description="names the stored invoice, for the steps that save it")
    cache_hit: bool = Field(description="whether these bytes were read before")
    wants_gemini: bool = Field(description="whether `ask_gemini` is to read it too: there is a key, and no e-invoice")
    reader: str = Field(description="the reader whose values won: `ubl`, `cii`, `gemini`, `text`, `ocr` or `qr`")
    parts: int = Field(description="the invoices that the file can be split into with certainty; 0: it is one document")
    confidence: float = Field(description="how sure the reading is, 0 to 1")
    document_type: str = Field(description="what the document is, such as `invoice`, `credit_note` or `purchase_order`")
    vendor_name: str | None = Field(description="who wants to be paid; null if not found, as all below")
    invoice_number: str | None = Field(description="the vendor's number for it")
    date: dt.date | None = Field(description="the day it was issued")
    currency: str | None = Field(description="ISO 4217 code")
    total: float | None = Field(description="what is to be paid, with tax, rounded to a float")
    iban: str | None = Field(description="the account to pay to, without spaces")
    problems: list[str] = Field(description="the codes of the rules that it breaks")


def extraction_of(
    reference: InvoiceRef, invoice: InvoiceData, *, cache_hit: bool, wants_gemini: bool = False
) -> Extraction:
    """Return the step output for an invoice stored as `reference`."""
    total = invoice.total.value
    return Extraction(
        document_id=reference.document_id,
        invoice_ref=reference,
        cache_hit=cache_hit,
        wants_gemini=wants_gemini,
        reader=invoice.reader,
        parts=len(invoice.parts),
        confidence=invoice.confidence,
        document_type=invoice.counts_as.value,
        vendor_name=invoice.vendor_name.value,
        invoice_number=invoice.invoice_number.value,
        date=invoice.date.value,
        currency=invoice.currency.value,
        total=None if total is None else float(total),
        iban=invoice.iban.value,
        problems=[problem.code for problem in invoice.problems],
    )
