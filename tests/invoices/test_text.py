"""New invoices, drawn for the tests in six languages, are read from their text layer."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pytest

from docrail.invoices.facts import DocumentType, Evidence
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import Line, make_pdf, pdf_bytes

TODAY = dt.date(2026, 11, 1)
SELLER, BUYER = "Nordwind Handels GmbH", "Bergmann Verlag AG"
SELLER_VAT, BUYER_VAT, IBAN = "DE136695976", "FR60421938861", "DE02120300000000202051"


@dataclass(frozen=True)
class Words:
    """An invoice's labels in one language, with its way of writing dates and numbers."""

    number: str
    date: str
    due: str
    bill_to: str
    vat: str
    header: tuple[str, str, str, str]
    net: str
    tax: str
    total: str
    date_format: str = "%d.%m.%Y"
    decimal: str = ","

    def money(self, amount: str) -> str:
        return amount.replace(".", self.decimal)


LANGUAGES = {
    "en": Words(
        *("Invoice No.", "Invoice date", "Due date", "Bill to", "VAT no."),
        ("Description", "Quantity", "Unit price", "Amount"),
        *("Subtotal", "VAT 19%", "Total due", "%Y-%m-%d", "."),
    ),
    "de": Words(
        *("Rechnungsnummer", "Rechnungsdatum", "Fällig am", "Rechnungsempfänger", "USt-IdNr."),
        ("Bezeichnung", "Menge", "Einzelpreis", "Betrag"),
        *("Summe netto", "MwSt. 19 %", "Rechnungsbetrag"),
    ),
    "fr": Words(
        *("Facture n°", "Date de facture", "Date d'échéance", "Facturé à", "N° TVA"),
        ("Désignation", "Quantité", "Prix unitaire", "Montant"),
        *("Total HT", "TVA 19 %", "Total TTC", "%d/%m/%Y"),
    ),
    "nl": Words(
        *("Factuurnummer", "Factuurdatum", "Vervaldatum", "Factuuradres", "BTW-nr"),
        ("Omschrijving", "Aantal", "Prijs", "Bedrag"),
        *("Subtotaal", "BTW 19%", "Totaal te betalen", "%d-%m-%Y"),
    ),
    "es": Words(
        *("Factura nº", "Fecha de factura", "Vencimiento", "Facturar a", "NIF/IVA"),
        ("Descripción", "Cantidad", "Precio", "Importe"),
        *("Base imponible", "IVA 19 %", "Total a pagar", "%d/%m/%Y"),
    ),
    "it": Words(
        *("Fattura n.", "Data fattura", "Scadenza", "Spett.le", "P. IVA"),
        ("Descrizione", "Quantità", "Prezzo", "Importo"),
        *("Imponibile", "IVA 19%", "Totale da pagare", "%d/%m/%Y"),
    ),
}


def rows(words: Words) -> list[tuple[str, str]]:
    issued, due = dt.date(2026, 3, 25), dt.date(2026, 4, 24)
    return [
        (words.number, "NW-2026/0417"),
        (words.date, issued.strftime(words.date_format)),
        (words.due, due.strftime(words.date_format)),
    ]


def table(words: Words, top: float) -> list[Line]:
    edges = (50.0, 300.0, 380.0, 480.0)
    lines = [("Paper, 500 sheets", "10", "12.50", "125.00"), ("Toner", "2", "37.50", "75.00")]
    cells: list[Line] = [(x, top, name) for x, name in zip(edges, words.header, strict=True)]
    for row, line in enumerate(lines):
        cells += [(x, top + 18 * (row + 1), words.money(text)) for x, text in zip(edges, line, strict=True)]
    sums = [(words.net, "200.00"), (words.tax, "38.00"), (words.total, "238.00")]
    for row, (label, amount) in enumerate(sums):
        y = top + 72 + 18 * row
        cells += [(300.0, y, label), (480.0, y, f"{words.money(amount)} EUR")]
    return cells


