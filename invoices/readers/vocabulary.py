"""What the labels of an invoice are called, in English, German, French, Dutch, Spanish and Italian; folded.

Words only: where a label stands and what may follow it is decided by the modules that use them.
"""

import re

_NUMBER = r"(?:numbers?|numero|num|nummer|nr|no|id|n\.?[o°º]|n\.|#|№)"


def _any(*alternatives: str) -> re.Pattern[str]:
    """Match any of the alternatives as whole words."""
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(alternatives) + r")(?![a-z])")


def _party(*alternatives: str) -> re.Pattern[str]:
    """Match as `_any` does, but not the first half of a compound: a `Seller-IBAN` is no seller."""
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(alternatives) + r")(?![a-z]|-[a-z])")


INVOICE_WORDS = (
    r"\w*rechnung(?:skorrektur)?|(?:tax |sales |commercial |credit )?invoice|facture|\w*factuur|factura|fattura|avoir|"
    r"gutschrift|credit ?(?:note|memo)|creditnota|creditfactuur|nota de credito|nota di credito"
)
INVOICES = re.compile(r"(?:rechnung(?:en)?|invoices?|factu(?:re|ra|ur)s?|facturen|fattur[ae])(?![a-z])")
"""Any word for the document itself, in compounds too: what is called so is no name of a company."""
BARE_NUMBER = re.compile(rf"^\W*{_NUMBER}(?![a-z])")
"""A number that does not say of what: the title beside or above it does."""
INVOICE_NUMBER = _any(
    rf"(?:{INVOICE_WORDS}|inv|bill|receipt|voucher|beleg|dokument|documento?|nota|abono|r[eg])\.?[\s-]*{_NUMBER}",
    rf"(?:\w*rechnung(?:s|skorrektur)?|gutschrift|invoice|facture|factuur|factura|fattura)"
    rf"(?:\s*\([^)]*\)){{1,3}}[\s-]*{_NUMBER}",
    rf"\w*rechnungs?[\s-]*{_NUMBER}",
    rf"(?:(?<![a-z] )note|parcella|notula|ricevuta|minuta|recibo|recu|honorarnote|kostennote|quittung)[\s-]*{_NUMBER}",
    r"(?:invoice|facture|factuur) ref(?:erence)?",
    rf"(?:facture|factura|fattura|factuur) (?:de|di|voor) \w+ {_NUMBER}",
    rf"{_NUMBER}\.?\s*(?:de |d'|della |di |der |van )?(?:la |l')?(?:{INVOICE_WORDS}|documento)",
    rf"\w*rechnung (?:zur?|zum|fur|uber|des|der) (?:\w+ ){{1,3}}?(?:\([^)]*\) )?{_NUMBER}",
)
INVOICE_TITLE = _any(INVOICE_WORDS)

