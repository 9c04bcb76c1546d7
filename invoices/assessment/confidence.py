"""Compute each value's confidence: a prior plus named evidence as log-odds, then calibrated."""

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from docrail.invoices.assessment.calibration import Calibration, default_calibration
from docrail.invoices.assessment.checks import RULES, check, expected_total, lines_agree, lines_total
from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.model import FIELD_NAMES, FIELDS, FieldValue, InvoiceData, InvoiceProblem

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
"""Probability that a value of this source is right before any evidence."""
BY_RULES = {
    Evidence.TOTALS_AGREE: 1.5,
    Evidence.TOTALS_DISAGREE: -6.0,  # one of the three is wrong, and nothing shows which
    Evidence.LINES_AGREE: 1.0,
    Evidence.LINES_DISAGREE: -1.0,
    Evidence.IMPLAUSIBLE_DATE: -2.0,
    Evidence.NOT_AN_INVOICE: -6.0,  # no value of another paper is one of an invoice, however well it was read
    Evidence.AS_VENDOR_HISTORY: 2.5,  # a misreading rarely equals an approved value
    Evidence.IBAN_CHANGED: -3.0,
}
"""Evidence that each assessment recomputes, from fields together and from the vendor's history."""
EVIDENCE = {
    **BY_RULES,
    Evidence.ON_PAGE: 1.5,
    Evidence.NOT_ON_PAGE: -3.0,
    Evidence.PAGE_CONTRADICTS: -4.0,
    Evidence.CHECKSUM_VALID: 2.0,
    Evidence.CHECKSUM_INVALID: -1.0,
    Evidence.VENDOR_UNSURE: -4.5,
    Evidence.SEVERAL_SUMS: -1.0,
    Evidence.AMBIGUOUS_DATE: -1.5,
    Evidence.FROM_PAYMENT_TERM: 0.5,
    Evidence.WITH_TIME: 1.5,
    Evidence.NAMED_AGAIN: 1.5,
    Evidence.SEVERAL_CANDIDATES: -1.0,
    Evidence.SECOND_SOURCE_AGREES: 1.5,
    Evidence.SECOND_SOURCE_DIFFERS: -2.0,
    Evidence.POOR_IMAGE: -6.0,
}
"""Weights in log-odds."""
MODELS_OWN_WORD = 0.95
"""Upper limit for a prior taken from a model's self-reported confidence."""
WORD_ALONE = PRIORS[Source.GEMINI]
"""Upper limit for a value that only the model itself supports: below the straight-through threshold."""
EITHER_DATE = 0.60
"""Upper limit for a date whose day and month may be swapped, unless another source has the same date."""
LEAST, MOST = 0.0001, 0.9999
"""Bounds of any probability, so that log-odds stay finite."""
LINES_WEIGHT = 1.0
MISSING_REQUIRED = 0.05
"""Probability used for a missing required field: one alone prevents straight-through processing."""
LINES_CONFIDENCE = {True: 0.95, False: 0.50}
ERROR_CAP, MISMATCH_CAP = 0.60, 0.40
"""Upper limit of the overall confidence with an error-level problem, and when page and XML contradict each other."""
PAGE_MISMATCH = "page_mismatch"


def assess(
    invoice: InvoiceData,
    today: dt.date,
    *,
    history: Sequence[InvoiceProblem] = (),
    facts: Mapping[str, Sequence[Evidence]] | None = None,
    calibration: Calibration | None = None,
) -> InvoiceData:
    """Return `invoice` with its rules checked and every confidence computed; the readers' own problems stay first.

    `history` and `facts` (by field) come from other documents; `calibration` defaults to the shipped one. Assessing
    again changes nothing.
    """
    calibration = calibration or default_calibration()
    own = (problem for problem in invoice.problems if problem.code not in RULES)
    problems = (*own, *check(invoice, today), *history)
    gathered = _gathered(invoice, problems)
    fields = {
        name: _judged(name, getattr(invoice, name), (*gathered[name], *(facts or {}).get(name, ())), calibration)
        for name in FIELD_NAMES
    }
    judged = invoice.model_copy(update={**fields, "problems": problems, "calibration": calibration.name})
    return judged.model_copy(update={"confidence": overall(judged)})


def prior_of(source: Source, word_score: float | None = None) -> float:
    """Return the probability that a value of `source` is right before any evidence.

    `word_score` is the mean score of the OCR words, or a model's self-reported confidence.
    """
    prior = PRIORS[source]
    match source:
        case Source.OCR_LABEL | Source.OCR_PATTERN if word_score is not None:
            prior *= word_score
        case Source.GEMINI if word_score is not None:
            prior = min(word_score, MODELS_OWN_WORD)
    return min(MOST, max(LEAST, prior))


def rests_on_its_word(field: FieldValue[Any]) -> bool:
    """Return whether a model's value has no supporting evidence apart from the model's own confidence."""
    return field.source is Source.GEMINI and not any(EVIDENCE[fact] > 0 for fact in field.evidence)


