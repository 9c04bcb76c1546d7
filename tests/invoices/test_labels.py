"""What labels are called in English, German, French, Dutch, Spanish and Italian: each is known for what it is."""

import datetime as dt

import pytest

from docrail.invoices.readers.amounts.money import RATE, Role, role_of
from docrail.invoices.readers.header.dates import find_due_date, find_issue_date
from docrail.invoices.readers.header.number import find_invoice_number
from docrail.invoices.readers.lines.line_items import find_line_items
from docrail.invoices.readers.read import read_text
from docrail.invoices.values.folding import fold
from tests.invoices.documents import Line
from tests.invoices.layouts import finder, layout, page, table

NUMBERS = """
    Núm. factura: A-77 | Nº de factura: A-77 | Factura núm. A-77 | Número de factura A-77 | Factura: A-77
    Numéro de facture : A-77 | Facture numéro A-77 | Facture n° A-77 | N° facture A-77 | Réf. facture : A-77
    Référence facture: A-77 | Factuurnr.: A-77 | Factuur nr A-77 | Factuurnummer A-77 | Nota nr. A-77
    Rechnungs-Nr. A-77 | Rechnung Nr. A-77 | Re.-Nr.: A-77 | Rg.-Nr. A-77 | Rechnungsnr: A-77 | Beleg-Nr.: A-77
    Fattura n. A-77 | Numero fattura: A-77 | Numero documento: A-77 | Nr. fattura A-77 | Fattura nr. A-77
    Documento n. A-77 | Bill no. A-77 | Invoice ID: A-77 | Invoice ref: A-77 | Invoice reference A-77
    Our invoice no A-77 | Tax invoice number A-77 | Credit note no. A-77 | Nota de crédito nº A-77
    Abono nº A-77 | Nota di credito n. A-77 | Avoir n° A-77 | Creditnota nr A-77 | Gutschrift-Nr. A-77
    Invoice (copy) A-77 | Invoice number (please quote): A-77 | Rechnungsnummer / Invoice No.: A-77 | Bill A-77
    Rechnung (Kopie) A-77 | Privatliquidation A-77 | Kamernota nr. A-77 | Factuur / pakbon A-77 | Kreditnote Nr. A-77
    Storno-Rechnung Nr. A-77 | INVOICE #A-77 | Receipt number A-77 | Document number A-77 | Voucher no A-77
"""
ISSUED = """
    Fecha de emisión: 13/05/2024 | Fecha factura 13/05/2024 | Fecha de expedición 13/05/2024
    Fecha: 13 de mayo de 2024 | Data fattura 13/05/2024 | Data emissione 13/05/2024 | Data documento 13/05/2024
    Data: 13/05/2024 | del 13/05/2024 | Date d'émission : 13/05/2024 | Date de facturation 13/05/2024
    Date facture 13/05/2024 | Le 13 mai 2024 | Fait à Paris, le 13 mai 2024 | Factuurdatum 13-05-2024
    Datum factuur 13-05-2024 | Datum: 13 mei 2024 | Rechnungsdatum 13.05.2024 | Datum 13.05.24
    Belegdatum: 13.05.2024 | Ausstellungsdatum 13.05.2024 | Berlin, 13. Mai 2024 | Berlin, den 13.05.2024
    Issue date 2024-05-13 | Date of issue: 13 May 2024 | Invoice Date May 13, 2024 | Issued: 13-May-2024
    Bill date 13/05/2024 | Date Issued: 13/05/2024 | Invoiced on 13/05/2024 | Billing date: 13/05/2024
    Notice date 13/05/2024 | Dagtekening 13-05-2024 | Uitgereikt op 13-05-2024 | Datum des Bescheids 13.05.2024
    Bescheiddatum 13.05.2024 | Ausgefertigt am 13.05.2024 | Date d'établissement 13/05/2024 | Délivré le 13/05/2024
    Date de l'avis 13/05/2024 | Fecha de liquidación 13/05/2024 | Data di rilascio 13/05/2024 | Data avviso 13/05/2024
"""
DUE = """
    Payment due 12/06/2024 | Due: 12/06/2024 | Pay by 12/06/2024 | Date due 12/06/2024 | Due on 12/06/2024
    Payable by: 12/06/2024 | Fällig: 12.06.2024 | Fälligkeitsdatum 12.06.2024 | Zahlbar bis 12.06.2024
    Zahlbar bis zum 12.06.2024 | Zahlungsziel: 12.06.2024 | Zu zahlen bis 12.06.2024 | Échéance : 12/06/2024
    Date d'échéance 12/06/2024 | À régler avant le 12/06/2024 | Payable le 12/06/2024
    Date limite de paiement 12/06/2024 | Échéance au 12/06/2024 | Vervaldatum 12-06-2024 | Vervaldag 12-06-2024
    Te betalen voor 12-06-2024 | Betalen voor 12-06-2024 | Uiterste betaaldatum 12-06-2024
    Vencimiento: 12/06/2024 | Fecha de vencimiento 12/06/2024 | Vence el 12/06/2024 | Fecha límite 12/06/2024
    Scadenza 12/06/2024 | Data scadenza: 12/06/2024 | Scadenza pagamento 12/06/2024
    Pagamento entro il 12/06/2024 | Da saldare entro il 12/06/2024
"""
TOTALS = """
    Total | Grand Total | Amount due | Balance due | Total due | Total amount | Total payable | Invoice total
    Total incl. VAT | Total (inc. tax) | Gesamtbetrag | Rechnungsbetrag | Endbetrag | Gesamtsumme | Summe brutto
    Bruttobetrag | Zahlbetrag | Zu zahlen | Gesamt brutto | Rechnungssumme | Total TTC | Montant TTC
    Net à payer | Total à payer | Montant dû | Reste à payer | Totaal | Totaal incl. btw | Totaal te betalen
    Te betalen | Totaalbedrag | Factuurbedrag | Eindtotaal | Total factura | Importe total | Total a pagar
    TOTAL EUR | Total IVA incluido | Totale | Totale fattura | Totale documento | Totale da pagare
    Netto a pagare | Importo totale | Totale ivato | Totale dovuto | Totale complessivo
"""
NETS = """
    Subtotal | Sub-total | Net amount | Net total | Total excl. VAT | Total before tax | Taxable amount
    Amount before VAT | Nettobetrag | Summe netto | Zwischensumme | Gesamt netto | Warenwert | Nettosumme
    Betrag netto | Total HT | Montant HT | Sous-total | Total hors taxes | Base HT | Subtotaal | Totaal excl. btw
    Netto bedrag | Bedrag excl. BTW | Base imponible | Importe neto | Total sin IVA | Imponibile
    Totale imponibile | Totale netto | Subtotale | Imponibile IVA
"""
TAXES = """
    VAT | VAT 20% | Tax | Sales tax | GST 10% | VAT amount | Total tax | MwSt. | USt. 19% | zzgl. 19% MwSt
    Umsatzsteuer | Mehrwertsteuer 19% | Steuerbetrag | MwSt-Betrag | TVA | Montant TVA | TVA 20% | Total TVA
    BTW | BTW 21% | Btw-bedrag | Totaal btw | IVA | IVA 21% | Cuota IVA | Total IVA | I.V.A. | Importe IVA
    IVA 22% | Imposta | Totale IVA | Totale imposta | Importo IVA
"""
BUYERS = """
    Bill to | Billed to: | Invoice to | Sold to | Customer | Client: | Ship to | Deliver to | Rechnung an
    Rechnungsempfänger: | Rechnungsadresse | Kunde: | Auftraggeber | Lieferanschrift | Leistungsempfänger | An:
    Facturé à | Client | Adresse de facturation | Destinataire : | Adressé à | À l'attention de | Factuuradres
    Klant: | Aan | T.a.v. | Gefactureerd aan | Facturar a | Cliente: | Datos del cliente | Destinatario
    Facturado a | Spett.le | Destinatario: | Intestato a | Cliente | Cessionario/committente | Fatturato a
"""
SELLERS = """
    Seller: | From: | Supplier | Vendor: | Issued by: | Verkäufer: | Lieferant: | Rechnungssteller: | Absender:
    Von: | Aussteller: | Émetteur : | Vendeur : | Fournisseur : | De : | Prestataire | Leverancier: | Verkoper:
    Afzender: | Van: | Emisor: | Proveedor: | Vendedor: | Datos del emisor | De: | Fornitore: | Cedente:
    Mittente: | Da: | Emesso da: | Cedente/prestatore | Facturé par
"""
HEADS = """
    Description|Qty|Unit price|Amount
    Item|Quantity|Price|Total
    Product|Hours|Rate|Amount
    Service|Units|Cost|Line total
    Pos|Bezeichnung|Menge|Einzelpreis|Gesamt
    Artikel|Anzahl|Preis|Betrag
    Leistung|Stunden|Satz|Summe
    Beschreibung|Menge|E-Preis|G-Preis
    Désignation|Quantité|PU HT|Total HT
    Description|Qté|Prix unitaire|Montant
    Article|Qté|P.U.|Montant HT
    Libellé|Nombre|Prix|Total
    Prestation|Quantité|Tarif|Montant
    Omschrijving|Aantal|Prijs|Bedrag
    Artikel|Aantal|Stukprijs|Totaal
    Product|Aantal|Prijs per stuk|Subtotaal
    Dienst|Uren|Tarief|Bedrag
    Concepto|Cantidad|Precio|Importe
    Descripción|Unidades|Precio unitario|Total
    Artículo|Cant.|P. unit.|Importe
    Descrizione|Quantità|Prezzo|Importo
    Articolo|Q.tà|Prezzo unitario|Totale
    Prodotto|Qta|Prezzo|Totale
    Servizio|Ore|Tariffa|Importo
"""
BUYER = ["Bergmann Verlag AG", "Rue Royale 5", "75008 Paris"]
SELLER = ["Nordwind Handels GmbH", "Hafenstraße 9", "20457 Hamburg"]
PERSON = ["Max Mustermann Handel", "Hafenstraße 9", "20457 Hamburg"]
"""Without a legal form, so that only the label identifies the seller."""


