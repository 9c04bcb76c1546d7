"""Read one page's pixels into words with boxes and scores, after turning the page upright and level.

Importing this needs the extra `ocr`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median
from typing import Any

import cv2
import numpy as np

from docrail.invoices.readers.layout.geometry import Projection
from docrail.invoices.readers.layout.page import Page, Word
from docrail.invoices.readers.ocr.ink import Ink, Pixels, see_ink
from docrail.invoices.readers.ocr.level import levelling
from docrail.invoices.readers.ocr.models import STRETCH, Letter, Line, Models, stretch_for
from docrail.invoices.readers.ocr.repair import repair

SIDE_LONG, DIAGONAL = 3.0, 45.0
"""A line at least this many times as long as high shows whether the page lies on its side: if it is steeper."""
SAMPLE_LINES, SAMPLE_HEIGHTS = 8, 8
"""Number of lines that are read both ways up, and the part of each in line heights."""
UPRIGHT_SCORE = 0.9
"""Lines read with this score are upright; upside down, the score is about half."""
SURE_DIGIT = 0.95
"""A digit with a lower score in a narrowed line is read again in full width. Measured: ADR 0017."""
LEAST_SCORE = 0.5
"""Lines with a lower score are logos, stamps or dirt. From PP-OCR."""
TOUCHING, SPACE, CLOSING = 0.12, 0.33, ".,:;"
"""Largest gap of touching digits, and excess over the usual gap that makes a space, as shares of the type size."""
TEXT_HEIGHT = 0.7
"""Usual share of the letters in a detected line's height, which includes a margin. Measured: ADR 0017."""


@dataclass(frozen=True, slots=True)
class _View:
    """A page's pixels after rotation, and their place in the original pixels."""

    pixels: Pixels
    place: Any
    """3 x 3 matrix from these pixels to the original ones."""


def read_pixels(models: Models, pixels: Pixels, number: int, size: tuple[float, float]) -> Page:
    """Read page `number` from `pixels`; `size` is its width and height in points, as sent."""
    view, lines, letters = _upright(models, pixels)
    rest = [line for line in lines if line not in letters]
    stretch = stretch_for(lines, letters)
    letters |= _read(models, view, rest, stretch)
    if stretch < STRETCH:
        letters |= _read(models, view, [line for line in rest if _has_unsure_digits(letters[line])], STRETCH)
    rows, columns = view.pixels.shape[:2]
    scale = max(size) / max(pixels.shape[:2])
    words = (word for line in lines for word in _words(line, line.cut(view.pixels), letters[line]))
    page = tuple(_scaled(word, scale) for word in words)
    sureness = _sureness(letters.values()) if any(letters.values()) else None
    return repair(Page(number, columns * scale, rows * scale, page, _turned(view, pixels), sureness))


def _upright(models: Models, pixels: Pixels) -> tuple[_View, list[Line], dict[Line, list[Letter]]]:
    """Return the page turned upright and level, its lines, and the letters of the lines already read."""
    view = _View(pixels, np.eye(3))
    seen = models.see_print(view.pixels)
    lines = seen.lines()
    if _on_its_side(lines):
        view = _quarter_turn(view)
        seen = models.see_print(view.pixels)
        lines = seen.lines()
    turn, size = levelling(lines, seen.size)
    if turn is not None:
        view = _moved(view, turn, size)
        lines = seen.moved(turn, size).lines()  # detecting them again would take as long as reading a hundred
    longest = sorted(lines, key=lambda line: -line.width)[:SAMPLE_LINES]
    sample = _read(models, view, longest, STRETCH)
    if _upside_down(models, view, sample):
        view = _quarter_turn(_quarter_turn(view))
        return view, models.see_print(view.pixels).lines(), {}
    return view, lines, sample


def _on_its_side(lines: Iterable[Line]) -> bool:
    long = [line for line in lines if line.length > SIDE_LONG]
    steep = sum(line.height for line in long if abs(line.slope) > DIAGONAL)
    return steep > sum(line.width for line in long if abs(line.slope) <= DIAGONAL)


def _read(models: Models, view: _View, lines: Sequence[Line], stretch: float) -> dict[Line, list[Letter]]:
    return dict(zip(lines, models.recognise([line.cut(view.pixels) for line in lines], stretch), strict=True))


