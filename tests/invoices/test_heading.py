"""An invoice's number and dates are found by their labels, titles and places, and those of others are left alone."""

import datetime as dt

import pytest

from docrail.invoices.readers.header.dates import find_delivery_date, find_due_date, find_issue_date
from docrail.invoices.readers.header.number import find_invoice_number, find_order_reference, names_an_invoice
from tests.invoices.documents import Line
from tests.invoices.layouts import finder, table, to_the_right

MAY, JUNE = dt.date(2024, 5, 13), dt.date(2024, 6, 12)


def lines(*texts: str) -> list[Line]:
    """Draw texts under each other; `|` sets what follows further right."""
    return [
        (50 + 180 * column, 50 + 16 * row, cell.strip())
        for row, text in enumerate(texts)
        for column, cell in enumerate(text.split("|"))
        if cell.strip()
    ]


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["Invoice Number: INV-7"], "INV-7"),
        (["Rechnungskorrektur Nr. RK21012345 vom 16.09.2018"], "RK21012345"),
        (["Rechnungskorrektur (384) Nr. RK21012345"], "RK21012345"),
        (["Rechnung des Versicherers (575) Nr. 00.123.456.7-2018-1 vom 18.04.2018"], "00.123.456.7-2018-1"),
        (["FACTURE", "N° 2020140205458"], "2020140205458"),
        (["Factura rectificativa R26-0088", "Rectifica la factura: W26-04127"], "R26-0088"),
        (["FACTURE", "20/09/2023", "nº 2023-6013"], "2023-6013"),
        (["Gutschriftsanzeige", "Nummer | vom | Verkehrsnr.", "G 26/0088 | 9.2.2026 | 28114"], "G 26/0088"),
        (["Fattura | Nr: FT-2024-006 | Date: 2024-10-20"], "FT-2024-006"),
        (["Numéro de facture : 1"], "1"),
        (["Avoir AV-2017-0005", "N° TVA client | FR19787878784"], "AV-2017-0005"),
        (["Facture N° : | F20220027", "N° de facture associée : F20220003"], "F20220027"),
        (["Invoice number: | INV-2", "This corrects the original invoice number INV-1 of last year"], "INV-2"),
        (["Order no. 1234", "Delivery note no. 99"], None),
        (["Note n° 4711 du 18 juin 2026"], "4711"),
        (["Parcella n. 7/2026 del 19 marzo 2026"], "7/2026"),
        (["Verkoopfactuur 2026/0044 — te betalen vóór 23 april 2026"], "2026/0044"),
        (["Facture 2026-31 émise le 1er août 2026, payable au plus tard le 31 août 2026"], "2026-31"),
        (["FACTURA RECTIFICATIVA", "N.º: R-2026-3", "Rectifica la factura: 2026-0150 de 12/02/2026"], "R-2026-3"),
        (["Votre facture n° | 881 204 557"], "881 204 557"),
        (["Fattura n. 2503 118844 07 - pag. 2 di 2"], "2503 118844 07"),
        (["FACTURE DE TRANSPORT N° 6620"], "6620"),
        (["Rechnungsnummer | VR 2026 100 884 213"], "VR 2026 100 884 213"),
        (["Receipt number | 2290-4417-11", "Invoice number | INV-77"], "INV-77"),
        (["NOTE D'HONORAIRES NH-2026-11"], "NH-2026-11"),
        (["Votre facture du 01 mai 2026 n° 2605-7441902-3"], "2605-7441902-3"),
        (["Serie y folio: CN-20417", "Folio fiscal: 6B1E0F2A-94D3-4C1B-8E77-20AC5F93D118"], "CN-20417"),
        (["Invoice of", "the year | 4711"], None),
        (["R E C H N U N G", "", "Nummer....: 780114-G"], "780114-G"),
        (["Rechnungsnummer | RE-118", "Anzahlung: Rechnung vom 12.02.2026, Nr. 20260007"], "RE-118"),
        (["Schlussrechnung 2026-14", "Rechnung vom 12.02.2026, Nr. 20260007 | -50,00"], "2026-14"),
        (["Gutschrift GS-12", "Rechnung vom 12.02.2026, Nr. 20260007"], "GS-12"),
        (["Invoice 10023", "Folio: 88123"], "10023"),
        (["N.º de factura | 46988 Paterna (Valencia)", "LE2506/0093417"], "LE2506/0093417"),
        (["Invoice 05/2024", "Invoice number | 20417 Copy"], "20417"),
        (["Declaratie | 25-1840", "Datum | Leeuwarden, 21 oktober 2025"], "25-1840"),
        (["AVOIR | 26500 BOURG-LÈS-VALENCE", "", "N° de pièce | Date", "AV2400891 | 29/11/2024"], "AV2400891"),
        (["Factura F-26/0118", "Inscrita en el R.M. de Madrid, Tomo: 12345", "Folio: 145, Hoja: M-1234"], "F-26/0118"),
        (["Numéro de", "facture : 20260417", "430001188"], "20260417"),
        (["Nota F-26.0188 d.d. 13 november 2026"], "F-26.0188"),
        (["Nota: 30 dagen"], None),
        (["Declaratienummer | D2026-0417"], "D2026-0417"),
        (["Facture / Invoice | n° / no. FV/214"], "FV/214"),
        (["Invoice No. 4711", "Credit no. 998877"], "4711"),
        (["Invoice", "4711", "Credit no. 998877"], "4711"),
        (["Invoice 4711", "Document id: A9F33C771"], "4711"),
        (["Invoice 4711", "Statement no. 998877"], "4711"),
        (["Invoice 4711", "ID document: X9988771"], "4711"),
        (["ID document: X9988771"], None),
        (["Rechnung 4711", "Dokument-Nr.: 9988771"], "4711"),
        (["Fattura n. 4711", "Ft. n. 998877"], "4711"),
        (["Document no. 4711"], "4711"),
        (["INVOICE EXAMPLE FOR MAY | B3G2", "Document no. | 99999999"], "99999999"),
        (["CREDITNOTA", "Creditnr. | CN260077", "Betreft factuur 26011842"], "CN260077"),
        (["CREDIT NOTE", "Credit no. CN260077", "Re invoice 26011842"], "CN260077"),
        (["CREDIT MEMO", "Memo No. CM-77018", "Orig. Invoice 903318"], "CM-77018"),
        (["Rechnungsnummer | 26-08-1177"], "26-08-1177"),
        (["FACTURA | FECHA | Nº CLIENTE", "A/26/17 | 30/06/2026 | 430001188"], "A/26/17"),
        (["FACTURA / INVOICE", "Número / Number | EXP-26-0412"], "EXP-26-0412"),
        (["Teilrechnung Nr. | TR 3 / 26-077"], "TR 3 / 26-077"),
        (["Rechnung Nr. | RG 3 / 05.03.2026"], "RG 3"),
        (["Fattura differita nr. 318/26"], "318/26"),
        (["Facture client n° 4711"], None),
        (["Beleg | LC-10/2026-044"], "LC-10/2026-044"),
        (["Facture n°F-26/2207 — 19/06/2026"], "F-26/2207"),
        (["Rechnungskorrektur", "Korrektur-Nr. | RK-18", "Zur Rechnung | R-1144 vom 30. Juni 2026"], "RK-18"),
        (["Korrektur", "Zur Rechnung | R-1144 vom 30. Juni 2026"], None),
        (["Declaratie 2026-1407"], "2026-1407"),
        (["Facture n° | 2026 F 118402"], "2026 F 118402"),
        (["Tax Invoice | ABN 16 748 850 724", "Invoice | CB-1902"], "CB-1902"),
        (["Rechnung", "Nummer | R 5719/26", "Barrechnung Nr. 882 | 20 % | 31,40"], "R 5719/26"),
        (["Credit for invoice no. 4711 | 31.40"], "4711"),
        (["Note d\u2019honoraires No 10\u2019482"], "10\u2019482"),
        (["Fee note no. FN-26/118"], "FN-26/118"),
        (["Ereloonnota 2026/77"], "2026/77"),
        (["Facture d'acompte n° FA-12"], "FA-12"),
        (["Invoice 4711", "Your debit note no. 998877"], "4711"),
        (["FACTURE", "N° pièce : 998877", "Facture n° 4711"], "4711"),
        (["Rechnung W-26 03318"], "W-26 03318"),
        (["Rechnung W-26 03318 vom 13.05.2024"], "W-26 03318"),
        (["Bill number | PB 2650 4471 8"], "PB 2650 4471 8"),
        (["Nº de factura | 0417 2026 A 0088213"], "0417 2026 A 0088213"),
        (["Notanummer J26 0440 9187 · EAN stroom 871690910044177203"], "J26 0440 9187"),
        (["Invoice no. INV-7 2"], "INV-7"),
        (["Rechnung 4711 12 Monate"], "4711"),
        (["CREDITNOTA", "Nummer | Datum | Ref. factuur", "CN26/18 | 03/11/2026 | VF26/07752"], "CN26/18"),
        (["CREDIT NOTE", "Credit note no. | CN-7", "Invoice number | INV-20471188"], "CN-7"),
        (["CREDIT NOTE", "Invoice number | INV-20471188"], "INV-20471188"),
        (["Lieferungen", "Nr. | Datum | Leistung | Betrag", "4711 | 13.05.2024 | Umzug | 90,00"], None),
        (["Nº de serie 998877", "Factura 4711"], "4711"),
        (["Serie - Nº: 4711"], "4711"),
        (["INVOICE NO | : | 0047719"], "0047719"),
        (["FATTURA ELETTRONICA (copia) N. 142/PA - Data documento: 3 giugno 2026"], "142/PA"),
        (["FATTURA ACCOMPAGNATORIA", "N. 74 / A"], "74 / A"),
        (["Facture du 3 juillet 2026", "n° 1 207 448 619-07"], "1 207 448 619-07"),
        (["Nota | V26-0219"], "V26-0219"),
        (["Rekening | : 2026031"], "2026031"),
        (["Declaratie 26.11"], "26.11"),
        (["Rechnung 26.11"], "26.11"),
        (["Rechnung 119.00"], None),
        (["Facture 26.11 EUR"], None),
        (["Nota 2026-L-0418"], "2026-L-0418"),
        (["Nota 26/118"], "26/118"),
        (["Nota 12-03-2026"], None),
    ],
)
def test_the_number_is_the_documents_own(texts: list[str], number: str | None) -> None:
    assert find_invoice_number(finder(lines(*texts))).value == number


