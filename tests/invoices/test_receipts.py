"""Till receipts: the total is neither the amount handed over nor the change."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout.page import Page, Word, lay_out
from docrail.invoices.readers.read import read_text
from tests.invoices.judged import TODAY, sound
from tests.invoices.layouts import WIDTH, page, table

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
            "324.50",
            "343.95",
        ),
        (("21.20", "CASH | 100.00", "GST | Amount | Tax", "Total: | 20.00 | 1.20"), "20.00", "21.20"),
        (("SUBTOTAL | 7.00", "CASH | 10.00", "CHANGE | 3.00"), "7.00", None),
        (("Total Sales (Inclusive GST) | RM 14.38", "Rounding Adj | .02", "Rounding RM | 14.40"), None, "14.40"),
        (("Total Sales Incl. GST | 8.12", "Rounding Adj | -0.02", "Total After Rounding | 8.10"), None, "8.10"),
        (("Total Inc. GST | 58.70", "Final Total | 53.70", "Cash | 60.00", "Change | 1.30"), None, "58.70"),
        (("4.90 | 0.00 | 4.90", "SUB-TOTAL | 11.50", "GST | 0.69", "TOTAL | 12.19"), "11.50", "12.19"),
        (("5.28S", "SUB-TOTAL | 45.28", "TAX | 2.72", "TOTAL | 48.00x", "CASH | 48.00"), "45.28", "48.00"),
        (
            (
                "Total 6% (excl. GST): | 30.24",
                "GST: | 1.81",
                "Total 6% (Inc. GST): | 32.05",
                "Total 0%: | 19.83",
                "Total Payable: - 51.88",
            ),
            "50.07",
            "51.88",
        ),
        (("Total | 29.59", "Total Net | 0.00", "GST | 0.00", "Total ZR | 0.00"), None, "29.59"),
        (("SUB-TOTAL | 92.50", "GST | 1.50", "TAX | 0.00", "T L | 94.00"), "92.50", "94.00"),
        (("2 SubTotal | 25.00", "CASH | 50.00", "SR inclusive of GST @6% | 23.58 | 1.42"), "23.58", "25.00"),
    ],
    ids=[
        "cash is not a total",
        "nor where the total's name is misread",
        "rounding up",
        "rounding down",
        "a currency misread is not a label",
        "a discount",
        "goods without tax",
        "a net total below the tax, on a service charge as well",
        "a table of taxes",
        "nothing called so",
        "rounding without a zero, and a rounded sum",
        "a total after rounding",
        "what the till kept",
        "price, discount, amount",
        "a tax code glued to it",
        "a dash before it",
        "nothing and nothing",
        "no tax next to the tax",
        "a table of taxes that calls them so",
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
def test_cash_and_change_are_no_total(label: str) -> None:
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
        (("GREEN LEAF BOOK", "CO. (M) SDN BHD", "(Co. No. 113825-W)", *SHOP[1:]), "GREEN LEAF BOOK CO. (M) SDN BHD"),
        (("BAZAAR", "GREEN LEAF SDN BHD", "(No.193573-M)", "Bazaar Mall", *SHOP[1:]), "GREEN LEAF SDN BHD"),
        (("10 LEAF SDN BHD", "(1152264-K)", *SHOP[1:]), "10 LEAF SDN BHD"),
        (("GREEN LEAF (1393 86 X)", *SHOP[1:], "RED STONE SDN BHD"), "GREEN LEAF"),
        (("99 SPEED SHOP 519537-X)", *SHOP[1:]), "99 SPEED SHOP"),
        (("POSTED", *SHOP), "GREEN LEAF SDN BHD"),
        ((*SHOP, "", "Return it within a week", "from the date of purchase. If the goods"), "GREEN LEAF SDN BHD"),
    ],
    ids=[
        "legal form",
        "below another line",
        "number below",
        "number after it",
        "glued",
        "figures",
        "form below",
        "a longer form below",
        "a shop's name above",
        "figures and a form",
        "a number with gaps",
        "half a bracket",
        "a stamp",
        "the rest of a sentence",
    ],
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
        ("07:44PM | 566890 | 17-02-18", dt.date(2018, 2, 17)),
        ("Entry Time 14/01/2018 (Sn) 12:06", dt.date(2018, 1, 14)),
        ("HD03-04-06 | 12:30", None),
        ("02/Jan/2017 10:49:25", dt.date(2017, 1, 2)),
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


def test_two_lines_of_a_photo_that_is_not_level_are_two_rows() -> None:
    lines = (("GREEN", "LEAF", "BOOKS"), 50.0), (("Lot", "3,", "Market"), 56.0)
    words = [
        Word(text, 50 + 40 * i, top, 80 + 40 * i, top + 12, 0.9) for line, top in lines for i, text in enumerate(line)
    ]
    assert [row.text.split() for row in lay_out([Page(1, 595, 842, tuple(words))]).rows] == [
        list(line) for line, _ in lines
    ]


PAID = ("Total | 5.90", "CASH | 50.00", "CHANGE | 44.10")
ROLL = 300.0
"""Width of a till roll that is as long as a sheet."""


@pytest.mark.parametrize(
    ("rows", "width", "kind"),
    [
        (PAID, WIDTH, DocumentType.RECEIPT),
        (("TAX INVOICE", *PAID), WIDTH, DocumentType.RECEIPT),
        (("Total | 5.90", "VISA | 5.90"), ROLL, DocumentType.RECEIPT),
        (("Total | 5.90", "VISA | 5.90"), WIDTH, DocumentType.INVOICE),
        (("Total | 5.90",), ROLL, DocumentType.INVOICE),
        (("Bill to: Muster GmbH", *PAID), WIDTH, DocumentType.INVOICE),
        ((*PAID, "Payable by 01.12.2026", "IBAN DE02120300000000202051"), WIDTH, DocumentType.INVOICE),
    ],
    ids=["change", "a title", "a roll", "paid by card", "unpaid", "a recipient", "a due date"],
)
def test_several_marks_of_a_till_make_a_receipt(rows: tuple[str, ...], width: float, kind: DocumentType) -> None:
    sheet = page(table(*SHOP, *rows, edges=(50, 200, 260), top=50.0))
    read = read_text([replace(sheet, width=width)]).document_type
    assert read.value is kind
    assert (read.value is not DocumentType.RECEIPT) or (read.box is not None and read.source is Source.TEXT_LABEL)


def test_a_receipt_is_booked_as_an_invoice_is() -> None:
    receipt = sound(document_type=FieldValue(value=DocumentType.RECEIPT, source=Source.TEXT_LABEL))
    invoice = sound(document_type=FieldValue(value=DocumentType.INVOICE, source=Source.TEXT_LABEL))
    assert assess(receipt, TODAY).problems == assess(invoice, TODAY).problems == ()
    assert assess(receipt, TODAY).confidence == assess(invoice, TODAY).confidence


def test_what_was_paid_by_card_is_the_total_and_no_part_of_it() -> None:
    """The signs of the rates are misread, so only the last base and tax are known by their columns."""
    items = ("1 HUEVOS | | 22,48", "1 DETERGENTE | | 4,98", "TOTAL | | 27,46", "TARJETA BANCARIA | | 27,46")
    taxes = ("IVA | BASE IMPONIBLE | CUOTA", "48 | 10,08 | 0,40", "108 | 10,91 | 1,09", "21 | 4,12 | 0,86")
    assert read(*items, *taxes).total.value == Decimal("27.46")


def test_the_tax_is_the_one_that_the_taxes_at_the_rates_add_up_to() -> None:
    rows = ("TOTALE EUR | 35,18", "di cui IVA | 3,26")
    rates = ("A= 4,00% | IVA 0,47", "B=10,00% | IVA 1,37", "C=22,00% | IVA 1,42")
    assert read(*SHOP, *rows, *rates).tax.value == Decimal("3.26")


def test_no_change_was_given_where_it_is_zero() -> None:
    rows = ("TOTAL | 12.10", "Entregado | 12.10", "Cambio | 0.00")
    assert read(*SHOP, *rows).document_type.value is DocumentType.INVOICE


@pytest.mark.parametrize(
    "label",
    ["Geg. EC-Cash", "Kartenzahlung", "Tarjeta bancaria", "Rendu monnaie", "CB sans contact", "Pagamento elettronico"],
)
def test_further_ways_to_pay_are_no_sums(label: str) -> None:
    assert role_of(label.lower()) is Role.NOT_A_SUM


@pytest.mark.parametrize(
    ("row", "number"),
    [
        ("Bon-Nr.: 4417", "4417"),
        ("Check #: 3061", "3061"),
        ("Ticket n° 014207", "014207"),
        ("Ticket de caisse n° 26-09341", "26-09341"),
        ("Fra. simplificada FS-81120", "FS-81120"),
        ("Bonnummer: 0077-118294", "0077-118294"),
        ("Bon | B-004471", "B-004471"),
        ("Ticket 3308-07-0219", "3308-07-0219"),
        ("Ricevuta fiscale R/2026/0641", "R/2026/0641"),
        ("Ticket 4 personnes", None),
    ],
)
def test_a_receipt_may_call_its_number_after_itself(row: str, number: str | None) -> None:
    assert read(*SHOP, row, "Total | 12.00").invoice_number.value == number


def test_an_invoices_number_counts_more_than_that_of_a_slip() -> None:
    assert read("Factuur F26-0031", *SHOP, "Bonnummer: 118294", "Total | 12.00").invoice_number.value == "F26-0031"


@pytest.mark.parametrize("title", ["Quittung Nr. A-330718", "Ticket de caisse n° 26-09341", "RICEVUTA N. 00317"])
def test_the_number_of_a_receipt_makes_it_no_invoice(title: str) -> None:
    assert read(title, *SHOP, "Total | 12.00").document_type.value is DocumentType.RECEIPT


def test_the_title_of_a_receipt_is_not_its_vendor() -> None:
    assert read("RECIBO DE TAXI", "Taxi Quiroga", "15001 Coruna", "Total | 12.00").vendor_name.value == "Taxi Quiroga"


def test_the_slip_of_a_cards_terminal_is_a_mark_of_a_till() -> None:
    rows = ("Tax invoice", *SHOP, "Total | 12.00", "Visa | 12.00")
    assert read(*rows).document_type.value is DocumentType.INVOICE
    assert read(*rows, "AID A0000000031010").document_type.value is DocumentType.RECEIPT


def test_a_count_and_a_price_belong_to_the_words_above_them() -> None:
    items = ("Shampoo | | 4,49", "Tandpasta mint | |", "2 x 3,25 | | 6,50", "Vitamine D | | 6,99")
    invoice = read(*SHOP, *items, "TOTAAL | | 17,98")
    assert [line.amount for line in invoice.line_items] == [Decimal("4.49"), Decimal("6.50"), Decimal("6.99")]
    assert invoice.line_items[1].description == "Tandpasta mint"


@pytest.mark.parametrize("name", ["Korting", "Gutschein", "MFR coupon"])
def test_what_is_taken_off_a_list_is_no_line_of_it_and_the_lines_agree(name: str) -> None:
    items = ("Shampoo | | 4,49", "Vitamine D | | 6,99", f"{name} | | -2,00")
    invoice = assess(read(*SHOP, *items, "TOTAAL | | 9,48"), TODAY)
    assert [line.amount for line in invoice.line_items] == [Decimal("4.49"), Decimal("6.99")]
    assert "lines_disagree" not in {problem.code for problem in invoice.problems}


def test_a_time_next_to_a_date_without_a_label_is_evidence_for_it() -> None:
    timed, plain = (assess(read(*SHOP, row, "Total | 12.00"), TODAY).date for row in ("2026-10-17 18:50", "2026-10-17"))
    assert (timed.value, timed.evidence) == (dt.date(2026, 10, 17), (Evidence.WITH_TIME,))
    assert timed.confidence > plain.confidence


def test_a_count_and_one_word_are_goods_where_nothing_else_names_them() -> None:
    items = ("2 Verdure alla griglia | | 18,00", "1 Grappa | | 4,00")
    assert [line.amount for line in read(*SHOP, *items, "Totale | | 22,00").line_items] == [Decimal(18), Decimal(4)]


def test_a_list_goes_on_where_words_have_their_count_below_them() -> None:
    items = ("2 BAGUETTE TRAD. | |", "x 1,25 | | 2,50", "3 CROISSANT BEURRE | |", "x 1,30 | | 3,90", "1 PAIN | | 4,20")
    assert len(read(*SHOP, *items, "TOTAL TTC | | 10,60").line_items) == 3
