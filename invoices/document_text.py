"""Extract a document's text page by page, for handlers that do not look for an invoice, and to look up values."""

from collections.abc import Sequence

from lxml import etree

from docrail.invoices.page_text import PageText
from docrail.invoices.readers.einvoice.xml_tree import parse_xml
from docrail.invoices.readers.layout.page import Page, lay_out
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.pdf.file import open_pdf
from docrail.invoices.readers.pdf.images import open_pictures
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.sniff import FileKind, sniff


def text_pages(data: bytes, *, max_pages: int) -> list[PageText]:
    """Return the pages of a document with their text.

    Run it only in a limited child process. Scans and pictures are read by OCR; an XML file is one page of size zero.

    Raises: UnreadableDocument.
    """
    match sniff(data):
        case FileKind.XML:
            return [PageText(1, 0.0, 0.0, etree.tostring(parse_xml(data), encoding="unicode"))]
        case FileKind.PDF:
            open_pdf(data, max_pages)  # raises for a file that is unsafe to open
            pages = read_pages(data)
            return _written(ocr.read_scans(data, pages, ocr.scanned_pages(data, pages)))
        case FileKind.IMAGE:
            return _written(ocr.read_pictures(open_pictures(data, max_pages)))


def _written(pages: Sequence[Page]) -> list[PageText]:
    return [PageText(page.number, page.width, page.height, lay_out([page]).text) for page in pages]


def printed_pages(data: bytes, *, max_pages: int) -> list[Page]:
    """Return the pages of a PDF with their words; empty for other kinds of files.

    Pages that are pictures have no words here: OCR takes seconds, and its results are already stored with their places.
    Run it only in a limited child process.

    Raises: UnreadableDocument.
    """
    if sniff(data) is not FileKind.PDF:
        return []
    open_pdf(data, max_pages)  # raises for a file that is unsafe to open
    return read_pages(data)
