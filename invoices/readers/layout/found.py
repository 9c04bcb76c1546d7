"""Create FieldValues from cells of a page."""

from collections.abc import Sequence
from statistics import fmean
from typing import TypeVar

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import Box, FieldValue
from docrail.invoices.readers.layout.page import Cell, Layout

T = TypeVar("T")
_BY_OCR = {Source.TEXT_LABEL: Source.OCR_LABEL, Source.TEXT_PATTERN: Source.OCR_PATTERN}


def found(layout: Layout, value: T, cell: Cell, source: Source, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    """Return `value` as read in `cell`. For OCR words, the source and the mean score say so."""
    scores = [word.score for word in cell.words if word.score is not None]
    return FieldValue[T](
        value=value,
        source=_BY_OCR.get(source, source) if scores else source,
        page=cell.page,
        box=box_of(layout, cell),
        word_score=round(fmean(scores), 4) if scores else None,
        evidence=evidence,
    )


def computed(layout: Layout, value: T, source: Source) -> FieldValue[T]:
    """Return `value` as computed from other values; it is not printed itself."""
    return FieldValue[T](value=value, source=_BY_OCR.get(source, source) if mostly_ocr(layout) else source)


def mostly_ocr(layout: Layout) -> bool:
    """Return whether more words come from OCR than from the text layer."""
    words = [word for page in layout.pages for word in page.words]
    return 2 * sum(word.score is not None for word in words) > len(words)


def box_of(layout: Layout, cell: Cell) -> Box:
    """Return the cell's box as fractions of its page, in the orientation the document was sent in."""
    edges = layout.pages[cell.page - 1].as_sent(cell.left, cell.top, cell.right, cell.bottom)
    left, top, right, bottom = (round(min(1.0, max(0.0, edge)), 4) for edge in edges)
    return left, top, right, bottom


def box_around(layout: Layout, cells: Sequence[Cell]) -> Box | None:
    """Return the box around the cells on the last cell's page; None if there are no cells."""
    if not cells:
        return None
    boxes = [box_of(layout, cell) for cell in cells if cell.page == cells[-1].page]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