@pytest.mark.parametrize(
    "label", ["Serie-Nr.", "Beleg-Nr.", "Serial no.", "N° de série", "Número de serie", "Matricola"]
)
def test_a_number_in_the_description_of_a_line_is_not_the_documents(label: str) -> None:
    described = ("Spindel | 1 | 90,00 | 90,00", f"{label} 99-8877", "Lager | 2 | 5,00 | 10,00")
    rows = table("Bezeichnung | Menge | Preis | Betrag", *described)
    assert find_invoice_number(finder([*lines("Rechnung 4711-0718"), *rows])).value == "4711-0718"


@pytest.mark.parametrize("gap", [20, 60])
def test_captions_may_stand_under_their_values(gap: int) -> None:
    values, captions = ("LS-2026-087", "13 may. 2024", "12 jun. 2024"), ("Número", "Emitida el", "Vence el")
    rows = ((100, values), (112, captions), (112 + gap, ("Hugo", "Viaje a Lyon", "31 oct. 2023")))
    drawn = [(50.0 + 120 * column, float(top), text) for top, row in rows for column, text in enumerate(row)]
    found = finder(drawn)
    read = (
        find_invoice_number(found).value,
        find_issue_date(found, month_first=False).value,
        find_due_date(found, month_first=False).value,
    )
    assert (read == ("LS-2026-087", MAY, JUNE)) is (gap == 60)  # what is near below is theirs


