"""A paper that is not an invoice is known by its title, and none of its values is confident."""

import datetime as dt
from decimal import Decimal

import pytest

from docrail.invoices.assessment.assess import Known, judge
from docrail.invoices.assessment.corrections import Correction, merge, proposals
from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.model import FIELD_NAMES
from docrail.invoices.readers.header.document_type import find_document_type
from docrail.invoices.readers.layout.page import Layout, Word, lay_out
from docrail.invoices.readers.layout.places import box_of
from docrail.invoices.readers.read import read_layout
from tests.invoices.documents import Line
from tests.invoices.layouts import page, table

TITLES = {
    DocumentType.CREDIT_NOTE: "Credit note|Gutschrift Nr. 77|Gutschriftsanzeige|AVOIR|Nota di credito n. NC/31|"
    "Creditnota|Nota de crédito|Kreditnota|Dobropis|Hyvityslasku|Kreditfaktura",
    DocumentType.RECEIPT: "Receipt|Sales receipt|Quittung|Ticket de caisse|Kassabon|Scontrino|Kvitto|Kuitti",
    DocumentType.DUNNING_LETTER: (
        "2. Mahnung|Zahlungserinnerung zur Rechnung RE-77|Payment reminder|Final notice|Reminder for invoice 77|"
        "Relance de paiement|Mise en demeure|Betalingsherinnering|Aanmaning|Recordatorio de pago|"
        "Secondo sollecito di pagamento|Wezwanie do zapłaty|Betalningspåminnelse|Maksumuistutus|Upomínka|Rykkerbrev"
    ),
    DocumentType.STATEMENT: "Statement of account|Kontoauszug|Relevé de compte|Rekeningoverzicht|Estado de cuenta|"
    "Estratto conto|Kontoutdrag|Hesap ekstresi",
    DocumentType.PURCHASE_ORDER: "PURCHASE ORDER|Purchase order PO-4711|Bestellung Nr. 4711|Bon de commande n° 4711|"
    "Bestelbon|Orden de compra|Ordine di acquisto|Zamówienie nr 4711|Nota de encomenda|Objednávka č. 4711|Ostotilaus",
    DocumentType.QUOTE: "Quotation|Estimate 77|Angebot Nr. 77 vom 1. März 2026|Devis|Offerte|Presupuesto|Preventivo|"
    "Orçamento|Tilbud|Tarjous|Nabídka|Fiyat teklifi",
    DocumentType.DELIVERY_NOTE: "Delivery note|PACKING SLIP|Lieferschein|Bon de livraison|Pakbon|Albarán|"
    "Documento di trasporto|Guia de remessa|Följesedel|Følgeseddel|Dodací list|İrsaliye",
    DocumentType.REMITTANCE_ADVICE: "Remittance advice|Zahlungsavis|Avis de virement|Betaalspecificatie|"
    "Avviso di bonifico|Awizo płatności",
    DocumentType.CONTRACT: "Service agreement|Mietvertrag|Contrat de maintenance|Huurovereenkomst|"
    "Contrato de servicios|Contratto di locazione|Umowa najmu|Hyresavtal|Sözleşme",
}
CASES = [(kind, title) for kind, titles in TITLES.items() for title in titles.split("|")]
BODY: list[Line] = [
    (50, 60, "Muster GmbH"),
    (50, 74, "Hauptstr. 1, 10115 Berlin"),
    (50, 200, "Date: 2026-03-01"),
    (50, 214, "Purchase order: 4711"),
    (50, 228, "Delivery note: L-12"),
    *table("Item|Qty|Price|Amount", "Chairs|2|50.00|100.00", "Total|||100.00"),
]
TODAY = dt.date(2026, 11, 1)


def titled(title: str, *, size: float = 16.0, body: list[Line] = BODY) -> Layout:
    """Return a page with a title above its body."""
    plain = page([(50, 150, title), *body])
    words = tuple(
        Word(word.text, word.left, 150, word.right, 150 + size) if word.top == 150 else word for word in plain.words
    )
    return lay_out([plain.__class__(1, plain.width, plain.height, words)])


@pytest.mark.parametrize(("kind", "title"), CASES)
def test_a_paper_is_what_its_title_says(kind: DocumentType, title: str) -> None:
    assert find_document_type(titled(title)).value is kind
    assert find_document_type(titled(title, size=10.0)).value is kind


@pytest.mark.parametrize("title", ["Invoice", "Rechnung Nr. 77", "FACTURE", "Factuur", "Factura", "Fattura n. 77"])
def test_an_invoice_may_name_its_order_and_delivery(title: str) -> None:
    assert find_document_type(titled(title, size=10.0)).value is DocumentType.INVOICE


@pytest.mark.parametrize(
    ("title", "total", "kind", "is_sure"),
    [
        ("Rechnungskorrektur RK-19", "-119.00", DocumentType.CREDIT_NOTE, True),
        ("STORNORECHNUNG", "-119.00", DocumentType.CREDIT_NOTE, True),
        ("Factura rectificativa R26-88", "-119.00", DocumentType.CREDIT_NOTE, True),
        ("Facture rectificative", "-119.00", DocumentType.CREDIT_NOTE, True),
        ("Rechnungskorrektur RK-19", "119.00", DocumentType.INVOICE, False),
        ("Factura rectificativa R26-88", None, DocumentType.INVOICE, False),
        ("Rechnung Nr. 19", "-119.00", DocumentType.INVOICE, False),
        ("Rechnung Nr. 19", "119.00", DocumentType.INVOICE, True),
        ("Gutschrift", "119.00", DocumentType.CREDIT_NOTE, True),
    ],
)
def test_the_sign_of_the_total_decides_what_a_correction_is_and_doubts_an_invoice(
    title: str, total: str | None, kind: DocumentType, *, is_sure: bool
) -> None:
    read = find_document_type(titled(title), Decimal(total) if total else None)
    assert (read.value, read.evidence) == (kind, () if is_sure else (Evidence.SEVERAL_CANDIDATES,))


