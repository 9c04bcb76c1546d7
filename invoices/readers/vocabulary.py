"""What the labels of an invoice are called, in English, German, French, Dutch, Spanish and Italian; folded.

Words only: where a label stands and what may follow it is decided by the modules that use them.
"""

import re

_NUMBER = r"(?:numbers?|numero|num|nummer|nr|no|id|n[o°º]|n\.|#|№)"


def _any(*alternatives: str) -> re.Pattern[str]:
    """Match any of the alternatives as whole words."""
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(alternatives) + r")(?![a-z])")


INVOICE_WORDS = (
    r"\w*rechnung|(?:tax |sales |commercial |credit )?invoice|facture|factuur|factura|fattura|avoir|gutschrift|"
    r"credit ?(?:note|memo)|creditnota|nota de credito|nota di credito"
)
INVOICE_NUMBER = _any(
    rf"(?:{INVOICE_WORDS}|inv|bill|receipt|beleg|dokument|document)\.?[\s-]*{_NUMBER}",
    rf"(?:\w*rechnungs?|gutschrift|invoice|facture|factuur|factura|fattura)(?:\s*\([^)]*\)){{1,3}}[\s-]*{_NUMBER}",
    rf"\w*rechnungs?[\s-]*{_NUMBER}",
    rf"{_NUMBER}\.?\s*(?:de |d'|della |di |der |van )?(?:la |l')?(?:{INVOICE_WORDS})",
    rf"\w*rechnung (?:zur?|zum|fur|uber) (?:\w+ ){{1,3}}?{_NUMBER}",
)
INVOICE_TITLE = _any(INVOICE_WORDS)

ISSUE_DATE = _any(
    r"(?:invoice|bill|billing|issue|issued|document|tax invoice)\s*date",
    r"date\s*(?:of\s*)?(?:issue|invoice)d?",
    r"(?:rechnungs|beleg|ausstellungs)[\s-]*datum",
    r"datum der rechnung",
    r"factuur\s*datum",
    r"datum factuur",
    r"date\s*(?:de\s*)?(?:la\s*)?(?:facture|facturation|d'emission|emission)",
    r"fecha\s*(?:de\s*)?(?:la\s*)?(?:factura|emision|expedicion)",
    r"data\s*(?:della\s*)?(?:fattura|emissione|documento)",
    r"(?:issued|dated)(?: on)?",
)
PLAIN_DATE = re.compile(r"^\W*(?:date|datum|fecha|data|dato)\W*(?:$|\d|[a-z]+,? )")
DATE_AFTER_NUMBER = re.compile(r"\b(?:vom|du|dated|of|del|van|d\.d\.|date)\s*$")
DUE_DATE = _any(
    r"(?:payment\s*)?due\s*(?:date|by|on)?",
    r"pay(?:ment|able)?\s*(?:by|before|until|deadline)",
    r"fallig(?:keit|keitsdatum|keitstag)?(?:\s*(?:am|bis|zum))?",
    r"zahlbar[^.]{0,40}?\bbis(?:\s*zum)?",
    r"zahlungsziel",
    r"zu zahlen bis",
    r"verval(?:datum|dag)",
    r"(?:uiterlijk|te)\s*betalen\s*(?:voor|op|uiterlijk)",
    r"(?:date\s*(?:d'|de\s*)?)?(?:limite de paiement|echeance)",
    r"a payer avant",
    r"(?:fecha\s*(?:de\s*)?)?vencimiento",
    r"(?:data\s*(?:di\s*)?)?scadenza",
)

