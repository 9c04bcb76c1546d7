"""Vendor memory: what people approved and corrected serves next time, and never hides what changed."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from docrail.invoices.assessment.vendor_memory import (
    MOST_TOTALS,
    MOST_VALUES,
    VendorMemory,
    learn,
    misread_keys,
    recall,
    shape,
    unlearn,
    vendor_facts,
    vendor_keys,
    vendor_problems,
)
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import Candidate, FieldValue, InvoiceData
from tests.invoices.judged import IBAN, OTHER_IBAN, OTHER_VAT_ID, VAT_ID, locked, sound

KNOWN = learn(None, sound())


def codes(invoice: InvoiceData, memory: VendorMemory = KNOWN) -> list[str]:
    return [problem.code for problem in vendor_problems(invoice, memory)]


def paid(*totals: int) -> VendorMemory:
    memory = VendorMemory()
    for total in totals:
        memory = learn(memory, sound(total=Decimal(total)))
    return memory


def test_a_vendor_is_known_by_vat_id_then_iban_then_name() -> None:
    assert vendor_keys(sound()) == (f"vat:{VAT_ID}", f"iban:{IBAN}", "name:mustergmbh")
    assert vendor_keys(sound(vendor_vat_id=None, vendor_name="Müster & Söhne")) == (f"iban:{IBAN}", "name:mustersohne")
    assert vendor_keys(InvoiceData()) == ()


@pytest.mark.parametrize(
    ("changes", "memory", "found"),
    [
        ({}, KNOWN, []),
        ({"iban": None}, KNOWN, []),
        ({"iban": OTHER_IBAN}, KNOWN, ["iban_changed"]),
        ({"iban": OTHER_IBAN}, learn(None, sound(iban=None)), []),
        ({"iban": OTHER_IBAN}, learn(KNOWN, sound(iban=OTHER_IBAN)), []),
        ({"vendor_vat_id": OTHER_VAT_ID}, KNOWN, ["vat_id_changed"]),
        ({"vendor_vat_id": OTHER_VAT_ID, "iban": OTHER_IBAN}, KNOWN, ["iban_changed", "vat_id_changed"]),
        ({"vendor_vat_id": None}, KNOWN, []),
        ({"total": Decimal(501)}, paid(90, 100, 110), ["amount_unusual"]),
        ({"total": Decimal(-501)}, paid(90, 100, 110), ["amount_unusual"]),
        ({"total": Decimal(500)}, paid(90, 100, 110), []),
        ({"total": Decimal(501)}, paid(90, 100), []),
        ({"total": Decimal(501), "currency": "JPY"}, paid(90, 100, 110), []),
    ],
)
def test_a_changed_value_of_a_known_vendor_is_a_problem(
    changes: dict[str, Any], memory: VendorMemory, found: list[str]
) -> None:
    assert codes(sound(**changes), memory) == found


def test_of_several_vendors_that_are_named_each_must_have_had_the_account() -> None:
    mule = learn(None, sound(vendor_name="Mule Ltd", vendor_vat_id=None, iban=OTHER_IBAN))
    invoice = sound(vendor_vat_id=None, iban=OTHER_IBAN)
    assert [problem.code for problem in vendor_problems(invoice, KNOWN, mule)] == ["iban_changed"]
    assert vendor_facts(invoice, KNOWN, mule) == {
        "iban": [Evidence.IBAN_CHANGED],
        "currency": [Evidence.AS_VENDOR_HISTORY],
    }
    unpaid = learn(None, sound(iban=None))
    [problem] = vendor_problems(invoice, unpaid, mule)
    assert problem.message.startswith("Muster GmbH was paid to no account so far")


@pytest.mark.parametrize("before", [VendorMemory(), KNOWN, paid(90, 119, 110)])
def test_learned_values_are_unlearned(before: VendorMemory) -> None:
    misread = locked("Muster AG", read=FieldValue(candidates=(Candidate(value="Rechnung", source=Source.TEXT_LABEL),)))
    for approved in (sound(), sound(iban=OTHER_IBAN, vendor_name=misread, total=Decimal(7)), InvoiceData()):
        assert unlearn(learn(before, approved), approved) == before


def test_messages_say_what_was_and_what_is() -> None:
    [problem] = vendor_problems(sound(iban=OTHER_IBAN), KNOWN)
    assert problem.message.startswith(f"Muster GmbH was paid to {IBAN} so far; this document names {OTHER_IBAN}.")


def test_an_earlier_approval_is_evidence() -> None:
    facts = vendor_facts(sound(), KNOWN)
    assert facts == {
        name: [Evidence.AS_VENDOR_HISTORY] for name in ("vendor_name", "vendor_vat_id", "iban", "currency")
    }
    assert vendor_facts(sound(iban=OTHER_IBAN), KNOWN)["iban"] == [Evidence.IBAN_CHANGED]


@pytest.mark.parametrize(("number", "form"), [("RE-2026/0017", "A-9/9"), ("4711", "9"), ("INV 12 b", "A 9 A")])
def test_the_shape_of_a_number(number: str, form: str) -> None:
    assert shape(number) == form


@pytest.mark.parametrize("name", ["vendor_name", "vendor_vat_id", "currency"])
def test_missing_values_come_from_the_vendors_memory(name: str) -> None:
    field = getattr(recall(sound().model_copy(update={name: FieldValue()}), KNOWN), name)
    assert (field.value, field.source) == (getattr(sound(), name).value, Source.VENDOR)


def test_a_missing_account_is_never_filled_in() -> None:
    assert recall(sound(iban=None), KNOWN).iban.value is None


def test_an_unknown_name_gives_way_unless_it_comes_from_an_e_invoice() -> None:
    printed = recall(sound(vendor_name="Rechnung"), KNOWN).vendor_name
    assert (printed.value, [each.value for each in printed.candidates]) == ("Muster GmbH", ["Muster GmbH", "Rechnung"])
    assert recall(sound(Source.XML, vendor_name="Muster AG"), KNOWN).vendor_name.value == "Muster AG"


def test_a_name_that_is_written_otherwise_stays_as_it_is_printed() -> None:
    assert recall(sound(vendor_name="MUSTER GMBH"), KNOWN).vendor_name.value == "MUSTER GMBH"


def test_a_correction_is_made_again() -> None:
    corrected = locked(
        "Muster GmbH", read=FieldValue(candidates=(Candidate(value="Seite 1", source=Source.TEXT_PATTERN),))
    )
    memory = learn(learn(None, sound(vendor_name="Muster Group")), sound(vendor_name=corrected))
    assert misread_keys(sound(vendor_name=corrected)) == ("name:seite1",)
    assert recall(sound(vendor_name="SEITE 1"), memory).vendor_name.value == "Muster GmbH"


def test_locked_values_stay() -> None:
    for value in ("Other", None):
        assert recall(sound(vendor_name=locked(value)), KNOWN).vendor_name.value == value


def test_another_companys_document_is_not_completed() -> None:
    other = sound(vendor_vat_id=OTHER_VAT_ID, currency=None)
    assert recall(other, KNOWN) == other


def test_of_several_numbers_the_one_of_the_vendors_shape_is_chosen() -> None:
    memory = learn(KNOWN, sound(invoice_number="RE-2026-0003"))
    candidates = tuple(
        Candidate[str](value=value, source=Source.TEXT_LABEL, page=1) for value in ("4711", "RE-2026-0099", "KD 5")
    )
    read = FieldValue[str](value="4711", source=Source.TEXT_LABEL, candidates=candidates)
    assert recall(sound(invoice_number=read), memory).invoice_number.value == "RE-2026-0099"
    assert recall(sound(invoice_number=read), KNOWN).invoice_number.value == "4711"
    twice = (*candidates, Candidate(value="RE-2026-0100", source=Source.TEXT_LABEL))
    unsure = read.model_copy(update={"candidates": twice})
    assert recall(sound(invoice_number=unsure), memory).invoice_number.value == "4711"


def test_memory_is_bounded_and_keeps_the_newest() -> None:
    memory = VendorMemory()
    for number in range(MOST_TOTALS + 5):
        memory = learn(memory, sound(vendor_name=f"Name {number}", total=Decimal(number + 1)))
    assert len(memory.values["vendor_name"]) == MOST_VALUES
    assert f"Name {MOST_TOTALS + 4}" in memory.values["vendor_name"]
    assert (len(memory.totals["EUR"]), memory.totals["EUR"][-1]) == (MOST_TOTALS, Decimal(MOST_TOTALS + 5))


def test_memory_survives_being_stored() -> None:
    memory = learn(KNOWN, sound(date=dt.date(2026, 1, 1), vendor_name=locked("Muster GmbH")))
    assert VendorMemory.model_validate_json(memory.model_dump_json()) == memory
    assert memory.approvals == 2