ISSUE_DATE = _any(
    r"(?:invoice|bill|billing|issue|issued|document|tax invoice)\s*date",
    r"date\s*(?:of\s*)?(?:issue|invoice|document)d?",
    r"(?:rechnungs|beleg|ausstellungs)[\s-]*datum",
    r"datum der rechnung",
    r"factuur\s*datum",
    r"datum factuur",
    r"date\s*(?:de\s*)?(?:la\s*)?(?:facture|facturation|d'emission|emission)",
    r"fecha\s*(?:de\s*)?(?:la\s*)?(?:factura|emision|expedicion)",
    r"data\s*(?:della\s*)?(?:fattura|emissione|documento)",
    r"(?:issued|dated)(?: on)?",
    r"(?:editee?|emise?|etablie?|faite?) le",
)
OTHER_DOCUMENT = _any(
    r"previous|preceding|referred|refers|related|against|corrects|original(?:e|es)?",
    r"rectifica|rettifica|corrige|sustituye|sur facture|zu(?:r)? rechnung|rif\.|bij factuur",
    r"ursprung\w*|bezug\w*|zugrunde\w*|korrigierte[nr]?",
    r"associee?s?|liee?s?|precedente?|d'origine|oorspronkelijke|anterior|rectificada|rettificata|collegata",
)
"""Of a label: it names an earlier document, not this one."""
ORDER = _any(
    r"order|purchase|contract|delivery|quote|(?:\w*bestell|auftrag|vertrag|liefer|angebot)\w*|commande|contrat|devis|"
    r"livraison|\w*bestelling|opdracht|offerte|levering|pedido|contrato|entrega|ordine|contratto|consegna"
)
"""What invoices are written for; each has a number and a date of its own."""
PLAIN_DATE = re.compile(r"^\W*(?:date|datum|fecha|data|dato)\W*(?:$|\d|[a-z]+,? )")
DATE_AFTER_NUMBER = re.compile(r"\b(?:vom|von|du|dated|of|del|van|d\.d\.|date)\s*$")
DUE_DATE = _any(
    r"(?:payment\s*)?due\s*(?:date|by|on)?",
    r"pay(?:ment|able)?\s*(?:by|before|until|deadline)",
    r"to reach us by",
    r"(?:remit|transfer|settle|pay)(?:ment)?\b[^.]{0,40}?\b(?:until|before|no later than|by)",
    r"fallig(?:keit|keitsdatum|keitstag)?(?:\s*(?:am|bis|zum))?",
    r"zahlbar[^.]{0,40}?\bbis(?:\s*zum)?",
    r"(?:spatestens|langstens) (?:am|bis)(?: zum)?|bis (?:spatestens|langstens)(?: zum| am)?",
    r"zahlungsziel|zahlungsfrist",
    r"(?:zahlbar|fallig)\s*(?:zum|am)",
    r"(?:reglement|paiement)\b[^.]{0,40}?(?:avant|au plus tard)(?: le)?",
    r"(?:zahl(?:en|ung)|uberweis(?:en|ung)|begleich(?:en|ung))\b[^.]{0,60}?\bbis(?: spatestens)?(?: zum| am)?",
    r"betrag\b[^.]{0,40}?\bwird (?:am|zum)",
    r"verval(?:datum|dag)",
    r"(?:uiterlijk|te)\s*(?:betalen|voldoen)\s*(?:voor|op|uiterlijk)",
    r"(?:uiterste\s*)?betaal(?:datum|termijn)|betalen voor|voldoen voor",
    r"(?:date\s*(?:d'|de\s*)?)?(?:limite de (?:paiement|reglement)|echeance)",
    r"(?:a payer|payable|a regler)[^.]{0,20}?(?:avant|au plus tard|jusqu'au|le)(?: le)?",
    r"(?:fecha\s*(?:de\s*)?)?(?:vencimiento|vence(?: el)?)|fecha limite(?: de pago)?|pagar antes del?",
    r"(?:data\s*(?:di\s*)?)?scad(?:enza|\.)|(?:da )?pagare entro(?: il)?|(?:pagamento )?entro(?: il)?",
)

