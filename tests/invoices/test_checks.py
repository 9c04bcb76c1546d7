"""Each rule finds what it is for, and leaves a sound invoice alone."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.assessment.checks import check
from docrail.invoices.facts import DocumentType, Evidence, Severity, Source
from docrail.invoices.model import FieldValue, InvoiceData, LineItem, TaxPart

TODAY = dt.date(2026, 11, 1)
CENTS = st.integers(1, 10_000_000).map(lambda cents: Decimal(cents) / 100)


def field(value: Any, *evidence: Evidence) -> FieldValue[Any]:
    return FieldValue(value=value, source=Source.XML, evidence=evidence)


def sound(**changes: Any) -> InvoiceData:
    """Return an invoice that breaks no rule, with the fields in `changes` replaced."""
    fields: dict[str, Any] = {
        "invoice_number": field("1"),
        "date": field(dt.date(2026, 10, 1)),
        "vendor_name": field("Muster GmbH"),
        "currency": field("EUR"),
        "net": field(Decimal("100.00")),
        "tax": field(Decimal("19.00")),
        "total": field(Decimal("119.00")),
    }
    return InvoiceData(**fields | changes)


def codes(invoice: InvoiceData) -> dict[str, Severity]:
    return {problem.code: problem.severity for problem in check(invoice, TODAY)}


def test_a_sound_invoice_has_no_problems() -> None:
    lines = (LineItem(amount=Decimal("60.00")), LineItem(amount=Decimal("40.00")))
    parts = (TaxPart(rate=Decimal(19), base=Decimal("100.00"), tax=Decimal("19.00")),)
    assert codes(sound(line_items=lines, tax_parts=parts)) == {}


def test_every_line_may_be_rounded() -> None:
    lines = (LineItem(amount=Decimal("10.01")),) * 9
    net = Decimal("90.00")  # nine roundings of a cent
    assert codes(sound(line_items=lines, net=field(net), total=field(net + Decimal("19.00")))) == {}


@pytest.mark.parametrize(
    ("changes", "code", "severity"),
    [
        ({"total": FieldValue()}, "required_missing", Severity.ERROR),
        ({"currency": field("XXQ")}, "unknown_currency", Severity.ERROR),
        ({"total": field(Decimal("119.03"))}, "totals_disagree", Severity.ERROR),
        ({"net": FieldValue(), "total": field(Decimal(0))}, "total_not_positive", Severity.ERROR),
        ({"line_items": (LineItem(amount=Decimal(50)),)}, "lines_disagree", Severity.ERROR),
        ({"tax_parts": (TaxPart(tax=Decimal(7)),)}, "tax_disagrees", Severity.ERROR),
        (
            {"tax_parts": (TaxPart(rate=Decimal(7), base=Decimal(100), tax=Decimal(19)),)},
            "tax_disagrees",
            Severity.ERROR,
        ),
        ({"date": field(dt.date(2026, 12, 2))}, "date_in_future", Severity.ERROR),
        ({"date": field(dt.date(2024, 10, 1))}, "date_old", Severity.WARNING),
        ({"due_date": field(dt.date(2026, 9, 30))}, "due_before_issue", Severity.WARNING),
        ({"iban": field("DE00", Evidence.CHECKSUM_INVALID)}, "iban_checksum", Severity.WARNING),
        ({"vendor_vat_id": field("DE1", Evidence.CHECKSUM_INVALID)}, "vat_checksum", Severity.WARNING),
        ({"vendor_vat_id": field("DE1"), "iban": field("FR1")}, "countries_differ", Severity.WARNING),
        ({"flags": ("has_active_content",)}, "has_active_content", Severity.WARNING),
        ({"flags": ("encrypted",)}, "encrypted", Severity.WARNING),
    ],
)
def test_a_broken_rule_is_named(changes: dict[str, Any], code: str, severity: Severity) -> None:
    assert codes(sound(**changes)) == {code: severity}


@pytest.mark.parametrize(
    "changes",
    [
        {"total": field(Decimal("119.02"))},
        {"total": field(Decimal("124.00")), "total_adjustment": Decimal(5)},
        {"line_items": (LineItem(amount=Decimal(110)),), "net_adjustment": Decimal(-10)},
        {"line_items": (LineItem(amount=Decimal(119)),)},
        {"line_items": (LineItem(amount=Decimal(50)), LineItem())},
        {"date": field(dt.date(2026, 12, 1))},
        {"vendor_vat_id": field("EL1"), "vendor_country": "GR"},
        {"total": field(Decimal(-119)), "net": FieldValue(), "document_type": field(DocumentType.CREDIT_NOTE)},
    ],
    ids=[
        "rounding", "shipping", "discount", "gross lines", "line without amount", "30 days ahead", "EL is Greece",
        "credit note",
    ],
)  # fmt: skip
def test_a_rule_knows_its_exceptions(changes: dict[str, Any]) -> None:
    assert codes(sound(**changes)) == {}


@given(net=CENTS, tax=CENTS)
def test_totals_that_add_up_are_never_an_error(net: Decimal, tax: Decimal) -> None:
    assert codes(sound(net=field(net), tax=field(tax), total=field(net + tax))) == {}


@given(net=CENTS, tax=CENTS, off=CENTS)
def test_totals_that_do_not_are_always_one(net: Decimal, tax: Decimal, off: Decimal) -> None:
    wrong = sound(net=field(net), tax=field(tax), total=field(net + tax + off + Decimal("0.02")))
    assert codes(wrong) == {"totals_disagree": Severity.ERROR}
