"""Render PDF pages as pictures, with a limit on pixels whatever size the page declares."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from docrail.invoices.readers.pdf.drawn import things_on

DOTS_PER_POINT = 200 / 72
MAX_PIXELS = 8_000_000
"""Pixels of a rendered page. A4 at 200 dpi has 3.9 million; pages that count a scan's pixels as points have 8.7."""
LEAST_SIDE = 8
FEW_WORDS = 15
"""Fewer words on a page covered by a picture mean a scan: scanners and mail gateways print a line on scans."""
COVERED = 0.4
"""Share of a page that its pictures must cover for it to be a scan."""


def render_pages(data: bytes, numbers: Sequence[int]) -> Iterator[tuple[int, Image.Image]]:
    """Yield the pages with these numbers, from 1, as RGB pictures. Pages that cannot be rendered are skipped."""
    with closing(pypdfium2.PdfDocument(data)) as document:
        for number in numbers:
            try:
                picture = _draw(document, number - 1)
            except (pypdfium2.PdfiumError, ValueError):
                continue  # skip a broken page; the others still count
            yield number, picture


def find_scans(data: bytes, words: Mapping[int, int]) -> list[int]:
    """Return the numbers of the pages that are scans; `words` is the word count of each page's text layer.

    A scan has no words although something is drawn on it, or is covered by a large picture and has few words or mostly
    invisible ones, which come from another OCR.
    """
    with closing(pypdfium2.PdfDocument(data)) as document:
        return [number for number, count in words.items() if _is_scan(document, number - 1, count)]


def _is_scan(document: pypdfium2.PdfDocument, index: int, words: int) -> bool:
    try:
        return _shows_print(document, index, words)
    except pypdfium2.PdfiumError:
        return False  # a broken page, or a broken object on it


def _shows_print(document: pypdfium2.PdfDocument, index: int, words: int) -> bool:
    with closing(document[index]) as page:
        things = list(things_on(page))
        if not words:
            return bool(things)
        boxes = [thing.box() for thing in things if thing.kind == raw.FPDF_PAGEOBJ_IMAGE]
        covered = sum((box.right - box.left) * (box.top - box.bottom) for box in boxes)
        width, height = page.get_size()
        if covered < COVERED * width * height:
            return False
        texts = [thing.handle for thing in things if thing.kind == raw.FPDF_PAGEOBJ_TEXT]
        hidden = [raw.FPDFTextObj_GetTextRenderMode(text) == raw.FPDF_TEXTRENDERMODE_INVISIBLE for text in texts]
        return words < FEW_WORDS or 2 * sum(hidden) > len(hidden)


def _draw(document: pypdfium2.PdfDocument, index: int) -> Image.Image:
    with closing(document[index]) as page:
        width, height = page.get_size()
        scale = min(DOTS_PER_POINT, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
        if min(width, height) * scale < LEAST_SIDE:
            raise ValueError(f"the page is {width:.0f} x {height:.0f} points, too narrow to read")
        with closing(page.render(scale=scale)) as bitmap:
            picture: Image.Image = bitmap.to_pil().convert("RGB")
            return picture
