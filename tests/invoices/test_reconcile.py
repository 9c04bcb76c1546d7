"""Several readings of one document become one: the surest value wins, and every source is kept as evidence."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.reconcile import reconcile
from docrail.invoices.facts import DocumentType, Evidence, Severity, Source
from docrail.invoices.model import Box, Candidate, FieldValue, InvoiceData, InvoiceProblem, LineItem, TaxPart

TODAY = dt.date(2026, 11, 1)
BOX: Box = (0.1, 0.2, 0.3, 0.25)
VALID, INVALID = "DE02120300000000202051", "DE03120300000000202051"


def field(value: Any, source: Source, *evidence: Evidence, box: Box | None = None) -> FieldValue[Any]:
    return FieldValue(value=value, source=source, evidence=evidence, box=box, page=1 if box else None)


def reading(reader: str, **fields: Any) -> InvoiceData:
    return InvoiceData(reader=reader).model_copy(update=fields)


def test_the_surest_source_wins_and_all_are_kept() -> None:
    invoice = reconcile(
        [
            reading("ubl", invoice_number=field("RE-1", Source.XML)),
            reading("text", invoice_number=field("RE-2", Source.TEXT_LABEL, box=BOX)),
        ]
    )
    assert invoice.invoice_number.value == "RE-1"
    assert [(c.value, c.source) for c in invoice.invoice_number.candidates] == [
        ("RE-1", Source.XML),
        ("RE-2", Source.TEXT_LABEL),
    ]
    assert invoice.readers == ("ubl", "text")


@pytest.mark.parametrize(("own_word", "winner"), [(0.95, "119.00"), (None, "119.00"), (0.3, "191.00")])
def test_a_model_that_is_unsure_gives_way_to_the_page(own_word: float | None, winner: str) -> None:
    stated = field(Decimal("119.00"), Source.GEMINI).model_copy(update={"word_score": own_word})
    printed = field(Decimal("191.00"), Source.TEXT_LABEL)
    assert reconcile([reading("gemini", total=stated), reading("text", total=printed)]).total.value == Decimal(winner)


def test_a_field_only_the_second_reading_has_is_its() -> None:
    invoice = reconcile([reading("ubl"), reading("text", vendor_name=field("Muster GmbH", Source.TEXT_PATTERN))])
    assert invoice.vendor_name.value == "Muster GmbH"
    assert invoice.vendor_name.source is Source.TEXT_PATTERN


@pytest.mark.parametrize(
    ("name", "one", "other", "verdict"),
    [
        ("total", Decimal("10.00"), Decimal("10.0"), Evidence.SECOND_SOURCE_AGREES),
        ("total", Decimal("10.00"), Decimal("-10.00"), Evidence.SECOND_SOURCE_AGREES),
        ("total", Decimal("10.00"), Decimal("11.00"), Evidence.SECOND_SOURCE_DIFFERS),
        ("vendor_name", "Müller & Söhne GmbH", "MULLER & SOHNE", Evidence.SECOND_SOURCE_AGREES),
        ("vendor_name", "Müller GmbH", "Schmidt GmbH", Evidence.SECOND_SOURCE_DIFFERS),
        ("invoice_number", "RE-2026/17", "RE 2026 17", Evidence.SECOND_SOURCE_AGREES),
        ("invoice_number", "RE-2026/17", "2026", None),
        ("date", dt.date(2026, 3, 2), dt.date(2026, 2, 3), Evidence.SECOND_SOURCE_DIFFERS),
    ],
)
def test_a_second_source_agrees_or_differs(name: str, one: object, other: object, verdict: Evidence | None) -> None:
    readings = [
        reading("gemini", **{name: field(one, Source.GEMINI)}),
        reading("text", **{name: field(other, Source.TEXT_PATTERN)}),
    ]
    assert getattr(reconcile(readings), name).evidence == ((verdict,) if verdict else ())


def test_two_readings_of_the_page_are_one_source() -> None:
    readings = [
        reading("text", iban=field(VALID, Source.TEXT_LABEL)),
        reading("ocr", iban=field(VALID, Source.OCR_LABEL)),
    ]
    assert reconcile(readings).iban.evidence == ()


def test_a_candidate_that_its_reader_rejected_confirms_no_other_reader() -> None:
    passed_over = Candidate[str](value=VALID, source=Source.TEXT_PATTERN)
    read = field("DE89370400440532013000", Source.TEXT_LABEL).model_copy(update={"candidates": (passed_over,)})
    readings = [reading("gemini", iban=field(VALID, Source.GEMINI)), reading("text", iban=read)]
    assert reconcile(readings).iban.evidence == (Evidence.SECOND_SOURCE_DIFFERS,)


def test_reconciling_again_finds_the_same() -> None:
    once = reconcile(
        [reading("ubl", iban=field(VALID, Source.XML)), reading("text", iban=field(VALID, Source.TEXT_LABEL, box=BOX))]
    )
    assert once.iban.evidence == (Evidence.SECOND_SOURCE_AGREES,)
    assert reconcile([once]) == once


def test_check_digits_decide_between_readers_that_read() -> None:
    readings = [
        reading("gemini", iban=field(INVALID, Source.GEMINI, Evidence.CHECKSUM_INVALID)),
        reading("text", iban=field(VALID, Source.TEXT_LABEL, Evidence.CHECKSUM_VALID)),
    ]
    assert reconcile(readings).iban.value == VALID


def test_an_exact_value_stays_whatever_contradicts_it() -> None:
    readings = [
        reading("ubl", iban=field(INVALID, Source.XML, Evidence.CHECKSUM_INVALID, Evidence.PAGE_CONTRADICTS)),
        reading("text", iban=field(VALID, Source.TEXT_LABEL, Evidence.CHECKSUM_VALID)),
    ]
    iban = reconcile(readings).iban
    assert iban.value == INVALID
    assert Evidence.SECOND_SOURCE_DIFFERS not in iban.evidence  # the contradiction is not counted twice


def test_a_field_stated_to_be_empty_is_not_filled_from_the_page() -> None:
    """In a direct debit the IBAN on the page is the payer's own."""
    stated = reading("cii", iban=FieldValue[str](source=Source.XML))
    assert reconcile([stated, reading("text", iban=field(VALID, Source.TEXT_LABEL))]).iban.value is None


