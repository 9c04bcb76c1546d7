"""Boxes around words, and maps between a page and the picture it was sent as."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from docrail.invoices.model import Box


class Projection(NamedTuple):
    """Map of x and y by a 3 x 3 matrix, here row by row. A last row other than 0, 0, 1 changes the perspective."""

    xx: float
    xy: float
    x0: float
    yx: float
    yy: float
    y0: float
    px: float = 0
    py: float = 0
    p0: float = 1

    def map(self, x: float, y: float) -> tuple[float, float]:
        """Return the image of a point."""
        distance = self.px * x + self.py * y + self.p0
        return (self.xx * x + self.xy * y + self.x0) / distance, (self.yx * x + self.yy * y + self.y0) / distance

    def after(self, inner: "Projection") -> "Projection":
        """Return the composition: first `inner`, then this map."""
        rows, columns = (self[:3], self[3:6], self[6:]), (inner[::3], inner[1::3], inner[2::3])
        return Projection(*(sum(a * b for a, b in zip(row, column, strict=True)) for row in rows for column in columns))


def around(things: Sequence[Any]) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom edges of the box around some words, cells or characters."""
    if len(things) == 1:
        return things[0].left, things[0].top, things[0].right, things[0].bottom
    return (
        min([thing.left for thing in things]),
        min([thing.top for thing in things]),
        max([thing.right for thing in things]),
        max([thing.bottom for thing in things]),
    )


def box_within(*edges: float) -> Box:
    """Return a box in fractions of its page, limited to the page and rounded."""
    left, top, right, bottom = [round(edge, 4) if 0 < edge < 1 else float(edge >= 1) for edge in edges]
    return left, top, right, bottom