@pytest.mark.parametrize(
    ("texts", "date"),
    [
        (["Date : | 13/05/2024", "Date de facture associée : 01/01/2022"], MAY),
        (["Invoice Date: | May 13, 2024", "This document refers to invoice 7 dated September 1, 2023"], MAY),
        (["Invoice Date: | May 13, 2024", "Please see our letter, which was issued on May 1, 2024, for this"], MAY),
        (["Gutschrift Nr. 471102", "vom 13.05.2024", "Rechnung gemäß Bestellung vom 01.03.2024."], MAY),
        (["Rechnung Nr. 7-2024 vom", "13.05.2024"], MAY),
        (["Rechnung # RE-7 von 13.05.2024", "Leistungsdatum 17.11.2023"], MAY),
        (["Rechnungsnummer: | 7", "München, den | 13.05.2024"], MAY),
        (["Rechnung Nr. UK-44552 Datum: 13. Mai 2024 Aussteller: London Strategy Group"], MAY),
        (["Facture de mai", "Editée le 13 mai 2024"], MAY),
        (["Delivery date: 13.05.2024"], None),
        (["13. Mai 2024", "Moderation Jubiläum, 12.05.2024 | 1.450,00 €"], MAY),
        (["Date: 13/05/2024", "Order submitted 01/02/2024"], MAY),
        (["Date: 13/05/2024", "Order | Submitted 01/02/2024"], MAY),
        (["Date: 13/05/2024", "Ticket raised on 01/02/2024"], MAY),
        (["Datum: 13.05.2024", "Angebot erstellt am 01.02.2024"], MAY),
        (["Tax point: 01/05/2024", "Invoice date: 13/05/2024"], MAY),
        (["Tax point: 01/05/2024", "Date: 13/05/2024"], MAY),
        (["Invoice / Tax Point | 13/05/2024", "Date In | 01/05/2024"], MAY),
        (["Tax point: 13/05/2024"], MAY),
        (["Rechnung erstellt am 13.05.2024"], MAY),
        (["Submitted on 13/05/2024"], MAY),
        (["Datum: 13.05.2024", "abzgl. 1. Abschlagsrechnung vom 01.03.2024"], MAY),
        (["Erfurt, 13.05.2024", "Rechnung G 7-24 zum Gutachten vom 28.01.2024, Az. 3 O 417/25"], MAY),
        (["May 13, 2024", "Date | Description | Hours", "01/02/2024 | Advice | 2.00"], MAY),
        (["Rechn.-Datum: 13.05.2024", "Hamburg - Wien, Ladedatum 01.05.2024"], MAY),
        (["Factura A-7 | Emitida: 13/05/2024", "Vence: 01/06/2024"], MAY),
        (["FACTURE N° : 26-L-018", "Le : 13/05/2024", "Contrat du 01/02/2024 au 01/03/2024"], MAY),
        (["Memo Date | 13/05/2024", "Orig. Date | 01/02/2024"], MAY),
        (
            ["Tax point | 13/05/2024", "Date | Item | Charges", "01/05/2024 | Bed | 9.00", "02/05/2024 | Bar | 9.00"],
            MAY,
        ),
        (["Chambre 11 - Arrivée 10/05/2024 - Départ 13/05/2024", "Facture N° 26-4017 | le 13/05/2024"], MAY),
        (["Arrival | 10/05/2024"], None),
        (["Fattura n. 118/2024 | del 13 maggio 2024", "Data | 10/05/2024"], MAY),
        (["Gutschrift", "Datum | 13.05.2024", "zu Rechnung | R 26/08811", "vom | 01.02.2024"], MAY),
        (["CREDITNOTA", "Datum | Datum factuur", "13/05/2024 | 01/02/2024"], MAY),
        (["FACTUUR", "Datum factuur | 13/05/2024"], MAY),
        (["CREDITNOTA", "Datum factuur | 13/05/2024"], MAY),
        (["CREDITNOTA", "Datum", "13-05-2024", "Betreft factuur", "VF-2501188 d.d. 12-02-2024"], MAY),
        (["Lyon, le 13 mai 2024", "Facture n° 2024/22", "Convention du 4 mai 2024"], MAY),
        (["Fattura n. 142 - Data documento: 13 maggio 2024", "CIG Z4B3C - Determina n. 61 del 12/01/2024"], MAY),
        (["Hamburg, 13. Mai 2024", "Honorarrechnung 118", "gemäß Betreuungsvertrag vom 01.03.2023"], MAY),
        (["Rechnung", "Nr. 118 vom 13.05.2024", "Berlin, 10.05.2024"], MAY),
        (["Fecha: 13/05/2024", "Pago: recibo a 30 días fecha factura", "12/06/2024"], MAY),
        (["INVOICE DATE | : | 13/05/2024"], MAY),
        (
            ["13/05/2024", "Date | Treatment | Fee", "01/02/2024 | Root canal | 80.00", "08/02/2024 | Crown | 90.00"],
            MAY,
        ),
        (["Bezeichnung | Menge | Betrag", "Papier | 2 | 20,00", "Summe || 20,00", "Hamburg, 13.05.2024"], MAY),
        (["Lieferschein | LS 88 214 vom 10.05.2024", "Mittersill, am 13. Mai 2024"], MAY),
        (["Datum: | 13.05.2024", "Leistung | Menge | Betrag", "Fenster | 2 | 80.00", "mit Rahmen, 10.05.2024"], MAY),
    ],
)
def test_the_issue_date_is_not_that_of_an_order_or_another_invoice(texts: list[str], date: dt.date | None) -> None:
    assert find_issue_date(finder(lines(*texts)), month_first=False).value == date


