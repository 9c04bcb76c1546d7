"""Find payment QR codes on PDF pages and pictures, and read them with their pages and places.

On a PDF page, only pictures and dense groups of small boxes are searched: rendering a whole page costs as much as
reading it, and most pictures on invoices are logos.
"""

import ctypes
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import pypdfium2
import zxingcpp
from PIL import Image
from pypdfium2 import raw

from docrail.invoices.model import FIELD_NAMES, Box, InvoiceData, InvoiceProblem
from docrail.invoices.readers.codes.payment_codes import BrokenCode, read_payment_code
from docrail.invoices.readers.layout.geometry import box_within
from docrail.invoices.readers.pdf.drawn import Thing, View, things_on
from docrail.invoices.readers.pdf.pages import PdfPages

MAX_PICTURE_PIXELS = 40_000_000
"""Limit for a picture on a page. Larger ones are not decompressed to search for a code."""
LEAST_SIDE = 36
"""Points: half an inch. A smaller picture is not a payment code (EPC069-12: at least 20 mm)."""
LEAST_SEGMENTS = 200
"""Fewest line segments on a page. A drawn code has a box for each run of dark modules, at least 300."""
TWO_BOXES = 8
"""Segments of at least two boxes. Such paths are rows of a code, whole codes, or letters."""
LONGEST_RUN = 72
"""Longest run of dark modules in a code, in points. Longer boxes are lines and cells of tables."""
LEAST_MODULE, LONGEST_SLIVER = 0.5, 12
"""Points. Thinner and longer boxes are lines; the modules of a dense code, 69 in 20 mm, are 0.8 wide. Thinner and
shorter boxes may be slices of modules, as some printer drivers draw them."""
LEAST_IN_SQUARE = 32
"""Fewest segments in a square of LEAST_SIDE: a code with modules 6 points wide has 10 boxes there, a table fewer."""
QUIET = 12
"""White margin in points that a decoder needs around a code: four modules; those of EPC codes are 0.9 mm at most."""
MAX_PLACES = 50
"""Most places searched one by one. A page with more is mostly pictures, and is searched as a whole."""


class CodePlace(NamedTuple):
    """A part of a page as seen, in points from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "CodePlace") -> bool:
        """Return whether the two places have a point in common."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.bottom < other.top or other.bottom < self.top)

    def has_sides(self, least: float) -> bool:
        """Return whether both sides have at least this length; not if a coordinate is NaN."""
        return self.right - self.left >= least and self.bottom - self.top >= least

    def common(self, other: "CodePlace") -> "CodePlace":
        """Return the intersection of both places; if they do not touch, it has negative sides."""
        low, high = map(max, self[:2], other[:2]), map(min, self[2:], other[2:])
        return CodePlace(*low, *high)

    def with_white(self, points: float) -> "CodePlace":
        """Return the place enlarged by this much on each side."""
        return CodePlace(self.left - points, self.top - points, self.right + points, self.bottom + points)

    def with_other(self, other: "CodePlace") -> "CodePlace":
        """Return the smallest place around both."""
        low, high = map(min, self[:2], other[:2]), map(max, self[2:], other[2:])
        return CodePlace(*low, *high)


class _Boxes(NamedTuple):
    """A path on a page: one or more boxes of a possible code."""

    place: CodePlace
    segments: int

    def may_be_of_a_code(self) -> bool:
        """Return whether the path can be part of a code, not a line or a cell of a table."""
        sides = self.place.right - self.place.left, self.place.bottom - self.place.top
        thin = not self.place.has_sides(LEAST_MODULE)
        short = max(sides) <= (LONGEST_SLIVER if thin else LONGEST_RUN)
        return self.place.has_sides(0) and (short or (self.segments >= TWO_BOXES and not thin))

    @property
    def square(self) -> tuple[float, float]:
        """Column and row of the square of LEAST_SIDE that contains its centre."""
        left, top, right, bottom = self.place
        return (left + right) / 2 // LEAST_SIDE, (top + bottom) / 2 // LEAST_SIDE


