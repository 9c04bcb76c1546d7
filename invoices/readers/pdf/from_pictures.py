"""Convert the pages of an image file to a PDF, for a model that does not accept such files."""

import io

import pypdfium2

from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.pdf.images import bounded, open_pictures

MOST_PIXELS = 4_000_000
"""Pixels of a page: A4 at 200 dpi, as in faxes and most scans. More is larger to send without being clearer."""
DOTS_PER_POINT = 200 / 72
JPEG_QUALITY = 80
MOST_BYTES = 12_000_000
"""Size of all pages: about fifty printed pages or ten photos. A child's answer and a request are limited."""


def pictures_as_pdf(data: bytes, max_pages: int) -> bytes:
    """Return a PDF with the pages of an image file as the readers see them.

    Run it only in a limited child process. Raises: UnreadableDocument.
    """
    made, size = pypdfium2.PdfDocument.new(), 0
    for number, picture in enumerate(open_pictures(data, max_pages), 1):
        page = bounded(picture, MOST_PIXELS)
        if page is None:
            raise UnreadableDocument(
                Unreadable.TOO_LARGE, f"Page {number} is too narrow to read. Send a scan of the whole page."
            )
        encoded = io.BytesIO()
        page.save(encoded, "JPEG", quality=JPEG_QUALITY)
        size += len(encoded.getvalue())
        if size > MOST_BYTES:
            raise UnreadableDocument(
                Unreadable.TOO_LARGE, f"Its pages take more than {MOST_BYTES // 1_000_000} MB as JPEGs: send a PDF."
            )
        _add_page(made, encoded, page.size)
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()


def _add_page(made: pypdfium2.PdfDocument, jpeg: io.BytesIO, size: tuple[int, int]) -> None:
    shown = pypdfium2.PdfImage.new(made)
    shown.load_jpeg(jpeg, inline=True)
    width, height = (pixels / DOTS_PER_POINT for pixels in size)
    shown.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
    page = made.new_page(width, height)
    page.insert_obj(shown)
    page.gen_content()