def each(labels: str) -> list[str]:
    return [label.strip() for line in labels.strip().splitlines() for label in line.split("|")]


@pytest.mark.parametrize("text", each(NUMBERS))
def test_the_invoices_number(text: str) -> None:
    assert find_invoice_number(finder([(50, 50, text)])).value == "A-77"


@pytest.mark.parametrize("text", each(ISSUED))
def test_the_issue_date(text: str) -> None:
    assert find_issue_date(finder([(50, 50, text)]), month_first=False).value == dt.date(2024, 5, 13)


@pytest.mark.parametrize("text", each(DUE))
def test_the_due_date(text: str) -> None:
    assert find_due_date(finder([(50, 50, text)]), month_first=False).value == dt.date(2024, 6, 12)


@pytest.mark.parametrize(
    ("label", "roles"),
    [
        *((label, {Role.TOTAL, Role.PLAIN_TOTAL}) for label in each(TOTALS)),
        *((label, {Role.NET}) for label in each(NETS)),
        *((label, {Role.TAX}) for label in each(TAXES)),
    ],
)
def test_the_sums(label: str, roles: set[Role]) -> None:
    assert role_of(RATE.sub(" ", fold(label))) in roles


def block(left: float, top: float, *texts: str) -> list[Line]:
    return [(left, top + 13 * row, text) for row, text in enumerate(texts)]


