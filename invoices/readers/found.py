"""Makes FieldValues out of what was found on a page."""

from typing import TypeVar

from invoices.model import Box, Evidence, FieldValue, Source
from invoices.readers.geometry import Cell, Layout

T = TypeVar("T")


def found(layout: Layout, value: T, cell: Cell, source: Source, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    """Return `value` as read in `cell`."""
    return FieldValue[T](value=value, source=source, page=cell.page, box=box_of(layout, cell), evidence=evidence)


def box_of(layout: Layout, cell: Cell) -> Box:
    """Return the cell's box in fractions of its page."""
    page = layout.pages[cell.page - 1]
    edges = (cell.left / page.width, cell.top / page.height, cell.right / page.width, cell.bottom / page.height)
    left, top, right, bottom = (round(min(1.0, max(0.0, edge)), 4) for edge in edges)
    return left, top, right, bottom
