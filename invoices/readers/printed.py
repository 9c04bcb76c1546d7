"""Return the text layer of a document, to look up values from other readers on its pages."""

from docrail.invoices.readers.layout.page import Page
from docrail.invoices.readers.pdf.file import open_pdf
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.sniff import Kind, sniff


def printed_pages(data: bytes, *, max_pages: int) -> list[Page]:
    """Return the pages of a PDF with their words; empty for other kinds of files.

    Pages that are pictures have no words here: OCR takes seconds, and its results are already stored with their places.
    Run it only in a limited child process.

    Raises: UnreadableDocument.
    """
    if sniff(data) is not Kind.PDF:
        return []
    open_pdf(data, max_pages)  # raises for a file that is unsafe to open
    return read_pages(data)
