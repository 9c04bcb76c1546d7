"""Level a page: undo a rotation by up to 15 degrees, and the light perspective of a photo taken at an angle.

Only the slopes of the printed lines are measured, since the edges of the sheet need not be in the picture. Seen at an
angle, lines of print meet in one point far to the side: their slope changes from the top of the page to its bottom.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from docrail.invoices.readers.ocr.models import Line

LONG = 6.0
"""A line at least this many times as long as high has a slope worth measuring."""
LEVEL_DEGREES, MOST_DEGREES = 0.4, 16.0
"""A smaller slope is harmless; a larger one is not a sheet that slipped in a scanner, or was held by hand."""
MEETING_DEGREES, MOST_MEETING_DEGREES = 0.6, 4.0
"""Difference of the slopes at the middle of the page and at its edge, from which lines meet; the largest one that is
light perspective."""
LEAST_LINES, CLEARER = 6, 0.6
"""Fewest long lines that show perspective, and the share of their slopes' deviation that it may leave."""
Matrix = Any
"""A numpy array of 3 x 3 numbers."""


def levelling(lines: Sequence[Line], size: tuple[int, int]) -> tuple[Matrix | None, tuple[int, int]]:
    """Return the matrix that makes the lines of a picture level, and the size that holds it; None if they are level."""
    long = [line for line in lines if line.length > LONG and abs(line.slope) < MOST_DEGREES]
    if not long:
        return None, size
    slopes = np.array([line.slope for line in long])
    heights = np.array([(line.top + line.bottom) / 2 - size[1] / 2 for line in long])
    weights = np.array([line.length**2 for line in long])  # letters of different heights bend a short line's slope
    tilt = _weighted_median(slopes, weights)
    meeting = _meeting(slopes - tilt, heights, weights, size[1])
    if abs(tilt) <= LEVEL_DEGREES and not meeting:
        return None, size
    centre, turn = _moved_by(-size[0] / 2, -size[1] / 2), np.radians(-tilt)
    rotation = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    straight = np.array([[1, 0, 0], [0, 1, 0], [meeting, 0, 1]])
    return _whole(straight @ rotation @ centre, size)


def _weighted_median(values: Any, weights: Any) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def _meeting(slopes: Any, heights: Any, weights: Any, height: int) -> float:
    """Return the change of the slope, in radians for each pixel downwards; 0 for parallel lines."""
    if len(slopes) < LEAST_LINES:
        return 0.0
    change, middle = np.polyfit(heights, slopes, 1, w=np.sqrt(weights))
    left = np.average((slopes - middle - change * heights) ** 2, weights=weights)
    edge = abs(change) * height / 2
    clear = left < CLEARER**2 * np.average(slopes**2, weights=weights)
    return float(np.radians(change)) if clear and MEETING_DEGREES < edge < MOST_MEETING_DEGREES else 0.0


def _whole(turn: Matrix, size: tuple[int, int]) -> tuple[Matrix, tuple[int, int]]:
    """Return the matrix that moves the picture to positive coordinates as well, and the size it then has."""
    corners = turn @ np.array([[0, size[0], size[0], 0], [0, 0, size[1], size[1]], [1, 1, 1, 1]])
    across, down = corners[:2] / corners[2]
    new = round(float(across.max() - across.min())), round(float(down.max() - down.min()))
    return _moved_by(-across.min(), -down.min()) @ turn, new


def _moved_by(across: float, down: float) -> Matrix:
    return np.array([[1, 0, across], [0, 1, down], [0, 0, 1]])
