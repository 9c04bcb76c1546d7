"""How far each value can be trusted: the source's prior plus named evidence, added as log-odds (documents.md §3)."""

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from invoices.checks import check, expected_total, lines_agree, lines_total
from invoices.model import (
    FIELD_NAMES,
    REQUIRED_FIELDS,
    Evidence,
    FieldValue,
    InvoiceData,
    Problem,
    Severity,
    Source,
)

PRIORS = {
    Source.XML: 0.995,
    Source.QR: 0.99,
    Source.GEMINI: 0.90,
    Source.TEXT_LABEL: 0.88,
    Source.TEXT_PATTERN: 0.60,
    Source.OCR_LABEL: 0.85,
    Source.OCR_PATTERN: 0.50,
    Source.VENDOR: 0.60,
    Source.HUMAN: 0.9999,
}
"""Probability that a value of this source is right, before any evidence."""
EVIDENCE = {
    Evidence.ON_PAGE: 1.5,
    Evidence.NOT_ON_PAGE: -3.0,
    Evidence.PAGE_CONTRADICTS: -4.0,
    Evidence.CHECKSUM_VALID: 2.0,
    Evidence.CHECKSUM_INVALID: -1.0,
    Evidence.TOTALS_AGREE: 1.5,
    Evidence.TOTALS_DISAGREE: -2.0,
    Evidence.LINES_AGREE: 1.0,
    Evidence.LINES_DISAGREE: -1.0,
    Evidence.IMPLAUSIBLE_DATE: -2.0,
    Evidence.AMBIGUOUS_DATE: -1.5,
    Evidence.NAMED_AGAIN: 1.5,
    Evidence.SEVERAL_CANDIDATES: -1.0,
    Evidence.SECOND_SOURCE_AGREES: 1.5,
    Evidence.SECOND_SOURCE_DIFFERS: -2.0,
    Evidence.AS_VENDOR_HISTORY: 1.5,
    Evidence.IBAN_CHANGED: -3.0,
}
"""Weights in log-odds."""
FIELD_WEIGHTS = {"total": 5.0, "iban": 4.0, "invoice_number": 4.0, "vendor_name": 4.0, "date": 3.0}
OTHER_FIELD_WEIGHT, LINES_WEIGHT = 2.0, 1.0
MISSING_REQUIRED = 0.05
"""What a missing required field counts as, so that one is enough to stop straight-through work."""
LINES_CONFIDENCE = {True: 0.95, False: 0.50}
ERROR_CAP, MISMATCH_CAP = 0.60, 0.40
"""Highest overall confidence with an error-level problem, and when page and XML contradict each other."""
PAGE_MISMATCH = "page_mismatch"


def assess(invoice: InvoiceData, today: dt.date) -> InvoiceData:
    """Return `invoice` with its rules checked and every confidence computed; the readers' own problems stay first."""
    problems = (*invoice.problems, *check(invoice, today))
    gathered = _gathered(invoice, problems)
    fields = {name: _judged(getattr(invoice, name), gathered.get(name, ())) for name in FIELD_NAMES}
    judged = invoice.model_copy(update={**fields, "problems": problems})
    return judged.model_copy(update={"confidence": overall(judged)})


def field_confidence(source: Source, evidence: Iterable[Evidence]) -> float:
    """Return the probability that a value of `source` is right, given `evidence`."""
    prior = PRIORS[source]
    odds = math.log(prior / (1 - prior)) + sum(EVIDENCE[fact] for fact in evidence)
    return round(1 / (1 + math.exp(-odds)), 4)


def overall(invoice: InvoiceData) -> float:
    """Return the document's confidence: the weighted geometric mean of its fields, capped by what is wrong."""
    weighted = [(FIELD_WEIGHTS.get(name, OTHER_FIELD_WEIGHT), _counted(invoice, name)) for name in FIELD_NAMES]
    total = lines_total(invoice)
    if total is not None and invoice.net.value is not None:
        weighted.append((LINES_WEIGHT, LINES_CONFIDENCE[lines_agree(invoice, total)]))
    known = [(weight, p) for weight, p in weighted if p is not None]
    mean = math.exp(sum(weight * math.log(p) for weight, p in known) / sum(weight for weight, _ in known))
    return round(min(mean, _cap(invoice.problems)), 4)


def _counted(invoice: InvoiceData, name: str) -> float | None:
    field: FieldValue[Any] = getattr(invoice, name)
    if field.value is None:
        return MISSING_REQUIRED if name in REQUIRED_FIELDS else None
    return max(field.confidence, 0.001)


def _cap(problems: Sequence[Problem]) -> float:
    if any(problem.code == PAGE_MISMATCH for problem in problems):
        return MISMATCH_CAP
    return ERROR_CAP if any(problem.severity is Severity.ERROR for problem in problems) else 1.0


def _judged(field: FieldValue[Any], gathered: Sequence[Evidence]) -> FieldValue[Any]:
    if field.value is None:
        return field
    evidence = tuple(dict.fromkeys(chain(field.evidence, gathered)))
    return field.model_copy(update={"evidence": evidence, "confidence": field_confidence(field.source, evidence)})


def _gathered(invoice: InvoiceData, problems: Sequence[Problem]) -> dict[str, list[Evidence]]:
    """Return the evidence that follows from the rules, by field."""
    codes = {problem.code for problem in problems}
    gathered: dict[str, list[Evidence]] = {name: [] for name in FIELD_NAMES}
    if invoice.total.value is not None and expected_total(invoice) is not None:
        fact = Evidence.TOTALS_DISAGREE if "totals_disagree" in codes else Evidence.TOTALS_AGREE
        for name in ("net", "tax", "total"):
            gathered[name].append(fact)
    if invoice.net.value is not None and lines_total(invoice) is not None:
        gathered["net"].append(Evidence.LINES_DISAGREE if "lines_disagree" in codes else Evidence.LINES_AGREE)
    if codes & {"date_in_future", "date_old"}:
        gathered["date"].append(Evidence.IMPLAUSIBLE_DATE)
    if "due_before_issue" in codes:
        gathered["due_date"].append(Evidence.IMPLAUSIBLE_DATE)
    return gathered