def test_a_date_at_the_foot_is_that_of_the_printing() -> None:
    drawn = [*lines("Hamburg, den | 13.05.2024"), (50.0, 780.0, "Datum:"), (120.0, 780.0, "30.10.2024")]
    assert find_issue_date(finder(drawn), month_first=False).value == MAY


@pytest.mark.parametrize(
    "text",
    [
        "Due date: 12/06/2024",
        "Please remit until 12/06/2024.",
        "Please pay £92.62 - to reach us by 12 June 2024",
        "Die Rechnung ist zahlbar zum 12.06.2024 rein netto.",
        "Bitte überweisen Sie den Betrag bis spätestens zum 12.06.2024.",
        "Zahlbar innerhalb 30 Tagen netto bis 12.06.2024, 3% Skonto bis 23.05.2024",
        "Der Betrag in Höhe von EUR 529,87 wird am 12.06.2024 von Ihrem Konto eingezogen",
        "Date limite de règlement : 12/06/2024",
        "À payer au plus tard le 12/06/2024",
        "Te betalen uiterlijk 12-06-2024",
        "Betaling: uiterlijk 12 juni 2024",
        "Zahlbar ohne Abzug innerhalb von 14 Tagen, spätestens bis 12.06.2024.",
        "Ich ersuche um Überweisung bis längstens 12. Juni 2024 auf mein Konto",
        "Payable jusqu'au : 12.06.2024",
        "Règlement à 30 jours, soit au plus tard le 12.06.2024.",
        "Wir bitten um Überweisung bis 12. Juni 2024 auf unser Konto",
        "Pagamento: RB 30 gg FM scad. 12/06/2024",
        "Fecha límite de pago: 12/06/2024",
        "Da pagare entro il 12/06/2024",
        "Bitte überweise den Betrag unter Angabe der Rechnungsnummer bis zum 12.06.2024.",
        "avant le 12/06/2024",
        "Zahlungsfrist | 30 Tage, bis 12.06.2024",
        "Vervalt: 12/06/2024",
        "Uiterlijk betalen: | 12 juni 2024",
        "Uiterlijk op | 12 juni 2024",
        "Graag overmaken vóór 12 juni 2024 onder vermelding van 26120.",
        "Wij verzoeken u dit bedrag vóór 12 juni 2024 te voldoen.",
        "Den Nachzahlungsbetrag buchen wir am 12.06.2024 von Ihrem Konto ab.",
        "bis 23.05.2024 abzüglich 2 % Skonto, bis 12.06.2024 ohne Abzug",
        "Prélevé le 12 juin 2024 sur votre compte",
        "Mode de règlement : virement au 12/06/2024",
        "Fecha de cargo: 12/06/2024",
        "Te betalen ten laatste op 12 juni 2024.",
        "Gelieve dit bedrag te storten vóór 12 juni 2024.",
        "Het bedrag wordt op 12 juni 2024 afgeschreven.",
        "Vóór 12 juni 2024 te voldoen.",
        "Die Nachzahlung ziehen wir am 12.06.2024 von Ihrem Konto ein.",
        "Ihr neuer Abschlag ist erstmals fällig am 01.07.2024. Der Rechnungsbetrag ist am 12.06.2024 fällig.",
        "Zahlbar innert 30 Tagen, d.h. bis 12.06.2024",
        "Zahlbar innerhalb 10 Tagen bis 23.05.2024 mit 2,0 % Skonto, netto bis 12.06.2024",
        "We will collect this amount by Direct Debit on or after 12 June 2024.",
        "Payment terms: 30 days. Due 12/06/2024.",
        "Payment terms: 30 days, i.e. by 12 June 2024",
        "Merci de régler cette facture avant le 12/06/2024.",
        "Délai de paiement : 30 jours, soit le 12/06/2024",
        "Règlement à 30 jours à réception de la facture, soit au plus tard le 12 juin 2024, par virement",
        "Wij verzoeken u het bedrag van € 3.301,01 vóór of op 12 juni 2024 over te maken op bovenstaande rekening",
        "À payer le : 12.06.2024",
        "Le montant sera prélevé à partir du 12 juin 2024.",
        "Rogamos efectúe el pago antes del 12/06/2024.",
        "El importe se cargará en su cuenta el día 12/06/2024.",
        "Pago a 30 días: 12/06/2024",
        "Da pagare entro e non oltre il 12/06/2024",
        "Addebito in conto il 12/06/2024",
        "Bonifico a 30 gg, scad. 12/06/2024",
        "Balance on receipt, no later than 12 June 2024",
        "Bitte bis 12. Juni 2024 überweisen.",
        "Solde à réception, au plus tard le 12/06/2024, par virement ou chèque",
        "Vervalt op | 12 juni 2024",
        "Graag uiterlijk 12 juni 2024 betalen op onze rekening.",
        "Saldo bij levering, uiterlijk 12 juni 2024",
        "Saldo contra entrega, como máximo el 12.06.2024.",
        "Saldo alla consegna, entro il 12/06/2024",
        "Échoit le | 12/06/2024",
        "Le agradecemos que abone el importe antes del 12/06/2024",
        "Die Nachzahlung wird am 12.06.2024 fällig.",
        "We will collect €527.20 from your account on 12 June 2024.",
        "We\u2019ll collect on 12 June 2024 by Direct Debit",
        "Bitte zahlen Sie 1.306,98 EUR bis zum 12.06.2024.",
        "Payment is due by the 12th of the month following invoice (12-Jun-2024). Sort code 05-06-40",
        "Incasso: 12-06-2024",
        "Afschrijving op | 12 juni 2024",
        "Bankeinzug: | 12.06.2024",
        "Direct Debit taken on | 12 June 2024",
        "EL IMPORTE SERA ADEUDADO EN SU CUENTA TERMINADA EN ...7730 EL DIA 12/06/2024.",
    ],
)
def test_the_due_date_is_found_in_each_language(text: str) -> None:
    assert find_due_date(finder(lines(text)), month_first=False).value == JUNE


