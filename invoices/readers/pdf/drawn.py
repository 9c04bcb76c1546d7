"""List what is drawn on the pages of a PDF (pictures, lines, texts), and render pages as pictures."""

import ctypes
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from docrail.invoices.readers.layout.geometry import Projection
from docrail.invoices.readers.pdf.images import LEAST_SIDE
from docrail.invoices.readers.pdf.pages import KEPT_PAGES, PdfPages

EDGES = struct.Struct("4f")
"""The edges of a box of pdfium: left, top, right and bottom."""
MAX_DEPTH = 3
"""Nesting depth of drawings that is searched."""
AS_WRITTEN = Projection(1, 0, 0, 0, 1, 0)


def unchecked(function: Any) -> Any:
    """Return a function of pdfium that takes its arguments as they are: checking their types takes longer than it."""
    without_checks = type(function)(ctypes.cast(function, ctypes.c_void_p).value)
    without_checks.restype = function.restype
    return without_checks


OBJECT_OF, KIND_OF = unchecked(raw.FPDFPage_GetObject), unchecked(raw.FPDFPageObj_GetType)
"""Called for each object on a page."""


@dataclass(frozen=True, slots=True)
class View:
    """Map from PDF points (origin bottom left, before rotation) to the page as seen, from its top left."""

    rotation: int
    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def of(cls, page: pypdfium2.PdfPage) -> "View":
        """Return the view of a page."""
        return cls(page.get_rotation(), *page.get_bbox())

    @property
    def quarter(self) -> int:
        """Quarter turns counterclockwise, before rotation, of text that is seen upright."""
        return self.rotation // 90

    def of_text(self, quarter: int) -> "View":
        """Return the view in which text with this many quarter turns is upright."""
        return View(90 * quarter, self.left, self.bottom, self.right, self.top)

    def seen(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        """Return the left, top, right and bottom edges as seen of a box with these edges."""
        match self.rotation:
            case 0:
                return left - self.left, self.top - top, right - self.left, self.top - bottom
            case 90:
                return bottom - self.bottom, left - self.left, top - self.bottom, right - self.left
            case 180:
                return self.right - right, bottom - self.bottom, self.right - left, top - self.bottom
            case _:
                return self.top - top, self.right - right, self.top - bottom, self.right - left


class Thing(NamedTuple):
    """One object on a page. Valid until its page is closed."""

    kind: int
    """`FPDF_PAGEOBJ_TEXT` or another constant."""
    handle: Any
    """Handle of pdfium."""
    placed: Projection
    """Map from the enclosing drawing to the page."""

    def box(self) -> tuple[float, float, float, float]:
        """Return its left, top, right and bottom edges on the page before rotation. Raises: PdfiumError."""
        edges = [ctypes.c_float() for _ in range(4)]
        if not raw.FPDFPageObj_GetBounds(self.handle, *edges):
            raise pypdfium2.PdfiumError("an object on the page has no bounds")
        left, bottom, right, top = (edge.value for edge in edges)
        corners = [self.placed.map(x, y) for x in (left, right) for y in (bottom, top)]
        xs, ys = zip(*corners, strict=True)
        return EDGES.unpack(raw.FS_RECTF(left=min(xs), top=max(ys), right=max(xs), bottom=min(ys)))


@lru_cache(maxsize=KEPT_PAGES)  # those with codes are looked for among them, then scans
def things_on(page: pypdfium2.PdfPage) -> Sequence[Thing]:
    """Return the objects drawn on the page except texts, each drawing before its parts. Raises: PdfiumError."""
    return tuple(thing for thing in _every_thing(page) if thing.kind != raw.FPDF_PAGEOBJ_TEXT)


def _every_thing(page: pypdfium2.PdfPage) -> Iterator[Thing]:
    return _things(page.raw, raw.FPDFPage_CountObjects, OBJECT_OF, AS_WRITTEN, 1)


def _things(drawing: Any, count: Any, get: Any, placed: Projection, depth: int) -> Iterator[Thing]:
    for index in range(count(drawing)):
        handle = get(drawing, index)
        if not handle:
            raise pypdfium2.PdfiumError("an object on the page cannot be opened")
        kind = KIND_OF(handle)
        yield Thing(kind, handle, placed)
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
            matrix = raw.FS_MATRIX()
            if not raw.FPDFPageObj_GetMatrix(handle, matrix):
                raise pypdfium2.PdfiumError("a drawing on the page has no place")
            inside = placed.after(Projection(matrix.a, matrix.c, matrix.e, matrix.b, matrix.d, matrix.f))
            yield from _things(handle, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, inside, depth + 1)


DOTS_PER_POINT = 200 / 72
MAX_PIXELS = 8_000_000
"""Pixels of a rendered page. A4 at 200 dpi has 3.9 million; pages that count a scan's pixels as points have 8.7."""
FEW_WORDS = 15
"""Fewer words on a page covered by a picture mean a scan: scanners and mail gateways print a line on scans."""
COVERED = 0.4
"""Share of a page that its pictures must cover for it to be a scan."""


def render_pages(
    pdf: PdfPages, numbers: Sequence[int], *, most_pixels: int = MAX_PIXELS
) -> Iterator[tuple[int, Image.Image]]:
    """Yield the pages with these numbers, from 1, as RGB pictures. Pages that cannot be rendered are skipped."""
    for number in numbers:
        try:
            with pdf.page(number) as page:
                picture = _draw(page, most_pixels)
        except (pypdfium2.PdfiumError, ValueError):
            continue  # skip a broken page; the others still count
        yield number, picture


def find_scans(pdf: PdfPages, words: Mapping[int, int]) -> list[int]:
    """Return the numbers of the pages that are scans; `words` is the word count of each page's text layer.

    A scan has no words although something is drawn on it, or is covered by a large picture and has few words or mostly
    invisible ones, which come from another OCR.
    """
    return [number for number, count in words.items() if _is_scan(pdf, number, count)]


def _is_scan(pdf: PdfPages, number: int, words: int) -> bool:
    try:
        with pdf.page(number) as page:
            return _shows_print(page, words)
    except pypdfium2.PdfiumError:
        return False  # a broken page, or a broken object on it


def _shows_print(page: pypdfium2.PdfPage, words: int) -> bool:
    if not words:
        return any(True for _ in _every_thing(page))
    boxes = [thing.box() for thing in things_on(page) if thing.kind == raw.FPDF_PAGEOBJ_IMAGE]
    covered = sum((right - left) * (top - bottom) for left, top, right, bottom in boxes)
    width, height = page.get_size()
    if covered < COVERED * width * height:
        return False
    texts = [thing.handle for thing in _every_thing(page) if thing.kind == raw.FPDF_PAGEOBJ_TEXT]
    hidden = [raw.FPDFTextObj_GetTextRenderMode(text) == raw.FPDF_TEXTRENDERMODE_INVISIBLE for text in texts]
    return words < FEW_WORDS or 2 * sum(hidden) > len(hidden)


def _draw(page: pypdfium2.PdfPage, most_pixels: int) -> Image.Image:
    width, height = page.get_size()
    most = (most_pixels / max(width * height, 1.0)) ** 0.5
    scale = min(DOTS_PER_POINT, int(most * width) / width, int(most * height) / height)  # pdfium rounds sides up
    if min(width, height) * scale < LEAST_SIDE:
        raise ValueError(f"the page is {width:.0f} x {height:.0f} points, too narrow to read")
    with closing(page.render(scale=scale)) as bitmap:
        picture: Image.Image = bitmap.to_pil().convert("RGB")
        return picture
