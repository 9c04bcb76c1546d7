"""The labels of invoices in six languages are known, whatever the layout."""

import re

import pytest

from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout.vocabulary import DUE_DATE, INVOICE_NUMBER, ISSUE_DATE, VAT_LABEL
from docrail.invoices.values.folding import fold

LABELS = {
    INVOICE_NUMBER: (
        "Invoice No.|Inv. No|Invoice ID|Bill number|Tax Invoice No.|Document number|Doc. no.|Statement number|CN No.",
        "Invoice ref. no.|Invoice serial no.|Billing no.|Folio no.|Bill of supply no.|Inv. no./date|Cr note no.",
        "Liquidations-Nr.|Kreditnote Nr.|Gebührenbescheid Nr.|Rechnung mit der Nummer|Rechnungskennung|Dok.-Nr.",
        "Kamernota nr.|Jaarnota nr.|Kredietnota nr.|Ereloonstaat nr.|Debetnota nr.|Boekstuknummer|Factuurreferentie",
        "Fee note no.|Fee account no.|Debit note no.|Application for payment no.|Adjustment note no.",
        "Rechnungs-Nr.|Rechnung Nr.|Rg.-Nr.|RE-Nr.|Belegnr.|Gutschrifts-Nr.|Fakturanummer|Honorarnote Nr.",
        "Gebührennote Nr.|Kostennote Nr.|Storno-Nr.|Quittungsnummer",
        "N° de facture|Facture n°|Réf. facture|N° document|Avoir n°|Note d'honoraires n°",
        "Note d\u2019honoraires No|Note de frais et honoraires n°|Mémoire d\u2019honoraires n°",
        "Facture d\u2019acompte n°|N° pièce",
        "Factuurnr.|Factuur nummer|Notanummer|Creditnr.|Documentnummer|Fact.nr.",
        "Declaratie nr.|Ereloonnota nr.|Staat van kosten en ereloon nr.|Afrekening nr.",
        "Nº de factura|Núm. factura|Fra. nº|Nº Fra.|Nº documento|Nº de abono|Factura rectificativa nº",
        "Minuta de honorarios nº|Nota de cargo nº|Factura Nro.|Serie y número|Nº doc.",
        "Fattura n.|N. fattura|Ft. n.|Fatt. n.|Numero documento|Nota di credito n.|Parcella n.|Bolletta n.",
        "Notula n.|Ricevuta fiscale n.|Nota di debito n.|Numero doc.",
    ),
    ISSUE_DATE: (
        "Invoice date|Date of issue|Issued on|Bill date|Tax point|Date/Tax Point|Doc. date|Statement date|Submitted on",
        "Inv date|Date raised|Issuing date|VAT date|Adjustment note date|Fakturierungsdatum|Rechnungsausstellung am 1",
        "Tag der Ausstellung|In Rechnung gestellt am|Uitreikingsdatum|Datum creditnota|Gefactureerd op|Opgesteld op",
        "Rechnungsdatum|Belegdatum|Ausstellungsdatum|Ausgestellt am|Erstellt am|Rg.-Datum|Gutschriftsdatum",
        "Date de facture|Date d'émission|Émise le|Éditée le|Date d'édition|Date du document|Date de l'avoir",
        "Factuurdatum|Notadatum|Datum factuur|Documentdatum|Creditdatum",
        "Fecha de factura|Fecha emisión|F. emisión|Emitida el|Fecha del documento",
        "Data fattura|Data documento|Data di emissione|Data doc.|Emessa il|Data bolletta",
    ),
    DUE_DATE: (
        "Due date|Payment due by|Pay by|Payable by|Date due|Payment expiry date|To be paid by",
        "Payable on or before|To be settled by|Latest payment date|Direct debit on|Deadline for payment",
        "Final date for payment|Maturity date|No later than 1|Must be paid by|Charge date|Autopay on|Terms date",
        "Einzugsdatum|Nettofälligkeit|Zu bezahlen bis|Wird abgebucht am|Verfalldatum|Einzahlung bis|Prämienfälligkeit",
        "Hoofdvervaldag|Uiterste betalingsdatum|Over te maken voor|Domiciliëring op 1|Verschuldigd op|Limietdatum",
        "Fällig am|Fälligkeitsdatum|Zahlbar bis spätestens|Zahlungstermin|Zahlung bis|Netto bis",
        "Abbuchung am|SEPA-Lastschrift zum|Zahlungseingang bis|Ohne Abzug bis|Letzter Zahlungstag",
        "Date d'échéance|Échéance le|À payer avant le|À régler avant le|Date de règlement|Avant le",
        "À régler au plus tard le|Exigible le|Dû le|Échéances|Échéance de paiement|Date d'exigibilité",
        "Vervaldatum|Vervaldag|Uiterste betaaldatum|Te betalen voor|Betaling uiterlijk",
        "Te betalen ten laatste op|Uiterlijk te betalen op|Betaalbaar tegen|Incassodatum|Uiterste betaaldag",
        "Fecha de vencimiento|Vencimientos|Vto.|Vence el|Pagar antes del",
        "A pagar hasta el|Pagadero el|Páguese antes del|Fecha máxima de pago|Plazo de pago|Abonar antes del",
        "Data scadenza|Scadenze|Pagare entro il|Da pagare entro",
        "Entro e non oltre il|Scade il|Termine di pagamento|Pagabile il|Scadenza del pagamento",
    ),
    VAT_LABEL: (
        "V.A.T. Reg. No.|Value added tax no.|Tax Reg. No.|Mehrwertsteuer-Nr.|MwSt-ID|Ondernemingsnummer|B.T.W.-nr.",
        "VAT Reg No|VAT number|VATIN|USt-IdNr.|UST-ID|UID-Nr.|MwSt-Nr.|Umsatzsteuer-Identifikationsnummer",
        "N° TVA|TVA intracommunautaire|BTW-nr.|btw-id|NIF|C.I.F.|P.IVA|Part. IVA|Identificativo fiscale ai fini IVA",
    ),
}
SUMS = {
    Role.TOTAL: (
        "Total due|Amount payable|Balance due|Grand total|Total incl. VAT|Inclusive total|Please pay|Total with VAT",
        "Amount credited|Total credit|Total this credit|Credit value|Amount to be refunded|Amount in your favour",
        "To pay|Total VAT included|Invoice value",
        "Amount owing|Outstanding balance|Total to be paid|Tax inclusive amount|Total plus VAT|Net to pay|Gross value",
        "Einzugsbetrag|Gesamtbeitrag|Bruttogesamtbetrag|Liquidationsbetrag|Abzubuchender Betrag|Belegtotal",
        "Openstaand bedrag|Incassobedrag|Eindsom|Brutobedrag|Te incasseren|Terug te krijgen",
        "Rechnungsbetrag|Rechnungsendbetrag|Zahlbetrag|Zu überweisen|Gesamt inkl. MwSt.|Gesamtforderung|Gesamthonorar",
        "Gutschriftsbetrag|Gesamtgutschrift|Zu Ihren Gunsten|Auszahlungsbetrag|Rückerstattungsbetrag|Zu erstatten",
        "Stornobetrag|Rechnungstotal|Totalbetrag|Schlussbetrag|Zu bezahlen|Bitte überweisen",
        "Total TTC|Net à payer|Montant dû|Total TVAC|À payer|Montant facturé|Total à régler",
        "Net à déduire|Net à votre crédit|Montant à créditer|Net à rembourser|Montant remboursé|Total en votre faveur",
        "Total en notre faveur|Solde à payer|Net dû|Total TVA comprise|Total toutes taxes comprises",
        "Totaal incl. btw|Te voldoen|Factuurbedrag|Eindbedrag|Bedrag incl. btw|Verschuldigd bedrag",
        "Te crediteren|Totaal te crediteren|Gecrediteerd bedrag|Terug te ontvangen|U ontvangt terug|In uw voordeel",
        "Over te maken|Te storten|Totaalprijs|Totaal btw inbegrepen",
        "Total factura|Importe total|A pagar|Total (IVA incl.)|Total importe factura",
        "Importe a abonar|Importe abonado|Total a devolver|Importe a reembolsar|A su favor|Saldo a su favor",
        "Neto a pagar|Importe de la factura|Total impuestos incluidos|Líquido a abonar",
        "Totale fattura|Totale a pagare|Totale IVA inclusa|Totale bolletta|Importo da pagare",
        "Totale a credito|Totale da rimborsare|Importo accreditato|Netto a vostro credito|A vostro credito",
        "Netto da pagare|Importo dovuto|Tot. fattura|Totale IVA compresa|Da versare",
    ),
    Role.NET: (
        "Subtotal|Net amount|Total before VAT|Taxable value|Total ex. GST|Goods total",
        "Net credit|Credit net|Credit excl. VAT|Total exc. VAT|Total less VAT|VATable amount|Goods value",
        "Nettobetrag|Summe netto|Warenwert|Summe Positionen|Total exkl. MwSt|Steuerpflichtiger Betrag",
        "Summe der Positionen|Betrag vor Steuern",
        "Total HT|Montant hors taxes|Total HTVA|Base HT|Totaal ex. btw|Maatstaf van heffing|Grondslag",
        "Base imposable 21 %|Base TVA|Montant sans TVA|Total partiel|Total brut HT|Netto credit|Goederenwaarde",
        "Tussentotaal",
        "Nett amount|Pre-VAT total|Taxable supplies|Amount subject to VAT|Untaxed amount|Assessable value",
        "Steuerbemessungsgrundlage|Warenbetrag|Heffingsgrondslag|Goederentotaal|Bedrag vóór btw",
        "Base imponible|Base imp.|Suma|Total neto|Imponibile|Totale merce|Totale esclusa IVA",
        "Bases imponibles|Base IVA|Importe antes de IVA|Totale prestazioni|Totale competenze|Imponib.",
    ),
    Role.TAX: (
        "VAT 20%|Sales tax|GST 10%|QST (9.975%)|MwSt. 19 %|zzgl. USt.|Umsatzsteuer|MWST 8.1%|VAT credit",
        "Montant TVA|Total taxes|Taxe|Btw-bedrag|21% btw|Omzetbelasting|Cuota|IVA 21%|Totale imposta|Importo IVA",
        "VAT amount due|VAT payable|Insurance premium tax 12%|VAT (standard rate 20%)|Mw.St.|Assurantiebelasting 21%",
        "B.T.W.|IGIC 7%|Cuota repercutida|IVA 22% su imponibile",
    ),
    Role.NOT_A_SUM: ("Amount paid|Anzahlung|Acompte versé|Aanbetaling|Voorschot|Anticipo|Acconto|Pagado",),
    Role.ADJUSTMENT: ("P&P|Discount|Versandkosten|Porto|Frais de port|Escompte|Korting|Envío|Dto.|Sconto|Trasporto",),
}


def each(lists: tuple[str, ...]) -> list[str]:
    return [label for line in lists for label in line.split("|")]


@pytest.mark.parametrize(
    ("label", "texts"),
    [(label, each(lists)) for label, lists in LABELS.items()],
    ids=["number", "issue date", "due date", "VAT id"],
)
def test_labels_are_known_by_every_usual_name(label: re.Pattern[str], texts: list[str]) -> None:
    assert [text for text in texts if not label.search(fold(text))] == []


@pytest.mark.parametrize(("role", "texts"), [(role, each(lists)) for role, lists in SUMS.items()])
def test_sums_are_known_by_every_usual_name(role: Role, texts: list[str]) -> None:
    plain = {role, Role.PLAIN_TOTAL} if role is Role.TOTAL else {role}
    assert [text for text in texts if role_of(fold(text)) not in plain] == []