@pytest.mark.parametrize(
    "text",
    [
        "Règlement CB 12/06/2024",
        "Mode de règlement | Virement 12/06/2024",
        "Expiry date: 12/06/2024",
        "Licence expiry date: 12/06/2024",
        "Payment method: Direct Debit 12/06/2024",
        "Ihr neuer monatlicher Abschlag beträgt 95,00 EUR, erstmals fällig am 12.06.2024.",
        "Your next payment is due on 12/06/2024",
        "Prochaine échéance : 12/06/2024",
        "Zahlbar innerhalb von 30 Tagen nach Lieferung vom 12.06.2024",
        "Balance on 12 June 2024",
        "Verbrauch bis 12.06.2024, gezahlte Abschläge",
        "Payment of EUR 120.00 received by card on 12.06.2024",
        "Payment 120.00 by Visa 12.06.2024",
        "Balance 0.00 paid by 12/06/2024",
        "Zahlung erhalten am 05.03.2024, Garantie bis 12.06.2024",
        "Zahlung in bar 119.00 EUR, Umtausch bis 12.06.2024",
        "Zahlung 01.02.2024 bis 12.06.2024",
        "Bei Zahlung innerhalb von 10 Tagen 2.00% Skonto bis 12.06.2024",
        "Wird der Rechnungsbetrag bis zum 12.06.2024 bezahlt, gewähren wir 2 % Skonto.",
        "Skontobetrag bei Zahlung bis 12.06.2024: 23,80 EUR",
        "Te betalen voor 12.06.2024 met 2 % betalingskorting",
        "Zahlbar bis 12.06.2024 mit 2 % Barzahlungsskonto",
        "Bei Zahlung bis 12.06.2024 gewähren wir 2 % Skonto",
        "Paiement reçu 119.00 le 02/03/2024, garantie jusqu'au 12/06/2024",
        "Pago con tarjeta 02.03.2024 hasta 12.06.2024",
        "Incasso 01.03.2024 retour op 12.06.2024",
    ],
)
def test_dates_of_payment_or_expiry_are_not_due_dates(text: str) -> None:
    assert find_due_date(finder(lines(text)), month_first=False).value is None


