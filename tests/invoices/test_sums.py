"""Net, tax and total are the one assignment that satisfies the page, or a person sees that they are not."""

import datetime as dt
from decimal import Decimal

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.corrections import Correction, merge
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData, InvoiceProblem
from docrail.invoices.readers.read import read_layout
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, table

TODAY = dt.date(2026, 11, 1)
HEAD: list[Line] = [
    (50, 50, "Muster Trading Ltd"),
    (50, 64, "1 High Street, London"),
    (50, 120, "Invoice No: 4711"),
    (50, 134, "Date: 12 March 2026"),
]
TWO = (300, 480)
FOUR = (50, 300, 380, 480)
WORK = ("Consulting | 10 | 500.00 | 5,000.00",)
PENS = ("Pens | 10 | 50.00 | 500.00",)
SHOP = ("Food | 1 | 100.00 | 100.00", "Books | 1 | 200.00 | 200.00")
ROOM = ("Room | 6 | 120.00 | 720.00", "Breakfast | 6 | 14.00 | 84.00")
HOTEL = (*ROOM, "City tax | 6 | 2.15 | 12.90")
LEAST_THRESHOLD = 0.6


def read(lines: tuple[str, ...], *sums: str) -> InvoiceData:
    """Return the reading of a page with these lines and sums."""
    edges = FOUR if any(row.count("|") > 1 for row in sums) else TWO
    rows = [*table("Description | Qty | Price | Amount", *lines, top=250), *table(*sums, top=400, edges=edges)]
    return assess(read_layout(layout([*HEAD, *rows])), TODAY)


def values(invoice: InvoiceData) -> str:
    return " ".join(str(each.value) for each in (invoice.net, invoice.tax, invoice.total))


def complaints(invoice: InvoiceData) -> list[InvoiceProblem]:
    return [problem for problem in invoice.problems if problem.code in ("totals_disagree", "lines_disagree")]


@pytest.mark.parametrize(
    ("lines", "sums", "expected"),
    [
        (WORK, "Subtotal | 5,000.00; Discount | -500.00; VAT 20% | 900.00; Total | 5,400.00", "4500 900 5400"),
        (WORK, "Subtotal | 5,000.00; Discount 10% | 500.00; VAT 20% | 900.00; Total | 5,400.00", "4500 900 5400"),
        (WORK, "Subtotal | 5,000.00; Less 10% discount; VAT 20% | 900.00; Total | 5,400.00", "4500 900 5400"),
        (WORK, "Subtotal | 5,000.00; Discount | -500.00; VAT | 900.00; Total | 5,400.00", "4500 900 5400"),
        (WORK, "Subtotal | 5,000.00; Surcharge | 250.00; VAT 20% | 1,050.00; Total | 6,300.00", "5250 1050 6300"),
        (PENS, "Subtotal | 500.00; Shipping | 20.00; VAT 20% | 104.00; Total | 624.00", "520 104 624"),
        (PENS, "Subtotal | 500.00; Pallet hire | 20.00; VAT 20% | 104.00; Total | 624.00", "520 104 624"),
        (PENS, "Subtotal | 500.00; Discount | -50.00; Freight | 20.00; VAT 20% | 94.00; Total | 564.00", "470 94 564"),
    ],
    ids=[
        "amount",
        "without a minus",
        "rate alone",
        "no rate of the tax",
        "surcharge",
        "shipping",
        "unknown name",
        "both",
    ],
)
def test_what_is_taxed_is_part_of_the_net(lines: tuple[str, ...], sums: str, expected: str) -> None:
    invoice = read(lines, *sums.split("; "))
    assert values(invoice) == " ".join(f"{value}.00" for value in expected.split())
    assert invoice.total_adjustment == 0
    assert complaints(invoice) == [], "the lines with the adjustment are the net"


@pytest.mark.parametrize(
    ("added", "total"),
    [
        ("Shipping | 20.00", "620.00"),
        ("Bottle deposit | 20.00", "620.00"),
        ("Tip | 20.00", "620.00"),
        ("Rounding | 0.01", "600.01"),
    ],
)
def test_what_is_not_taxed_comes_after_the_tax(added: str, total: str) -> None:
    invoice = read(PENS, "Subtotal | 500.00", "VAT 20% | 100.00", added, f"Total | {total}")
    assert values(invoice) == f"500.00 100.00 {total}"
    assert invoice.net_adjustment == 0


def test_the_rate_counts_more_than_the_order() -> None:
    invoice = read(PENS, "Subtotal | 500.00", "Postage | 20.00", "VAT 20% | 100.00", "Total | 620.00")
    assert (values(invoice), str(invoice.total_adjustment)) == ("500.00 100.00 620.00", "20.00")


def test_a_printed_net_after_a_discount_agrees_with_the_lines() -> None:
    invoice = read(
        WORK, "Subtotal | 5,000.00", "Discount | -500.00", "Net | 4,500.00", "VAT 20% | 900.00", "Total | 5,400.00"
    )
    assert (values(invoice), complaints(invoice)) == ("4500.00 900.00 5400.00", [])