def test_an_invoice_that_names_a_credit_note_is_not_sure_to_be_one() -> None:
    read = find_document_type(titled("Invoice 77", body=[*BODY, (50, 242, "Credit note:")]))
    assert (read.value, read.evidence) == (DocumentType.CREDIT_NOTE, (Evidence.SEVERAL_CANDIDATES,))


@pytest.mark.parametrize("title", ["RICEVUTA FISCALE - FATTURA", "RECIBO - FACTURA", "Receipt / Invoice no. 77"])
def test_a_receipt_that_counts_as_an_invoice_is_one(title: str) -> None:
    assert find_document_type(titled(title)).value is DocumentType.INVOICE


@pytest.mark.parametrize(
    "title", ["RECEIPT - INVOICE 1042", "PAYMENT RECEIPT - INVOICE NS-2041", "RECIBO - FACTURA 2026/113"]
)
def test_a_receipt_for_an_invoice_is_none(title: str) -> None:
    assert find_document_type(titled(title)).value is DocumentType.RECEIPT


@pytest.mark.parametrize(
    ("title", "kind"), [("RECIBO 15 DÍAS", DocumentType.INVOICE), ("RECIBO 15", DocumentType.RECEIPT)]
)
def test_a_payment_term_is_no_title(title: str, kind: DocumentType) -> None:
    assert find_document_type(titled(title)).value is kind


def test_a_letter_that_mentions_a_reminder_stays_an_invoice() -> None:
    said: Line = (50, 260, "Without payment we send a payment reminder, and a final notice after that")
    assert find_document_type(titled("Invoice 77", body=[*BODY, said])).value is DocumentType.INVOICE


def test_a_dunning_letter_with_the_invoice_number_is_no_invoice() -> None:
    labels: list[Line] = [(50, 242, "Invoice no.: RE-77"), (50, 256, "Invoice date: 2026-01-01")]
    assert find_document_type(titled("2. Mahnung", body=[*BODY, *labels])).value is DocumentType.DUNNING_LETTER


def test_a_person_sees_it_and_no_value_is_confident() -> None:
    read = judge(read_layout(titled("Purchase order PO-4711")), Known(), TODAY)
    problem = next(problem for problem in read.problems if problem.code == "not_an_invoice")
    assert problem.message.startswith("This is a purchase order, not an invoice.")
    values = [getattr(read, name) for name in FIELD_NAMES if name != "document_type"]
    found = [field for field in values if field.value is not None]
    assert found
    assert problem.field == "document_type"
    assert read.document_type.confidence > 0.95
    assert Evidence.NOT_AN_INVOICE not in read.document_type.evidence
    assert all(Evidence.NOT_AN_INVOICE in field.evidence and field.confidence < 0.5 for field in found)


@pytest.mark.parametrize("title", ["Purchase order PO-4711", "Invoice 77", "Credit note"])
def test_the_type_is_a_field_with_the_place_of_its_title(title: str) -> None:
    layout = titled(title)
    field = find_document_type(layout)
    cell = next(cell for cell in layout.cells if cell.text == title)
    assert (field.source, field.page, field.box) == (Source.TEXT_LABEL, 1, box_of(layout, cell))


def test_a_page_that_names_no_paper_is_an_invoice_by_a_guess() -> None:
    read = judge(read_layout(lay_out([page(BODY)])), Known(), TODAY).document_type
    assert (read.value, read.source, read.box) == (DocumentType.INVOICE, Source.TEXT_PATTERN, None)
    assert read.confidence < 0.95


def test_a_weak_title_of_another_paper_is_doubt() -> None:
    """It stands out more than anything that names an invoice, but not as a title does."""
    labels: list[Line] = [(50, 242, "Invoice no.: RE-77")]
    read = find_document_type(titled("PURCHASE ORDER PO-4711", size=10.0, body=[*BODY, *labels]))
    assert (read.value, read.evidence) == (DocumentType.INVOICE, (Evidence.SEVERAL_CANDIDATES,))


def test_correcting_the_type_makes_it_an_invoice_again() -> None:
    read = judge(read_layout(titled("Purchase order PO-4711")), Known(), TODAY)
    noon = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
    corrected = judge(merge(read, [Correction("document_type", "invoice", "mia", noon)]), Known(), TODAY)
    assert (corrected.document_type.source, corrected.document_type.lock is not None) == (Source.HUMAN, True)
    assert [each.value for each in proposals(corrected.document_type)] == [DocumentType.PURCHASE_ORDER]
    assert "not_an_invoice" not in {problem.code for problem in corrected.problems}
    assert all(Evidence.NOT_AN_INVOICE not in getattr(corrected, name).evidence for name in FIELD_NAMES)
