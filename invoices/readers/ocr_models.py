"""Finds and recognises printed lines in pixels, with the models that lie in rapidocr's wheel.

The steps before and after the models are those of PP-OCR (differentiable binarisation, CTC), for lines that lie level:
ocr_page.py turns the page first. Sessions with one thread keep none of their own, so that a forked child can use its
parent's (ADR 0017). Importing this needs the extra `ocr`; ocr.py does, once.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else its import sends usage data away, and keeps a file in the temp folder

import onnxruntime

DETECTION, RECOGNITION = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
SEARCHED_PIXELS = 1_160_000
"""Pixels of the picture in which lines are looked for: A4 with 110 dots per inch. Measured: ADR 0017."""
MOST_ENLARGED = 2.0
STRIDE = 32
"""The detection model halves its picture five times."""
TEXT_PROBABILITY, LINE_PROBABILITY = 0.3, 0.5
"""Of a pixel that belongs to a line, and of a line: PP-OCR's."""
UNCLIP = 1.6
"""How far a found line is widened: the model marks only its core. PP-OCR's."""
SMALLEST = 3
MAX_LINES = 600
"""Of a page. A dense page has 250."""
LINE_HEIGHT = 48
"""Pixels to which the recognition model wants a line scaled."""
STRETCH = 1.1
"""Lines are widened a little, or double letters are seen as one. Measured: ADR 0017."""
LONGEST_LINE = 2400
"""Pixels of a line at that height: about 150 letters."""
BLANK = 0
LATIN_END, PUNCTUATION = "\u0250", frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2022\u2026\u20ac\u2212\u2122")
"""Of the model's 18,700 characters those are taken that our languages write with: a smudge is no Chinese word."""

Pixels = Any
"""A numpy array of bytes: height, width, and blue, green, red."""


@dataclass(frozen=True, slots=True)
class Line:
    """The box around a line, in pixels."""

    left: int
    top: int
    right: int
    bottom: int
    slope: float
    """Degrees by which it falls to the right; means something for long lines only."""

    @property
    def width(self) -> int:
        """In pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """In pixels."""
        return self.bottom - self.top

    def cut(self, pixels: Pixels) -> Pixels:
        """Return the line's part of the picture it was found in."""
        return pixels[self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True, slots=True)
class Letter:
    """One recognised character, or a space."""

    text: str
    centre: float
    """As a share of the line's width."""
    score: float


class Models:
    """The loaded models: 0.2 seconds and 100 MB."""

    def __init__(self) -> None:
        cv2.setNumThreads(0)
        self._detection = _session(DETECTION)
        self._recognition = _session(RECOGNITION)
        characters = self._recognition.get_modelmeta().custom_metadata_map["character"].splitlines()
        known = ["", *characters, " "]
        self._codes = [code for code, text in enumerate(known) if text < LATIN_END or text in PUNCTUATION]
        self._alphabet = [known[code] for code in self._codes]

    def find_lines(self, pixels: Pixels) -> list[Line]:
        """Return the lines of a picture, largest first."""
        height, width = pixels.shape[:2]
        scale = min(MOST_ENLARGED, (SEARCHED_PIXELS / (width * height)) ** 0.5)
        size = max(STRIDE, round(width * scale / STRIDE) * STRIDE), max(STRIDE, round(height * scale / STRIDE) * STRIDE)
        picture = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        core = _run(self._detection, picture)[0]
        mask = cv2.dilate((core > TEXT_PROBABILITY).astype(np.uint8), np.ones((2, 2), np.uint8))
        count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
        area = stats[:, cv2.CC_STAT_AREA]
        probability = np.bincount(labels.ravel(), core.ravel(), count) / area
        largest = [i for i in np.argsort(-area, kind="stable") if i and probability[i] > LINE_PROBABILITY]
        ratio = width / size[0], height / size[1]
        found = (_line(labels, stats[i], i, ratio, (width, height)) for i in largest[:MAX_LINES])
        return [line for line in found if line]

    def recognise(self, crops: Sequence[Pixels]) -> list[list[Letter]]:
        """Return the letters of each crop, left to right."""
        return [self._recognise(crop) for crop in crops]

    def _recognise(self, crop: Pixels) -> list[Letter]:
        height, width = crop.shape[:2]
        scaled = min(LONGEST_LINE, max(8, round(width * LINE_HEIGHT / height * STRETCH)))
        answer = _run(self._recognition, cv2.resize(crop, (scaled, LINE_HEIGHT), interpolation=cv2.INTER_LINEAR))
        answer = answer[:, self._codes]
        best = answer.argmax(axis=1)
        return [
            Letter(self._alphabet[code], (step + 0.5) / len(best), float(answer[step, code]))
            for step, code in enumerate(best)
            if code != BLANK and (step == 0 or code != best[step - 1])
        ]


def _session(name: str) -> onnxruntime.InferenceSession:
    rapidocr = find_spec("rapidocr")
    if rapidocr is None or rapidocr.origin is None:
        raise ModuleNotFoundError("rapidocr, in which the models lie, is not installed: install docrail[ocr]")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # each line has another width
    options.log_severity_level = 4
    path = Path(rapidocr.origin).parent / "models" / name
    return onnxruntime.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])


def _run(session: onnxruntime.InferenceSession, picture: Pixels) -> Any:
    """Return the answer for one picture, which the models want as three planes of numbers from -1 to 1."""
    planes = np.ascontiguousarray((picture.astype(np.float32) / 127.5 - 1).transpose(2, 0, 1))
    return session.run(None, {session.get_inputs()[0].name: planes[None]})[0][0]


def _line(labels: Any, stats: Any, index: int, ratio: tuple[float, float], size: tuple[int, int]) -> Line | None:
    """Return the box of a marked core, widened and in the pixels of the whole picture; None for a speck."""
    left, top, width, height = (int(number) for number in stats[:4])
    if min(width, height) < SMALLEST:
        return None
    grow = UNCLIP * width * height / (2 * (width + height))
    return Line(
        left=max(0, round((left - grow) * ratio[0])),
        top=max(0, round((top - grow) * ratio[1])),
        right=min(size[0], round((left + width + grow) * ratio[0])),
        bottom=min(size[1], round((top + height + grow) * ratio[1])),
        slope=_slope(labels[top : top + height, left : left + width] == index),
    )


def _slope(inside: Any) -> float:
    """Return the angle of the straight line through the middles of the marked columns, in degrees."""
    columns = np.flatnonzero(inside.any(axis=0)).astype(float)
    marked = inside[:, columns.astype(int)]
    middles = (marked * np.arange(len(marked))[:, None]).sum(axis=0) / marked.sum(axis=0)
    across, down = columns - columns.mean(), middles - middles.mean()
    return float(np.degrees(np.arctan2((across * down).sum(), (across * across).sum())))
