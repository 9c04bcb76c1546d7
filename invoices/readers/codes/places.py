"""Tells where on a PDF's page a payment code may be: around its pictures, and where many small boxes are drawn.

Drawing a whole page to look for a code costs as much as reading it; most pictures on invoices are logos.
"""

import ctypes
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from docrail.invoices.readers.pdf.drawn import Thing, View, things_on

MAX_PICTURE_PIXELS = 40_000_000
"""Of a picture on a page. Larger ones are not unpacked to look for a code in them."""
LEAST_SIDE = 36
"""Points: half an inch. A smaller picture is no payment code (EPC069-12: 20 mm at least)."""
LEAST_SEGMENTS = 200
"""Of drawn lines on a page. A code that is drawn has a box for each run of its dark modules, 300 at least."""
TWO_BOXES = 8
"""Segments of two boxes at least. Such paths are rows of a code, or whole codes; they are letters too."""
LONGEST_RUN = 72
"""Points that dark modules of a code take beside each other. Longer boxes are the lines and cells of tables."""
LEAST_MODULE, LONGEST_SLIVER = 0.5, 12
"""Points. Thinner boxes that are longer are lines; a dense code's modules, 69 in 20 mm, are 0.8 wide. Thinner ones that
are shorter may be slices of modules, as some drivers draw them."""
LEAST_IN_SQUARE = 32
"""Segments in a square of LEAST_SIDE: a code whose modules are 6 points wide has 10 boxes there, a table fewer."""
QUIET = 12
"""Points left white around a code, without which it is not found: four of its modules, EPC's are 0.9 mm at most."""
MAX_PLACES = 50
"""That are looked at one by one. A page with more is mostly pictures, and looked at as a whole."""


class CodePlace(NamedTuple):
    """A part of a page as seen, in points from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "CodePlace") -> bool:
        """Tell whether the two have a point in common."""
        beside = self.right < other.left or other.right < self.left
        return not (beside or self.bottom < other.top or other.bottom < self.top)

    def has_sides(self, least: float) -> bool:
        """Tell whether it is so long and so high; what has no number for its place is not."""
        return self.right - self.left >= least and self.bottom - self.top >= least

    def common(self, other: "CodePlace") -> "CodePlace":
        """Return the part that both have in common; of places that do not touch, one whose sides are below zero."""
        low, high = map(max, self[:2], other[:2]), map(min, self[2:], other[2:])
        return CodePlace(*low, *high)

    def with_white(self, points: float) -> "CodePlace":
        """Return the place with this much more on each side."""
        return CodePlace(self.left - points, self.top - points, self.right + points, self.bottom + points)

    def with_other(self, other: "CodePlace") -> "CodePlace":
        """Return the least place around both."""
        low, high = map(min, self[:2], other[:2]), map(max, self[2:], other[2:])
        return CodePlace(*low, *high)


class _Boxes(NamedTuple):
    """A path on a page: a box or more of what may be a code."""

    place: CodePlace
    segments: int

    def may_be_of_a_code(self) -> bool:
        """Tell whether it is none of the lines and cells of a table."""
        sides = self.place.right - self.place.left, self.place.bottom - self.place.top
        thin = not self.place.has_sides(LEAST_MODULE)
        short = max(sides) <= (LONGEST_SLIVER if thin else LONGEST_RUN)
        return self.place.has_sides(0) and (short or (self.segments >= TWO_BOXES and not thin))

    @property
    def square(self) -> tuple[float, float]:
        """Which of the page's squares of LEAST_SIDE its middle is in, counted across and down."""
        left, top, right, bottom = self.place
        return (left + right) / 2 // LEAST_SIDE, (top + bottom) / 2 // LEAST_SIDE


def code_places(page: pypdfium2.PdfPage) -> list[CodePlace]:
    """Return the parts of the page to be searched for codes, with white around; no two of them overlap.

    None on a page with a picture that is too large to be unpacked for it. Raises: PdfiumError.
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
    """Return the places of the pictures, and the one around the small boxes if there are as many as a code has."""
    view = View.of(page)
    pictures: list[CodePlace] = []
    boxes: list[_Boxes] = []
    for thing in things_on(page):
        if thing.kind == raw.FPDF_PAGEOBJ_IMAGE:
            if _pixels(thing) > MAX_PICTURE_PIXELS:
                return []
            pictures.append(CodePlace(*view.seen(thing.box())))
        elif thing.kind == raw.FPDF_PAGEOBJ_PATH:
            drawn = _Boxes(CodePlace(*view.seen(thing.box())), raw.FPDFPath_CountSegments(thing.handle))
            boxes += [drawn] if drawn.may_be_of_a_code() else []
    close = _close(boxes)
    if sum(drawn.segments for drawn in close) < LEAST_SEGMENTS:
        return pictures
    return [*pictures, reduce(CodePlace.with_other, (drawn.place for drawn in close))]


def _close(boxes: Sequence[_Boxes]) -> list[_Boxes]:
    """Return those that stand as close together as the boxes of a code do, and what is beside them."""
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
    """Return places that do not touch, around the same: a code may be cut into stripes, or have a picture on it."""
    apart: list[CodePlace] = []
    for place in places:
        grown = place
        while touched := [other for other in apart if other.touches(grown)]:
            apart = [other for other in apart if other not in touched]
            grown = reduce(CodePlace.with_other, touched, grown)
        apart.append(grown)
    return apart
