"""The sixty invoices of the demo are different, have their troubles, and are read as they are printed."""

import datetime as dt
from collections import Counter

import pytest

from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.read import read_document
from docrail.samples.bill import Bill
from docrail.samples.desk import DeskFile, Kind, draw_desk

TODAY = dt.date(2026, 11, 23)
DESK = draw_desk(TODAY)
READABLE = [each for each in DESK if each.bill is not None]
SAYS = {
    Kind.WRONG_TOTAL: "totals_disagree",
    Kind.NO_NUMBER: "required_missing",
    Kind.DISAGREES: "page_mismatch",
}


def values(invoice: InvoiceData) -> tuple[object, ...]:
    return (
        *(invoice.vendor_name.value, invoice.invoice_number.value, invoice.date.value, invoice.due_date.value),
        *(invoice.currency.value, invoice.net.value, len(invoice.line_items)),
    )


def printed(bill: Bill) -> tuple[object, ...]:
    vendor = bill.vendor
    return (vendor.name, bill.number or None, bill.date, bill.due, vendor.currency, bill.net, len(bill.lines))


def test_there_are_sixty_files_of_every_kind() -> None:
    assert len(DESK) == len({each.name for each in DESK}) == 60
    kinds = Counter(each.kind for each in DESK)
    assert set(kinds) == set(Kind)
    assert len({each.content for each in DESK}) == 60 - kinds[Kind.DUPLICATE]
    assert draw_desk(TODAY) == DESK


def test_dates_are_around_today() -> None:
    bills = [each.bill for each in DESK if each.bill]
    assert all(TODAY - dt.timedelta(days=30) < bill.date < TODAY for bill in bills)
    assert any(bill.due < TODAY for bill in bills)
    assert any(bill.due > TODAY for bill in bills)
    assert {bill.vendor.currency for bill in bills} == {"EUR", "GBP", "USD"}


@pytest.mark.parametrize("file", READABLE, ids=lambda file: file.name)
def test_a_file_is_read_as_it_is_printed(file: DeskFile) -> None:
    assert file.bill is not None
    invoice = read_document(file.content, today=TODAY)
    if file.kind is Kind.DISAGREES:
        assert invoice.total.value != file.bill.total
    else:
        assert (*values(invoice), invoice.total.value) == (*printed(file.bill), file.bill.total)
    expected = [SAYS[file.kind]] if file.kind in SAYS else []
    assert list(dict.fromkeys(problem.code for problem in invoice.problems)) == expected


def test_each_sum_that_the_page_contradicts_is_named() -> None:
    [file] = [each for each in DESK if each.kind is Kind.DISAGREES]
    fields = [problem.field for problem in read_document(file.content, today=TODAY).problems]
    assert fields == ["net", "tax", "total"]


def test_the_broken_file_is_refused() -> None:
    [broken] = [each for each in DESK if each.kind is Kind.BROKEN]
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_document(broken.content, today=TODAY)
