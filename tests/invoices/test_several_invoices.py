"""Several invoices in one file are not read as one."""

import datetime as dt

import pytest

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
