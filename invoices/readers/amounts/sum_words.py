"""Names of an invoice's sums in English, German, French, Dutch, Spanish and Italian; folded."""

import re

from docrail.invoices.languages.all import LABELS
from docrail.invoices.languages.language import Label
from docrail.invoices.readers.layout.vocabulary import any_of

GROSS_WORDS = any_of(
    r"brutto\w*|bruta?(?! h\.?t)|inkl\w*|incl\w*|including|ttc|tvac|gross|ivato|con iva|iva incluid[oa]|te betalen",
    r"due|payable|a payer|a pagar\w*|da (?:pagare|versare|saldare|rimborsare|accreditare)",
    r"(?:a|en|in|zu) (?:(?:suo?|vostro|vs\.?|votre|notre|ihren|unseren) )?(?:cre?dito?|favor[ei]?|faveur|gunsten)",
)
"""Words that mark an amount as including tax, whatever else it is called."""
NET_WORDS = any_of(
    r"netto\w*|exkl\w*|exc(?:l\w*)?|excluding|before (?:tax|vat)|ohne (?:ust|mwst)|vor steuern?",
    r"ex\.? (?:vat|gst|tax)|(?:less|without|net of) (?:vat|gst|tax)|(?:sans|base(?: de)?) tva|base iva",
    r"antes de (?:iva|impuestos)",
    r"(?:ex\.?|zonder) ?btw|esclus[ao]|escl\.?|h(?:ors )?t\.?v\.?a|senza iva",
    r"(?:betrag|summe|gesamt|preise?|wert) zzgl|h\.?t|hors taxes?|sin iva",
    r"sub[\s-]?tot(?:al|aal|ale)?|sous-total|zwischen(?:summe|total)|tussen(?:totaal|telling)",
    r"total (?:partiel|intermediaire)|totale parziale",
)
TOTAL = any_of(
    LABELS[Label.TOTAL],
    r"(?:grand|gross|invoice|final|overall|bill)\s*(?:total|amount)",
    r"total\s*(?:amount)?\s*(?:due|payable|to pay)|amount to pay|^\W*(?:to|you) pay(?=\W*$)|(?<!net )invoice value",
    r"total\s*(?:for )?(?:this )?(?:invoice|facture|factura)",
    r"(?:amount|balance)?\s*(?:due|payable)",
    r"total[ei]? (?:vat|gst|tax(?:es)?|tva|iva|impuestos|toutes taxes) (?:inc(?:l\w*)?|comprise?s?|compres[aei])",
    r"total[ei]? (?:after|with|con|avec) (?:vat|gst|tax(?:es)?|tva|iva|impuestos|imposte)",
    r"totaal (?:met btw|btw (?:incl\w*|inbegrepen))",
    r"(?:total|amount|price)?\s*inc(?:l|luding|lusive)?\.?\s*(?:of\s*)?(?:vat|tax|gst)",
    r"(?:rechnungs|gesamt|brutto|end|schluss|zahl(?:ungs)?|gesamtrechnungs|bruttorechnungs|rechnungsgesamt|total)"
    r"\s*(?:betrag|summe)(?: brutto)?|rechnungstotal|gesamtkosten",
    r"rechnungssumme brutto",
    r"(?:summe|gesamt|total|betrag) (?:brutto|inkl)",
    r"(?:total[ei]?|totaal|summe|gesamt\w*|\w*betrag|\w*bedrag|montant|prix|importe|importo|amount|price)\W[^.]{0,20}?"
    r"(?<![a-z])(?:incl|inkl|inklusive|inclusive|inclusief|including|inclus[ao]|incluid[ao]|ttc|"
    r"(?:with|mit|avec|con) (?:vat|tax|mwst|ust|tva|btw|iva))",
    r"inclusive total|\w*endbetrag|gesamtforderung|forderungsbetrag|falliger betrag|^\W*a (?:payer|pagar|regler)",
    r"montant (?:de la )?facture|eindbedrag|verschuldigd\w* bedrag|please pay|tvac",
    r"zu (?:be)?(?:zahlen|uberweisen|begleichen|erstatten)(?:der betrag)?|bitte uberweisen",
    r"gesamt(?:honorar|preis)|endsumme|total inkl",
    r"(?:total|montant|prix)\s*(?:eur\s*|general\s*)?(?:ttc|tvac|tvacp|t\.t\.c)",
    r"(?:net|somme|total|montant|reste|solde)(?: ttc| net)? a (?:payer|regler|verser|crediter|rembourser)",
    r"net (?:a deduire|du)|montant (?:credite|rembourse|preleve)|(?:net )?a votre credit",
    r"(?:net|somme|total|montant|solde) en (?:votre|notre) faveur",
    r"total (?:facture|general)",
    r"(?:montant|total) (?:total )?brut|(?:montant|total|solde|reste) du",
    r"eindtotaal|totaalprijs|(?:total |importe )?iva incluid[oa]",
    r"(?:factuur\s*)?totaal\s*(?:te betalen|incl\w*\.?(?: btw)?)",
    r"factuur\s*(?:totaal|bedrag)",
    r"(?:te (?:betalen|voldoen|storten)|over te maken|totaalbedrag)(?: bedrag)?(?! btw)|(?:nota|declaratie)\s*bedrag",
    r"(?:importe|total)\s*(?:total|(?:de la )?factura|con iva)|(?:importe )?pendiente(?: de pago)?",
    r"(?:totale|importo|tot\.)\s*(?:fatt(?:ura|\.)|documento|complessivo|dovuto|ivato|generale|bolletta|parcella|nota)",
    r"total (?:importe )?(?:factura|general)|importo totale|importe liquido",
    r"(?:neto|liquido|total|importe|saldo) a (?:percibir|pagar|cobrar|transferir|abonar|devolver|reembolsar|su favor)",
    r"(?:(?:netto|totale|importo|saldo) |^\W*)(?:da|a) (?:pagare|versare|saldare|rimborsare|accreditare)",
    r"(?:(?:netto|totale|importo|saldo) |^\W*)a (?:(?:suo|vostro|nostro|vs\.?) )?(?:credito|favore)|^\W*a su favor",
    r"(?:total|amount) (?:(?:value|amount) )?(?:(?:to be|to|of|this) )*(?:credit|refund)(?:ed)?(?: amount)?",
    r"(?<!net )(?:credit|refund) (?:total|amount|value)|(?:amount|total|balance) in your favou?r",
    r"pay this amount",
    r"gutschrifts?(?:betrag|summe)|gesamtgutschrift|gutgeschriebener betrag|(?:ruck)?erstattung(?:sbetrag)?",
    r"(?:auszahlungs|storno)betrag|(?:betrag |total |^\W*)zu (?:ihren|unseren) gunsten",
    r"(?:total|montant|net) (?:de l')?avoir",
    r"(?:total|importe) (?:(?:del )?abono|abonado|reembolsado)|totale accredito|importo (?:rimborsato|accreditato)",
    r"(?:totaal )?(?<!btw )te crediteren|(?:totaal |gecrediteerd )credit|credit(?:nota|factuur)? ?(?:totaal|bedrag)",
    r"gecrediteerd bedrag|terug te (?:betalen|ontvangen)|u ontvangt(?: terug)?|terugbetaling|te restitueren",
    r"(?:saldo |totaal |^\W*)in uw voordeel",
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
    r"^\W*(?:sum|gross|lordo)(?=\W*$)",
)
NET = any_of(
    LABELS[Label.NET],
    r"sub[\s-]?tot(?:al|aal|ale)?",
    r"net(?:t?o)?\s*(?:total|amount|value|price|betrag|summe|bedrag|wert)?",
    r"(?:total|amount|price)\s*(?:excl|excluding|before|without|ex)\.?\s*(?:vat|tax|gst)?",
    r"(?:taxable|vatable) (?:amount|value|total)|goods value|value of (?:goods|supplies|services)",
    r"(?:zwischen|netto|positions)\s*summe|summe (?:der )?positionen|gesamtpreis netto",
    r"(?:gesamt|waren|steuerbasis)\s*(?:betrag|wert)?\s*netto",
    r"(?:summe|gesamt|rechnungssumme|gesamtbetrag|betrag)\s*(?:netto|ohne|exkl|excl|zzgl)\w*\.?(?: ust| mwst)?",
    r"nettobetrag|bemessungsgrundlage|warenwert|importe bruto",
    r"(?:total|montant|sous-total)?\s*(?:eur\s*)?h\.?t\b\.?|(?:montant|total) (?:total )?net",
    r"(?:totaal\s*)?ex(?:cl|clusief)\w*\.?\s*(?:btw)?",
    r"h(?:ors )?t\.?v\.?a",
    r"grondslag|maatstaf(?: van heffing)?|belastbaar(?: bedrag)?|net goods|steuer(?:pflichtiger|barer) betrag",
    r"goederen(?:waarde|bedrag)|totaal goederen|(?:base|montant) (?:imposable|taxable)|base d'imposition",
    r"(?:goods|merchandise)(?: total|(?=\W*$))",
    r"(?:base|suma)(?=\W*$)|base imp\.?|total net?o|suma neta|total bases?",
    r"bases?\s*(?:imponibles?|gravable|liquidable|sujeta)|b\. imponible|base ht(?:va)?|importe neto|sous-total",
    r"(?<!su )imponib(?:ile|\.)|totale (?:netto|merc[ei]|beni|righe|prestazioni|servizi|competenze|onorari|compensi)",
)
NET_TOTAL = any_of(r"nett? ?total")
INSIDE = any_of(
    r"incl\w*|davon|darin|enthalten\w*|dont|compris\w*|waarvan|di cui|compres[ao]|incluid[oa]s?|inklusive|therein"
)
"""Words that mark a tax as included in the total."""
TAX_SUM = any_of(
    r"(?:sous-total|sub[\s-]?tota?al|zwischensumme)(?: (?:de |der )?(?:la )?)?"
    r"(?:t\.?v\.?a|vat|tax|gst|mwst|ust|btw|i\.?v\.?a)\.?"
)
"""A subtotal of taxes."""
TAX = any_of(
    LABELS[Label.TAX],
    r"(?:sales\s*)?(?:tax|taxes|vat|gst|hst|pst|qst|rst|tps|tvq|tvh|cst|sgst|cgst|igst|sst)",
    r"(?:mwst|ust|umsatzsteuer|mehrwertsteuer|steuer)(?:[\s.-]*(?:betrag|summe))?",
    r"\w*steuern?(?:betrag)?",
    r"taxe|cuotas?(?=\W*$)|cuota repercutida|(?:montant\s*)?t\.?v\.?a\.?|taxes? sur la valeur ajoutee",
    r"b\.?t\.?w\.?(?:[\s-]*bedrag)?|omzetbelasting",
    r"(?:cuota\s*)?(?:i\.?v\.?a\.?|igic|ipsi)|impost[ae]|impuestos?",
)
TURNOVER_TAX = any_of(r"vat|gst|hst|sales tax|mwst|ust|umsatzsteuer|mehrwertsteuer|t\.?v\.?a|b\.?t\.?w|i\.?v\.?a|igic")
"""Taxes on the whole invoice. Other taxes, on electricity or for guests, may be line items."""
ADJUSTMENT = any_of(
    r"shipping|freight|delivery|postage|handling|carriage|insurance|surcharge|deposit|tip",
    r"serv(?:ice)?\.? ?ch(?:ar|r)?ge?s?",
    r"p ?& ?p|verpackung\w*|port(?=\W*$)|envio|trasporto|escompte",
    r"versand\w*|porto(?:kosten)?|fracht\w*|transport\w*|lieferkosten|aufschlag|zuschlag\w*",
    r"frais(?: de)?(?: port| livraison)?|livraison|verzend\w*|gastos de envio|portes",
    r"spese(?: di)? (?:trasporto|spedizione)",
    r"discount|rebate|\w*rabatt\w*|\w*nachlass|abschlag\w*|skonto|remise|\w*korting|descuento|dto|sconto",
    r"(?<!total )(?<!totaal )(?<!net )(?<!nett )(?<!netto )(?<!vat )(?<!tax )(?<!o[fn] )(?<!this )"
    r"credits?(?! (?:total|amount|sum|value|note|memo|nett?|excl?|before)(?![a-z]))",
    r"withholding(?: tax)?|(?:bau)?abzugs?steuer|inhouding",
    r"i\.?r\.?p\.?f|retencion(?:es)?|ritenut[ae]|retenue a la source",
    r"rounding|rundung\w*|arrondi|afronding|redondeo|arrotondamento",
    r"(?:city|tourist|tourism|visitors?'?|bed)[ -]?(?:tax|levy)",
    r"(?:kur|orts|gaste|betten|tourismus)(?:taxe|abgabe|steuer)",
    r"beherbergungs(?:steuer|abgabe)|citytax|taxe de sejour|(?:toeristen|verblijfs)belasting",
    r"(?:tasa|impuesto) turistic[oa]|(?:imposta|tassa) di soggiorno",
    r"disbursements?|auslagen|durchlaufende posten|debours|suplidos?|anticipazion[ei]|verschotten",
    r"pfand|leergut|consignes?|leeggoed|statiegeld|emballage|vuoti|cauzion[ei]|envases",
    r"(?:importes?|conceptos) (?:no sujetos?|exentos?)|non soumis|hors champ|fuori campo|outside (?:the )?scope",
    r"nicht steuerbar\w*|steuerfrei\w*",
)
_PAID = (
    r"(?:amount |already |total )?(?:paid|prepaid|received)|payments?(?: received)?|advance",
    r"(?:bereits )?(?:bezahlt|gezahlt)|anzahlung\w*|erhaltene\w*|offener? betrag|offene",
    r"aanbetaling|(?<!totaal )voorschot\w*(?=\W*$|\W+verrekend)",
    r"acompte|deja (?:paye|regle)|voldaan|betaald|ontvangen|anticipo|pagado|acconto|pagato|balance",
)
PAID = any_of(*_PAID)
"""Amounts paid earlier."""
PREPAID = any_of(
    *_PAID,
    r"deposits?|retainer|part[\s-]?payments?|vorauszahlung\w*|abschlag\w*|abschlage|arrhes|senal|caparra|"
    r"vooruitbetaling\w*|entrega a cuenta|pagos? a cuenta|versements?",
)
"""Amounts between a total and the remainder to pay."""
NOT_A_SUM = any_of(*_PAID, r"basis(?:betrag)?|per\w*|rate|ratio|after (?:the )?(?:cash )?discount")
CASH_DISCOUNT = re.compile(
    r"(?<!pas d')(?<!sans )(?<!aucun )(?<!ohne )(?<!kein )(?<!keinen )(?<!without )(?<!no )(?<!zonder )(?<!geen )"
    r"(?<!sin )(?<!senza )\b(?:skonto\w*|escompte|(?:cash|early|prompt|settlement) (?:payment )?discount|pronto pago|"
    r"(?:betalings|contant)korting|kredietbeperking|sconto (?:cassa|per pagamento)|discount for (?:early|prompt|cash))"
    r"(?![a-z]|\D{0,12}0[.,]00(?!\d))"
)
"""In a sentence: the amounts after it apply to early payment."""
OTHERWISE = re.compile(
    r"\. |[;:]|\b(?:sonst|danach|ansonsten|otherwise|thereafter|after that|sinon|passe ce delai|anders|daarna|"
    r"altrimenti|en otro caso|de lo contrario|oltre)(?![a-z])"
)
"""In the same sentence: the amounts after it apply to later payment."""
_TENDER = (
    r"cash|change|tender(?:ed)?|visa|master ?card|maestro|amex|edc|(?:credit|debit|bank) ?card|"
    r"bar(?:geld|zahlung)?|gegeben|ruckgeld|wechselgeld|(?:ec|giro)[\s-]?(?:karte|card)|especes|rendu|"
    r"carte (?:bancaire|bleue)|contant|wisselgeld|efectivo|contant[ei]"
)
TENDERED = re.compile(
    rf"^\W*(?:{_TENDER})(?:\W+(?:{_TENDER}|due|given|back|amt|amount|paid|payment|received|"
    r"returned|rm|myr|eur|usd|gbp|chf|sgd))*\W*$"
)
"""Amounts handed over at a till, and the change."""
CHANGE = re.compile(r"^\W*(?:(?:cash )?change|ruckgeld|wechselgeld|rendu|wisselgeld)(?![a-z])")
"""The change returned at a till."""
ROUNDING = any_of(r"ro?und(?:ing|ed)?(?= ?(?:adj|diff|$|\W))\w*|rundung\w*|arrondi|afronding|redondeo|arrotondamento")
ZERO_RATED = re.compile(r"(?<![\d.,])0(?:[.,]0+)?\s?%")
