"""Corrections over readings: people's values are kept, readers' values are proposed, and their evidence is removed."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from docrail.invoices.assessment.corrections import Correction, merge, proposals
from docrail.invoices.facts import DocumentType, Evidence, Severity, Source
from docrail.invoices.fields import CORRECTABLE, parse_value, value_text
from docrail.invoices.kinds import FieldError
from docrail.invoices.model import Candidate, FieldValue, InvoiceData, InvoiceProblem, LineItem, Lock

AT = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
BOX = (0.1, 0.2, 0.3, 0.4)
READ = InvoiceData(
    document_id="doc_1",
    total=FieldValue(
        value=Decimal("119.00"),
        source=Source.TEXT_LABEL,
        page=1,
        box=BOX,
        confidence=0.88,
        evidence=(Evidence.NOT_ON_PAGE,),
        candidates=(
            Candidate(value=Decimal("119.00"), source=Source.TEXT_LABEL, page=1, box=BOX),
            Candidate(value=Decimal("100.00"), source=Source.TEXT_PATTERN, page=2, box=BOX),
        ),
    ),
    problems=(
        InvoiceProblem(code="page_mismatch", severity=Severity.ERROR, message="", field="total"),
        InvoiceProblem(code="lines_disagree", severity=Severity.ERROR, message=""),
    ),
)


def said(field: str, value: str | None, **more: Any) -> Correction:
    return Correction(field, value, "ann", AT, **more)


def test_a_persons_value_is_locked_with_who_when_and_why() -> None:
    field = merge(READ, [said("total", "100.00", why="page 2")]).total
    assert (field.value, field.source, field.lock) == (
        Decimal("100.00"),
        Source.HUMAN,
        Lock(by="ann", at=AT, why="page 2"),
    )


def test_a_reading_that_differs_from_a_person_is_proposed() -> None:
    field = merge(READ, [said("total", "100.00")]).total
    assert [each.value for each in proposals(field)] == [Decimal("119.00")]
    assert proposals(READ.total) == ()


def test_a_field_without_candidates_keeps_its_own_value_as_one() -> None:
    read = READ.model_copy(update={"total": READ.total.model_copy(update={"candidates": ()})})
    assert [each.value for each in proposals(merge(read, [said("total", "1")]).total)] == [Decimal("119.00")]


def test_the_place_on_the_page_is_that_of_a_candidate_with_this_value_or_where_the_person_pointed() -> None:
    assert merge(READ, [said("total", "100")]).total.page == 2
    assert merge(READ, [said("total", "7")]).total.page is None
    pointed = merge(READ, [said("total", "100", page=3, box=(0.0, 0.0, 1.0, 1.0))]).total
    assert (pointed.page, pointed.box) == (3, (0.0, 0.0, 1.0, 1.0))


def test_a_persons_value_settles_the_fields_problems() -> None:
    merged = merge(READ, [said("total", "100.00")])
    assert [problem.code for problem in merged.problems] == ["lines_disagree"]
    assert merged.total.evidence == ()


def test_a_field_can_be_locked_as_empty() -> None:
    field = merge(READ, [said("total", None)]).total
    assert (field.value, field.lock is None) == (None, False)


def test_the_last_correction_of_a_field_counts() -> None:
    assert merge(READ, [said("total", "1"), said("total", "2")]).total.value == 2


def test_without_corrections_nothing_changes() -> None:
    assert merge(READ, []) is READ


def test_type_and_lines_are_corrected_too() -> None:
    merged = merge(READ, [said("document_type", "credit_note"), said("line_items", '[{"amount": "3.50"}]')])
    assert merged.document_type.value is DocumentType.CREDIT_NOTE
    assert merged.line_items == (LineItem(amount=Decimal("3.50")),)


def test_a_merged_invoice_travels_as_json() -> None:
    merged = merge(READ, [said("total", "100.00"), said("date", "2026-01-31"), said("iban", "DE02120300000000202051")])
    assert InvoiceData.model_validate_json(merged.model_dump_json()) == merged
    assert merged.iban.evidence == (Evidence.CHECKSUM_VALID,)


GOOD = [
    ("invoice_number", " R-1 ", "R-1"),
    ("date", "2026-02-28", dt.date(2026, 2, 28)),
    ("iban", "de02 1203 0000 0000 2020 51", "DE02120300000000202051"),
    ("currency", "eur", "EUR"),
    ("total", "-0.5", Decimal("-0.5")),
    ("vendor_vat_id", "DE 136 695 976", "DE136695976"),
    ("document_type", "invoice", DocumentType.INVOICE),
    ("document_type", "Credit note", DocumentType.CREDIT_NOTE),
    ("line_items", None, ()),
    ("due_date", None, None),
]
BAD = [
    ("invoice_number", "", "1 to 200 printable"),
    ("vendor_name", "a\0b", "printable"),
    ("vendor_name", "x" * 201, "1 to 200"),
    ("date", "28.02.2026", "a date such as"),
    ("date", "2026-02-30", "a date such as"),
    ("date", "0001-01-01", "a year from"),
    ("iban", "DE0312030000", "expected an IBAN such as"),
    ("iban", "", "expected an IBAN such as"),
    ("currency", "EURO", "ISO 4217"),
    ("total", "1.234,50", "a decimal such as"),
    ("total", "NaN", "a decimal such as"),
    ("total", "1e5", "a decimal such as"),
    ("total", "1.00001", "at most 4 places"),
    ("total", "1" * 15, "a decimal"),
    ("vendor_vat_id", "?", "a VAT id"),
    ("document_type", "letter", "credit_note"),
    ("document_type", None, "always has a type"),
    ("line_items", '[{"amounts": 1}]', "0.amounts"),
    ("line_items", "{", "JSON list"),
    ("line_items", '[{"amount": "1e20"}]', "amounts below"),
    ("line_items", '[{"amount": "NaN"}]', "0.amount"),
    ("line_items", '[{"description": "\\u0000"}]', "NUL"),
    ("line_items", '[{"page": 99999999999999999999}]', "pages from 1 to"),
    ("line_items", '[{"page": 0}]', "pages from 1 to"),
    ("colour", "red", "expected one of document_type"),
]


@pytest.mark.parametrize(("field", "text", "value"), GOOD)
def test_a_text_is_read_by_its_fields_type(field: str, text: str | None, value: object) -> None:
    assert parse_value(field, text) == value


@pytest.mark.parametrize(("field", "text", "message"), BAD)
def test_a_text_that_is_no_value_of_its_field_is_refused(field: str, text: str | None, message: str) -> None:
    with pytest.raises(FieldError, match=message):
        parse_value(field, text)


@pytest.mark.parametrize(("field", "text", "value"), GOOD)
def test_values_and_their_text_are_the_same(field: str, text: str | None, value: object) -> None:
    assert parse_value(field, value_text(value)) == value


def test_everything_correctable_has_a_parser() -> None:
    for field in CORRECTABLE:
        with pytest.raises(FieldError):
            parse_value(field, "\0")
