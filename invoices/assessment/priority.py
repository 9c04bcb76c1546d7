"""Compute the review priority of a document: a score of four parts, each kept so that it can be displayed."""

import math
from dataclasses import asdict, dataclass
from decimal import Decimal
from enum import IntEnum

from docrail.invoices.facts import Severity
from docrail.invoices.features import Feature, reasons, score
from docrail.invoices.model import REQUIRED_FIELDS, InvoiceData

WEIGHTS = {"uncertainty": 35, "sla": 30, "value": 20, "complexity": 15}
"""Maximum points of each part; they sum to 100."""
ERROR_UNCERTAINTY = 0.7
MISMATCH_UNCERTAINTY = 0.9
"""Minimum uncertainty with an error, and with a problem that suggests fraud."""
FRAUD_LIKE = frozenset({"page_mismatch", "not_on_page", "duplicate", "iban_changed"})
UNSURE = 0.8
"""Fields below this confidence count as unsure."""
NEARLY_DUE = 0.8
"""Share of the SLA after which an item moves to the urgent band."""
MANY_LINES, MANY_PAGES = 50, 10
"""Counts at which the complexity reaches its maximum."""
HUGE_TOTAL_LOG10 = 5
"""Logarithm of the total at which the value part reaches its maximum: 100,000."""


class Band(IntEnum):
    """Priority bands: items of a higher band come first, whatever their score."""

    NORMAL = 0
    URGENT = 1
    OVERDUE = 2


@dataclass(frozen=True, slots=True)
class PriorityParts:
    """The parts of the score, each from 0 to 1."""

    uncertainty: float
    sla: float
    complexity: float
    value: float


@dataclass(frozen=True, slots=True)
class Priority:
    """The priority of a document. `score` is from 0 to 100."""

    score: float
    parts: PriorityParts
    band: Band

    def parts_json(self) -> dict[str, float]:
        """Return the parts by name, rounded for display."""
        return {name: round(part, 4) for name, part in asdict(self.parts).items()}


@dataclass(frozen=True, slots=True)
class Case:
    """A document to review, with what its vendor's history says."""

    invoice: InvoiceData
    new_vendor: bool
    foreign_currency: bool

    @property
    def unsure_share(self) -> float:
        """Share of the required fields that are unsure or missing."""
        unsure = [name for name in REQUIRED_FIELDS if getattr(self.invoice, name).confidence < UNSURE]
        return len(unsure) / len(REQUIRED_FIELDS)


COMPLEXITY: tuple[Feature[Case], ...] = (
    Feature("lines", 0.25, lambda c: min(1.0, len(c.invoice.line_items) / MANY_LINES)),
    Feature("pages", 0.15, lambda c: min(1.0, c.invoice.page_count / MANY_PAGES)),
    Feature("unsure_fields", 0.40, lambda c: c.unsure_share),
    Feature("new_vendor", 0.10, lambda c: c.new_vendor),
    Feature("foreign_currency", 0.10, lambda c: c.foreign_currency),
)
"""What makes a review long; the weights sum to 1."""


def review_priority(
    invoice: InvoiceData,
    *,
    sla_hours: float,
    hours_used: float,
    new_vendor: bool = False,
    foreign_currency: bool = False,
) -> Priority:
    """Return the priority of `invoice`, `hours_used` of `sla_hours` after it arrived."""
    sla = min(1.0, max(0.0, hours_used / sla_hours)) if sla_hours > 0 else 1.0
    parts = PriorityParts(
        uncertainty=_uncertainty(invoice)[1],
        sla=sla,
        complexity=score(COMPLEXITY, Case(invoice, new_vendor, foreign_currency)),
        value=_value(invoice.total.value),
    )
    points = sum(WEIGHTS[name] * part for name, part in asdict(parts).items())
    return Priority(round(points, 2), parts, _band(invoice, sla))


def priority_terms(
    invoice: InvoiceData, *, new_vendor: bool = False, foreign_currency: bool = False
) -> dict[str, float]:
    """Return the points of each term of the score except the SLA's, by name."""
    why, doubt = _uncertainty(invoice)
    complexity = reasons(COMPLEXITY, Case(invoice, new_vendor, foreign_currency))
    points = {f"uncertainty:{why}": WEIGHTS["uncertainty"] * doubt}
    points["value:total"] = WEIGHTS["value"] * _value(invoice.total.value)
    return points | {f"complexity:{what}": WEIGHTS["complexity"] * share for what, share in complexity.items()}


def _uncertainty(invoice: InvoiceData) -> tuple[str, float]:
    """Return the reason and the amount of the uncertainty: the confidence, or a rule that sets a minimum."""
    doubt = 1 - invoice.confidence
    for codes, least in ((_fraud_like(invoice), MISMATCH_UNCERTAINTY), (_errors(invoice), ERROR_UNCERTAINTY)):
        if codes:
            return (codes[0], least) if least > doubt else ("confidence", doubt)
    return "confidence", doubt


def _value(total: Decimal | None) -> float:
    if total is None:
        return 0.0
    return min(1.0, math.log10(1 + float(abs(total))) / HUGE_TOTAL_LOG10)


def _band(invoice: InvoiceData, sla: float) -> Band:
    if sla >= 1:
        return Band.OVERDUE
    return Band.URGENT if sla >= NEARLY_DUE or _fraud_like(invoice) else Band.NORMAL


def _fraud_like(invoice: InvoiceData) -> list[str]:
    return [problem.code for problem in invoice.problems if problem.code in FRAUD_LIKE]


def _errors(invoice: InvoiceData) -> list[str]:
    return [problem.code for problem in invoice.problems if problem.severity is Severity.ERROR]