def names(lines: list[Line]) -> tuple[str | None, str | None]:
    invoice = read_text([page(lines)])
    return invoice.vendor_name.value, invoice.buyer_name.value


@pytest.mark.parametrize("label", each(BUYERS))
def test_the_buyer_below_the_seller_and_next_to_it(label: str) -> None:
    buyer = block(50, 140, label, *BUYER)
    assert names([*block(50, 40, *SELLER), *buyer]) == (SELLER[0], BUYER[0])
    assert names([*buyer, *block(330, 140, *SELLER)]) == (SELLER[0], BUYER[0])


@pytest.mark.parametrize("label", each(SELLERS))
def test_the_seller_next_to_the_buyer(label: str) -> None:
    assert names([*block(50, 140, "Bill to", *BUYER), *block(330, 140, label, *PERSON)]) == (PERSON[0], BUYER[0])


@pytest.mark.parametrize("head", [line.strip() for line in HEADS.strip().splitlines()])
def test_the_head_of_the_lines(head: str) -> None:
    line = "1 | Paper | 2 | 3,00 | 6,00" if head.startswith("Pos") else "Paper | 2 | 3,00 | 6,00"
    lines = find_line_items(layout(table(head, line, edges=(50, 200, 300, 400, 500))))
    assert [(item.description, str(item.amount)) for item in lines] == [("Paper", "6.00")]
