"""What labels are called on invoices in six languages is known, whatever layout they stand in."""

import re

import pytest

from invoices.readers.folding import fold
from invoices.readers.money import Role, role_of
from invoices.readers.vocabulary import DUE_DATE, INVOICE_NUMBER, ISSUE_DATE, VAT_LABEL

LABELS = {
    INVOICE_NUMBER: (
        "Invoice No.|Inv. No|Invoice ID|Bill number|Tax Invoice No.|Document number|Doc. no.|Statement number|CN No.",
        "Rechnungs-Nr.|Rechnung Nr.|Rg.-Nr.|RE-Nr.|Belegnr.|Gutschrifts-Nr.|Fakturanummer|Honorarnote Nr.",
        "N° de facture|Facture n°|Réf. facture|N° document|Avoir n°|Note d'honoraires n°",
        "Factuurnr.|Factuur nummer|Notanummer|Creditnr.|Documentnummer|Fact.nr.",
        "Nº de factura|Núm. factura|Fra. nº|Nº Fra.|Nº documento|Nº de abono|Factura rectificativa nº",
        "Fattura n.|N. fattura|Ft. n.|Fatt. n.|Numero documento|Nota di credito n.|Parcella n.|Bolletta n.",
    ),
    ISSUE_DATE: (
        "Invoice date|Date of issue|Issued on|Bill date|Tax point|Date/Tax Point|Doc. date|Statement date|Submitted on",
        "Rechnungsdatum|Belegdatum|Ausstellungsdatum|Ausgestellt am|Erstellt am|Rg.-Datum|Gutschriftsdatum",
        "Date de facture|Date d'émission|Émise le|Éditée le|Date d'édition|Date du document|Date de l'avoir",
        "Factuurdatum|Notadatum|Datum factuur|Documentdatum|Creditdatum",
        "Fecha de factura|Fecha emisión|F. emisión|Emitida el|Fecha del documento",
        "Data fattura|Data documento|Data di emissione|Data doc.|Emessa il|Data bolletta",
    ),
    DUE_DATE: (
        "Due date|Payment due by|Pay by|Payable by|Date due|Payment expiry date|To be paid by",
        "Fällig am|Fälligkeitsdatum|Zahlbar bis spätestens|Zahlungstermin|Zahlung bis|Netto bis",
        "Date d'échéance|Échéance le|À payer avant le|À régler avant le|Date de règlement|Avant le",
        "Vervaldatum|Vervaldag|Uiterste betaaldatum|Te betalen voor|Betaling uiterlijk",
        "Fecha de vencimiento|Vencimientos|Vto.|Vence el|Pagar antes del",
        "Data scadenza|Scadenze|Pagare entro il|Da pagare entro",
    ),
    VAT_LABEL: (
        "VAT Reg No|VAT number|VATIN|USt-IdNr.|UST-ID|UID-Nr.|MwSt-Nr.|Umsatzsteuer-Identifikationsnummer",
        "N° TVA|TVA intracommunautaire|BTW-nr.|btw-id|NIF|C.I.F.|P.IVA|Part. IVA|Identificativo fiscale ai fini IVA",
    ),
}
SUMS = {
    Role.TOTAL: (
        "Total due|Amount payable|Balance due|Grand total|Total incl. VAT|Inclusive total|Please pay|Total with VAT",
        "Rechnungsbetrag|Rechnungsendbetrag|Zahlbetrag|Zu überweisen|Gesamt inkl. MwSt.|Gesamtforderung|Gesamthonorar",
        "Total TTC|Net à payer|Montant dû|Total TVAC|À payer|Montant facturé|Total à régler",
        "Totaal incl. btw|Te voldoen|Factuurbedrag|Eindbedrag|Bedrag incl. btw|Verschuldigd bedrag",
        "Total factura|Importe total|A pagar|Total (IVA incl.)|Total importe factura",
        "Totale fattura|Totale a pagare|Totale IVA inclusa|Totale bolletta|Importo da pagare",
    ),
    Role.NET: (
        "Subtotal|Net amount|Total before VAT|Taxable value|Total ex. GST|Goods total",
        "Nettobetrag|Summe netto|Warenwert|Summe Positionen|Total exkl. MwSt|Steuerpflichtiger Betrag",
        "Total HT|Montant hors taxes|Total HTVA|Base HT|Totaal ex. btw|Maatstaf van heffing|Grondslag",
        "Base imponible|Base imp.|Suma|Total neto|Imponibile|Totale merce|Totale esclusa IVA",
    ),
    Role.TAX: (
        "VAT 20%|Sales tax|GST 10%|QST (9.975%)|MwSt. 19 %|zzgl. USt.|Umsatzsteuer|MWST 8.1%",
        "Montant TVA|Total taxes|Taxe|Btw-bedrag|21% btw|Omzetbelasting|Cuota|IVA 21%|Totale imposta|Importo IVA",
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
