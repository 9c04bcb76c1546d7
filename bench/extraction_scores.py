"""Compare readings with the truth field by field, and count right, wrong and missing values."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from docrail.invoices.assessment.calibration import Calibration, Observation, default_calibration, expected_error, fit
from docrail.invoices.assessment.confidence import overall
from docrail.invoices.assessment.labelled import is_right, raw_confidence
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from docrail.invoices.model import FIELD_NAMES, InvoiceData

LINE_COUNT = "line_count"
NOT_ALL = ("kind", "field", "family")
CONFIDENT = 0.95
"""The confidence from which a policy lets a value pass without a person, unless it is set otherwise."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Labels of one file. `visible` lists the fields printed on it; only they are scored."""

    file: str
    kind: str
    family: str
    expected: Mapping[str, Any]
    visible: Sequence[str]
    is_credit_note: bool = False


@dataclass(slots=True)
class Score:
    """Counts of a group of fields or documents."""

    fields: Counter[str] = field(default_factory=Counter)
    documents: Counter[str] = field(default_factory=Counter)
    values: list[tuple[float, bool]] = field(default_factory=list)
    """The confidence of each value, and whether it is right."""

    def share(self, outcome: str) -> float:
        """Return the share of the fields with this outcome: right, wrong or missing."""
        return self.fields[outcome] / max(1, self.fields.total())

    def confident(self) -> tuple[int, int]:
        """Return how many values have a confidence of CONFIDENT or more, and how many of them are wrong."""
        confident = [right for confidence, right in self.values if confidence >= CONFIDENT]
        return len(confident), confident.count(False)


def scores(readings: Iterable[tuple[Truth, InvoiceData | None]]) -> dict[tuple[str, str], Score]:
    """Return the counts by group: ("all", ""), ("kind", ...), ("field", ...), ("family", ...)."""
    groups: dict[tuple[str, str], Score] = defaultdict(Score)
    for truth, invoice in readings:
        outcomes = dict(judge(truth, invoice))
        whole = "whole" if all(outcome == "right" for outcome in outcomes.values()) else "not whole"
        values = list(_values(outcomes, invoice))
        for group in (("all", ""), ("kind", truth.kind), ("family", truth.family)):
            groups[group].fields.update(outcomes.values())
            groups[group].documents[whole] += 1
            groups[group].values += values
        for name, outcome in outcomes.items():
            groups["field", name].fields[outcome] += 1
    return dict(groups)


def _values(outcomes: Mapping[str, str], invoice: InvoiceData | None) -> Iterator[tuple[float, bool]]:
    for name, outcome in outcomes.items():
        if invoice is not None and outcome != "missing" and name in FIELD_NAMES:
            yield getattr(invoice, name).confidence, outcome == "right"


def judge(truth: Truth, invoice: InvoiceData | None) -> Iterator[tuple[str, str]]:
    """Yield each visible field with its outcome: right, wrong or missing."""
    for name in truth.visible:
        expected = truth.expected.get(name)
        if expected is None:
            continue
        read = _read(invoice, name)
        if read is None:
            yield name, "missing"
        else:
            yield name, "right" if is_right(name, read, expected, credit_note=truth.is_credit_note) else "wrong"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Quality of the confidences from one set of curves.

    `confidence` is their mean, `error` the expected calibration error, `passing` the number of documents that would
    pass without a person by the reading alone, and `passing_right` the number of those with every field right.
    """

    confidence: float
    error: float
    passing: int
    passing_right: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """The same readings with the shipped curves, and with curves fitted without the family they are applied to."""

    values: int
    shipped: Judgement
    left_out: Judgement

    @property
    def judgements(self) -> tuple[Judgement, Judgement]:
        """Both judgements, the shipped one first."""
        return self.shipped, self.left_out


@dataclass(frozen=True, slots=True)
class _Judged:
    """One document's values as (confidence, right), and whether it passes and is whole."""

    pairs: tuple[tuple[float, bool], ...]
    passes: bool
    whole: bool


def fitted(readings: Iterable[tuple[Truth, InvoiceData | None]]) -> dict[str, Fitted]:
    """Return the effect of the calibration by family, and for "all"."""
    read = [(truth, invoice) for truth, invoice in readings if invoice is not None]
    seen = [observation for truth, invoice in read for observation in _observed(truth, invoice)]
    by_family: dict[str, list[tuple[_Judged, _Judged]]] = defaultdict(list)
    for family in sorted({truth.family for truth, _ in read}):
        others = fit([observation for observation in seen if observation.family != family], "left out")
        by_family[family] = [
            (_judged(truth, invoice, default_calibration()), _judged(truth, invoice, others))
            for truth, invoice in read
            if truth.family == family
        ]
    by_family["all"] = [pair for pairs in by_family.values() for pair in pairs]
    return {family: _fitted(pairs) for family, pairs in by_family.items()}


def _fitted(pairs: Sequence[tuple[_Judged, _Judged]]) -> Fitted:
    values = sum(len(shipped.pairs) for shipped, _ in pairs)
    return Fitted(values, *(_judgement([pair[side] for pair in pairs]) for side in (0, 1)))


def _judgement(judged: Sequence[_Judged]) -> Judgement:
    pairs = [pair for document in judged for pair in document.pairs]
    passing = [document for document in judged if document.passes]
    confidence = mean(confidence for confidence, _ in pairs) if pairs else 0.0
    return Judgement(confidence, expected_error(pairs), len(passing), sum(document.whole for document in passing))


def _observed(truth: Truth, invoice: InvoiceData) -> Iterator[Observation]:
    for name, outcome in judge(truth, invoice):
        if outcome != "missing" and name in FIELD_NAMES:
            yield Observation(name, raw_confidence(getattr(invoice, name)), outcome == "right", truth.family)


def _judged(truth: Truth, invoice: InvoiceData, calibration: Calibration) -> _Judged:
    """Apply a calibration to a document's values."""
    pairs = tuple((calibration.apply(seen.field, seen.raw), seen.right) for seen in _observed(truth, invoice))
    fields = {name: getattr(invoice, name) for name in FIELD_NAMES}
    changed = {
        name: field.model_copy(update={"confidence": calibration.apply(name, raw_confidence(field))})
        for name, field in fields.items()
        if field.value is not None
    }
    recalibrated = invoice.model_copy(update=changed)
    recalibrated = recalibrated.model_copy(update={"confidence": overall(recalibrated)})
    whole = all(outcome == "right" for _, outcome in judge(truth, invoice))
    return _Judged(pairs, decide(recalibrated, WITHOUT_HISTORY).passes, whole)


def _read(invoice: InvoiceData | None, name: str) -> Any:
    if invoice is None:
        return None
    return len(invoice.line_items) or None if name == LINE_COUNT else getattr(invoice, name).value