@pytest.mark.parametrize("text", ["Prélevé le | 12/06/2024", "Fällig am | 12.06.2024", "Te betalen op 12 juni 2024"])
def test_the_day_on_which_money_is_due_is_no_issue_date(text: str) -> None:
    assert find_issue_date(finder(lines(text)), month_first=False).value is None


def test_instalments_to_come_are_not_what_is_due() -> None:
    payment = lines("Die Nachzahlung von 75,12 EUR wird am 12.06.2024 von Ihrem Konto abgebucht.")
    plan = ["Es ergibt sich ein neuer Abschlag von 78,00 EUR:", "Nr. | Fällig am | Betrag", "1 | 15.07.2024 | 78,00"]
    assert find_due_date(finder(payment, lines(*plan)), month_first=False).value == JUNE
    assert find_due_date(finder(lines(*plan)), month_first=False).value is None
    assert find_due_date(finder(lines("Fällig am | Betrag", "12.06.2024 | 78,00")), month_first=False).value == JUNE


def test_two_dates_that_touch_are_below_their_own_labels() -> None:
    found = finder([(300, 100, "FECHA"), (382.5, 100, "VENCE"), (300, 114, "13 de mayo de 2024 12 de junio de 2024")])
    assert find_due_date(found, month_first=False).value == JUNE
    assert find_issue_date(found, month_first=False).value == MAY


