"""Compares readings with the truth, field by field, and counts what is right, wrong and missing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from invoices.calibration import Observation, expected_error, held_out
from invoices.confidence import field_confidence
from invoices.model import FIELD_NAMES, InvoiceData
from invoices.readers.folding import squeeze
from invoices.straight_through import WITHOUT_HISTORY, decide

LINE_COUNT = "line_count"
AMOUNTS = frozenset({"net", "tax", "total"})
NOT_ALL = ("kind", "field", "family")
LEAST_NAME = 5
"""Letters of a name that can stand for a longer one."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of one file. `visible` are the fields that are really printed on it: only they are scored."""

    file: str
    kind: str
    family: str
    expected: Mapping[str, Any]
    visible: Sequence[str]
    is_credit_note: bool = False


@dataclass(slots=True)
class Score:
    """Counts of one group of fields, or of documents."""

    fields: Counter[str] = field(default_factory=Counter)
    documents: Counter[str] = field(default_factory=Counter)

    def share(self, outcome: str) -> float:
        """Return the share of the fields with this outcome: right, wrong or missing."""
        return self.fields[outcome] / max(1, self.fields.total())


def scores(readings: Iterable[tuple[Truth, InvoiceData | None]]) -> dict[tuple[str, str], Score]:
    """Return the counts by group: ("all", ""), ("kind", ...), ("field", ...), ("family", ...)."""
    groups: dict[tuple[str, str], Score] = defaultdict(Score)
    for truth, invoice in readings:
        outcomes = dict(judge(truth, invoice))
        whole = "whole" if all(outcome == "right" for outcome in outcomes.values()) else "not whole"
        for group in (("all", ""), ("kind", truth.kind), ("family", truth.family)):
            groups[group].fields.update(outcomes.values())
            groups[group].documents[whole] += 1
        for name, outcome in outcomes.items():
            groups["field", name].fields[outcome] += 1
    return dict(groups)


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
            yield name, "right" if _same(name, expected, read, credit_note=truth.is_credit_note) else "wrong"


def approved(readings: Iterable[tuple[Truth, InvoiceData | None]]) -> tuple[int, int]:
    """Return how many documents would pass without a person, by the reading alone, and how many of them are right."""
    passed = [pair for pair in readings if pair[1] is not None and decide(pair[1], WITHOUT_HISTORY).passes]
    return len(passed), sum(all(outcome == "right" for _, outcome in judge(*pair)) for pair in passed)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Expected calibration error: as shipped, and with curves that never saw the family of what they judge."""

    shipped: float
    left_out: float
    values: int


def calibrated(readings: Iterable[tuple[Truth, InvoiceData | None]]) -> Calibrated:
    """Return how far confidences are from the shares that are right."""
    shipped, observations = [], []
    for truth, invoice in readings:
        for name, outcome in judge(truth, invoice):
            if invoice is None or outcome == "missing" or name not in FIELD_NAMES:
                continue
            value = getattr(invoice, name)
            raw = field_confidence(value.source, value.evidence, value.word_score)
            shipped.append((value.confidence, outcome == "right"))
            observations.append(Observation(name, raw, outcome == "right", truth.family))
    return Calibrated(expected_error(shipped), expected_error(held_out(observations)), len(shipped))


def _read(invoice: InvoiceData | None, name: str) -> Any:
    if invoice is None:
        return None
    return len(invoice.line_items) or None if name == LINE_COUNT else getattr(invoice, name).value


def _same(name: str, expected: Any, read: Any, *, credit_note: bool) -> bool:
    """Tell whether the value is the expected one. A credit note prints its amounts with or without a minus."""
    if name == LINE_COUNT:
        return int(expected) == int(read)
    if name in AMOUNTS:
        try:
            amount, other = Decimal(str(expected)), Decimal(str(read))
        except InvalidOperation:
            return False
        return amount == other or (credit_note and abs(amount) == abs(other))
    truth, value = (squeeze(str(text).replace("ß", "ss")) for text in (expected, read))
    return truth == value or (name == "vendor_name" and _one_name(*sorted((truth, value), key=len)))


def _one_name(shorter: str, longer: str) -> bool:
    """A name with and without its legal form or department is the same name, unless little is left of it."""
    return len(shorter) >= LEAST_NAME and shorter in longer and len(longer) < 2 * len(shorter)