GROSS_WORDS = _any(
    r"brutto\w*|bruta?|inkl\w*|incl\w*|including|ttc|gross|ivato|con iva|iva incluid[oa]|te betalen",
    r"due|payable|a payer|a pagar\w*",
)
"""With one of these, an amount has its tax in it, whatever else it is called."""
NET_WORDS = _any(
    r"netto\w*|exkl\w*|excl\w*|excluding|before (?:tax|vat)|ohne (?:ust|mwst)",
    r"(?:ex|zonder) btw|h(?:ors )?t\.?v\.?a|senza iva",
    r"(?:betrag|summe|gesamt|preise?|wert) zzgl|h\.?t|hors taxes?|sin iva",
    r"sub[\s-]?tot(?:al|aal|ale)?|sous-total|zwischensumme",
)
TOTAL = _any(
    r"(?:grand|gross|invoice|final|overall|bill)\s*(?:total|amount)",
    r"total\s*(?:amount)?\s*(?:due|payable|to pay)",
    r"total\s*(?:for )?(?:this )?(?:invoice|facture|factura)",
    r"(?:amount|balance)?\s*(?:due|payable)",
    r"(?:total|amount|price)?\s*inc(?:l|luding|lusive)?\.?\s*(?:of\s*)?(?:vat|tax|gst)",
    r"(?:rechnungs|gesamt|brutto|end|zahl|gesamtrechnungs)\s*(?:betrag|summe)(?: brutto)?",
    r"rechnungssumme brutto",
    r"(?:summe|gesamt|total|betrag) (?:brutto|inkl)",
    r"zu zahlen(?:der betrag)?",
    r"(?:total|montant|prix)\s*(?:eur\s*|general\s*)?ttc",
    r"(?:net|somme|total|montant|reste) a payer",
    r"total (?:facture|general)",
    r"(?:montant|total) (?:total )?brut|(?:montant|total|solde|reste) du",
    r"eindtotaal|(?:total |importe )?iva incluid[oa]",
    r"(?:factuur\s*)?totaal\s*(?:te betalen|incl\w*\.?(?: btw)?)",
    r"factuur\s*(?:totaal|bedrag)",
    r"(?:te betalen|totaalbedrag)(?: bedrag)?",
    r"(?:importe|total)\s*(?:total|a pagar|factura|con iva)",
    r"(?:totale)\s*(?:fattura|documento|da pagare|complessivo|dovuto|ivato)",
    r"netto a pagare|liquido a (?:percibir|pagar)",
    r"total (?:amount )?(?:credit(?:ed)?|refund(?:ed)?)(?: amount)?|(?:credit|refund) (?:total|amount)",
    r"pay this amount",
    r"gutschrifts?(?:betrag|summe)|erstattungsbetrag|(?:total|montant|net) (?:de l')?avoir",
    r"(?:total|importe) (?:a (?:abonar|devolver)|(?:del )?abono)|totale (?:nota di credito|accredito)",
    r"(?:totaal )?te crediteren|credit(?:nota|factuur)? ?(?:totaal|bedrag)",
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
    r"nettobetrag|bemessungsgrundlage|warenwert",
    r"(?:total|montant|sous-total)?\s*(?:eur\s*)?h\.?t\b\.?|(?:montant|total) (?:total )?net",
    r"(?:totaal\s*)?ex(?:cl|clusief)\w*\.?\s*(?:btw)?",
    r"h(?:ors )?t\.?v\.?a",
    r"grondslag",
    r"base\s*imponible|importe neto|imponibile|totale netto|sous-total",
)
NET_TOTAL = _any(r"nett? ?total")
TAX_SUM = _any(
    r"(?:sous-total|sub[\s-]?tota?al|zwischensumme)(?: (?:de |der )?(?:la )?)?"
    r"(?:t\.?v\.?a|vat|tax|gst|mwst|ust|btw|i\.?v\.?a)\.?"
)
"""A subtotal of taxes."""
TAX = _any(
    r"(?:sales\s*)?(?:tax|taxes|vat|gst|hst|pst|tps|tvq|tvh|cst|sgst|cgst|igst)",
    r"(?:mwst|ust|umsatzsteuer|mehrwertsteuer|steuer)(?:[\s.-]*(?:betrag|summe))?",
    r"\w*steuer(?:betrag)?",
    r"(?:montant\s*)?t\.?v\.?a\.?|taxes? sur la valeur ajoutee",
    r"btw(?:[\s-]*bedrag)?",
    r"(?:cuota\s*)?i\.?v\.?a\.?|impost[ae]|impuestos?",
)
ADJUSTMENT = _any(
    r"shipping|freight|delivery|postage|handling|carriage|insurance|surcharge|deposit|tip",
    r"serv(?:ice)?\.? ?ch(?:ar|r)?ge?s?",
    r"versand\w*|porto|fracht\w*|transport\w*|lieferkosten|aufschlag|zuschlag\w*",
    r"frais(?: de)?(?: port| livraison)?|livraison|verzend\w*|gastos de envio|portes",
    r"spese(?: di)? (?:trasporto|spedizione)",
    r"discount|rebate|\w*rabatt\w*|\w*nachlass|abschlag\w*|skonto|remise|korting|descuento|sconto",
    r"(?<!total )credits?(?! (?:total|amount|sum|note|memo))",
    r"withholding(?: tax)?|(?:bau)?abzugs?steuer|inhouding",
    r"i\.?r\.?p\.?f|retencion(?:es)?|ritenut[ae]|retenue a la source",
    r"rounding|rundung\w*|arrondi|afronding|redondeo|arrotondamento",
)
_PAID = (
    r"(?:amount |already |total )?(?:paid|prepaid|received)|payments?(?: received)?|advance",
    r"(?:bereits )?(?:bezahlt|gezahlt)|anzahlung\w*|erhaltene\w*|offener? betrag|offene",
    r"acompte|deja (?:paye|regle)|voldaan|betaald|ontvangen|anticipo|pagado|acconto|pagato|balance",
)
PAID = _any(*_PAID)
"""What was paid before."""
NOT_A_SUM = _any(*_PAID, r"basis(?:betrag)?|per\w*|rate|ratio|after (?:the )?(?:cash )?discount")
_TENDER = (
    r"cash|change|tender(?:ed)?|visa|master ?card|maestro|amex|edc|(?:credit|debit|bank) ?card|"
    r"bar(?:geld|zahlung)?|gegeben|ruckgeld|wechselgeld|(?:ec|giro)[\s-]?(?:karte|card)|especes|rendu|"
    r"carte (?:bancaire|bleue)|contant|wisselgeld|efectivo|contant[ei]"
)
TENDERED = re.compile(
    rf"^\W*(?:{_TENDER})(?:\W+(?:{_TENDER}|due|given|back|amt|amount|paid|payment|received|"
    r"returned|rm|myr|eur|usd|gbp|chf|sgd))*\W*$"
)
"""What was handed over at a till, and what came back."""
CHANGE = re.compile(r"^\W*(?:(?:cash )?change|ruckgeld|wechselgeld|rendu|wisselgeld)(?![a-z])")
"""What came back at a till."""
ROUNDING = _any(r"ro?und(?:ing|ed)?(?= ?(?:adj|diff|$|\W))\w*|rundung\w*|arrondi|afronding|redondeo|arrotondamento")
ZERO_RATED = re.compile(r"(?<![\d.,])0(?:[.,]0+)?\s?%")

