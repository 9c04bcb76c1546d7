"""The bench counts as the client's scorer does: right, wrong or missing, by what is really printed."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from bench.extraction import PAGE, page
from bench.extraction_scores import Truth, approved, calibrated, judge, scores
from invoices.model import FieldValue, InvoiceData, LineItem, Source
from invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES

INVOICE = InvoiceData(
    invoice_number=FieldValue(value="RE 7/24", source=Source.TEXT_LABEL, confidence=0.9),
    date=FieldValue(value=dt.date(2024, 3, 1), source=Source.TEXT_LABEL, confidence=0.9),
    vendor_name=FieldValue(value="Müller & Söhne GmbH", source=Source.TEXT_LABEL, confidence=0.9),
    total=FieldValue(value=Decimal("-119.00"), source=Source.TEXT_LABEL, confidence=0.9),
    line_items=(LineItem(amount=Decimal(100)),),
)


def truth(*, is_credit_note: bool = False, **expected: Any) -> Truth:
    return Truth("a.pdf", "pdf_text", "family", expected, list(expected), is_credit_note)


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ({"invoice_number": "re-7-24"}, "right"),
        ({"invoice_number": "8"}, "wrong"),
        ({"date": "2024-03-01"}, "right"),
        ({"vendor_name": "Muller & Sohne"}, "right"),
        ({"vendor_name": "Söhne"}, "wrong"),
        ({"total": "119"}, "wrong"),
        ({"total": "-119"}, "right"),
        ({"tax": "19.00"}, "missing"),
        ({"line_count": 1}, "right"),
        ({"line_count": 2}, "wrong"),
    ],
)
def test_a_field_is_right_wrong_or_missing(expected: dict[str, Any], outcome: str) -> None:
    assert list(judge(truth(**expected), INVOICE)) == [(next(iter(expected)), outcome)]


def test_a_credit_note_may_print_its_amounts_without_a_minus() -> None:
    assert dict(judge(truth(is_credit_note=True, total="119.00"), INVOICE)) == {"total": "right"}


def test_what_is_not_printed_is_not_scored() -> None:
    assert list(judge(Truth("a.pdf", "k", "f", {"tax": "1", "net": None}, ["net"]), INVOICE)) == []


def test_an_unreadable_document_misses_everything() -> None:
    assert dict(judge(truth(total="1", date="2024-03-01"), None)) == {"total": "missing", "date": "missing"}


def test_counts_are_kept_by_kind_field_and_family() -> None:
    groups = scores([(truth(total="-119", tax="19.00"), INVOICE), (truth(total="-119"), INVOICE)])
    assert groups["all", ""].fields == {"right": 2, "missing": 1}
    assert groups["field", "total"].share("right") == 1
    assert groups["kind", "pdf_text"].documents == {"whole": 1, "not whole": 1}
    assert groups["family", "family"].fields.total() == 3


def test_what_passes_alone_is_counted() -> None:
    sample = read_document((SAMPLES / "xr_01.01a_ubl.xml").read_bytes(), today=dt.date(2026, 11, 1))
    total = str(sample.total.value)
    assert approved([(truth(total=total), sample), (truth(total="1"), sample), (truth(), INVOICE)]) == (2, 1)


def test_calibration_is_measured_as_shipped_and_with_the_family_left_out() -> None:
    errors = calibrated([(truth(total="-119", date="2024-03-01"), INVOICE)])
    assert errors.values == 2
    assert errors.shipped == pytest.approx(0.1)
    assert 0 <= errors.left_out <= 1


def test_the_page_in_the_reference_has_what_the_bench_writes() -> None:
    written = page("samples", [(truth(total="-119"), INVOICE)], {}, [(truth(total="-119"), INVOICE)])
    kept = PAGE.read_text("utf-8")
    assert headings(kept) == headings(written)


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]
