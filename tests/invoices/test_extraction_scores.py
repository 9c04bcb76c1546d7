"""The bench counts as the client's scorer does: right, wrong or missing, by what is really printed."""

import datetime as dt
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from bench.extraction import (
    INVENTED,
    PAGE,
    PICTURED_INVOICES,
    PICTURED_RECEIPTS,
    PRINTED,
    SCANS,
    UNSEEN,
    UNSEEN_SCANS,
    Cost,
    page,
)
from bench.extraction_scores import Truth, fitted, judge, scores
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData, LineItem
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES

INVOICE = InvoiceData(
    invoice_number=FieldValue(value="RE 7/24", source=Source.TEXT_LABEL, confidence=0.9),
    date=FieldValue(value=dt.date(2024, 3, 1), source=Source.TEXT_LABEL, confidence=0.9),
    vendor_name=FieldValue(value="Müller & Söhne GmbH", source=Source.TEXT_LABEL, confidence=0.9),
    total=FieldValue(value=Decimal("-119.00"), source=Source.TEXT_LABEL, confidence=0.9),
    line_items=(LineItem(amount=Decimal(100)),),
)
OTHERS = (UNSEEN, UNSEEN_SCANS, PRINTED, INVENTED, SCANS, PICTURED_RECEIPTS, PICTURED_INVOICES)


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


def test_fields_that_are_not_printed_are_not_scored() -> None:
    assert list(judge(Truth("a.pdf", "k", "f", {"tax": "1", "net": None}, ["net"]), INVOICE)) == []


def test_an_unreadable_document_misses_everything() -> None:
    assert dict(judge(truth(total="1", date="2024-03-01"), None)) == {"total": "missing", "date": "missing"}


def test_counts_are_kept_by_kind_field_and_family() -> None:
    groups = scores([(truth(total="-119", tax="19.00"), INVOICE), (truth(total="-119"), INVOICE)])
    assert groups["all", ""].fields == {"right": 2, "missing": 1}
    assert groups["field", "total"].share("right") == 1
    assert groups["kind", "pdf_text"].documents == {"whole": 1, "not whole": 1}
    assert groups["family", "family"].fields.total() == 3


def test_confident_values_that_are_wrong_are_counted() -> None:
    sure = INVOICE.model_copy(update={"date": FieldValue(value=dt.date(2024, 3, 1), confidence=0.95)})
    documents = [(truth(date="2024-03-01", total="1"), sure), (truth(date="2024-03-02", tax="1"), sure)]
    assert scores(documents)["all", ""].confident() == (2, 1)


def test_straight_through_is_also_counted_with_the_fitted_set_left_out() -> None:
    sample = read_document((SAMPLES / "xr_01.01a_ubl.xml").read_bytes(), today=dt.date(2026, 11, 1))
    total = str(sample.total.value)
    both = fitted([(truth(total=total), sample), (truth(total="1"), sample), (truth(), INVOICE)])["all"]
    assert (both.shipped.passing, both.shipped.passing_right) == (2, 1)
    assert (both.left_out.passing, both.left_out.passing_right) == (0, 0), "there is no other family to learn from"


def test_a_family_is_judged_by_curves_that_never_saw_it() -> None:
    """All of one family is wrong; the curves of the others know nothing of that."""
    bad = Truth("b.pdf", "pdf_text", "bad", {"total": "1", "date": "2000-01-01"}, ["total", "date"])
    judged = fitted([(truth(total="-119", date="2024-03-01"), INVOICE)] * 20 + [(bad, INVOICE)] * 20)
    assert judged["bad"].left_out.confidence > judged["family"].left_out.confidence
    assert judged["bad"].left_out.error > judged["family"].left_out.error
    assert judged["all"].values == 80


def test_confidences_are_measured_as_shipped_and_left_out() -> None:
    both = fitted([(truth(total="-119", date="2024-03-01"), INVOICE)])["all"]
    assert both.values == 2
    for judgement in both.judgements:
        assert 0 <= judgement.error <= 1
        assert judgement.error == pytest.approx(1 - judgement.confidence)


def test_the_page_in_the_reference_has_what_the_bench_writes() -> None:
    one = [(truth(total="-119"), INVOICE)]
    written = page("invoices", one, {"pdf_text": Cost([1.0, 2.0, 9.0], 70)}, dict.fromkeys(OTHERS, one))
    kept = PAGE.read_text("utf-8")
    assert headings(kept) == headings(written)
    assert "| 2.0 | 4.0 | 9.0 | 70 |" in written, "median, mean and most"


def test_totals_and_wrong_documents_that_pass_are_shown() -> None:
    sample = read_document((SAMPLES / "xr_01.01a_ubl.xml").read_bytes(), today=dt.date(2026, 11, 1))
    written = page("invoices", [(truth(total=str(sample.total.value)), sample), (truth(total="1"), sample)], {}, {})
    assert "Of 2 totals 1 right, 1 wrong." in written
    assert (
        "2 documents, 1 fully right and 1 not, as shipped; 0 documents, 0 fully right and 0 not, left out." in written
    )


def headings(text: str) -> list[str]:
    """Return the page's headings and the heads of its tables."""
    lines = text.splitlines()
    heads = [line for line, under in pairwise(lines) if under.startswith("| ---")]
    return [line for line in lines if line.startswith("#")] + heads
