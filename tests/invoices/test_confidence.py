"""Confidence follows the evidence, priority follows confidence, and both show what they are made of."""

import datetime as dt
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.assessment.confidence import (
    ERROR_CAP,
    EVIDENCE,
    MODELS_OWN_WORD,
    PRIORS,
    WORD_ALONE,
    assess,
    field_confidence,
    prior_of,
)
from docrail.invoices.assessment.priority import WEIGHTS, Band, priority_terms, review_priority
from docrail.invoices.assessment.straight_through import Policy
from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.model import FieldValue, InvoiceData, InvoiceProblem, LineItem

TODAY = dt.date(2026, 11, 1)
SOURCES = st.sampled_from(sorted(PRIORS))
FACTS = st.lists(st.sampled_from(sorted(Evidence)), max_size=5)


def invoice(source: Source = Source.TEXT_LABEL, **changes: Any) -> InvoiceData:
    values = {
        "invoice_number": "1",
        "date": dt.date(2026, 10, 1),
        "vendor_name": "Muster GmbH",
        "currency": "EUR",
        "net": Decimal("100.00"),
        "tax": Decimal("19.00"),
        "total": Decimal("119.00"),
    }
    fields: dict[str, Any] = {name: FieldValue(value=value, source=source) for name, value in values.items()}
    return assess(InvoiceData(**fields | changes), TODAY)


def test_every_fact_has_a_weight() -> None:
    assert set(EVIDENCE) == set(Evidence)


@pytest.mark.parametrize(("source", "prior"), PRIORS.items())
def test_without_evidence_the_prior_stands(source: Source, prior: float) -> None:
    assert field_confidence(source, ()) == pytest.approx(prior)


@given(SOURCES, FACTS, st.sampled_from(sorted(Evidence)))
def test_evidence_moves_confidence_its_own_way(source: Source, facts: list[Evidence], fact: Evidence) -> None:
    before, after = field_confidence(source, facts), field_confidence(source, [*facts, fact])
    assert 0 <= after <= 1
    assert after >= before if EVIDENCE[fact] > 0 else after <= before


@given(SOURCES, st.lists(st.sampled_from(sorted(Evidence)), max_size=3))
def test_the_order_of_evidence_does_not_matter(source: Source, facts: list[Evidence]) -> None:
    assert len({field_confidence(source, order) for order in permutations(facts)}) == 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_words_that_an_ocr_read_badly_are_worth_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for source in (Source.OCR_LABEL, Source.OCR_PATTERN):
        assert prior_of(source, low) <= prior_of(source, high) <= prior_of(source)
    assert prior_of(Source.OCR_LABEL, 0.9) == pytest.approx(PRIORS[Source.OCR_LABEL] * 0.9)


def test_a_models_own_word_counts_only_so_far() -> None:
    assert prior_of(Source.GEMINI) == PRIORS[Source.GEMINI]
    assert prior_of(Source.GEMINI, 1.0) == MODELS_OWN_WORD
    assert prior_of(Source.GEMINI, 0.3) == 0.3


@given(st.floats(0, 1), st.lists(st.sampled_from([fact for fact in EVIDENCE if EVIDENCE[fact] < 0])))
def test_no_curve_makes_a_models_word_alone_surer(own_word: float, against: list[Evidence]) -> None:
    """The shipped curves, which never saw a model, made .9966 of .95: enough to pass without a person."""
    answer = FieldValue[str](value="x", source=Source.GEMINI, word_score=own_word, evidence=tuple(against))
    found = assess(InvoiceData(invoice_number=answer), TODAY).invoice_number
    assert found.confidence <= min(prior_of(Source.GEMINI, own_word), WORD_ALONE) + 0.0001
    assert Policy().min_confidence > WORD_ALONE


def test_one_fact_for_a_models_word_lets_the_curves_count() -> None:
    answer = FieldValue[str](value="x", source=Source.GEMINI, word_score=0.95, evidence=(Evidence.ON_PAGE,))
    assert assess(InvoiceData(invoice_number=answer), TODAY).invoice_number.confidence > 0.95


def test_other_sources_have_no_word_scores() -> None:
    assert prior_of(Source.TEXT_LABEL, 0.1) == PRIORS[Source.TEXT_LABEL]


def test_agreeing_totals_raise_all_three() -> None:
    agreed = invoice()
    for name in ("net", "tax", "total"):
        assert Evidence.TOTALS_AGREE in getattr(agreed, name).evidence
        assert getattr(agreed, name).confidence > PRIORS[Source.TEXT_LABEL]


