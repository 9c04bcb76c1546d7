"""What the sums of an invoice are called, in English, German, French, Dutch, Spanish and Italian; folded."""

import re

from invoices.readers.vocabulary import any_of

GROSS_WORDS = any_of(
    r"brutto\w*|bruta?|inkl\w*|incl\w*|including|ttc|tvac|gross|ivato|con iva|iva incluid[oa]|te betalen",
    r"due|payable|a payer|a pagar\w*",
)
"""With one of these, an amount has its tax in it, whatever else it is called."""
NET_WORDS = any_of(
    r"netto\w*|exkl\w*|excl\w*|excluding|before (?:tax|vat)|ohne (?:ust|mwst)",
    r"(?:ex\.?|zonder) ?btw|esclus[ao]|escl\.?|h(?:ors )?t\.?v\.?a|senza iva",
    r"(?:betrag|summe|gesamt|preise?|wert) zzgl|h\.?t|hors taxes?|sin iva",
    r"sub[\s-]?tot(?:al|aal|ale)?|sous-total|zwischen(?:summe|total)",
)
TOTAL = any_of(
    r"(?:grand|gross|invoice|final|overall|bill)\s*(?:total|amount)",
    r"total\s*(?:amount)?\s*(?:due|payable|to pay)",
    r"total\s*(?:for )?(?:this )?(?:invoice|facture|factura)",
    r"(?:amount|balance)?\s*(?:due|payable)",
    r"(?:total|amount|price)?\s*inc(?:l|luding|lusive)?\.?\s*(?:of\s*)?(?:vat|tax|gst)",
    r"(?:rechnungs|gesamt|brutto|end|zahl|gesamtrechnungs)\s*(?:betrag|summe)(?: brutto)?",
    r"rechnungssumme brutto",
    r"(?:summe|gesamt|total|betrag) (?:brutto|inkl)",
    r"(?:total[ei]?|totaal|summe|gesamt\w*|\w*betrag|\w*bedrag|montant|prix|importe|importo|amount|price)\W[^.]{0,20}?"
    r"(?<![a-z])(?:incl|inkl|inklusive|inclusive|inclusief|including|inclus[ao]|incluid[ao]|ttc|"
    r"(?:with|mit|avec|con) (?:vat|tax|mwst|ust|tva|btw|iva))",
    r"inclusive total|\w*endbetrag|gesamtforderung|forderungsbetrag|falliger betrag|^\W*a (?:payer|pagar|regler)",
    r"montant (?:de la )?facture|eindbedrag|verschuldigd\w* bedrag|please pay|tvac",
    r"zu (?:zahlen|uberweisen|begleichen)(?:der betrag)?|gesamt(?:honorar|preis)|endsumme|total inkl",
    r"(?:total|montant|prix)\s*(?:eur\s*|general\s*)?(?:ttc|tvac|tvacp|t\.t\.c)",
    r"(?:net|somme|total|montant|reste)(?: ttc| net)? a (?:payer|regler|verser)",
    r"total (?:facture|general)",
    r"(?:montant|total) (?:total )?brut|(?:montant|total|solde|reste) du",
    r"eindtotaal|(?:total |importe )?iva incluid[oa]",
    r"(?:factuur\s*)?totaal\s*(?:te betalen|incl\w*\.?(?: btw)?)",
    r"factuur\s*(?:totaal|bedrag)",
    r"(?:te (?:betalen|voldoen)|totaalbedrag)(?: bedrag)?|nota\s*bedrag",
    r"(?:importe|total)\s*(?:total|a pagar|factura|con iva)",
    r"(?:totale)\s*(?:fattura|documento|(?:da|a) pagare|complessivo|dovuto|ivato|generale|bolletta|parcella|nota)",
    r"total (?:importe )?(?:factura|general)|importo (?:totale|da pagare)",
    r"netto a pagare|(?:liquido|total|importe) a (?:percibir|pagar)",
    r"total (?:amount )?(?:credit(?:ed)?|refund(?:ed)?)(?: amount)?|(?:credit|refund) (?:total|amount)",
    r"pay this amount",
    r"gutschrifts?(?:betrag|summe)|erstattungsbetrag|(?:total|montant|net) (?:de l')?avoir",
    r"(?:total|importe) (?:a (?:abonar|devolver)|(?:del )?abono)|totale (?:nota di credito|accredito)",
    r"(?:totaal )?te crediteren|credit(?:nota|factuur)? ?(?:totaal|bedrag)",
)
PLAIN_TOTAL = any_of(
    "totals?",
    "totaux",
    "total(?:en|es|i|e)",
    "totaal",
    "gesamt",
    "summe",
    "insgesamt",
    r"zusammen(?=\W*$)",
    "brutto",
    "ttc",
    "endbetrag",
)
NET = any_of(
    r"sub[\s-]?tot(?:al|aal|ale)?",
    r"net(?:t?o)?\s*(?:total|amount|value|price|betrag|summe|bedrag|wert)?",
    r"(?:total|amount|price)\s*(?:excl|excluding|before|without|ex)\.?\s*(?:vat|tax|gst)?",
    r"taxable (?:amount|value)",
    r"(?:zwischen|netto|positions)\s*summe|summe positionen|gesamtpreis netto",
    r"(?:gesamt|waren|steuerbasis)\s*(?:betrag|wert)?\s*netto",
    r"(?:summe|gesamt|rechnungssumme|gesamtbetrag|betrag)\s*(?:netto|ohne|exkl|excl|zzgl)\w*\.?(?: ust| mwst)?",
    r"nettobetrag|bemessungsgrundlage|warenwert",
    r"(?:total|montant|sous-total)?\s*(?:eur\s*)?h\.?t\b\.?|(?:montant|total) (?:total )?net",
    r"(?:totaal\s*)?ex(?:cl|clusief)\w*\.?\s*(?:btw)?",
    r"h(?:ors )?t\.?v\.?a",
    r"grondslag|maatstaf van heffing|belastbaar bedrag|net goods|steuerpflichtiger betrag",
    r"(?:goods|merchandise)(?: total|(?=\W*$))",
    r"(?:base|suma)(?=\W*$)|base imp\.?|total net?o",
    r"base\s*imponible|b\. imponible|base ht(?:va)?|importe neto|imponibile|totale (?:netto|merce)|sous-total",
)
NET_TOTAL = any_of(r"nett? ?total")
INSIDE = any_of(
    r"incl\w*|davon|darin|enthalten\w*|dont|compris\w*|waarvan|di cui|compres[ao]|incluid[oa]s?|inklusive|therein"
)
"""Of a tax: it is a part of the total."""
TAX_SUM = any_of(
    r"(?:sous-total|sub[\s-]?tota?al|zwischensumme)(?: (?:de |der )?(?:la )?)?"
    r"(?:t\.?v\.?a|vat|tax|gst|mwst|ust|btw|i\.?v\.?a)\.?"
)
"""A subtotal of taxes."""
TAX = any_of(
    r"(?:sales\s*)?(?:tax|taxes|vat|gst|hst|pst|qst|rst|tps|tvq|tvh|cst|sgst|cgst|igst|sst)",
    r"(?:mwst|ust|umsatzsteuer|mehrwertsteuer|steuer)(?:[\s.-]*(?:betrag|summe))?",
    r"\w*steuer(?:betrag)?",
    r"taxe|cuota(?=\W*$)|(?:montant\s*)?t\.?v\.?a\.?|taxes? sur la valeur ajoutee",
    r"btw(?:[\s-]*bedrag)?|omzetbelasting",
    r"(?:cuota\s*)?i\.?v\.?a\.?|impost[ae]|impuestos?",
)
ADJUSTMENT = any_of(
    r"shipping|freight|delivery|postage|handling|carriage|insurance|surcharge|deposit|tip",
    r"serv(?:ice)?\.? ?ch(?:ar|r)?ge?s?",
    r"p ?& ?p|verpackung\w*|port(?=\W*$)|envio|trasporto|escompte",
    r"versand\w*|porto(?:kosten)?|fracht\w*|transport\w*|lieferkosten|aufschlag|zuschlag\w*",
    r"frais(?: de)?(?: port| livraison)?|livraison|verzend\w*|gastos de envio|portes",
    r"spese(?: di)? (?:trasporto|spedizione)",
    r"discount|rebate|\w*rabatt\w*|\w*nachlass|abschlag\w*|skonto|remise|korting|descuento|dto|sconto",
    r"(?<!total )credits?(?! (?:total|amount|sum|note|memo))",
    r"withholding(?: tax)?|(?:bau)?abzugs?steuer|inhouding",
    r"i\.?r\.?p\.?f|retencion(?:es)?|ritenut[ae]|retenue a la source",
    r"rounding|rundung\w*|arrondi|afronding|redondeo|arrotondamento",
)
_PAID = (
    r"(?:amount |already |total )?(?:paid|prepaid|received)|payments?(?: received)?|advance",
    r"(?:bereits )?(?:bezahlt|gezahlt)|anzahlung\w*|erhaltene\w*|offener? betrag|offene",
    r"aanbetaling|(?<!totaal )voorschot\w*(?=\W*$|\W+verrekend)",
    r"acompte|deja (?:paye|regle)|voldaan|betaald|ontvangen|anticipo|pagado|acconto|pagato|balance",
)
PAID = any_of(*_PAID)
"""What was paid before."""
NOT_A_SUM = any_of(
    *_PAID, r"basis(?:betrag)?|per\w*|rate|ratio|after (?:the )?(?:cash )?discount|fuori campo|hors champ"
)
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
ROUNDING = any_of(r"ro?und(?:ing|ed)?(?= ?(?:adj|diff|$|\W))\w*|rundung\w*|arrondi|afronding|redondeo|arrotondamento")
ZERO_RATED = re.compile(r"(?<![\d.,])0(?:[.,]0+)?\s?%")
