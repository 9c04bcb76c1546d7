"""Detect and recognize printed lines in pixels with the models from rapidocr's wheel.

The steps before and after the models are those of PP-OCR (differentiable binarization, CTC), for level lines: page.py
rotates the page first. Sessions with one thread start no threads of their own, so that a forked child can use its
parent's (ADR 0017). Importing this needs the extra `ocr`; read.py imports it once.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # otherwise its import sends usage data and keeps a file in the temp folder

import onnxruntime

from docrail.invoices.readers.ocr.ink import Pixels, see_dark
from docrail.invoices.readers.ocr.model_head import known_characters, trimmed_weights
from docrail.invoices.readers.ocr.parts import STRIDE, printed_parts

DETECTION, RECOGNITION = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
SEARCHED_PIXELS = 1_160_000
"""Size of the picture in which lines are detected: A4 at 110 dpi. Measured: ADR 0017."""
MOST_ENLARGED = 2.0
TEXT_PROBABILITY, LINE_PROBABILITY = 0.3, 0.5
"""Thresholds for a pixel and for a line, from PP-OCR."""
UNCLIP = 1.6
"""Growth of a detected line, because the model marks only its core. From PP-OCR."""
SMALLEST = 3
MARKED_WIDTH = 1 / 12
"""Variance of a line of one pixel."""
MAX_LINES = 600
"""Most lines of a page; a dense page has 250."""
LINE_HEIGHT = 48
"""Height in pixels to which the recognition model needs lines scaled."""
STRETCH = 1.1
"""Lines are widened slightly, otherwise double letters are merged. Measured: ADR 0017."""
STEP, MOST_TOGETHER, PIXELS_TOGETHER = 8, 8, 1600
"""Pixels of a line for each output of the model; lines, and pixels of them, in a batch, beyond which there is no gain.
"""
READ_PIXELS, NARROWEST = 32_000, 12.5
"""Total width of a page's lines above which they are narrowed to save time, and the smallest average letter width to
which they may be: below it, words are lost. Measured: ADR 0017."""
WHITE, INKED = 3, 0.04
"""White margin in pixels next to a narrowed line's letters, and the ink share of a column that contains letters."""
LONGEST_LINE = 2400
"""Longest line in pixels at that height: about 150 letters."""
BLANK = 0
LATIN_END, PUNCTUATION = "\u0250", frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2022\u2026\u20ac\u2212\u2122")
"""Only these of the model's 18,700 characters are used, so that a smudge does not become a Chinese word."""


@dataclass(frozen=True, slots=True)
class Line:
    """The box around a line, in pixels."""

    left: int
    top: int
    right: int
    bottom: int
    slope: float
    """Degrees by which it falls to the right, from -90 to 90; meaningful for long lines only."""
    length: float
    """Its length as a multiple of its height, whatever its slope."""

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.bottom - self.top

    def cut(self, pixels: Pixels) -> Pixels:
        """Return the line's part of the picture it was detected in."""
        return pixels[self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True, slots=True)
class Letter:
    """One recognized character, or a space."""

    text: str
    centre: float
    """Centre of the character as a share of the line's width."""
    score: float


@dataclass(frozen=True, slots=True)
class Print:
    """The print in a picture: for each pixel of a smaller picture, the probability that it belongs to a line."""

    core: Any
    size: tuple[int, int]
    """Width and height of the picture itself."""

    def lines(self) -> list[Line]:
        """Return the lines, largest first."""
        mask = cv2.dilate((self.core > TEXT_PROBABILITY).astype(np.uint8), np.ones((2, 2), np.uint8))
        count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
        area = stats[:, cv2.CC_STAT_AREA]
        probability = np.bincount(labels.ravel(), self.core.ravel(), count) / area
        largest = [i for i in np.argsort(-area, kind="stable") if i and probability[i] > LINE_PROBABILITY]
        ratio = self.size[0] / mask.shape[1], self.size[1] / mask.shape[0]
        found = (_line(labels, stats[i], i, ratio, self.size) for i in largest[:MAX_LINES])
        return [line for line in found if line]

    def moved(self, turn: Any, size: tuple[int, int]) -> "Print":
        """Return the print of the picture that a 3 x 3 matrix makes, with its width and height."""
        rows, columns = self.core.shape
        scale = np.diag([self.size[0] / columns, self.size[1] / rows, 1])
        moved = np.linalg.inv(scale) @ turn @ scale
        new = round(size[0] * columns / self.size[0]), round(size[1] * rows / self.size[1])
        return Print(cv2.warpPerspective(self.core, moved, new), size)


