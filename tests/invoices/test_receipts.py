"""Tills' receipts: what is asked for is neither what was handed over nor what came back."""

import datetime as dt

import pytest

from invoices.model import InvoiceData
from invoices.readers.money import Role, role_of
from invoices.readers.text import read_text
from tests.invoices.layouts import page, table

SHOP = (
    "GREEN LEAF SDN BHD",
    "LOT 18, JALAN KPB 6,",
    "TAMAN SRI BINTANG,",
    "52100 KUALA LUMPUR",
    "GST ID: 000306020352",
)


def read(*rows: str, top: float = 50.0) -> InvoiceData:
    """Read a page with the rows; `|` sets what follows further right."""
    return read_text([page(table(*rows, edges=(50, 300, 400), top=top))])


def summed(*rows: str) -> tuple[str | None, ...]:
    invoice = read(*SHOP, "", *rows)
    return tuple(str(part.value) if part.value is not None else None for part in (invoice.net, invoice.total))


@pytest.mark.parametrize(
    ("rows", "net", "total"),
    [
        (("Total Incl. GST@6% | RM 5.90", "CASH | RM 50.00", "CHANGE | RM 44.10"), None, "5.90"),
        (
            ("Total Inel. GST96% | 119.70", "CASH | 120.00", "GST Sum | Amt | Tax", "GST S@6% | 112.92 | 6.78"),
            None,
            "119.70",
        ),
        (("Total incl. GST | 64.13", "Rounding Adjustment | 0.02", "TOTAL | 64.15", "CASH | 100.00"), None, "64.15"),
        (("TOTAL INCL. GST | 8.11", "ROUNDING ADJ | -0.01", "TOTAL ROUNDED | 8.10"), None, "8.10"),
        (("Total | RH | 12.37", "Tendered-CASH | RH | 50.00"), None, "12.37"),
        (("Subtotal | 15.60", "Coupon Discount | 8.40", "Grand Total | 7.20", "Change Due | 2.80"), "15.60", "7.20"),
        (
            ("Total 6% (excl. GST): | 13.30", "GST: | 0.80", "Total 0%: | 54.31", "Total Payable: | 68.41"),
            "67.61",
            "68.41",
        ),
        (
            (
                "Subtotal | 295.00",
                "Service charge | 29.50",
                "GST 6% | 19.47",
                "Rounding adj | -0.02",
                "NET TOTAL | 343.95",
            ),
            "295.00",
            "343.95",
        ),
        (("21.20", "CASH | 100.00", "GST | Amount | Tax", "Total: | 20.00 | 1.20"), "20.00", "21.20"),
        (("SUBTOTAL | 7.00", "CASH | 10.00", "CHANGE | 3.00"), "7.00", None),
    ],
    ids=[
        "cash is no total",
        "nor where the total's name is misread",
        "rounding up",
        "rounding down",
        "a currency misread is no label",
        "a discount",
        "goods without tax",
        "a net total below the tax",
        "a table of taxes",
        "nothing called so",
    ],
)
def test_the_total_is_what_is_asked_for(rows: tuple[str, ...], net: str | None, total: str | None) -> None:
    found = summed(*rows)
    assert found[1] == total
    assert net is None or found[0] == net


@pytest.mark.parametrize(
    "label",
    ["cash", "cash :", "change due", "tendered-cash", "visa", "credit card", "cash (myr)", "ruckgeld", "especes"],
)
def test_what_changes_hands_is_no_sum(label: str) -> None:
    assert role_of(label) is Role.NOT_A_SUM


@pytest.mark.parametrize("label", ["cash discount", "amount due", "total (cash)"])
def test_other_labels_with_such_words_keep_their_role(label: str) -> None:
    assert role_of(label) is not Role.NOT_A_SUM


@pytest.mark.parametrize(
    ("rows", "currency"),
    [
        (("Total | RM 5.90",), "MYR"),
        (("Item | Amount(RM)", "Total | 5.90"), "MYR"),
        (("FUEL RON95", "Total | RM | 85.54"), "MYR"),
        (("GREEN LEAF SDN BHD", "Total | 5.90"), None),
        (("15AMP UMS PLUG TOP (SIRIM)", "Total | 5.90"), None),
        (("Suite RM 205", "Total | 5.90"), None),
        (("Anywhere, USA, 99999", "Total | 4,759.20"), "USD"),
        (("Anywhere, USA, 99999", "Total | 4.759,20"), None),
        (("Anywhere, USA, 99999", "IBAN DE02120300000000202051", "Total | 4,759.20"), None),
    ],
)
def test_the_currency_is_not_a_word_in_capitals(rows: tuple[str, ...], currency: str | None) -> None:
    assert read(*rows).currency.value == currency


@pytest.mark.parametrize(
    ("rows", "vendor"),
    [
        (SHOP, "GREEN LEAF SDN BHD"),
        (("tan woon yann", "GREEN LEAF SDN BHD", "789417-W", *SHOP[1:]), "GREEN LEAF SDN BHD"),
        (("GREEN LEAF", "(872981-V)", *SHOP[1:]), "GREEN LEAF"),
        (("MIZU SDN. BHD. (1248446-V)", *SHOP[1:]), "MIZU SDN. BHD."),
        (("GREEN LEAF SUPPLY(Co. No:20154-T)", *SHOP[1:]), "GREEN LEAF SUPPLY"),
        (("99 SPEED SHOP (519537-X)", *SHOP[1:]), "99 SPEED SHOP"),
        (("BENSON MILLER", "INCORPORATED", "999 Ninth Street"), "BENSON MILLER INCORPORATED"),
    ],
    ids=["legal form", "below another line", "number below", "number behind", "glued", "figures", "form below"],
)
def test_the_vendor_stands_above_the_address(rows: tuple[str, ...], vendor: str) -> None:
    assert read(*rows, "", "Total | 5.90").vendor_name.value == vendor


@pytest.mark.parametrize(
    ("row", "date"),
    [
        ("18-10-17 15:16 SH01", dt.date(2017, 10, 18)),
        ("Friday, 29-12-2017 Time : 20:17", dt.date(2017, 12, 29)),
        ("10/06/2018 13:04", dt.date(2018, 6, 10)),
        ("Offer ends 29-12-2017", None),
    ],
)
def test_the_date_stands_with_the_time_below_what_was_sold(row: str, date: dt.date | None) -> None:
    assert read("Total | 5.90", row, top=600).date.value == date


def test_of_two_dates_below_none_is_taken() -> None:
    assert read("Total | 5.90", "18-10-17 15:16", "19-10-17 15:16", top=600).date.value is None


def test_a_date_in_boxes_is_one_at_its_label_alone() -> None:
    assert read("DATE OF DOCUMENT", "1 2 02").date.value == dt.date(2002, 2, 1)
    assert read("DATE OF DOCUMENT", "1 2 02", "Anywhere, USA").date.value == dt.date(2002, 1, 2)
    assert read("Quantity", "1 2 02").date.value is None


def test_a_number_after_two_capitals_is_no_american_address() -> None:
    assert read("Invoice no. CS 10217", "Date: 09/04/2018").date.value == dt.date(2018, 4, 9)
    assert read("Springfield, IL 62701", "Date: 09/04/2018").date.value == dt.date(2018, 9, 4)
