"""Find the parts of a PDF page that may show a QR code.

Only pictures and dense groups of small boxes are searched: rendering a whole page costs as much as reading it, and most
pictures on invoices are logos.
"""

import ctypes
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from docrail.invoices.readers.layout.geometry import around
from docrail.invoices.readers.pdf.drawn import Thing, View, things_on

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
            boxes.append(_Boxes(CodePlace(*view.seen(*thing.box())), raw.FPDFPath_CountSegments(thing.handle)))
    close = _close([drawn for drawn in boxes if drawn.may_be_of_a_code()])
    if sum(drawn.segments for drawn in close) < LEAST_SEGMENTS:
        return pictures
    return [*pictures, CodePlace(*around([drawn.place for drawn in close]))]


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
            grown = CodePlace(*around([grown, *touched]))
        apart.append(grown)
    return apart