SELLER = _party(
    r"sold by|seller|vendor|supplier|from|issued by|service provider",
    r"verkaufer|lieferant|rechnungs(?:steller|ersteller|aussteller)|aussteller|leistungserbringer|venduto da",
    r"fournisseur|vendeur|emetteur|prestataire",
    r"leverancier|verkoper",
    r"(?:datos del )?(?:proveedor|vendedor|emisor)|fornitore|cedente|mittente",
)
PAYEE = _party(
    r"payable to|payee|remit to|account (?:name|holder)|in favou?r of|beneficiary|kontoinhaber|zahlungsempfanger",
    r"titulaire du compte|beneficiaire|ten name van|t\.?n\.?v\.?|titular(?: de la cuenta)?|beneficiario|intestatario",
)
"""Who is paid: mostly the seller, but also its owner, its bank or a factor."""
BUYER = _party(
    r"bill(?:ed|ing)?[\s-]*(?:to|address)(?:\s*address)?|invoice(?:d)?[\s-]*to|sold[\s-]*to",
    r"ship(?:ped|ping)?[\s-]*(?:to|address)|deliver(?:y|ed)?[\s-]*(?:to|address)|customer",
    r"client|buyer|purchaser|consignee|recipient|attn",
    r"(?:rechnungs|waren|leistungs)\s*(?:empfanger|adresse|anschrift)|rechnung an|an(?=\s*:)|kunde|kaufer|auftraggeber",
    r"liefer(?:adresse|anschrift)|versand an",
    r"(?:votre )?adresse (?:du |de )?client|contact acheteur|(?:facture|livre|adresse)e? a|a l'attention de",
    r"(?:adresse de )?(?:facturation|livraison)|destinataire|acheteur|client(?:e)?|abonne",
    r"klant|factuur\s*adres|aflever\s*adres|koper|bestemd voor|(?:gefactureerd )?aan|t\.?a\.?v\.?",
    r"cliente|factura(?:r|do) a|fatturato a|intestato a|datos del cliente|destinatario",
    r"cessionario(?:\s*/\s*committente)?|committente|spett(?:\.le|abile)?|comprador|to",
)
THIRD_PARTY = _party(
    r"represent[ae]nte? fiscal|(?:fiscal|tax) representative|(?:steuer|fiskal)vertreter|fiscaal vertegenwoordiger",
    r"rappresentante fiscale",
)
YOURS = _any(
    r"your|ihre?[nrms]?|uw|votre|vos|(?<!bonifico )su|vuestro|vostr[oa]|customer'?s?|client|cliente|acheteur",
    r"kunden?|empfangers?|klant|buyer'?s?|debit\w*",
)
"""Before an identifier: it belongs to the reader of the invoice, not to its sender."""

