"""Measure the letters of a line, and the gaps between them, from its ink.

A line's box and a model only guess their size. Importing this needs the extra `ocr`.
"""

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import cv2
import numpy as np

Pixels = Any
"""A numpy array of bytes: height, width, and blue, green, red."""

ASCENDER, X_HEIGHT = 0.72, 0.52
"""Heights of letters above the baseline, as shares of the type size; common typefaces differ by 0.03."""
DEPTHS = {0.21: frozenset("gjpqyç"), 0.17: frozenset("()[]{}|Q@$§"), 0.12: frozenset(",;_"), 0.0: frozenset()}
"""Depths of characters below the baseline, as shares of the type size, deepest first."""
LINE_ABOVE, LINE_BELOW = 0.92, 0.22
"""Extent of a text layer's boxes for the same type. Measured: ADR 0017."""
LOW = frozenset("acegmnopqrsuvwxyz.,:;-_~+=")
"""Characters lower than capitals."""
RULE, UNDERLINE = 0.92, 0.75
"""Ink share from which a row or column of pixels is a ruled line; one under letters may be shorter."""
DOT_GAP = 0.2
"""Largest distance of a dot or accent from its letters, as a share of their height."""
PLAUSIBLE = 0.35
"""Smallest plausible share of letters in a found line's height; below it, something else was taken for letters."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Measurements of a line's ink, in pixels of its crop."""

    top: float
    bottom: float
    """The edges that a text layer would give the line."""
    size: float
    """Type size."""
    gaps: tuple[tuple[int, int], ...]
    """Columns without ink between the letters, as (start, end)."""

    @property
    def usual_gap(self) -> float:
        """The median gap between letters."""
        return float(median(end - start for start, end in self.gaps)) if self.gaps else 0.0

    def gap_between(self, one: float, other: float) -> int:
        """Return the widest gap between two letters, given by their centres."""
        return max((end - start for start, end in self.gaps if one < (start + end) / 2 < other), default=0)


def see_ink(crop: Pixels, text: str) -> Ink | None:
    """Measure the ink of a line that reads `text`; None if the result is implausible."""
    dark = see_dark(crop)
    rows = _letter_rows(dark)
    if rows is None:
        return None
    letters = set(text)
    above = X_HEIGHT if letters <= LOW else ASCENDER
    below = next(depth for depth, characters in DEPTHS.items() if letters & characters or not depth)
    size = (rows[1] - rows[0]) / (above + below)
    if not PLAUSIBLE * len(crop) < size < len(crop):
        return None
    base = rows[1] - below * size
    return Ink(base - LINE_ABOVE * size, base + LINE_BELOW * size, size, _gaps(dark[rows[0] : rows[1]]))


def see_dark(crop: Pixels) -> Any:
    """Return an array with 1 for ink and 0 for background; the rarer of the two colours is ink."""
    _, dark = cv2.threshold(crop.min(axis=2), 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    return 1 - dark if 2 * dark.sum() > dark.size else dark


def _letter_rows(dark: Any) -> tuple[int, int] | None:
    """Return the first row of the letters and the row after their last."""
    share = dark[:, dark.mean(axis=0) < RULE].mean(axis=1)
    ink = np.flatnonzero((share > 1 / dark.shape[1]) & (share < RULE))
    if len(ink) == 0:
        return None
    runs = np.split(ink, np.flatnonzero(np.diff(ink) > 1) + 1)
    main = max(range(len(runs)), key=lambda index: float(share[runs[index]].sum()))
    first, last = int(runs[main][0]), int(runs[main][-1])
    reach = DOT_GAP * (last - first + 1)
    if main > 0 and first - int(runs[main - 1][-1]) - 1 <= reach and runs[main - 1][0] > 0:
        first = int(runs[main - 1][0])
    if main < len(runs) - 1 and int(runs[main + 1][0]) - last - 1 <= reach and runs[main + 1][-1] < len(share) - 1:
        last = int(runs[main + 1][-1])
    return first, last + 1


def _gaps(dark: Any) -> tuple[tuple[int, int], ...]:
    """Return the runs of columns without ink between columns with ink; lines ruled under letters do not count."""
    letters = dark[dark.mean(axis=1) < UNDERLINE]
    inked = np.flatnonzero(letters.any(axis=0))
    return tuple((int(a) + 1, int(b)) for a, b in pairwise(inked) if b - a > 1)