def is_either_date(field: FieldValue[Any]) -> bool:
    """Return whether a date may be read in two ways and no other source decides which."""
    return Evidence.AMBIGUOUS_DATE in field.evidence and Evidence.SECOND_SOURCE_AGREES not in field.evidence


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, clamped to LEAST and MOST."""
    probability = min(MOST, max(LEAST, probability))
    return math.log(probability / (1 - probability))


def probability_of(odds: float) -> float:
    """Return the probability with these log-odds, clamped and rounded to four digits as displayed."""
    return round(min(MOST, max(LEAST, 1 / (1 + math.exp(-odds)))), 4)


def field_confidence(source: Source, evidence: Iterable[Evidence], word_score: float | None = None) -> float:
    """Return the probability that a value of `source` is right given `evidence`, before calibration."""
    return probability_of(log_odds(prior_of(source, word_score)) + math.fsum(EVIDENCE[fact] for fact in evidence))


def overall(invoice: InvoiceData) -> float:
    """Return the document's confidence: the weighted geometric mean of its fields, capped by its problems."""
    mean = math.exp(math.fsum(share * math.log(p) for _, share, p in overall_parts(invoice)))
    return round(min(mean, overall_cap(invoice.problems)), 4)


def overall_parts(invoice: InvoiceData) -> list[tuple[str, float, float]]:
    """Return (name, share, probability) of every term of the mean; the shares add up to 1."""
    weighted = [(name, spec.weight, _counted(invoice, name)) for name, spec in FIELDS.items()]
    total = lines_total(invoice.line_items)
    if total is not None and invoice.net.value is not None:
        weighted.append(("line_items", LINES_WEIGHT, LINES_CONFIDENCE[lines_agree(invoice, total)]))
    known = [(name, weight, p) for name, weight, p in weighted if p is not None]
    whole = sum(weight for _, weight, _ in known)
    return [(name, weight / whole, p) for name, weight, p in known]


def overall_cap(problems: Sequence[InvoiceProblem]) -> float:
    """Return the upper limit of the overall confidence for a document with these problems."""
    if any(problem.code == PAGE_MISMATCH for problem in problems):
        return MISMATCH_CAP
    return ERROR_CAP if any(problem.severity is Severity.ERROR for problem in problems) else 1.0


def _counted(invoice: InvoiceData, name: str) -> float | None:
    field: FieldValue[Any] = getattr(invoice, name)
    if field.value is None:
        return MISSING_REQUIRED if FIELDS[name].required else None
    return max(field.confidence, 0.001)


def _judged(
    name: str, field: FieldValue[Any], gathered: Sequence[Evidence], calibration: Calibration
) -> FieldValue[Any]:
    if field.value is None:
        return field
    own = (fact for fact in field.evidence if fact not in BY_RULES)
    found = field.model_copy(update={"evidence": tuple(dict.fromkeys(chain(own, gathered)))})
    return found.model_copy(update={"confidence": _confidence(name, found, calibration)})


def _confidence(name: str, field: FieldValue[Any], calibration: Calibration) -> float:
    """Return the calibrated confidence. A person's value has a fixed one, because evidence is about readers.

    The curves do not cover values supported by a model alone; those stay below the straight-through threshold.
    """
    if field.source is Source.HUMAN:
        return PRIORS[Source.HUMAN]
    raw = field_confidence(field.source, field.evidence, field.word_score)
    calibrated = min(MOST, max(LEAST, calibration.apply(name, raw)))
    if is_either_date(field):
        calibrated = min(calibrated, EITHER_DATE)
    return round(min(calibrated, raw, WORD_ALONE) if rests_on_its_word(field) else calibrated, 4)


def _gathered(invoice: InvoiceData, problems: Sequence[InvoiceProblem]) -> dict[str, list[Evidence]]:
    """Return the evidence that follows from the rules, by field."""
    codes = {problem.code for problem in problems}
    gathered: dict[str, list[Evidence]] = {name: [] for name in FIELD_NAMES}
    if not invoice.counts_as.is_invoice:
        for name in FIELD_NAMES:
            gathered[name] += [Evidence.NOT_AN_INVOICE] if name != "document_type" else []
    if invoice.total.value is not None and ("totals_disagree" in codes or expected_total(invoice) is not None):
        fact = Evidence.TOTALS_DISAGREE if "totals_disagree" in codes else Evidence.TOTALS_AGREE
        for name in ("net", "tax", "total"):
            gathered[name].append(fact)
    if invoice.net.value is not None and lines_total(invoice.line_items) is not None:
        gathered["net"].append(Evidence.LINES_DISAGREE if "lines_disagree" in codes else Evidence.LINES_AGREE)
    if "date_in_future" in codes:  # date_old is excluded: old dates were read as accurately as others (ADR 19)
        gathered["date"].append(Evidence.IMPLAUSIBLE_DATE)
    if "due_before_issue" in codes:
        gathered["due_date"].append(Evidence.IMPLAUSIBLE_DATE)
    return gathered
