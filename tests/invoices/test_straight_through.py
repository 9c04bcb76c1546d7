"""Straight-through: passes only what nothing speaks against, and says in words what does."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from docrail.invoices.assessment.assess import Known, judge, vendor_is_known
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, Policy, decide, in_audit_sample
from docrail.invoices.assessment.vendor_memory import learn
from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.model import FIELD_NAMES, REQUIRED_FIELDS, FieldValue, InvoiceData, InvoiceProblem
from tests.invoices.judged import IBAN, NO_CALIBRATION, OTHER_IBAN, OTHER_VAT_ID, TODAY, sound

MEMORY = learn(None, sound())
POLICY = Policy(enabled=True, audit_share=0)


def judged(source: Source = Source.XML, /, *, known: bool = True, **changes: Any) -> InvoiceData:
    vendor = MEMORY if known else None
    return judge(sound(source, **changes), Known(vendor=vendor, calibration=NO_CALIBRATION), TODAY)


def test_a_sure_invoice_of_a_known_vendor_passes() -> None:
    assert decide(judged(), POLICY).passes
    assert decide(judged(), POLICY).reasons == ()


def test_a_printed_invoice_of_a_known_vendor_can_pass_by_the_shipped_calibration() -> None:
    again = sound(
        vendor_name=FieldValue(value="Muster GmbH", source=Source.TEXT_LABEL, evidence=(Evidence.NAMED_AGAIN,))
    )
    assert decide(judge(again, Known(vendor=MEMORY), TODAY), POLICY).reasons == ()
    assert not decide(judge(again, Known(), TODAY), POLICY).passes


@pytest.mark.parametrize(("evidence", "passes"), [((), False), ((Evidence.ON_PAGE,), True)])
def test_a_value_from_a_model_alone_never_passes_even_for_a_known_vendor(
    evidence: tuple[Evidence, ...], passes: bool
) -> None:
    """A picture that no reader of ours finds a word on: the shipped curves had made .9966 of the model's .95."""
    read = sound(Source.GEMINI)
    changed = {
        name: getattr(read, name).model_copy(update={"word_score": 0.95, "evidence": evidence})
        for name in FIELD_NAMES
        if getattr(read, name).value is not None
    }
    verdict = decide(judge(read.model_copy(update=changed), Known(vendor=MEMORY), TODAY), POLICY)
    assert verdict.passes is passes
    assert ("The invoice number has confidence 0.90; 0.95 is needed." in verdict.reasons) is not passes


def test_an_account_with_wrong_check_digits_never_passes_though_people_approved_it_before() -> None:
    wrong: FieldValue[str] = FieldValue(
        value=f"DE03{IBAN[4:]}", source=Source.XML, evidence=(Evidence.CHECKSUM_INVALID,)
    )
    memory = None
    for _ in range(10):
        memory = learn(memory, sound(Source.XML, iban=wrong))
    known = Known(vendor=memory, calibration=NO_CALIBRATION)
    verdict = decide(judge(sound(Source.XML, iban=wrong), known, TODAY), replace(POLICY, min_confidence=0))
    assert [reason for reason in verdict.reasons if "check digits" in reason]
    assert not verdict.passes


def test_nothing_is_enabled_at_first() -> None:
    assert not Policy().enabled


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"known": False}, "No document of this vendor has been approved yet."),
        ({"iban": OTHER_IBAN}, "was paid to"),
        ({"vendor_vat_id": OTHER_VAT_ID}, "had the VAT id"),
        ({"total": Decimal("119.50")}, "not the total 119.50"),
        ({"net": None, "total": Decimal("1000.01")}, "The total 1000.01 is above the limit of 1000."),
        (
            {"total": FieldValue(value=Decimal("119.00"), source=Source.TEXT_PATTERN), "net": None},
            "The total has confidence 0.60; 0.95 is needed.",
        ),
        ({"date": None}, "No date was found."),
        ({"flags": ("has_active_content",)}, "The file contains scripts"),
    ],
)
def test_each_reason_against_passing_is_reported(changes: dict[str, Any], reason: str) -> None:
    verdict = decide(judged(**changes), POLICY)
    assert not verdict.passes
    assert any(reason in each for each in verdict.reasons)


@pytest.mark.parametrize("name", [*REQUIRED_FIELDS, "iban"])
def test_one_unsure_field_is_enough(name: str) -> None:
    field = FieldValue[Any](value=getattr(judged(), name).value, source=Source.OCR_PATTERN)
    unsure: dict[str, Any] = {name: field}
    verdict = decide(judged(**unsure), POLICY)
    assert not verdict.passes


def test_the_first_account_of_a_known_vendor_never_passes() -> None:
    known = Known(vendor=learn(None, sound(iban=None)), calibration=NO_CALIBRATION)
    verdict = decide(judge(sound(Source.XML), known, TODAY), POLICY)
    assert verdict.reasons == ("This account of the vendor has not been approved yet.",)
    assert decide(judge(sound(Source.XML, iban=None), known, TODAY), POLICY).passes


def test_a_duplicate_never_passes() -> None:
    for code, severity in (("duplicate", Severity.ERROR), ("near_duplicate", Severity.WARNING)):
        problem = InvoiceProblem(code=code, severity=severity, message="again")
        assert decide(judged().model_copy(update={"problems": (problem,)}), POLICY).reasons == ("again",)


def test_a_limit_may_be_lifted() -> None:
    rich = judged(net=None, total=Decimal(99_999))
    assert decide(rich, replace(POLICY, max_total=None)).passes


def test_the_audit_sample_is_its_share_and_always_the_same() -> None:
    ids = [f"doc_{number}" for number in range(20_000)]
    drawn = [each for each in ids if in_audit_sample(each, 0.05)]
    assert 900 < len(drawn) < 1100
    assert drawn == [each for each in ids if in_audit_sample(each, 0.05)]
    assert all(in_audit_sample(each, 1) for each in ids)
    assert not any(in_audit_sample(each, 0) for each in ids)


def test_a_document_drawn_for_the_audit_sample_does_not_pass() -> None:
    verdict = decide(judged(), replace(POLICY, audit_share=1))
    assert (verdict.passes, verdict.reasons, verdict.audit_sample) == (False, (), True)


def test_without_history_only_an_e_invoice_passes() -> None:
    assert decide(judged(known=False), WITHOUT_HISTORY).passes
    printed = judged(Source.TEXT_LABEL, known=False)
    assert any("may not pass without a person" in each for each in decide(printed, WITHOUT_HISTORY).reasons)


def test_a_vendor_is_known_by_what_people_approved() -> None:
    assert vendor_is_known(judged())
    assert not vendor_is_known(judged(known=False))
