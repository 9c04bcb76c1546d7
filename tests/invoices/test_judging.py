"""Judging: all that is known in one step, the same however often it is done; confidences explain themselves."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.assessment.assess import Known, currency_is_foreign, judge
from docrail.invoices.assessment.calibration import POOLED, Calibration
from docrail.invoices.assessment.confidence import WORD_ALONE
from docrail.invoices.assessment.corrections import Correction, merge
from docrail.invoices.assessment.duplicates import seen_of
from docrail.invoices.assessment.explanation import explain, explain_overall, sum_of_field
from docrail.invoices.assessment.vendor_memory import learn
from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.model import FIELD_NAMES, Candidate, FieldValue, InvoiceData, InvoiceProblem, LineItem
from docrail.services.reviews.items import appearance_of
from tests.invoices.judged import IBAN, NO_CALIBRATION, OTHER_IBAN, OTHER_VAT_ID, TODAY, VALUES, VAT_ID, sound

CURVED = Calibration(name="v1", curves={POOLED: ((0.0, 0.1), (0.7, 0.1), (0.9, 0.6), (0.99, 1.0))})
CHOICES: dict[str, list[Any]] = {
    "invoice_number": ["RE-2026-0017", "4711", "x"],
    "date": [dt.date(2026, 10, 1), dt.date(2030, 1, 1)],
    "vendor_name": ["Muster GmbH", "Rechnung", "Other"],
    "vendor_vat_id": [VAT_ID, OTHER_VAT_ID],
    "iban": [IBAN, OTHER_IBAN],
    "currency": ["EUR", "XXQ"],
    "net": [Decimal("100.00"), Decimal("99.00")],
    "tax": [Decimal("19.00")],
    "total": [Decimal("119.00"), Decimal("9999.00")],
}
SOURCES = st.sampled_from([source for source in Source if source not in (Source.NOWHERE, Source.HUMAN)])
OWN_FACTS = st.lists(st.sampled_from([Evidence.ON_PAGE, Evidence.NOT_ON_PAGE, Evidence.CHECKSUM_INVALID]), unique=True)


@st.composite
def fields(draw: st.DrawFn, name: str) -> FieldValue[Any]:
    if draw(st.booleans()) and draw(st.booleans()):
        return FieldValue()
    source, score = draw(SOURCES), draw(st.none() | st.floats(0, 1))
    value, others = draw(st.sampled_from(CHOICES[name])), draw(st.lists(st.sampled_from(CHOICES[name]), max_size=2))
    candidates = tuple(Candidate[Any](value=other, source=source) for other in dict.fromkeys([value, *others]))
    return FieldValue(
        value=value, source=source, word_score=score, evidence=tuple(draw(OWN_FACTS)), candidates=candidates
    )


@st.composite
def invoices(draw: st.DrawFn) -> InvoiceData:
    problem = InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="", field="total")
    lines = draw(st.sampled_from([(), (LineItem(amount=Decimal(100)),), (LineItem(amount=Decimal(9)),)]))
    problems = draw(st.sampled_from([(), (problem,)]))
    return InvoiceData(
        document_id="own", line_items=lines, problems=problems, **{name: draw(fields(name)) for name in CHOICES}
    )


MEMORY = learn(learn(learn(None, sound()), sound(invoice_number="RE-2026-0001")), sound())
OTHERS = (seen_of(sound(document_id="other"), "1"),)
KNOWLEDGE = st.builds(
    Known,
    sha256=st.just("2"),
    vendor=st.sampled_from([None, MEMORY]),
    others=st.sampled_from([(), OTHERS]),
    calibration=st.sampled_from([None, NO_CALIBRATION, CURVED]),
)
CORRECTIONS = st.lists(
    st.builds(
        Correction,
        field=st.sampled_from(["vendor_name", "invoice_number", "currency"]),
        value=st.sampled_from(["EUR", "USD"]),
        by=st.just("ann"),
        at=st.just(dt.datetime(2026, 11, 1, tzinfo=dt.UTC)),
    ),
    max_size=3,
)


@given(invoices(), KNOWLEDGE, CORRECTIONS)
def test_merging_and_judging_again_changes_nothing(
    read: InvoiceData, known: Known, corrections: list[Correction]
) -> None:
    judged = judge(merge(read, corrections), known, TODAY)
    assert judge(judged, known, TODAY) == judged
    assert judge(merge(judged, corrections), known, TODAY) == judged


@given(invoices(), KNOWLEDGE)
def test_judging_never_changes_what_people_locked_nor_the_account(read: InvoiceData, known: Known) -> None:
    correction = Correction("vendor_name", "Rechnung", "ann", dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    judged = judge(merge(read, [correction]), known, TODAY)
    assert (judged.vendor_name.value, judged.vendor_name.source) == ("Rechnung", Source.HUMAN)
    assert judged.iban.value == read.iban.value


@given(invoices(), KNOWLEDGE, CORRECTIONS)
def test_the_terms_of_every_confidence_add_up_to_it(
    read: InvoiceData, known: Known, corrections: list[Correction]
) -> None:
    judged = judge(merge(read, corrections), known, TODAY)
    for name in FIELD_NAMES:
        field = getattr(judged, name)
        if field.value is not None:
            assert sum_of_field(explain(field, name)) == field.confidence
    assert round(math.exp(math.fsum(term.weight for term in explain_overall(judged))), 4) == judged.confidence


def test_a_confidence_names_its_prior_its_evidence_and_its_calibration() -> None:
    plain = judge(sound(), Known(calibration=NO_CALIBRATION), TODAY)
    assert [(part.what, round(part.weight, 2)) for part in explain(plain.total, "total")] == [
        ("prior:text_label", 1.99),
        ("totals_agree", 1.5),
    ]
    curved = judge(sound(), Known(calibration=CURVED), TODAY)
    assert explain(curved.total, "total")[-1].what == "calibration:total"
    assert explain(FieldValue(), "total") == []


def test_a_models_word_alone_says_why_it_counts_no_more() -> None:
    answer = FieldValue[str](value="R-4711", source=Source.GEMINI, word_score=0.95)
    judged = judge(InvoiceData(invoice_number=answer), Known(), TODAY).invoice_number
    assert [part.what for part in explain(judged, "invoice_number")] == ["prior:gemini", "own_word_alone"]
    assert sum_of_field(explain(judged, "invoice_number")) == judged.confidence == WORD_ALONE


def test_the_whole_confidence_names_its_fields_and_its_cap() -> None:
    broken = judge(sound(currency=None), Known(calibration=NO_CALIBRATION), TODAY)
    parts = dict(explain_overall(broken))
    assert min(parts, key=lambda what: parts[what]) == "currency"
    mismatch = InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="", field="total")
    capped = judge(sound(Source.XML, problems=(mismatch,)), Known(calibration=NO_CALIBRATION), TODAY)
    assert capped.confidence == 0.40
    assert explain_overall(capped)[-1].what == "cap"
    assert math.exp(sum(part.weight for part in explain_overall(capped)[:-1])) > 0.9


def test_a_person_is_not_weighed() -> None:
    correction = Correction("iban", OTHER_IBAN, "ann", dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    judged = judge(merge(sound(), [correction]), Known(vendor=MEMORY, calibration=CURVED), TODAY)
    assert Evidence.IBAN_CHANGED in judged.iban.evidence
    assert judged.iban.confidence > 0.99
    assert [part.what for part in explain(judged.iban, "iban")] == ["prior:human"]


def test_history_is_found_in_the_order_people_check() -> None:
    changed = sound(iban=OTHER_IBAN, total=Decimal(9999), net=None)
    judged = judge(changed, Known(vendor=MEMORY, others=OTHERS), TODAY)
    assert [problem.code for problem in judged.problems] == ["duplicate", "iban_changed", "amount_unusual"]
    assert set(VALUES) <= set(FIELD_NAMES)


def test_a_currency_never_approved_for_a_known_vendor_is_foreign() -> None:
    known = Known(vendor=learn(None, sound()))
    assert not currency_is_foreign(judge(sound(), known, TODAY))
    assert currency_is_foreign(judge(sound(currency="USD"), known, TODAY))
    assert not currency_is_foreign(judge(sound(currency="USD"), Known(), TODAY))  # new is all of it
    usual, foreign = (appearance_of(judge(sound(currency=each), known, TODAY)) for each in ("EUR", "USD"))
    assert foreign.parts["complexity"] >= usual.parts["complexity"] + 0.1
