"""More unseen layouts, each in six languages: a letter with a window, two columns without labels, a slip."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import pytest

from docrail.invoices.facts import DocumentType
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.read import read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import page, table
from tests.invoices.test_text import BUYER, BUYER_VAT, IBAN, LANGUAGES, SELLER, SELLER_VAT, Words, footer, rows

TITLES = {"en": "INVOICE", "de": "RECHNUNG", "fr": "FACTURE", "nl": "FACTUUR", "es": "FACTURA", "it": "FATTURA"}
CREDIT_TITLES = {
    "en": "Credit note",
    "de": "Gutschrift",
    "fr": "Avoir",
    "nl": "Creditnota",
    "es": "Nota de crédito",
    "it": "Nota di credito",
}
EDGES = (50.0, 90.0, 300.0, 360.0, 440.0, 510.0)
LINES = [("Paper, 500 sheets", "10", "12.50", "125.00"), ("Toner", "2", "37.50", "75.00")]


def goods(words: Words, top: float, sign: str = "") -> list[Line]:
    """Draw a numbered table with a second line in each description, and a table of taxes after it."""
    what, how_many, price, amount = words.header
    drawn = [f"# | {what} | {how_many} | {price} | % | {amount}"]
    for number, (name, count, single, whole) in enumerate(LINES, start=1):
        drawn.append(f"{number} | {name} | {count} | {words.money(single)} | 19 % | {sign}{words.money(whole)}")
        drawn.append(f"| Art. 400012345{number} ||||")
    drawn += [f"| {words.net} |||| {sign}{words.money('200.00')}", f"| {words.tax} |||| {sign}{words.money('38.00')}"]
    drawn += [f"| {words.total} |||| {sign}{words.money('238.00')} EUR"]
    return table(*drawn, top=top, edges=EDGES)


def letter(words: Words, title: str) -> list[Line]:
    """Draw a letter: the sender's line, the window under it, no labels for either; numbers in a block on the right."""
    lines: list[Line] = [(50, 120, f"{SELLER} · Hafenstraße 9 · 20457 Hamburg")]
    lines += [(50, 140, BUYER), (50, 153, "Rue Royale 5"), (50, 166, "75008 Paris")]
    for row, (label, value) in enumerate(rows(words)):
        lines += [(340, 140 + 13 * row, f"{label}:"), (470, 140 + 13 * row, value)]
    return [*lines, (50, 240, title), *goods(words, 300), *footer(words)]


def columns(words: Words, title: str) -> list[Line]:
    """Draw seller left and buyer right, without labels, each with its VAT id; the buyer's is the valid one of two."""
    lines: list[Line] = [(50, 40, SELLER), (430, 40, title)]
    for left, name, vat in ((50.0, SELLER, SELLER_VAT), (320.0, BUYER, BUYER_VAT)):
        for row, text in enumerate((name, "Hafenstraße 9", "20457 Hamburg", f"{words.vat}: {vat}")):
            lines.append((left, 80 + 13 * row, text))
    (_, number), *dates = rows(words)
    lines.append((50, 170, f"{title} {number}"))
    lines += [(250 + 150 * index, 170, f"{label}: {value}") for index, (label, value) in enumerate(dates)]
    return [*lines, *goods(words, 240), (50, 800, f"IBAN {IBAN}")]


def slip(words: Words, title: str) -> list[Line]:
    """Draw everything under each other, the sums in front of the goods, the seller last."""
    lines: list[Line] = [(50, 40, title), (50, 60, f"{words.bill_to}: {BUYER}")]
    lines += [(50, 80 + 14 * row, f"{label} {value}") for row, (label, value) in enumerate(rows(words))]
    lines += [*goods(words, 180), (50, 700, SELLER), (50, 713, "Hafenstraße 9, 20457 Hamburg")]
    return [*lines, (50, 726, f"{words.vat} {SELLER_VAT}"), (50, 739, f"IBAN {IBAN}")]


def read(lines: list[Line]) -> InvoiceData:
    return read_text([page(lines)])


@pytest.mark.parametrize("draw", [letter, columns, slip])
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_unseen_layout_is_read(language: str, draw: Callable[[Words, str], list[Line]]) -> None:
    invoice = read(draw(LANGUAGES[language], TITLES[language]))
    assert invoice.invoice_number.value == "NW-2026/0417"
    assert invoice.date.value == dt.date(2026, 3, 25)
    assert invoice.due_date.value == dt.date(2026, 4, 24)
    assert (invoice.net.value, invoice.tax.value) == (Decimal("200.00"), Decimal("38.00"))
    assert (invoice.total.value, invoice.currency.value) == (Decimal("238.00"), "EUR")
    assert (invoice.vendor_name.value, invoice.vendor_vat_id.value) == (SELLER, SELLER_VAT)
    assert invoice.iban.value == IBAN
    assert [(line.description, line.quantity, line.amount) for line in invoice.line_items] == [
        (name, Decimal(count), Decimal(whole)) for name, count, _, whole in LINES
    ]


@pytest.mark.parametrize("draw", [letter, slip])
@pytest.mark.parametrize("language", LANGUAGES)
def test_buyer_and_seller_are_distinguished(language: str, draw: Callable[[Words, str], list[Line]]) -> None:
    assert read(draw(LANGUAGES[language], TITLES[language])).buyer_name.value == BUYER


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_credit_note_keeps_its_signs(language: str) -> None:
    words = LANGUAGES[language]
    head = [line for line in letter(words, CREDIT_TITLES[language]) if line[1] < 300]
    invoice = read([*head, *goods(words, 300, "-"), *footer(words)])
    assert invoice.document_type.value is DocumentType.CREDIT_NOTE
    assert (invoice.net.value, invoice.tax.value, invoice.total.value) == (Decimal(-200), Decimal(-38), Decimal(-238))
    assert [line.amount for line in invoice.line_items] == [Decimal(-125), Decimal(-75)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_on_the_page_has_its_box(language: str) -> None:
    invoice = read(letter(LANGUAGES[language], TITLES[language]))
    for name in ("invoice_number", "date", "due_date", "vendor_name", "vendor_vat_id", "iban", "net", "tax", "total"):
        field = getattr(invoice, name)
        assert field.page == 1
        assert field.box is not None
    assert all(line.box for line in invoice.line_items)