GROSS_WORDS = _any(
    r"brutto\w*|inkl\w*|incl\w*|including|ttc|gross|ivato|con iva|te betalen|due|payable|a payer|a pagar\w*"
)
"""With one of these, an amount has its tax in it, whatever else it is called."""
NET_WORDS = _any(
    r"netto\w*|exkl\w*|excl\w*|excluding|before (?:tax|vat)|ohne (?:ust|mwst)|zzgl|h\.?t|hors taxes?|sin iva|"
    r"sub[\s-]?tot(?:al|aal|ale)?|sous-total|zwischensumme"
)
TOTAL = _any(
    r"(?:grand|invoice|final|overall)\s*total",
    r"total\s*(?:amount)?\s*(?:due|payable|to pay)",
    r"total\s*(?:for )?(?:this )?(?:invoice|facture|factura)",
    r"(?:amount|balance)\s*(?:due|payable)",
    r"(?:total|amount|price)?\s*inc(?:l|luding|lusive)?\.?\s*(?:of\s*)?(?:vat|tax|gst)",
    r"(?:rechnungs|gesamt|brutto|end|zahl|gesamtrechnungs)\s*(?:betrag|summe)(?: brutto)?",
    r"rechnungssumme brutto",
    r"(?:summe|gesamt|total|betrag) (?:brutto|inkl)",
    r"zu zahlen(?:der betrag)?",
    r"(?:total|montant|prix)\s*(?:eur\s*|general\s*)?ttc",
    r"(?:net|somme|total|montant|reste) a payer",
    r"total (?:facture|general)",
    r"(?:factuur\s*)?totaal\s*(?:te betalen|incl\w*\.?(?: btw)?)",
    r"factuur\s*(?:totaal|bedrag)",
    r"(?:te betalen|totaalbedrag)(?: bedrag)?",
    r"(?:importe|total)\s*(?:total|a pagar|factura|con iva)",
    r"(?:totale)\s*(?:fattura|documento|da pagare|complessivo|dovuto|ivato)",
    r"netto a pagare",
)
PLAIN_TOTAL = _any("total", "totaal", "totale", "gesamt", "summe", "brutto", "ttc", "endbetrag")
NET = _any(
    r"sub[\s-]?tot(?:al|aal|ale)?",
    r"net(?:to)?\s*(?:total|amount|value|price|betrag|summe|bedrag|wert)?",
    r"(?:total|amount|price)\s*(?:excl|excluding|before|without|ex)\.?\s*(?:vat|tax|gst)?",
    r"taxable (?:amount|value)",
    r"(?:zwischen|netto|positions)\s*summe",
    r"(?:gesamt|waren|steuerbasis)\s*(?:betrag|wert)?\s*netto",
    r"(?:summe|gesamt|rechnungssumme|gesamtbetrag|betrag)\s*(?:netto|ohne|exkl|excl|zzgl)\w*\.?(?: ust| mwst)?",
    r"nettobetrag|bemessungsgrundlage",
    r"(?:total|montant|sous-total)?\s*(?:eur\s*)?h\.?t\b\.?",
    r"(?:totaal\s*)?ex(?:cl|clusief)\w*\.?\s*(?:btw)?",
    r"grondslag",
    r"base\s*imponible|importe neto|imponibile|totale netto|sous-total",
)
TAX = _any(
    r"(?:sales\s*)?(?:tax|taxes|vat|gst|hst|pst|cst|sgst|cgst|igst)",
    r"(?:mwst|ust|umsatzsteuer|mehrwertsteuer|steuer)(?:[\s.-]*(?:betrag|summe))?",
    r"\w*steuer(?:betrag)?",
    r"(?:montant\s*)?t\.?v\.?a\.?",
    r"btw(?:[\s-]*bedrag)?",
    r"(?:cuota\s*)?i\.?v\.?a\.?|imposta|impuesto",
)
ADJUSTMENT = _any(
    r"shipping|freight|delivery|postage|handling|carriage|insurance|surcharge|deposit|tip|service charge",
    r"versand\w*|porto|fracht\w*|transport\w*|lieferkosten|aufschlag|zuschlag\w*",
    r"frais(?: de)?(?: port| livraison)?|livraison|verzend\w*|gastos de envio|portes",
    r"spese(?: di)? (?:trasporto|spedizione)",
    r"discount|rebate|\w*rabatt\w*|\w*nachlass|abschlag\w*|skonto|remise|korting|descuento|sconto|credits?",
    r"rounding|rundung\w*|arrondi|afronding|redondeo|arrotondamento",
)
NOT_A_SUM = _any(
    r"(?:amount |already |total )?(?:paid|prepaid|received)|payments?(?: received)?|advance",
    r"(?:bereits )?(?:bezahlt|gezahlt)|anzahlung\w*|erhaltene\w*|offener? betrag|offene",
    r"acompte|deja (?:paye|regle)|voldaan|betaald|ontvangen|anticipo|pagado|acconto|pagato|balance",
    r"basis(?:betrag)?|per\w*|rate|ratio",
)

