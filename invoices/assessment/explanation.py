"""Explains a confidence, and a priority, as the terms that it is the sum of, to whoever asks why it is 0.62."""

import math
from typing import Any, NamedTuple

from docrail.invoices.assessment.assess import currency_is_foreign, vendor_is_known
from docrail.invoices.assessment.confidence import (
    EVIDENCE,
    WORD_ALONE,
    log_odds,
    overall_cap,
    overall_parts,
    prior_of,
    probability_of,
    rests_on_its_word,
)
from docrail.invoices.assessment.priority import priority_terms
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData


class Part(NamedTuple):
    """One term: `weight` is in log-odds for a field, in logarithms for the whole document, in points of a priority."""

    what: str
    weight: float


def explain(field: FieldValue[Any], name: str) -> list[Part]:
    """Return the terms of a field's confidence: the source's prior, each fact, and what the calibration changed.

    The last is `own_word_alone` where nothing but a model's word speaks for a value, which is why it counts less.
    Empty for a field without a value: nothing is claimed there. `sum_of_field` makes the confidence of them again.
    """
    if field.value is None:
        return []
    prior = Part(f"prior:{field.source.value}", log_odds(prior_of(field.source, field.word_score)))
    if field.source is Source.HUMAN:  # evidence speaks about readers
        return [prior]
    facts = [Part(fact.value, EVIDENCE[fact]) for fact in field.evidence]
    computed = [prior, *facts]
    change = log_odds(field.confidence) - math.fsum(part.weight for part in computed)
    if sum_of_field(computed) == field.confidence:
        return computed
    capped = rests_on_its_word(field) and field.confidence == WORD_ALONE
    return [*computed, Part("own_word_alone" if capped else f"calibration:{name}", change)]


def sum_of_field(parts: list[Part]) -> float:
    """Return the confidence that a field's terms add up to."""
    return probability_of(math.fsum(part.weight for part in parts))


def explain_overall(invoice: InvoiceData) -> list[Part]:
    """Return the terms of the document's confidence: each field's share of the mean, and what a cap took away.

    A field at certainty adds 0, a doubtful one takes away. `sum_of_overall` makes the confidence of them again.
    """
    parts = [Part(name, share * math.log(p)) for name, share, p in overall_parts(invoice)]
    mean, cap = math.fsum(part.weight for part in parts), overall_cap(invoice.problems)
    return [*parts, Part("cap", math.log(cap) - mean)] if math.exp(mean) > cap else parts


def explain_priority(invoice: InvoiceData) -> list[Part]:
    """Return what the document's place in the queue is made of, in points, without those of the SLA."""
    terms = priority_terms(
        invoice, new_vendor=not vendor_is_known(invoice), foreign_currency=currency_is_foreign(invoice)
    )
    return [Part(what, points) for what, points in terms.items() if points]


def sum_of_overall(parts: list[Part]) -> float:
    """Return the confidence that a document's terms add up to."""
    return round(math.exp(math.fsum(part.weight for part in parts)), 4)
