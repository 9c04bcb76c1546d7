"""Several invoices in one file are not read as one."""

import datetime as dt
import os

import pikepdf
import pytest

from docrail.invoices.extent import FIRST_PAGES, LAST_PAGES
from docrail.invoices.readers.pdf.cut import cut_pdf
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import Line, make_pdf, pdf_bytes

TODAY = dt.date(2026, 11, 1)


def invoice(number: str, total: str, *, extra: list[Line] = []) -> list[Line]:  # noqa: B006  # never changed
    return [
        (60, 60, "Muster GmbH"),
        (60, 130, f"Rechnung Nr. {number}"),
        (60, 150, "Rechnungsdatum: 12.04.2026"),
        (380, 332, "Gesamtbetrag"),
        (480, 332, f"{total} EUR"),
        *extra,
    ]


def test_the_pages_of_two_invoices_are_not_mixed() -> None:
    read = read_document(pdf_bytes(make_pdf(invoice("A-1", "119,00"), invoice("A-2", "238,00"))), today=TODAY)
    assert (read.invoice_number.value, str(read.total.value), read.page_count) == ("A-1", "119.00", 2)
    [problem] = [problem for problem in read.problems if problem.code == "several_invoices"]
    assert "2 invoices: A-1 from page 1, A-2 from page 2" in problem.message
    assert read.confidence <= 0.6


def test_each_of_three_invoices_is_named() -> None:
    between: list[Line] = [(60, 60, "Anlage: Zeitnachweis"), (60, 90, "Montag 8 Stunden")]
    pages = [invoice("A-1", "119,00"), between, invoice("A-2", "238,00"), invoice("A-3", "357,00")]
    read = read_document(pdf_bytes(make_pdf(*pages)), today=TODAY)
    [problem] = [problem for problem in read.problems if problem.code == "several_invoices"]
    assert "A-1 from page 1, A-2 from page 3, A-3 from page 4" in problem.message


@pytest.mark.parametrize(
    "second",
    [
        invoice("A-1", "119,00"),
        invoice("B-7", "5,00", extra=[(60, 780, "Seite 2 von 2")]),
        invoice("B-7", "5,00", extra=[(60, 170, "zu unserer Rechnung A-1")]),
        [(60, 60, "Bezahlte Posten"), (60, 600, "Rechnung Nr. A-0")],
        [(60, 60, "Offene Posten"), (60, 90, "Ursprüngliche Rechnung Nr. A-0")],
    ],
    ids=["the same number", "a later page", "the first number again", "low on the page", "an earlier invoice"],
)
def test_pages_of_one_invoice_stay_together(second: list[Line]) -> None:
    read = read_document(pdf_bytes(make_pdf(invoice("A-1", "119,00"), second)), today=TODAY)
    assert "several_invoices" not in {problem.code for problem in read.problems}


def parts(*pages: list[Line]) -> list[tuple[int, int]]:
    read = read_document(pdf_bytes(make_pdf(*pages)), today=TODAY)
    return [(part.first, part.last) for part in read.parts]


SECOND_PAGE: list[Line] = [(60, 60, "Anlage: Zeitnachweis"), (60, 780, "Seite 2 von 2")]


def test_each_page_belongs_to_the_invoice_that_it_is_tied_to() -> None:
    repeated: list[Line] = [(60, 60, "Zeitnachweis zu A-2")]
    assert parts(invoice("A-1", "119,00"), SECOND_PAGE, invoice("A-2", "238,00"), repeated, []) == [(1, 2), (3, 5)]


@pytest.mark.parametrize(
    "pages",
    [
        [invoice("A-1", "119,00"), [(60, 60, "Anlage: Zeitnachweis")], invoice("A-2", "238,00")],
        [[(60, 60, "Deckblatt")], invoice("A-1", "119,00"), invoice("A-2", "238,00")],
        [invoice("A-1", "119,00"), SECOND_PAGE],
    ],
    ids=["a page of no invoice", "a cover", "one invoice"],
)
def test_where_a_break_is_uncertain_nothing_is_split(pages: list[list[Line]]) -> None:
    assert parts(*pages) == []


def test_a_long_file_is_not_split_because_its_middle_is_not_read() -> None:
    count = FIRST_PAGES + LAST_PAGES + 250
    pages = [invoice(f"A-{number}", "119,00") for number in range(1, count + 1)]
    read = read_document(pdf_bytes(make_pdf(*pages)), today=TODAY)
    assert (read.parts, read.page_count) == ((), count)
    assert {"several_invoices", "pages_not_read"} <= {problem.code for problem in read.problems}


def test_what_is_cut_out_is_read_alone_and_has_the_same_bytes_each_time() -> None:
    whole = pdf_bytes(make_pdf(invoice("A-1", "119,00"), SECOND_PAGE, invoice("A-2", "238,00")))
    cut = [cut_pdf(whole, 1, 2), cut_pdf(whole, 3, 3)]
    read = [read_document(data, today=TODAY) for data in cut]
    assert [(each.invoice_number.value, str(each.total.value), each.page_count) for each in read] == [
        ("A-1", "119.00", 2),
        ("A-2", "238.00", 1),
    ]
    assert all("several_invoices" not in {problem.code for problem in each.problems} for each in read)
    assert cut == [cut_pdf(whole, 1, 2), cut_pdf(whole, 3, 3)]


def test_pages_that_are_cut_out_leave_what_only_others_use() -> None:
    """Scanners give all pages one dictionary of resources: each part would be as large as the file."""
    pdf = make_pdf(invoice("A-1", "119,00"), invoice("A-2", "238,00"))
    image = pdf.make_stream(os.urandom(200_000))
    pdf.pages[1].obj["/Extra"] = image
    pdf.pages[0].Resources.XObject = pikepdf.Dictionary(I=image)
    assert len(cut_pdf(pdf_bytes(pdf), 1, 1)) < 50_000