SELLER = _any(
    r"sold by|seller|vendor|supplier|from|issued by|service provider|payable to|payee|remit to|account (?:name|holder)",
    r"in favou?r of|beneficiary",
    r"verkaufer|lieferant|rechnungs(?:steller|ersteller|aussteller)|leistungserbringer|kontoinhaber|zahlungsempfanger",
    r"fournisseur|vendeur|emetteur|titulaire du compte|prestataire",
    r"leverancier|verkoper|ten name van|t\.?n\.?v\.?",
    r"proveedor|vendedor|emisor|fornitore|cedente|mittente|intestatario",
)
BUYER = _any(
    r"bill(?:ed|ing)?\s*(?:to|address)(?:\s*address)?|invoice(?:d)?\s*to|sold to|ship(?:ped|ping)?\s*(?:to|address)",
    r"deliver(?:y|ed)?\s*(?:to|address)|customer|client|buyer|purchaser|consignee|recipient|attn",
    r"(?:rechnungs|waren|leistungs)\s*(?:empfanger|adresse|anschrift)|rechnung an|kunde|kaufer|auftraggeber",
    r"liefer(?:adresse|anschrift)|versand an",
    r"(?:facture|livre)e? a|(?:adresse de )?(?:facturation|livraison)|destinataire|acheteur|client(?:e)?|abonne",
    r"klant|factuur\s*adres|aflever\s*adres|koper|bestemd voor|aan",
    r"cliente|facturar a|datos del cliente|destinatario|cessionario|committente|spett(?:\.le|abile)?|comprador|to",
)
YOURS = _any(r"your|ihre?[nrms]?|uw|votre|vos|su|vuestro|vostr[oa]|customer'?s?|client|kunden|klant|buyer'?s?|debit\w*")
"""Before an identifier: it belongs to the reader of the invoice, not to its sender."""

VAT_LABEL = _any(
    r"vat(?:\s*(?:reg\w*|id\w*|no|nr|number|#))*",
    r"u\.?\s?st\.?[\s.-]*id\w*(?:[\s.-]*(?:nr|nummer|no|ident\w*))*",
    r"umsatzsteuer[\s-]*(?:id\w*|identifikation\w*)[\s.-]*(?:nr|nummer)?|uid(?:[\s.-]*(?:nr|nummer))?|mwst[\s.-]*nr",
    r"(?:n[o°º]\s*(?:de\s*)?)?t\.?v\.?a\.?(?:\s*intra\s*communautaire|\s*intra\w*)?",
    r"btw(?:[\s.-]*(?:nr|nummer|id))?",
    r"p(?:artita|\.)?\s*i\.?v\.?a\.?|(?:c\.?i\.?f|n\.?i\.?f)\.?",
)
IBAN_LABEL = _any(r"iban(?:[\s.-]*(?:nr|no|number|nummer))?")

LINE_DESCRIPTION = _any(
    r"desc\w*|items?|product|service|article|artikel\w*|bezeichnung|beschreibung|leistung|designation|libelle|"
    r"omschrijving|concepto|descripcion|descrizione|title|details?|particulars|prestation|denominazione|articulo"
)
LINE_QUANTITY = _any(
    r"qty|quantity|hours|menge|anzahl|stk|std|quantite|qte|nombre|aantal|hoeveelheid|cantidad|cant|quantita|qta|units?"
)
LINE_PRICE = _any(
    r"(?:unit\s*)?(?:price|cost|rate)|(?:einzel|netto|vk|e|stuck)?-?\s*preis|p\.?u\.?|prix|(?:stuk)?prijs|precio|prezzo"
)
LINE_AMOUNT = _any(
    r"(?:line\s*)?(?:amount|total)|betrag|gesamt\w*|\w*betrag|entgelt|nettowert|summe|montant|bedrag|totaal|importe|importo"
)
LINE_COLUMNS = (LINE_DESCRIPTION, LINE_QUANTITY, LINE_PRICE, LINE_AMOUNT)