def test_a_date_below_a_sentence_is_not_what_its_beginning_asks_for() -> None:
    first = "Zahlbar innerhalb von 14 Tagen nach Rechnungsdatum. Das Leistungsdatum entspricht dem Lieferdatum"
    assert find_due_date(finder([(50, 600, first), (50, 612, "27.03.2025.")]), month_first=False).value is None


def test_a_line_of_words_below_the_end_of_the_sums_is_no_value_of_theirs() -> None:
    sums: list[Line] = [(420, 100, "TOTAL DUE"), (510, 100, "27,046.64")]
    shipped: Line = (
        50,
        114,
        "Shipped 13/05/2024 via Plains Freight, 31 cartons, 1,184 lb, packing list attached to the first",
    )
    assert find_due_date(finder([*sums, shipped]), month_first=False).value is None


@pytest.mark.parametrize("text", ["Wednesday 12 June 2024", "Mittwoch, 12. Juni 2024", "mercredi 12 juin 2024"])
def test_a_weekday_may_begin_left_of_the_label(text: str) -> None:
    lines_ = [*to_the_right(545, 100, "Due date" if "June" in text else "Échéance"), *to_the_right(545, 114, text)]
    assert find_due_date(finder(lines_), month_first=False).value == JUNE


def test_a_due_date_may_stand_above_its_label() -> None:
    rows = ["01/05/2024 | 12/06/2024 | 2024", "Data emissione | Da pagare entro il | Periodo"]
    assert find_due_date(finder(lines(*rows)), month_first=False).value == JUNE
    assert find_due_date(finder(lines("01/05/2024 | A", "Due date:", "12/06/2024")), month_first=False).value == JUNE


@pytest.mark.parametrize(
    "text",
    [
        [
            "Bitte überweisen Sie den Betrag von 100,71 EUR unter Angabe der Nummer",
            "bis zum 12. Juni 2024 auf mein Konto.",
        ],
        ["Forma de pago: ingreso en cuenta ES36 0182 3957 5998 4354 9108 antes del 12", "de junio de 2024."],
    ],
    ids=["before the label", "within the date"],
)
def test_a_due_date_is_found_over_the_end_of_a_line(text: list[str]) -> None:
    assert find_due_date(finder(lines(*text)), month_first=False).value == JUNE
    apart: list[Line] = [(50, 50, text[0]), (50, 200, text[1])]
    assert find_due_date(finder(apart), month_first=False).value is None


@pytest.mark.parametrize(
    ("texts", "due"),
    [
        (["Fecha de | 12/06/2024", "vencimiento"], JUNE),
        (["Quanto devo pagare | Entro quando | Lettura 30/04/2024", "€ 224,11 | 12/06/2024 | 2.418 m³"], JUNE),
        (["Fecha de", "vencimiento", "12/06/2024"], JUNE),
        (["Date d'échéance de | 12/06/2024", "la commande"], JUNE),
        (["Fecha de | 12/06/2024", "emisión"], None),
        (["Date de | Montant", "paiement limite", "12/06/2024"], None),
        (["Fecha de | 12/06/2024", "", "", "", "vencimiento"], None),
    ],
)
def test_a_label_goes_on_in_the_next_line_of_a_narrow_column(texts: list[str], due: dt.date | None) -> None:
    assert find_due_date(finder(lines(*texts)), month_first=False).value == due


def test_letters_that_are_set_apart_make_labels() -> None:
    label = [(50.0 + 9 * index + 4 * (index > 6), 50.0, letter) for index, letter in enumerate("FACTURAN")]
    assert find_invoice_number(finder([*label, (126, 50, "º"), (50, 64, "14/2026")])).value == "14/2026"


@pytest.mark.parametrize(
    "texts",
    [
        ["Delivery date: 13.05.2024"],
        ["Date of supply | 13 May 2024"],
        ["Liefer- und Leistungsdatum: | 13.05.2024"],
        ["Rechnungsdatum: 01.06.2024 Leistungsdatum: 13.05.2024"],
        ["Lieferdatum | Kundennummer", "13.05.2024 | 4711"],
        ["Date de livraison : 13/05/2024"],
        ["Leverdatum: 13-05-2024"],
        ["Fecha de entrega: 13/05/2024"],
        ["Data di consegna: 13/05/2024"],
    ],
)
def test_the_day_of_delivery_stands_at_its_label(texts: list[str]) -> None:
    assert find_delivery_date(finder(lines(*texts)), month_first=False).value == MAY