def _has_unsure_digits(letters: Sequence[Letter]) -> bool:
    """Return whether a narrowed line may have lost digits: the model then sees one of several equal ones."""
    return any(letter.text.isdigit() and letter.score < SURE_DIGIT for letter in letters)


def _upside_down(models: Models, view: _View, sample: Mapping[Line, Sequence[Letter]]) -> bool:
    """Read the starts of some lines rotated by 180 degrees, unless they were read well as they are."""
    as_is = _sureness(sample.values())
    if as_is >= UPRIGHT_SCORE:
        return False
    ends = [line.cut(view.pixels)[:, : SAMPLE_HEIGHTS * line.height] for line in sample]
    return _sureness(models.recognise([end[::-1, ::-1] for end in ends])) > as_is


def _sureness(lines: Iterable[Sequence[Letter]]) -> float:
    scores = [letter.score for letters in lines for letter in letters]
    return fmean(scores) if scores else 0.0


def _quarter_turn(view: _View) -> _View:
    """Rotate by 90 degrees counterclockwise."""
    back = np.array([[0, -1, view.pixels.shape[1]], [1, 0, 0], [0, 0, 1]], float)
    return _View(np.ascontiguousarray(np.rot90(view.pixels)), view.place @ back)


def _moved(view: _View, turn: Any, size: tuple[int, int]) -> _View:
    moved = cv2.warpPerspective(view.pixels, turn, size, borderValue=(255, 255, 255))
    return _View(moved, view.place @ np.linalg.inv(turn))


def _turned(view: _View, sent: Pixels) -> Projection | None:
    """Return the map from the view to the page as sent, both in fractions; None if they are the same."""
    if np.array_equal(view.place, np.eye(3)):
        return None
    pixels = np.diag([view.pixels.shape[1], view.pixels.shape[0], 1])
    fractions = np.diag([1 / sent.shape[1], 1 / sent.shape[0], 1])
    return Projection(*(fractions @ view.place @ pixels).ravel().tolist())


def _scaled(word: Word, scale: float) -> Word:
    left, top, right, bottom = (edge * scale for edge in (word.left, word.top, word.right, word.bottom))
    return replace(word, left=left, top=top, right=right, bottom=bottom)


def _words(line: Line, crop: Pixels, letters: Sequence[Letter]) -> Iterator[Word]:
    """Yield a line's words in pixels, as wide as their letters and as high as in a text layer."""
    printed = [letter for letter in letters if letter.text.strip()]
    if not printed or fmean(letter.score for letter in printed) < LEAST_SCORE:
        return
    ink = see_ink(crop, "".join(letter.text for letter in printed))
    margin = (1 - TEXT_HEIGHT) / 2 * line.height
    top, bottom = (ink.top, ink.bottom) if ink else (margin, line.height - margin)
    steps = [after.centre - before.centre for before, after in pairwise(letters)]
    step = median(steps) if steps else 1.0
    for group in _groups(letters, ink, line.width):
        yield Word(
            text="".join(letter.text for letter in group),
            left=max(line.left + (group[0].centre - step / 2) * line.width, line.left + margin),
            top=line.top + top,
            right=min(line.left + (group[-1].centre + step / 2) * line.width, line.right - margin),
            bottom=line.top + bottom,
            score=round(fmean(letter.score for letter in group), 4),
        )


def _groups(letters: Sequence[Letter], ink: Ink | None, width: int) -> Iterator[list[Letter]]:
    group: list[Letter] = []
    space = False
    for letter in letters:
        if not letter.text.strip():
            space = True
            continue
        if group and _apart(group[-1], letter, ink, width, space=space):
            yield group
            group = []
        group.append(letter)
        space = False
    if group:
        yield group


def _apart(one: Letter, other: Letter, ink: Ink | None, width: int, *, space: bool) -> bool:
    """Return whether two letters are in different words: models see spaces within numbers and miss others."""
    if ink is None:
        return space
    gap = ink.gap_between(one.centre * width, other.centre * width)
    if space:
        return gap > TOUCHING * ink.size or not (one.text.isdigit() and other.text.isdigit())
    return other.text not in CLOSING and gap > SPACE * ink.size + ink.usual_gap