class Models:
    """The loaded models: 0.2 seconds and 100 MB."""

    def __init__(self) -> None:
        cv2.setNumThreads(0)
        self._detection = _session(model_file(DETECTION), {})
        model = model_file(RECOGNITION)
        known = known_characters(model)
        codes = [code for code, text in enumerate(known) if text < LATIN_END or text in PUNCTUATION]
        self._alphabet = [known[code] for code in codes]
        weights = trimmed_weights(model, len(known), codes)
        self._weights = {name: onnxruntime.OrtValue.ortvalue_from_numpy(values) for name, values in weights.items()}
        self._recognition = _session(model, self._weights)

    def see_print(self, pixels: Pixels) -> Print:
        """Return the print in a picture."""
        height, width = pixels.shape[:2]
        scale = min(MOST_ENLARGED, (SEARCHED_PIXELS / (width * height)) ** 0.5)
        size = max(STRIDE, round(width * scale / STRIDE) * STRIDE), max(STRIDE, round(height * scale / STRIDE) * STRIDE)
        picture = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        core = np.zeros(picture.shape[:2], np.float32)
        for top, bottom, left, right in printed_parts(picture):
            core[top:bottom, left:right] = _run(self._detection, [picture[top:bottom, left:right]])[0][0]
        return Print(core, (width, height))

    def recognise(self, crops: Sequence[Pixels], stretch: float = STRETCH) -> list[list[Letter]]:
        """Return the letters of each crop, left to right; crops scaled to one width are read in batches."""
        scaled = [_scaled(crop, stretch) for crop in crops]
        read: list[list[Letter]] = [[] for _ in crops]
        for width in {line.width for line in scaled}:
            alike = [index for index, line in enumerate(scaled) if line.width == width]
            most = max(1, min(MOST_TOGETHER, PIXELS_TOGETHER // width))
            for batch in (alike[start : start + most] for start in range(0, len(alike), most)):
                answers = _run(self._recognition, [scaled[index].pixels for index in batch])
                for index, answer in zip(batch, answers, strict=True):
                    read[index] = self._letters(answer, scaled[index])
        return read

    def _letters(self, answer: Any, line: "_Scaled") -> list[Letter]:
        best = answer.argmax(axis=1)
        pixels = line.width / len(best)
        return [
            Letter(self._alphabet[code], (line.cut + (step + 0.5) * pixels) / line.whole, float(answer[step, code]))
            for step, code in enumerate(best)
            if code != BLANK and (step == 0 or code != best[step - 1])
        ]


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A line as the model reads it: `whole` pixels wide, of which `cut` are removed before the part that is read."""

    pixels: Pixels
    cut: int
    whole: int

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])


def stretch_for(lines: Sequence[Line], sample: Mapping[Line, Sequence[Letter]]) -> float:
    """Return the horizontal scaling of a page's lines: less if it has many lines and a `sample` has wide letters."""
    letters = sum(map(len, sample.values()))
    if not letters:
        return STRETCH
    pitch = sum(map(_usual_width, sample)) / letters
    return STRETCH * min(1.0, max(READ_PIXELS / sum(map(_usual_width, lines)), NARROWEST / pitch))


def _usual_width(line: Line) -> float:
    return STRETCH * LINE_HEIGHT * line.width / line.height


def model_file(name: str) -> bytes:
    """Return one of the models in rapidocr's wheel."""
    rapidocr = find_spec("rapidocr")
    if rapidocr is None or rapidocr.origin is None:
        raise ModuleNotFoundError("rapidocr, in which the models lie, is not installed: install docrail[ocr]")
    return (Path(rapidocr.origin).parent / "models" / name).read_bytes()


def _session(model: bytes, weights: Mapping[str, onnxruntime.OrtValue]) -> onnxruntime.InferenceSession:
    """Load a model with `weights` in place of its own; the session uses them without a copy."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # each line has another width
    options.log_severity_level = 4  # including warnings about outputs narrower than the model declares
    for name, values in weights.items():
        options.add_initializer(name, values)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _run(session: onnxruntime.InferenceSession, pictures: Sequence[Pixels]) -> Any:
    """Run a model on pictures of one size, converted to three planes of values from -1 to 1."""
    planes = np.ascontiguousarray((np.stack(pictures).astype(np.float32) / 127.5 - 1).transpose(0, 3, 1, 2))
    return session.run(None, {session.get_inputs()[0].name: planes})[0]


def _scaled(crop: Pixels, stretch: float) -> _Scaled:
    """Scale a line to the size at which it is read; a narrowed line loses its white margins.

    Narrowed lines have only a few different widths, so that many can be read in one batch.
    """
    height, width = crop.shape[:2]
    whole = min(LONGEST_LINE, max(STEP, round(width * LINE_HEIGHT / height * stretch)))
    if stretch >= STRETCH:
        return _Scaled(cv2.resize(crop, (whole, LINE_HEIGHT)), 0, whole)
    whole = _steps(whole)
    pixels = cv2.resize(crop, (whole, LINE_HEIGHT))
    inked = np.flatnonzero(see_dark(pixels).mean(axis=0) > INKED)
    if len(inked) == 0:
        return _Scaled(pixels, 0, whole)
    first, end = max(0, int(inked[0]) - WHITE), min(whole, int(inked[-1]) + 1 + WHITE)
    kept = _steps(end - first)
    first = min(first, whole - kept)
    return _Scaled(pixels[:, first : first + kept], first, whole)


def _steps(pixels: int) -> int:
    """Round up to a multiple of the model's step."""
    return -(-pixels // STEP) * STEP


def _line(labels: Any, stats: Any, index: int, ratio: tuple[float, float], size: tuple[int, int]) -> Line | None:
    """Return the box of a detected core, grown and scaled to the whole picture; None if it is too small."""
    left, top, width, height = (int(number) for number in stats[:4])
    if min(width, height) < SMALLEST:
        return None
    grow = UNCLIP * width * height / (2 * (width + height))
    slope, length = _slope(labels[top : top + height, left : left + width] == index)
    return Line(
        left=max(0, round((left - grow) * ratio[0])),
        top=max(0, round((top - grow) * ratio[1])),
        right=min(size[0], round((left + width + grow) * ratio[0])),
        bottom=min(size[1], round((top + height + grow) * ratio[1])),
        slope=slope,
        length=length,
    )


def _slope(inside: Any) -> tuple[float, float]:
    """Return the direction in degrees in which the marked pixels spread most, and how many times as far as across."""
    down, across = np.nonzero(inside)
    spread, directions = np.linalg.eigh(np.cov(across, down, bias=True))
    x, y = directions[:, 1] if directions[0, 1] >= 0 else -directions[:, 1]
    return float(np.degrees(np.arctan2(y, x))), float((spread[1] / max(spread[0], MARKED_WIDTH)) ** 0.5)