def test_a_value_without_a_place_gets_that_of_an_agreeing_one() -> None:
    readings = [
        reading("ubl", total=field(Decimal("119.00"), Source.XML)),
        reading("text", total=field(Decimal("119.00"), Source.TEXT_LABEL, box=BOX)),
    ]
    total = reconcile(readings).total
    assert (total.source, total.page, total.box) == (Source.XML, 1, BOX)


def test_a_value_never_gets_the_place_of_another_one() -> None:
    readings = [
        reading("ubl", total=field(Decimal("119.00"), Source.XML)),
        reading("text", total=field(Decimal("190.00"), Source.TEXT_LABEL, box=BOX)),
    ]
    assert reconcile(readings).total.box is None


def test_rejected_candidates_are_kept_once() -> None:
    passed_over = Candidate[str](value=VALID, source=Source.TEXT_PATTERN)
    text = reading(
        "text", iban=field(VALID, Source.TEXT_PATTERN, box=BOX).model_copy(update={"candidates": (passed_over,)})
    )
    candidates = reconcile([text]).iban.candidates
    assert [(c.value, c.box) for c in candidates] == [(VALID, BOX)]


def test_a_payment_code_says_nothing_of_the_document_as_a_whole() -> None:
    line = LineItem(description="Work", amount=Decimal("100.00"))
    invoice = reconcile(
        [
            reading("qr", iban=field(VALID, Source.QR)),
            reading(
                "text",
                document_type=field(DocumentType.CREDIT_NOTE, Source.TEXT_LABEL),
                line_items=(line,),
                vendor_country="DE",
            ),
        ]
    )
    assert invoice.document_type.value is DocumentType.CREDIT_NOTE
    assert invoice.line_items == (line,)
    assert invoice.reader == "text"
    assert invoice.readers == ("text", "qr")


@pytest.mark.parametrize(("amount", "count"), [("100.00", 1), ("90.00", 0)])
def test_lines_of_the_page_stand_in_only_where_they_add_up(amount: str, count: int) -> None:
    line = LineItem(description="Work", amount=Decimal(amount))
    invoice = reconcile([reading("cii", net=field(Decimal("100.00"), Source.XML)), reading("text", line_items=(line,))])
    assert len(invoice.line_items) == count


@pytest.mark.parametrize(
    ("tax", "currency", "count"),
    [("19.00", "EUR", 1), ("7.00", "EUR", 0), ("18.00", "EUR", 0), ("18", "JPY", 1)],
)
def test_tax_rows_of_the_page_stand_in_only_where_they_add_up(tax: str, currency: str, count: int) -> None:
    part = TaxPart(rate=Decimal(19), tax=Decimal(tax))
    stated = {"tax": field(Decimal("19.00"), Source.XML), "currency": field(currency, Source.XML)}
    invoice = reconcile([reading("cii", **stated), reading("text", tax_parts=(part,))])
    assert len(invoice.tax_parts) == count


def test_lines_get_their_places_from_the_page() -> None:
    stated = (LineItem(amount=Decimal(5)), LineItem(amount=Decimal(5)), LineItem(amount=Decimal(7)))
    read = LineItem(amount=Decimal(5), page=1, box=BOX)
    lines = reconcile([reading("cii", line_items=stated), reading("text", line_items=(read,))]).line_items
    assert [line.box for line in lines] == [BOX, None, None]


def test_reconciling_what_was_assessed_leaves_no_old_verdict() -> None:
    """Local readings arrive assessed; their missing total must not outlive the reading that has it."""
    local = assess(reading("text", net=field(Decimal("100.00"), Source.TEXT_LABEL)), TODAY)
    mismatch = InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="differs", field="iban")
    local = local.model_copy(update={"problems": (*local.problems, mismatch)})
    stated = reading("gemini", total=field(Decimal("100.00"), Source.GEMINI))
    invoice = reconcile([stated, local])
    assert invoice.problems == (mismatch,)
    assert invoice.confidence == 0.0
    again = assess(reconcile([assess(invoice, TODAY)]), TODAY)
    assert again == assess(invoice, TODAY)


def test_no_readings_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one"):
        reconcile([])
