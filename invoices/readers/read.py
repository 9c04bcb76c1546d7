"""Turns a document's bytes into an InvoiceData: the first sure reader wins, the others become evidence."""

import datetime as dt

from invoices.confidence import assess
from invoices.model import InvoiceData, Problem, Severity
from invoices.problems import Unreadable, UnreadableDocument
from invoices.readers import identifiers
from invoices.readers.einvoice_xml import is_einvoice, read_einvoice_xml
from invoices.readers.page_check import check_against_page
from invoices.readers.pdf_file import PdfFile, open_pdf
from invoices.readers.pdf_words import read_pages
from invoices.readers.sniff import Kind, sniff
from invoices.readers.text import read_text
from invoices.readers.xml_tree import parse_xml

MAX_PAGES = 50
NO_TEXT = Problem(
    code="no_text_layer",
    severity=Severity.WARNING,
    message="Nothing is printed here as text: the page is blank, or it is a picture of one. Please type it in.",
)


def read_document(data: bytes, *, today: dt.date, max_pages: int = MAX_PAGES) -> InvoiceData:
    """Return the reading of one document, with its rules checked. Safe only in a limited child process.

    A document on which nothing is found is no error: its fields are empty, and its confidence sends it to a person.
    Raises: UnreadableDocument.
    """
    match sniff(data):
        case Kind.XML:
            invoice = read_einvoice_xml(data)
        case Kind.PDF:
            invoice = _read_pdf(data, open_pdf(data, max_pages))
        case Kind.IMAGE:
            raise UnreadableDocument(
                Unreadable.NEEDS_OCR,
                "The file is an image, and images cannot be read yet. "
                "Send the invoice as a PDF with text, or as an e-invoice.",
            )
    return assess(invoice, today)


def warm_up() -> None:
    """Make the libraries do what they put off until their first document, so that forked children need not."""
    parse_xml(b"<Invoice/>")
    identifiers.warm_up()


def _read_pdf(data: bytes, pdf: PdfFile) -> InvoiceData:
    pages = read_pages(data)
    printed = read_text(pages) if any(page.words for page in pages) else None
    embedded = _embedded_einvoice(pdf)
    if embedded is not None:
        invoice = check_against_page(embedded, printed, pages) if printed else embedded
    else:
        invoice = printed or InvoiceData(reader="text", problems=(NO_TEXT,))
    flags = pdf.flags if printed else (*pdf.flags, NO_TEXT.code)
    return invoice.model_copy(update={"page_count": pdf.page_count, "flags": flags})


def _embedded_einvoice(pdf: PdfFile) -> InvoiceData | None:
    """Return the first attachment that is an e-invoice. Others, even unsafe ones, are not opened further."""
    for attachment in pdf.attachments:
        try:
            if is_einvoice(parse_xml(attachment)):
                return read_einvoice_xml(attachment)
        except UnreadableDocument:
            continue
    return None