def code_places(page: pypdfium2.PdfPage) -> list[CodePlace]:
    """Return the parts of the page to search for codes, with white margins; they do not overlap.

    Empty if a picture on the page is too large to decompress for this. Raises: PdfiumError.
    """
    whole = CodePlace(0, 0, *page.get_size())
    drawn = _drawn(page)
    if len(drawn) > MAX_PLACES:
        return [whole]
    apart = _apart([place.with_white(QUIET) for place in drawn])
    return [
        place.common(whole)
        for place in apart
        if place.has_sides(LEAST_SIDE + 2 * QUIET) and place.common(whole).has_sides(LEAST_SIDE)
    ]


def _drawn(page: pypdfium2.PdfPage) -> list[CodePlace]:
    """Return the places of the pictures, and the one around the small boxes if there are as many as in a code."""
    view = View.of(page)
    pictures: list[CodePlace] = []
    boxes: list[_Boxes] = []
    for thing in things_on(page):
        if thing.kind == raw.FPDF_PAGEOBJ_IMAGE:
            if _pixels(thing) > MAX_PICTURE_PIXELS:
                return []
            pictures.append(CodePlace(*view.seen(*thing.box())))
        elif thing.kind == raw.FPDF_PAGEOBJ_PATH:
            drawn = _Boxes(CodePlace(*view.seen(*thing.box())), raw.FPDFPath_CountSegments(thing.handle))
            boxes += [drawn] if drawn.may_be_of_a_code() else []
    close = _close(boxes)
    if sum(drawn.segments for drawn in close) < LEAST_SEGMENTS:
        return pictures
    return [*pictures, reduce(CodePlace.with_other, (drawn.place for drawn in close))]


def _close(boxes: Sequence[_Boxes]) -> list[_Boxes]:
    """Return the boxes that are as dense as in a code, and those in neighbouring squares."""
    squares: Counter[tuple[float, float]] = Counter()
    for drawn in boxes:
        squares[drawn.square] += drawn.segments
    dense = [square for square, segments in squares.items() if segments >= LEAST_IN_SQUARE]
    near = {(x + right, y + down) for x, y in dense for right in (-1, 0, 1) for down in (-1, 0, 1)}
    return [drawn for drawn in boxes if drawn.square in near]


def _pixels(picture: Thing) -> int:
    width, height = ctypes.c_uint(), ctypes.c_uint()
    if not raw.FPDFImageObj_GetImagePixelSize(picture.handle, width, height):
        raise pypdfium2.PdfiumError("a picture on the page has no size")
    return width.value * height.value


def _apart(places: Iterable[CodePlace]) -> list[CodePlace]:
    """Merge places that touch: a code may be cut into stripes, or have a picture on it."""
    apart: list[CodePlace] = []
    for place in places:
        grown = place
        while touched := [other for other in apart if other.touches(grown)]:
            apart = [other for other in apart if other not in touched]
            grown = reduce(CodePlace.with_other, touched, grown)
        apart.append(grown)
    return apart


DOTS_PER_POINT = 150 / 72
"""Measured: the densest Swiss code, 101 modules in 46 mm, is already readable at 120 dpi."""
QR_CODES = zxingcpp.BarcodeFormats([zxingcpp.BarcodeFormat.QRCode])
MAX_PIXELS = 8_000_000
FIRST_PAGES, LAST_PAGES = 4, 2
"""Pages searched at both ends of a long document, where payment codes are."""
LONGEST_CODE = 4096
"""Largest code in bytes; QR codes hold at most 2,953."""
BROKEN, NOT_SEARCHED = "payment_code_broken", "payment_codes_not_searched"

Pixel = tuple[int, int]
"""Horizontal and vertical position."""


@dataclass(frozen=True, slots=True)
class Code:
    """A QR code with its contents and its place."""

    data: bytes
    text: str
    page: int
    box: Box


def codes_of_pdf(pdf: PdfPages) -> tuple[list[Code], tuple[InvoiceProblem, ...]]:
    """Return the QR codes on the pages that usually have payment codes, and a problem for pages that failed.

    Searches only the places where something like a code is drawn.
    """
    every = range(1, len(pdf) + 1)
    codes: list[Code] = []
    unsearched: list[int] = []
    for number in (*every[:FIRST_PAGES], *every[FIRST_PAGES:][-LAST_PAGES:]):
        try:
            with pdf.page(number) as page:
                codes += _codes_of_page(page, number)
        except pypdfium2.PdfiumError:  # skip a broken page; the others still count
            unsearched.append(number)
    return codes, (_not_searched(unsearched),) if unsearched else ()