def test_agreeing_lines_are_evidence_for_the_net() -> None:
    assert Evidence.LINES_AGREE in invoice(line_items=(LineItem(amount=Decimal(100)),)).net.evidence
    assert Evidence.LINES_DISAGREE in invoice(line_items=(LineItem(amount=Decimal(99)),)).net.evidence


def test_one_missing_required_field_stops_straight_through_work() -> None:
    whole, lacking = invoice(Source.XML), invoice(Source.XML, vendor_name=FieldValue())
    assert whole.confidence > 0.99
    assert lacking.confidence <= ERROR_CAP


def test_a_contradiction_caps_confidence() -> None:
    mismatch = InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="", field="iban")
    assert invoice(Source.XML, problems=(mismatch,)).confidence == 0.40


def test_nothing_found_is_worth_nothing() -> None:
    assert assess(InvoiceData(), TODAY).confidence == 0.05


HOURS = st.floats(0, 1000)


@given(HOURS, HOURS, st.floats(0.1, 1000))
def test_priority_grows_with_the_time_used_and_stays_in_range(one: float, more: float, sla: float) -> None:
    early = review_priority(invoice(), sla_hours=sla, hours_used=one)
    late = review_priority(invoice(), sla_hours=sla, hours_used=one + more)
    assert 0 <= early.score <= late.score <= 100
    assert early.band <= late.band


@given(st.decimals(0, 10**9, places=2), st.decimals(0, 10**9, places=2))
def test_priority_grows_with_the_amount(one: Decimal, more: Decimal) -> None:
    small, large = (
        review_priority(
            invoice().model_copy(update={"total": FieldValue(value=total, source=Source.XML)}),
            sla_hours=24,
            hours_used=0,
        )
        for total in (one, one + more)
    )
    assert small.parts.value <= large.parts.value <= 1


def test_the_score_is_the_weighted_sum_of_its_parts() -> None:
    priority = review_priority(invoice(), sla_hours=24, hours_used=6)
    parts = priority.parts_json()
    assert set(parts) == set(WEIGHTS) == {"uncertainty", "sla", "complexity", "value"}
    assert priority.score == pytest.approx(sum(WEIGHTS[name] * part for name, part in parts.items()), abs=0.01)


@pytest.mark.parametrize(
    ("code", "severity", "why"),
    [
        (None, None, "uncertainty:confidence"),
        ("lines_disagree", Severity.ERROR, "uncertainty:lines_disagree"),
        ("duplicate", Severity.WARNING, "uncertainty:duplicate"),
    ],
)
def test_the_score_is_the_sum_of_the_terms(code: str | None, severity: Severity | None, why: str) -> None:
    problems = (InvoiceProblem(code=code, severity=severity, message=""),) if code and severity else ()
    judged = invoice(Source.XML).model_copy(update={"problems": problems})
    points = priority_terms(judged, new_vendor=True, foreign_currency=True)
    score = review_priority(judged, sla_hours=24, hours_used=0, new_vendor=True, foreign_currency=True).score
    assert score == pytest.approx(sum(points.values()), abs=0.01)
    assert why in points
    assert min(points[f"complexity:{what}"] for what in ("new_vendor", "foreign_currency")) == pytest.approx(1.5)


def test_errors_and_contradictions_outweigh_confidence() -> None:
    mismatch = InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="", field="iban")
    plain, wrong = invoice(Source.XML), invoice(Source.XML, total=FieldValue(value=Decimal(5), source=Source.XML))
    parts = [
        review_priority(one, sla_hours=24, hours_used=1).parts.uncertainty
        for one in (plain, wrong, invoice(Source.XML, problems=(mismatch,)))
    ]
    assert parts[0] < 0.05
    assert parts[1] == 0.7
    assert parts[2] == 0.9


@pytest.mark.parametrize(
    ("hours", "band"), [(0, Band.NORMAL), (19.3, Band.URGENT), (24, Band.OVERDUE), (99, Band.OVERDUE)]
)
def test_bands_follow_the_sla(hours: float, band: Band) -> None:
    assert review_priority(invoice(Source.XML), sla_hours=24, hours_used=hours).band is band


def test_a_contradiction_is_urgent_at_once() -> None:
    mismatch = InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="", field="iban")
    assert review_priority(invoice(problems=(mismatch,)), sla_hours=24, hours_used=0).band is Band.URGENT