def next_to(words: Words) -> list[Line]:
    """Draw labels with their values in the same line, seller on top, buyer below on the left."""
    lines: list[Line] = [(50, 50, SELLER), (50, 64, "Hafenstraße 9"), (50, 78, "20457 Hamburg")]
    lines += [
        (50, 130, f"{words.bill_to}:"),
        (50, 144, BUYER),
        (50, 158, "Rue Royale 5"),
        (50, 172, f"{words.vat}: {BUYER_VAT}"),
    ]
    for row, (label, value) in enumerate(rows(words)):
        lines.append((340, 130 + 16 * row, f"{label}: {value}"))
    return [*lines, *table(words, 260), *footer(words)]


def below(words: Words) -> list[Line]:
    """Draw a band of labels with the values under them, seller right, buyer left."""
    lines: list[Line] = [(360, 50, SELLER), (360, 64, "Hafenstraße 9"), (360, 78, "20457 Hamburg")]
    lines += [(50, 110, words.bill_to), (50, 126, BUYER), (50, 140, "Rue Royale 5")]
    for column, (label, value) in enumerate(rows(words)):
        lines += [(50 + 170 * column, 220, label), (50 + 170 * column, 236, value)]
    return [*lines, *table(words, 290), *footer(words)]


def footer(words: Words) -> list[Line]:
    return [
        (50, 790, f"{SELLER} - {words.vat}: {SELLER_VAT}"),
        (50, 804, f"IBAN: {' '.join(IBAN[i : i + 4] for i in range(0, 22, 4))}"),
    ]


def read(lines: list[Line], **options: int) -> InvoiceData:
    return read_document(pdf_bytes(make_pdf(lines, **options)), today=TODAY)


@pytest.mark.parametrize("draw", [next_to, below])
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_unseen_invoice_is_read(language: str, draw: Callable[[Words], list[Line]]) -> None:
    invoice = read(draw(LANGUAGES[language]))
    assert invoice.invoice_number.value == "NW-2026/0417"
    assert invoice.date.value == dt.date(2026, 3, 25)
    assert invoice.due_date.value == dt.date(2026, 4, 24)
    assert (invoice.net.value, invoice.tax.value) == (Decimal("200.00"), Decimal("38.00"))
    assert invoice.total.value == Decimal("238.00")
    assert invoice.currency.value == "EUR"
    assert invoice.vendor_name.value == SELLER
    assert invoice.buyer_name.value == BUYER
    assert invoice.vendor_vat_id.value == SELLER_VAT
    assert invoice.iban.value == IBAN
    assert [line.amount for line in invoice.line_items] == [Decimal("125.00"), Decimal("75.00")]
    assert invoice.confidence > 0.85
    assert not invoice.has_errors()


def test_text_across_the_margin_does_not_fall_into_the_rows() -> None:
    pdf = make_pdf(next_to(LANGUAGES["de"]))
    note = b"BT /F1 8 Tf 0 1 -1 0 20 300 Tm (Copyright 2026 by the printer, all rights reserved) Tj ET"
    pdf.pages[0].contents_add(note)
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert invoice.total.value == Decimal("238.00")
    assert [line.description for line in invoice.line_items] == ["Paper, 500 sheets", "Toner"]


def test_totals_that_agree_are_evidence() -> None:
    assert Evidence.TOTALS_AGREE in read(next_to(LANGUAGES["de"])).total.evidence


def test_shipping_between_net_and_total_is_no_error() -> None:
    lines: list[Line] = [(300, 100, "Subtotal:"), (480, 100, "$100.00"), (300, 118, "Tax (8%):"), (480, 118, "$8.00")]
    lines += [(300, 136, "Shipping:"), (480, 136, "$25.00"), (300, 154, "Total:"), (480, 154, "$133.00")]
    invoice = read(lines)
    assert (invoice.total.value, invoice.total_adjustment) == (Decimal("133.00"), Decimal(25))
    assert "totals_disagree" not in {problem.code for problem in invoice.problems}


