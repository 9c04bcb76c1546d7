"""Read image files and scanned PDF pages into the same pages as a PDF's text layer.

Needs the extra `ocr`, which is loaded with the first picture or by `warm_up`. Pages are upright and level; boxes of
fields refer to the page as sent.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec

from PIL import Image

from docrail.invoices.model import InvoiceProblem
from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.layout.page import Page
from docrail.invoices.readers.pdf.drawn import find_scans, render_pages
from docrail.invoices.readers.pdf.pages import PdfPages

MAX_OCR_PAGES = 15
"""At up to 2.5 CPU seconds each, they fit into the 60 allowed for a document; an invoice has one to three."""
LONG_SIDE = 842.0
"""Longer side of a picture in points, since its true size is unknown: A4's."""
INSTALL = "Install the extra `ocr` where documents are read (pip install 'docrail[ocr]'), and start the worker again."


@cache
def installed() -> bool:
    """Return whether the extra is installed, without loading it."""
    return all(find_spec(name) for name in ("rapidocr", "onnxruntime", "cv2"))


def loaded() -> bool:
    """Return whether the models are loaded in this process."""
    return _page_reader.cache_info().currsize > 0


def warm_up() -> None:
    """Load the models and read a small page, so that forked children start warmed up."""
    page = Image.new("RGB", (320, 64), "white")
    page.paste("black", (40, 16, 280, 48))  # nothing is searched for lines on white paper
    _page_reader()(page, 1, (320.0, 64.0))


def read_pictures(pictures: Iterable[Image.Image]) -> list[Page]:
    """Read the pages in `pictures`; those after the first MAX_OCR_PAGES have no words.

    Raises: UnreadableDocument if the extra is missing, or a picture cannot be opened.
    """
    if not installed():
        raise UnreadableDocument(
            Unreadable.NEEDS_OCR,
            "The file is a picture, and this installation reads no pictures. "
            f"Send the invoice as a PDF with text, or as an e-invoice. {INSTALL}",
        )
    pages = []
    for number, picture in enumerate(pictures, start=1):
        scale = LONG_SIDE / max(picture.size)
        size = picture.width * scale, picture.height * scale
        pages.append(_page_reader()(picture, number, size) if number <= MAX_OCR_PAGES else Page(number, *size, ()))
    return pages


def scanned_pages(pdf: PdfPages, pages: Sequence[Page]) -> list[int]:
    """Return the numbers of a PDF's pages whose print is pictures or drawings; `pages` is its text layer."""
    words = {page.number: len(page.words) for page in pages}
    if not installed():  # an existing OCR text layer is better than nothing
        words = {number: count for number, count in words.items() if not count}
    return find_scans(pdf, words)


def read_scans(pdf: PdfPages, pages: Sequence[Page], numbers: Sequence[int]) -> list[Page]:
    """Return a PDF's `pages`, with the first MAX_OCR_PAGES of `numbers` read by OCR.

    Pages stay unchanged without the extra, or if OCR finds no words.
    """
    if not installed():
        return list(pages)
    sizes = {page.number: (page.width, page.height) for page in pages}
    pictures = render_pages(pdf, numbers[:MAX_OCR_PAGES])
    read = {number: _page_reader()(picture, number, sizes[number]) for number, picture in pictures}
    return [seen if (seen := read.get(page.number)) and seen.words else page for page in pages]


def left_out(pictures: int) -> tuple[InvoiceProblem, ...]:
    """Return the problems to report for a document with this many scanned pages."""
    if pictures == 0 or (installed() and pictures <= MAX_OCR_PAGES):
        return ()
    if installed():
        message = f"Only the first {MAX_OCR_PAGES} of {pictures} scanned pages were read. Please look at the others."
    else:
        message = f"{pictures} of the pages are pictures, which this installation does not read. {INSTALL}"
    return (InvoiceProblem.warning("pages_not_read", message),)


@cache
def _page_reader() -> Callable[[Image.Image, int, tuple[float, float]], Page]:
    """Load the models once. The imports are local because they need the extra."""
    import numpy as np  # noqa: PLC0415

    from docrail.invoices.readers.ocr.models import Models  # noqa: PLC0415
    from docrail.invoices.readers.ocr.page import read_pixels  # noqa: PLC0415

    models = Models()

    def read(picture: Image.Image, number: int, size: tuple[float, float]) -> Page:
        pixels = np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])
        return read_pixels(models, pixels, number, size)

    return read
