"""Extract a document's text or words page by page: for handlers, to look up values, and for people who click them."""

from collections.abc import Sequence

from lxml import etree

from docrail.invoices.extent import pages_to_read
from docrail.invoices.page_text import PageText, PlacedWord
from docrail.invoices.readers.einvoice.xml_tree import parse_xml
from docrail.invoices.readers.layout.page import Page, lay_out
from docrail.invoices.readers.ocr import read as ocr
from docrail.invoices.readers.pdf.file import open_pdf
from docrail.invoices.readers.pdf.images import count_pictures, open_pictures
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_page, read_pages
from docrail.invoices.readers.sniff import FileKind, sniff

FIRST_PICTURES = range(1, 51)
"""The pages of a picture file whose text is returned: each must be decoded, and OCR reads fewer."""


def text_pages(data: bytes, *, max_pages: int) -> list[PageText]:
    """Return the pages of a document with their text.

    Run it only in a limited child process. Scans and the first pages of a picture file are read by OCR; an XML file is
    one page of size zero.

    Raises: UnreadableDocument.
    """
    match sniff(data):
        case FileKind.XML:
            return [PageText(1, 0.0, 0.0, etree.tostring(parse_xml(data), encoding="unicode"))]
        case FileKind.PDF:
            open_pdf(data, max_pages)  # raises for a file that is unsafe to open
            with PdfPages(data) as pdf:
                pages = read_pages(pdf)
                return _written(ocr.read_scans(pdf, pages, ocr.scanned_pages(pdf, pages)))
        case FileKind.IMAGE:
            return _written(ocr.read_pictures(open_pictures(data, max_pages, FIRST_PICTURES)))


def _written(pages: Sequence[Page]) -> list[PageText]:
    return [PageText(page.number, page.width, page.height, lay_out([page]).text) for page in pages]


def printed_pages(data: bytes, *, max_pages: int) -> list[Page]:
    """Return the pages of a PDF with their words; empty for other kinds of files.

    Of a long document, pages that are not read (`pages_to_read`) have no words. Pages that are pictures have none here:
    OCR takes seconds, and its results are already stored with their places.
    Run it only in a limited child process.

    Raises: UnreadableDocument.
    """
    if sniff(data) is not FileKind.PDF:
        return []
    count = open_pdf(data, max_pages).page_count  # raises for a file that is unsafe to open
    with PdfPages(data) as pdf:
        return read_pages(pdf, pages_to_read(count))


def readable_pages(data: bytes, *, max_pages: int) -> list[Page]:
    """Return the pages of a document with their words; scans and pictures are read by OCR. An XML file has no pages.

    Of a long document, pages that are not read (`pages_to_read`) have no words.
    Run it only in a limited child process.

    Raises: UnreadableDocument.
    """
    match sniff(data):
        case FileKind.XML:
            return []
        case FileKind.PDF:
            numbers = pages_to_read(open_pdf(data, max_pages).page_count)
            with PdfPages(data) as pdf:
                pages = read_pages(pdf, numbers)
                scans = ocr.scanned_pages(pdf, [pages[number - 1] for number in numbers])
                return list(ocr.read_scans(pdf, pages, scans))
        case FileKind.IMAGE:
            numbers = pages_to_read(count_pictures(data, max_pages))
            return list(ocr.read_pictures(open_pictures(data, max_pages, numbers)))


def placed_words(page: Page) -> list[PlacedWord]:
    """Return a page's words, in reading order, with their places on the page's picture."""
    words = (word for line, _ in page.lines for cell in line for word in cell)
    return [PlacedWord(word.text, page.as_sent(word.left, word.top, word.right, word.bottom)) for word in words]


def words_of_page(data: bytes, number: int, *, max_pages: int) -> list[PlacedWord] | None:
    """Return the words of page `number`, from 1; None if there is no such page. Scans and pictures are read by OCR.

    Run it only in a limited child process.

    Raises: UnreadableDocument.
    """
    page = _page(data, number, max_pages)
    return None if page is None else placed_words(page)


def _page(data: bytes, number: int, max_pages: int) -> Page | None:
    match sniff(data):
        case FileKind.XML:
            return None
        case FileKind.PDF:
            if number > open_pdf(data, max_pages).page_count:
                return None
            with PdfPages(data) as pdf:
                page = read_page(pdf, number)
                return ocr.read_scans(pdf, [page], ocr.scanned_pages(pdf, [page]))[0]
        case FileKind.IMAGE:
            picture = next(open_pictures(data, max_pages, [number]), None)
            return ocr.read_pictures([picture])[0] if picture else None
