"""Explain a confidence or a priority as the terms of its sum."""

import math
from typing import Any, NamedTuple

from docrail.invoices.assessment import confidence
from docrail.invoices.assessment.assess import currency_is_foreign, vendor_is_known
from docrail.invoices.assessment.priority import priority_terms
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData


class Term(NamedTuple):
    """One term. `weight` is in log-odds for a field, in logarithms for a document, in points for a priority."""

    what: str
    weight: float


def explain(field: FieldValue[Any], name: str) -> list[Term]:
    """Return the terms of a field's confidence: the source's prior, each fact, and the calibration's change.

    The last term is `own_word_alone` if the confidence is limited because only the model itself supports the value, and
    `either_date` if it is limited because day and month may be swapped.
    Empty for a field without a value. `sum_of_field` adds the terms up to the confidence.
    """
    if field.value is None:
        return []
    prior = Term(
        f"prior:{field.source.value}", confidence.log_odds(confidence.prior_of(field.source, field.word_score))
    )
    if field.source is Source.HUMAN:  # evidence is about readers
        return [prior]
    facts = [Term(fact.value, confidence.EVIDENCE[fact]) for fact in field.evidence]
    computed = [prior, *facts]
    change = confidence.log_odds(field.confidence) - math.fsum(part.weight for part in computed)
    if sum_of_field(computed) == field.confidence:
        return computed
    limits = (
        ("own_word_alone", confidence.rests_on_its_word(field), confidence.WORD_ALONE),
        ("either_date", confidence.is_either_date(field), confidence.EITHER_DATE),
    )
    limited = (what for what, applies, limit in limits if applies and field.confidence == limit)
    return [*computed, Term(next(limited, f"calibration:{name}"), change)]


def sum_of_field(parts: list[Term]) -> float:
    """Return the confidence that a field's terms add up to."""
    return confidence.probability_of(math.fsum(part.weight for part in parts))


def explain_overall(invoice: InvoiceData) -> list[Term]:
    """Return the terms of the document's confidence: each field's share of the mean, and the reduction by a cap.

    A field at certainty adds 0 and an uncertain one is negative. Their sum is the confidence's logarithm.
    """
    parts = [Term(name, share * math.log(p)) for name, share, p in confidence.overall_parts(invoice)]
    mean, cap = math.fsum(part.weight for part in parts), confidence.overall_cap(invoice.problems)
    return [*parts, Term("cap", math.log(cap) - mean)] if math.exp(mean) > cap else parts


def explain_priority(invoice: InvoiceData) -> list[Term]:
    """Return the terms of the document's priority in points, without the SLA's."""
    terms = priority_terms(
        invoice, new_vendor=not vendor_is_known(invoice), foreign_currency=currency_is_foreign(invoice)
    )
    return [Term(what, points) for what, points in terms.items() if points]