REGISTRATION = _any(
    r"registered|co(?:mpany)?[ .-]{1,2}(?:no|number|reg\w*)|(?:vat|gst|sst) (?:reg\w*|no|id|number)|gstin",
    r"hrb|hra|amtsgericht|handelsregister|geschaftsfuhr\w*|ust\W{0,3}id\w*|kvk|k\.v\.k",
    r"siren|siret|rcs|capital|registro mercantil|rea|cap\. ?soc\w*|capitale sociale",
    r"(?:n[o°º]\.? ?)?tva(?: intra\w*)?|btw(?: ?-?nr)?|p\.? ?iva|partita iva|cif|nif|steuer\W?n(?:r|ummer)",
)
"""What a company says of itself beside its name and address."""
VAT_LABEL = _any(
    r"vat(?:\s*(?:reg\w*|id\w*|no|nr|number|#))*",
    r"u\.?\s?st\.?[\s.-]*id\w*(?:[\s.-]*(?:nr|nummer|no|ident\w*))*",
    r"umsatzsteuer[\s-]*(?:id\w*|identifikation\w*)[\s.-]*(?:nr|nummer)?|uid(?:[\s.-]*(?:nr|nummer))?|mwst[\s.-]*nr",
    r"(?:n[o°º]\s*(?:de\s*)?)?t\.?v\.?a\.?(?:\s*intra\s*communautaire|\s*intra\w*)?",
    r"btw(?:[\s.-]*(?:nr|nummer|id))?",
    r"p(?:artita|\.)?\s*i\.?v\.?a\.?|p\.\s?i\.|(?:c\.?i\.?f|n\.?i\.?f)\.?",
)
CURRENCY_LABEL = _any(
    r"(?:invoice |document )?currency|(?:rechnungs|beleg)?wahrung(?! der)|devise|valuta|munt(?:eenheid)?|moneda|divisa"
)
IBAN_LABEL = _any(r"iban(?:[\s.-]*(?:nr|no|number|nummer))?")

LINE_DESCRIPTION = _any(
    r"desc\w*|items?|produ[ck]ts?|produits?|productos?|prodott[oi]|servic(?:e|io)s?|servizio",
    r"article|artikel\w*|bezeichnung|beschreibung|leistung|designation|libelle",
    r"omschrijving|dienst|concepto|descripcion|descrizione|title|details?|particulars|prestation|denominazione|articulo",
)
LINE_QUANTITY = _any(
    r"qty|quantity|hours|stunden|uren|ore|menge|anzahl|stk|std|quantite|qte|nombre|aantal",
    r"hoeveelheid|cantidad|cant|quantita|q\.?ta|units?|unidades",
)
LINE_PRICE = _any(
    r"(?:unit\s*)?(?:price|cost|rate)|(?:einzel|netto|vk|e|stuck)?-?\s*preis|satz|p\.?u\.?|prix|tarif",
    r"(?:stuk)?prijs|tarief|precio|prezzo|tariffa",
)
LINE_AMOUNT = _any(
    r"(?:line\s*)?(?:amount|total)|betrag|gesamt\w*|\w*betrag|entgelt|nettowert|summe|montant|bedrag|totaal",
    r"importe|importo",
)
TABLE_END = _any(
    r"zahlungsbedingungen|zahlungsart|zu- und abschlage|(?:umsatz)?steuer\w*aufschlusselung|belegsummen",
    r"(?:payment|tax|vat) (?:terms|information|details|breakdown|summary|method)|total(?:s| summary)|notes?|remarks",
    r"(?:conditions|modalites|mode) de (?:paiement|reglement)|detail (?:de la )?tva|betalingsvoorwaarden|btw-overzicht",
    r"(?:condiciones|forma) de pago|desglose (?:de |del )?iva|(?:condizioni|modalita) di pagamento|riepilogo iva",
)
"""What stands over the part of an invoice that follows its lines."""
LINE_COLUMNS = (LINE_DESCRIPTION, LINE_QUANTITY, LINE_PRICE, LINE_AMOUNT)