def codes_of_picture(picture: Image.Image, page: int) -> list[Code]:
    """Return the QR codes in the picture of a page."""
    return list(_codes(_bounded(picture), page))


def read_codes(codes: Sequence[Code]) -> tuple[InvoiceData | None, tuple[InvoiceProblem, ...]]:
    """Return the reading of the payment codes among `codes`, None if there are none, and their problems.

    If several codes differ, as for instalments, only the fields they agree on are kept.
    """
    readings: list[InvoiceData] = []
    problems: list[InvoiceProblem] = []
    for code in codes:
        try:
            reading = read_payment_code(code.data, code.text)
        except BrokenCode as error:
            problems.append(_broken(code, error))
        else:
            if reading is not None:
                readings.append(_placed(reading, code))
    return (_common(readings) if readings else None), tuple(problems)


def _codes_of_page(page: pypdfium2.PdfPage, number: int) -> Iterator[Code]:
    """Yield the codes on a page. Raises: PdfiumError if something on it is broken."""
    width, height = page.get_size()
    scale = min(DOTS_PER_POINT, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    if min(width, height) * scale < LEAST_SIDE:
        return
    for place in code_places(page):
        crop = place.left, height - place.bottom, width - place.right, place.top
        with closing(page.render(scale=scale, crop=crop, grayscale=True)) as bitmap:
            corner = math.ceil(place.left * scale), math.ceil(place.top * scale)
            size = math.ceil(width * scale), math.ceil(height * scale)
            yield from _codes(bitmap.to_pil(), number, corner, size)


def _codes(picture: Image.Image, page: int, corner: Pixel = (0, 0), size: Pixel | None = None) -> Iterator[Code]:
    """Yield the codes in a picture, which may be the part at `corner` of a page of `size`."""
    (left, top), (width, height) = corner, size or picture.size
    for found in zxingcpp.read_barcodes(picture, formats=QR_CODES, try_downscale=False):
        corners = found.position
        points = (corners.top_left, corners.top_right, corners.bottom_left, corners.bottom_right)
        xs, ys = [(left + point.x) / width for point in points], [(top + point.y) / height for point in points]
        box = box_within(min(xs), min(ys), max(xs), max(ys))
        if len(found.bytes) <= LONGEST_CODE:
            yield Code(found.bytes, found.text, page, box)


def _bounded(picture: Image.Image) -> Image.Image:
    """Return the picture in grey, no larger than a rendered page."""
    grey = picture.convert("L")
    scale = (MAX_PIXELS / (grey.width * grey.height)) ** 0.5
    return grey if scale >= 1 else grey.resize((int(grey.width * scale) or 1, int(grey.height * scale) or 1))


def _placed(reading: InvoiceData, code: Code) -> InvoiceData:
    place = {"page": code.page, "box": code.box}
    fields = {name: getattr(reading, name) for name in FIELD_NAMES if getattr(reading, name).value is not None}
    return reading.model_copy(update={name: field.model_copy(update=place) for name, field in fields.items()})


def _common(readings: Sequence[InvoiceData]) -> InvoiceData:
    first = readings[0]
    empty = InvoiceData()
    differing = {
        name: getattr(empty, name)
        for name in FIELD_NAMES
        if any(getattr(other, name).value != getattr(first, name).value for other in readings[1:])
    }
    return first.model_copy(update=differing)


def _broken(code: Code, error: BrokenCode) -> InvoiceProblem:
    return InvoiceProblem.warning(
        BROKEN,
        f"The payment code on page {code.page} is not valid: {error}. Do not scan it to pay.",
    )


def _not_searched(pages: Sequence[int]) -> InvoiceProblem:
    named = ", ".join(map(str, pages))
    return InvoiceProblem.warning(
        NOT_SEARCHED,
        f"Page {named} is damaged and was not searched for payment codes. Check it yourself.",
    )
