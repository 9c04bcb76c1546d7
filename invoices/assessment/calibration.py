"""Calibrate confidences by isotonic regression for each field, smoothed where there are few observations."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from docrail.invoices.model import Probability


class Point(NamedTuple):
    """A point of a curve, or a weighted observation."""

    raw: float
    value: float
    weight: float = 1.0


POOLED = "*"
"""Key of the curve for fields without their own, fitted on all fields together."""
GRID = tuple(step / 20 for step in range(21))
"""Raw confidences at which a curve is pulled towards its prior; without observations the curve follows the prior.

Each weighs as much as one document, chosen by the error on held-out families (ADR 19)."""
CAUTION = Point(1.0, 0.0, 0.1)
"""A wrong value of weight 0.1 at confidence 1, since the next value may be the first wrong one (rule of succession)."""
BINS = 10
DEFAULT_FILE = "calibration_default.json"


class Observation(NamedTuple):
    """A value compared with the truth. `raw` is its confidence before calibration."""

    field: str
    raw: float
    right: bool
    family: str
    """Group of documents that look alike: of one layout or one vendor."""


class Calibration(BaseModel):
    """Calibration curves by field name, as rising points (raw, calibrated). `name` identifies the fit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    curves: dict[str, tuple[tuple[Probability, Probability], ...]] = {}
    observations: int = 0

    def apply(self, field: str, raw: float) -> float:
        """Return the calibrated confidence of a value of `field`. It never falls as `raw` rises."""
        curve = self.curves.get(field) or self.curves.get(POOLED)
        return raw if not curve else _at(curve, raw)


@cache
def default_calibration() -> Calibration:
    """Return the shipped calibration, fitted on the development set and scans of it (ADR 19)."""
    return Calibration.model_validate_json((files("docrail.invoices.assessment") / DEFAULT_FILE).read_text())


def fit(observations: Sequence[Observation], name: str) -> Calibration:
    """Fit a curve to all fields together, then one for each field with that curve as its prior.

    A family of n documents weighs as much as sqrt(n) families of one, because new documents rarely resemble the largest
    family.
    """
    documents = Counter((seen.family, seen.field) for seen in observations)
    weights: dict[str, float] = {}
    for (family, _), count in documents.items():  # a document has one observation of a field
        weights[family] = min(count**-0.5, weights.get(family, 1.0))
    pooled = _curve(observations, weights, [Point(raw, raw) for raw in GRID])
    curves = {POOLED: pooled}
    for field in sorted({seen.field for seen in observations}):
        own = [seen for seen in observations if seen.field == field]
        curves[field] = _curve(own, weights, [Point(raw, _at(pooled, raw)) for raw in GRID])
    return Calibration(name=name, curves=curves, observations=len(observations))


def rising(points: Iterable[Point]) -> list[tuple[float, float]]:
    """Fit the rising curve nearest to `points` by weighted least squares; return the edges of its level parts.

    Pool adjacent violators: falling neighbours are replaced by their mean until none are left.
    """
    blocks: list[list[float]] = []  # [first raw, last raw, value, weight]
    for raw, value, weight in sorted(points):
        blocks.append([raw, raw, value, weight])
        while len(blocks) > 1 and (blocks[-2][2] >= blocks[-1][2] or blocks[-2][1] == blocks[-1][0]):
            _, last, value_, weight_ = blocks.pop()
            before = blocks[-1]
            total = before[3] + weight_
            before[1:] = [last, (before[2] * before[3] + value_ * weight_) / total, total]
    edges = ((edge, value) for first, last, value, _ in blocks for edge in dict.fromkeys((first, last)))
    return list(edges)


def expected_error(pairs: Sequence[tuple[float, bool]]) -> float:
    """Return the expected calibration error of (confidence, right) pairs over ten bins of equal width."""
    bins = [[0.0, 0.0] for _ in range(BINS)]
    for confidence, right in pairs:
        cell = bins[min(BINS - 1, int(confidence * BINS))]
        cell[0] += confidence
        cell[1] += right
    return sum(abs(claimed - right) for claimed, right in bins) / len(pairs) if pairs else 0.0


def held_out(observations: Sequence[Observation]) -> list[tuple[float, bool]]:
    """Return (calibrated, right) for every observation, from curves fitted without its family."""
    pairs = []
    for family in sorted({seen.family for seen in observations}):
        others = fit([seen for seen in observations if seen.family != family], "held out")
        pairs += [(others.apply(seen.field, seen.raw), seen.right) for seen in observations if seen.family == family]
    return pairs


def _curve(
    observations: Iterable[Observation], weights: dict[str, float], smoothing: Iterable[Point]
) -> tuple[tuple[float, float], ...]:
    points = [CAUTION, *(Point(seen.raw, float(seen.right), weights[seen.family]) for seen in observations)]
    return tuple((round(raw, 6), round(value, 6)) for raw, value in rising([*smoothing, *points]))


def _at(curve: Sequence[tuple[float, float]], raw: float) -> float:
    """Interpolate the curve at `raw`; beyond the ends it is constant."""
    place = bisect_right(curve, raw, key=lambda point: point[0])
    if place == 0:
        return curve[0][1]
    if place == len(curve):
        return curve[-1][1]
    (low, below), (high, above) = curve[place - 1], curve[place]
    return below + (above - below) * (raw - low) / (high - low)