@pytest.mark.parametrize(
    "texts",
    [
        ["Expected delivery date: 13.05.2024"],
        ["Leistungsdatum: 13.05.2024 - 12.06.2024"],
        ["Leistungsdatum: 13.05.2024 bis 12.06.2024"],
        ["Lieferscheindatum: 13.05.2024"],
        ["Lieferdatum: entspricht dem Rechnungsdatum 13.05.2024"],
        [
            "Menge | Bezeichnung | Lieferdatum | Betrag",
            "1 | Schrauben | 13.05.2024 | 9,00",
            "1 | Muttern | 12.06.2024 | 9,00",
        ],
    ],
)
def test_another_day_or_a_period_is_no_day_of_delivery(texts: list[str]) -> None:
    assert find_delivery_date(finder(lines(*texts)), month_first=False).value is None


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["PO Number: P-26179"], "P-26179"),
        (["Bill To: | Reference PO: ORDER-33945"], "ORDER-33945"),
        (["Invoice #: 55102 Order #: 100233 Date: 14 Sep 2026"], "100233"),
        (["YOUR PO", "PO-7719/B"], "PO-7719/B"),
        (["P/O No. | PO-INV-7710"], "PO-INV-7710"),
        (["CUSTOMER P.O.", "DM-45021"], "DM-45021"),
        (["PO 88/204"], "88/204"),
        (["Bestellnummer: | 48817"], "48817"),
        (["Rechnung gemäß Bestellung Nr. 2018-471331 vom 01.03.2018."], "2018-471331"),
        (["Ihre Bestellung | B-25-0312"], "B-25-0312"),
        (["N° de commande : C-2024-18"], "C-2024-18"),
        (["Bestelnummer: 4500123"], "4500123"),
        (["Pedido: | US-2291"], "US-2291"),
        (["Vs. ordine 26/0388"], "26/0388"),
    ],
)
def test_the_number_of_the_order_stands_at_its_label(texts: list[str], number: str) -> None:
    assert find_order_reference(finder(lines(*texts))).value == number


@pytest.mark.parametrize(
    "texts",
    [
        ["PO Box 5517, Sunderland SR5 9ZZ"],
        ["P.O. Box 1190 | 77 Furnace Street"],
        ["Pº ECHEGARAY 66", "50003 ZARAGOZA"],
        ["Order date: 13.05.2024"],
        ["Bestellung vom 13.05.2024"],
        ["Auftragsnummer: 4711"],
        ["Commande du 13/05/2024"],
        ["Bestellnummer | Bezeichnung | Menge", "A-100 | Schrauben | 3"],
        ["Order no. 4711 | 12.00"],
    ],
)
def test_numbers_that_name_no_order_of_the_buyer_are_ignored(texts: list[str]) -> None:
    assert find_order_reference(finder(lines(*texts))).value is None


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("invoice no", True),
        ("credit note for invoice no", True),
        ("avoir relatif a la facture n°", True),
        ("a storno parziale ns. fattura n.", True),
        ("inv. date", True),
        ("credit note no", False),
        ("credit invoice no", False),
        ("stornorechnung nr", False),
        ("storno-rechnung nr", False),
        ("n° de facture rectificative", False),
        ("number", False),
    ],
)
def test_the_last_paper_that_a_label_names_counts(label: str, *, names: bool) -> None:
    assert names_an_invoice(label) is names


def test_a_credit_note_has_its_own_number_and_date() -> None:
    own = finder(
        lines("CREDIT NOTE", "", "Credit No|Date|Orig. invoice|Inv. date", "CRN4471|23-Apr-26|INV88206|02-Apr-26")
    )
    assert find_invoice_number(own).value == "CRN4471"
    assert find_issue_date(own, month_first=False).value == dt.date(2026, 4, 23)


def test_a_sentence_about_the_invoice_does_not_number_the_credit_note() -> None:
    said = "Avoir relatif à la facture n° 2026-2871 du 18 septembre 2026 : retour de marchandise."
    assert find_invoice_number(finder(lines("AVOIR", "n° A-2026-0033", "", said))).value == "A-2026-0033"