def test_several_tax_rates_are_added() -> None:
    lines: list[Line] = [(300, 100, "Netto"), (480, 100, "300,00"), (300, 118, "MwSt. 7 %"), (480, 118, "7,00")]
    lines += [(300, 136, "MwSt. 19 %"), (480, 136, "38,00"), (300, 154, "Gesamtbetrag"), (480, 154, "345,00 EUR")]
    invoice = read(lines)
    assert (invoice.net.value, invoice.tax.value, invoice.total.value) == (Decimal(300), Decimal(45), Decimal(345))


def test_totals_that_do_not_add_up_are_an_error() -> None:
    lines: list[Line] = [(300, 100, "Subtotal:"), (480, 100, "100.00"), (300, 118, "VAT:"), (480, 118, "19.00")]
    lines += [(300, 154, "Grand total:"), (480, 154, "129.00 EUR")]
    invoice = read(lines)
    assert invoice.total.value == Decimal("129.00")
    assert "totals_disagree" in {problem.code for problem in invoice.problems}


def test_the_readers_own_account_is_not_paid_to() -> None:
    lines: list[Line] = [(50, 100, f"We will debit your account IBAN {IBAN} on 1 May 2026.")]
    assert read(lines).iban.value is None


def test_a_credit_note_is_recognized_by_its_title() -> None:
    lines: list[Line] = [(50, 60, "Credit Note"), (50, 90, "Credit note number: CN-7"), (50, 120, "Total: -15.00 EUR")]
    invoice = read(lines)
    assert invoice.document_type.value is DocumentType.CREDIT_NOTE
    assert invoice.total.value == Decimal("-15.00")
    assert "total_not_positive" not in {problem.code for problem in invoice.problems}


def test_an_ambiguous_date_lowers_confidence() -> None:
    clear, ambiguous = (read([(50, 60, f"Invoice date: {date}")]) for date in ("25/03/2026", "04/03/2026"))
    assert Evidence.AMBIGUOUS_DATE in ambiguous.date.evidence
    assert ambiguous.date.confidence < clear.date.confidence


def test_lines_go_on_over_pages() -> None:
    header: list[Line] = [(50, 100, "Description"), (300, 100, "Qty"), (380, 100, "Price"), (480, 100, "Amount")]
    first = [
        *header,
        *(
            (x, 120 + 20 * n, t)
            for n in range(5)
            for x, t in ((50, "Work"), (300, "1"), (380, "10.00"), (480, "10.00"))
        ),
    ]
    second: list[Line] = [
        (50, 60, "Work"),
        (300, 60, "1"),
        (380, 60, "10.00"),
        (480, 60, "10.00"),
        (380, 90, "Total"),
        (480, 90, "60.00"),
    ]
    invoice = read_document(pdf_bytes(make_pdf(first, second)), today=TODAY)
    assert len(invoice.line_items) == 6
    assert [line.page for line in invoice.line_items] == [1] * 5 + [2]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_turned_page_is_read_as_it_is_seen(rotation: int) -> None:
    """The page is drawn turned and turned back by its own rotation, as scanners and plotters store it."""
    pdf = make_pdf(next_to(LANGUAGES["en"]))
    page = pdf.pages[0]
    turns = {90: b"0 1 -1 0 842 0 cm ", 180: b"-1 0 0 -1 595 842 cm ", 270: b"0 -1 1 0 0 595 cm "}
    page.contents_add(turns[rotation], prepend=True)
    if rotation != 180:
        page.MediaBox = [0, 0, 842, 595]
    page.Rotate = rotation
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert invoice.total.value == Decimal("238.00")
    assert invoice.vendor_name.value == SELLER
    assert invoice.total.box is not None
    assert invoice.total.box[0] > 0.5
