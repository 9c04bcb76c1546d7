"""Find the parts of a page that are not plain paper: lines are searched only there, which halves the time it takes.

Importing this needs the extra `ocr`.
"""

from typing import NamedTuple

import cv2
import numpy as np

from docrail.invoices.readers.ocr.ink import Pixels

STRIDE = 32
"""Sides of a part are multiples of this: the detection model halves its picture five times."""
CELL = 4
"""Pixels of the side of a square whose mean grey is compared with the paper's, so that noise does not count."""
BLOCK = 4
"""Cells of the side of a block, the margin around print."""
CONTRAST, NOISE, MOST_NOISE = 6, 6, 4
"""Difference in grey levels, and its least multiple of the usual one, from which a cell is not paper; the usual one
beyond which paper and print cannot be distinguished, as on a page of which half is print."""
LEAST_CELLS = 2
"""Fewest such cells of a block with print."""
GAP = 4
"""Most blocks of white within a part."""
MOST_PRINTED = 0.8
"""Share of the page from which it is one part: too little would be saved, and its words are small and many."""


class Part(NamedTuple):
    """A rectangle in pixels; the last row and column are not in it."""

    top: int
    bottom: int
    left: int
    right: int


def printed_parts(picture: Pixels) -> list[Part]:
    """Return the bands of a picture that hold all its print; its sides are multiples of STRIDE, and so are theirs.

    A full page is one part.
    """
    height, width = picture.shape[:2]
    grey = picture.min(axis=2).astype(np.float32)
    cells = cv2.resize(grey, (width // CELL, height // CELL), interpolation=cv2.INTER_AREA)
    unlike = np.abs(cells - np.median(cells))
    noise = np.median(unlike)
    if noise > MOST_NOISE:
        return [Part(0, height, 0, width)]
    marked = (unlike > max(CONTRAST, NOISE * noise)).astype(np.uint8)
    counts = marked.reshape(height // CELL // BLOCK, BLOCK, width // CELL // BLOCK, BLOCK).sum(axis=(1, 3))
    blocks = cv2.dilate((counts >= LEAST_CELLS).astype(np.uint8), np.ones((3, 3), np.uint8))
    rows = np.flatnonzero(blocks.any(axis=1))
    bands = np.split(rows, np.flatnonzero(np.diff(rows) > GAP) + 1) if len(rows) else []
    parts = [_part(blocks, int(band[0]), int(band[-1]) + 1) for band in bands]
    printed = sum((part.bottom - part.top) * (part.right - part.left) for part in parts)
    return parts if printed < MOST_PRINTED * width * height else [Part(0, height, 0, width)]


def _part(blocks: Pixels, first: int, end: int) -> Part:
    columns = np.flatnonzero(blocks[first:end].any(axis=0))
    return Part(*_strides(first, end), *_strides(int(columns[0]), int(columns[-1]) + 1))


def _strides(first: int, end: int) -> tuple[int, int]:
    """Return the pixels from a block to the end of another, grown to whole strides."""
    side = CELL * BLOCK
    return first * side // STRIDE * STRIDE, -(-end * side // STRIDE) * STRIDE