@pytest.mark.parametrize(
    "sums",
    [
        "Net 7% | 100.00; Net 19% | 200.00; VAT 7% | 7.00; VAT 19% | 38.00; Total | 345.00",
        "VAT 7% on 100.00 | 7.00; VAT 19% on 200.00 | 38.00; Total | 345.00",
        "Net 19% | 200.00; VAT 19% | 38.00; Net 7% | 100.00; VAT 7% | 7.00; Gross 19% | 238.00; Total | 345.00",
        "Rate | Net | VAT | Gross; 7% | 100.00 | 7.00 | 107.00; 19% | 200.00 | 38.00 | 238.00; To pay ||| 345.00",
    ],
    ids=["bases first", "bases in the label", "one rate adds up by itself", "a table without its sum"],
)
def test_one_rates_net_is_not_the_net_of_all(sums: str) -> None:
    assert values(read(SHOP, *sums.split("; "))) == "300.00 45.00 345.00"


@pytest.mark.parametrize(
    "sums",
    [
        "Total | 816.90; VAT 7% | 672.90 | 47.10 | 720.00; VAT 19% | 70.59 | 13.41 | 84.00; 0% | 12.90 | 0.00 | 12.90",
        "Net 7% | 672.90; VAT 7% | 47.10; Net 19% | 70.59; VAT 19% | 13.41; City tax | 12.90; Total | 816.90",
        "Total | 816.90; incl. VAT 7% | 47.10; incl. VAT 19% | 13.41",
    ],
    ids=["table", "rows", "inside the total"],
)
def test_a_hotels_total_has_every_rate_and_the_citys_tax(sums: str) -> None:
    invoice = read(HOTEL, *sums.split("; "))
    assert (invoice.tax.value, invoice.total.value) == (Decimal("60.51"), Decimal("816.90"))
    assert "totals_disagree" not in [problem.code for problem in complaints(invoice)]


@pytest.mark.parametrize(
    ("lines", "sums"),
    [
        (PENS, ("Subtotal | 500.00", "VAT 20% | 100.00", "Total | 650.00")),
        (WORK, ("Net | 5,000.00", "VAT 20% | 900.00", "Total | 5,400.00")),
        (SHOP[:1], ("Net | 100.00", "VAT 19% | 19.00", "Total | 200.00")),
        (ROOM, ("Total rooms | 720.00", "City tax | 12.90", "Net | 672.90", "VAT 7% | 47.10", "Amount due | 816.90")),
    ],
    ids=["another total", "a discount that is not printed", "a net of half the total", "one rate of a hotel"],
)
def test_amounts_that_do_not_add_up_are_below_every_threshold(lines: tuple[str, ...], sums: tuple[str, ...]) -> None:
    invoice = read(lines, *sums)
    assert "totals_disagree" in [problem.code for problem in complaints(invoice)]
    assert max(each.confidence for each in (invoice.net, invoice.tax, invoice.total)) < LEAST_THRESHOLD


def test_two_assignments_are_below_every_threshold() -> None:
    """Untaxed shipping or taxed: 8.00 is neither at a usual rate, and another total is asked for below."""
    for sums in (
        ("Subtotal | 97.00", "Shipping | 10.00", "VAT | 8.00", "Total | 115.00"),
        ("Subtotal | 100.00", "VAT 20% | 20.00", "Invoice total | 120.00", "Amount due | 155.00"),
    ):
        invoice = read((), *sums)
        (complaint,) = complaints(invoice)
        assert "in no way or in several" in complaint.message, sums
        assert max(each.confidence for each in (invoice.net, invoice.tax, invoice.total)) < LEAST_THRESHOLD


def test_a_corrected_total_brings_no_complaint_of_an_adjustment_that_is_gone() -> None:
    """The reader took 10.00 for shipping because it misread the total."""

    def amount(value: str) -> FieldValue[Decimal]:
        return FieldValue(value=Decimal(value), source=Source.OCR_LABEL)

    misread = InvoiceData(
        net=amount("100.00"), tax=amount("20.00"), total=amount("130.00"), total_adjustment=Decimal("10.00")
    )
    correction = Correction("total", "120.00", "ann", dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    assert complaints(assess(merge(misread, [correction]), TODAY)) == []
    wrong = Correction("total", "125.00", "ann", dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    assert [problem.code for problem in complaints(assess(merge(misread, [wrong]), TODAY))] == ["totals_disagree"]


def test_a_surcharge_in_percent_is_no_tax() -> None:
    lines = ("Haulage | 1 | 1,000.00 | 1,000.00", "Fuel surcharge, 8.5% on £1,000.00 |  |  | 85.00")
    rows = ("Total goods | 1,085.00", "VAT @ 20% | 217.00", "Total | 1,302.00")
    assert values(read(lines, *rows)) == "1085.00 217.00 1302.00"


def test_what_the_lines_add_up_to_is_the_net_though_it_is_named_like_a_charge() -> None:
    lines = ("Advice | 1 | 2,000.00 | 2,000.00", "Land Registry fee (no VAT) | 1 | 21.00 | 21.00")
    rows = ("Fees and disbursements | 2,021.00", "VAT at 20% on £2,000.00 | 400.00", "Total of this bill | 2,421.00")
    assert values(read(lines, *rows)) == "2021.00 400.00 2421.00"
