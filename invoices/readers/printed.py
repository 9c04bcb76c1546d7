"""The words of a document's text layer, for whoever wants to find on its pages what another reader says of it."""

from docrail.invoices.readers.layout.page import Page
from docrail.invoices.readers.pdf.file import open_pdf
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.sniff import Kind, sniff


def printed_pages(data: bytes, *, max_pages: int) -> list[Page]:
    """Return the pages of a PDF with their words; nothing for other kinds. Safe only in a limited child process.

    Pictures of pages have no words here: an OCR takes seconds, and its reading is kept with its places already.
    Raises: UnreadableDocument.
    """
    if sniff(data) is not Kind.PDF:
        return []
    open_pdf(data, max_pages)  # refuses what nobody should open further
    return read_pages(data)
