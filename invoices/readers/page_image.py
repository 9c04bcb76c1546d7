"""Render one page of a document for reviewers, in the coordinates the readers use for the places of fields."""

import io

from PIL import Image

from docrail.invoices.readers.pdf.drawn import render_pages
from docrail.invoices.readers.pdf.file import open_pdf
from docrail.invoices.readers.pdf.images import bounded, open_pictures
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.sniff import FileKind, sniff

MOST_PIXELS = 2_200_000
"""Size limit of a rendered page: A4 at 150 dpi. Small print stays legible, and a photo takes 5 MB at most."""
FEW_PIXELS = 90_000
"""Size limit of a small picture, as in a strip of pages."""
COMPRESSION = 3
"""Of PNG's ten levels: pages get no smaller above it, and take half as long again."""


def draw_page(data: bytes, number: int, max_pages: int, *, most_pixels: int = MOST_PIXELS) -> bytes | None:
    """Render page `number`, from 1, as a PNG; None if the page does not exist or cannot be rendered.

    Boxes of fields are fractions of this picture: a PDF page as viewers show it (cropped and rotated), an image
    oriented by its EXIF data. Run it only in a limited child process.

    Raises: UnreadableDocument.
    """
    picture = _picture(data, number, max_pages, most_pixels)
    if picture is None:
        return None
    written = io.BytesIO()
    picture.save(written, "PNG", compress_level=COMPRESSION)
    return written.getvalue()


def _picture(data: bytes, number: int, max_pages: int, most_pixels: int) -> Image.Image | None:
    match sniff(data):
        case FileKind.XML:
            return None
        case FileKind.PDF:
            if number > open_pdf(data, max_pages).page_count:
                return None
            with PdfPages(data) as pdf:
                return next((picture for _, picture in render_pages(pdf, [number], most_pixels=most_pixels)), None)
        case FileKind.IMAGE:
            picture = next(open_pictures(data, max_pages, [number]), None)
            return picture and bounded(picture, most_pixels)
