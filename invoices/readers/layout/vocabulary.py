"""Vocabulary of invoice labels in English, German, French, Dutch, Spanish and Italian; folded.

It contains only words. The modules that use them decide where a label may be and what may follow it.
"""

import re

from docrail.invoices.languages.all import LABELS, LANGUAGES
from docrail.invoices.languages.language import Label

_NUMBER = r"(?:numbers?|numero|num|nummer|nro?|no|id|n\.?[o°º]|n\.|#|№)"


def any_of(*alternatives: str) -> re.Pattern[str]:
    """Match any of the alternatives as whole words; a sign for `number` may touch what follows: `n°F-26`."""
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(alternatives) + r")(?:(?![a-z])|(?<=[°º#№]))")


def _party(*alternatives: str) -> re.Pattern[str]:
    """Match like `any_of`, but not the first half of a compound: `Seller-IBAN` does not name the seller."""
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(alternatives) + r")(?![a-z]|-[a-z])")


INVOICE_WORDS = "|".join(title for language in LANGUAGES for title in language.titles)
INVOICES = re.compile(
    r"(?:rechnung(?:en)?|invoices?|factu(?:re|ra|ur)s?|facturen|fattur[ae]|faktur[ay]|fatura|danovy doklad)(?![a-z])"
)
"""Words for the document itself, including compounds; a text with one is not a company name."""
BARE_NUMBER = re.compile(rf"^\W*{_NUMBER}(?:\s*/\s*{_NUMBER})?(?![a-z])")
"""A number label without a noun: the title next to it or above it says what is numbered."""
INVOICE_NUMBER = any_of(
    LABELS[Label.NUMBER],
    rf"(?:{INVOICE_WORDS}|inv|bill|receipt|voucher|statement|beleg|dokument|doc|documento?|(?:credit)?nota|credit|cn|"
    r"declaratie|fakt(?:u+r)?[ay]?|bolletta|abono|fra|fact|fatt|ft|rechn?|memo|korrektur|gutschrifts|r[eg]|"
    r"factura rectificativa)"
    rf"\.?[\s-]*{_NUMBER}",
    rf"(?:\w*rechnung(?:s|skorrektur)?|gutschrift|invoice|facture|factuur|factura|fattura)"
    rf"(?:\s*\([^)]*\)){{1,3}}[\s-]*{_NUMBER}",
    rf"\w*rechnungs?[\s-]*{_NUMBER}",
    rf"(?:(?<![a-z] )note|ricevuta(?: fiscale)?|minuta|recibo|recu|quittungs?|quittance|storno|nc)[\s-]*{_NUMBER}",
    rf"(?:debit note|note de debit|nota d[ie] (?:debito|cargo)|nota credito|adjustment note|piece|liquidation|"
    rf"application(?: for payment)?|certificacion|decompte|releve|afrekening)[\s-]*{_NUMBER}",
    rf"serie\s*[ey/-]\s*(?:{_NUMBER}|folio)",
    r"(?:invoice|facture|factuur|bill) ref(?:erence)?|ref(?:erence|\.)? (?:de )?(?:la )?(?:facture|factura)",
    rf"(?:facture|factura|fattura|factuur) (?:(?:de|di|voor) |d')?(?!client|klant)\w+ {_NUMBER}",
    rf"{_NUMBER}\.?\s*(?:de |d'|della |di |der |van )?(?:la |l')?"
    rf"(?:{INVOICE_WORDS}|(?<!id )doc(?:umento?)?|fra|fact|fatt|piece|abono|recibo)",
    rf"\w*rechnung (?:zur?|zum|fur|uber|des|der) (?:\w+ ){{1,3}}?(?:\([^)]*\) )?{_NUMBER}",
)
DATED_NUMBER = any_of(
    rf"(?:rechnung|invoice|facture|factuur|factura|fattura) (?:vom|von|du|dated|of|van|d\.d\.|del|de fecha|de) "
    rf"\d[\w./-]*(?: (?:de )?[a-z]+\.?,?)?(?: (?:de )?\d{{4}})?\W{{1,4}}{_NUMBER}",
)
"""A number after the date in a title, or in a mention of an earlier invoice."""
OTHER_PAPER = re.compile(
    r"statement|ft(?![a-z])|debit|.*debito?(?![a-z])|.*cargo|adjustment|liquidation|application|certificacion|"
    r"decompte|releve|afrekening|.*(?:docs?(?![a-z])|document|dokument|piece)"
)
"""Matches labels whose number may belong to another document than the invoice."""
CREDIT_NUMBER = re.compile(r"cn(?![a-z])|credit[\s.-]+n(?!ot)")
"""Matches labels of a credit note's number, if the document is one."""
INVOICE_TITLE = any_of(
    INVOICE_WORDS, r"nota(?=\W+[a-z]{1,4}[-./]?\d)|declaratie(?=\W+(?:[a-z]{1,4}[-./]?)?\d)|beleg(?=\W*$)"
)

ISSUE_DATE = any_of(
    LABELS[Label.ISSUE_DATE],
    r"(?:inv(?:oice|\.)|bill|billing|issue|issued|doc(?:ument|\.)|statement|credit(?: note)?|tax(?: invoice)?)\s*date",
    r"(?:credit )?memo date",
    r"date\s*(?:of\s*)?(?:issue|invoice|document|bill|billing)d?|(?:date\s*/\s*)?tax point(?: date)?",
    r"(?:rechnungs|rechn?\.?|r[eg]\.?|beleg|ausstellungs|erstell(?:ungs)?)[\s-]*datum",
    r"(?:dokument(?:en)?|gutschrifts?|faktura)[\s-]*datum",
    r"datum der (?:rechnung(?:sstellung)?|ausstellung)|ausgestellt am",
    r"(?:fa[ck]tuur|fact\.|nota|document|credit(?:nota|factuur)?|uitgifte)\s*datum",
    r"datum (?:van )?(?:factuur|nota|uitgifte)",
    r"date\s*(?:de\s*|du\s*)?(?:la\s*)?(?:facture|facturation|d'emission|emission|d'edition|document|(?:l')?avoir)",
    r"fecha\s*(?:del?\s*)?(?:la\s*)?(?:factura|fra|emision|expedicion|documento|abono)|f\. ?(?:factura|emision)",
    r"data\s*(?:della\s*|di\s*|del\s*)?(?:fattura|emissione|documento|doc|bolletta)|emess[ao] il",
    r"emitid[ao] el|(?:emitid[ao]|expedid[ao])(?: el)?(?=\W*\d)",
    r"(?:issued|dated|billed|invoiced)(?: on)?",
    r"(?:^\W*|(?:invoice|rechnung)\W+)(?:(?:submitted|raised)(?: on)?|erstellt am)",
    r"(?:editee?|emise?|etablie?|faite?) le|^\W*le\s*:(?=\s*\d)",
)
WEAK_DATE = re.compile(r"tax point|.*(?:submitted|raised|erstellt am)")
"""Matches weaker date labels: such invoices may have a separate issue date."""
OTHER_DOCUMENT = any_of(
    r"previous|preceding|referred|refers|related|against|corrects|original(?:e|es)?|orig\.",
    r"less|deducted|abzg?l\.|abzuglich|moins|a deduire",
    r"rectifica|rettifica|corrige|sustituye|sur facture|zu(?:r)? rechnung|rif\.|bij factuur",
    r"ursprung\w*|bezug\w*|zugrunde\w*|korrigierte[nr]?",
    r"associee?s?|liee?s?|precedente?|d'origine|oorspronkelijke|anterior|rectificada|rettificata|collegata",
)
"""Matches labels that refer to an earlier document."""
ORDER = any_of(
    r"order|purchase|contract|delivery|quote|(?:\w*bestell|auftrag|vertrag|liefer|angebot)\w*|commande|contrat|devis|"
    r"livraison|\w*bestelling|opdracht|offerte|levering|pedido|contrato|entrega|ordine|contratto|consegna"
)
"""Orders, contracts, deliveries and offers, which have numbers and dates of their own."""
_OF = r"(?:de la |de |du |d'|di |del |van )?"
ORDER_REFERENCE = re.compile(
    r"(?:^|(?<=\d)\s)\W*(?:"
    rf"(?:your |customer |buyer )?(?:purchase )?order[\s-]*(?:{_NUMBER}|ref(?:erence|\.)?)(?: {_NUMBER})?|"
    rf"(?:your |customer |reference )?p[./]? ?o(?!\.? ?box|\.?-(?!n[ou.]))\.?"
    rf"(?:[\s-]*(?:{_NUMBER}|ref(?:erence|\.)?)|(?=\s*(?:$|[:#]|[^\W\d_]*[-/]?\d)))|your order|"
    rf"(?:(?:rechnung )?(?:gema(?:ss|ß)|zu|laut|lt\.) )?(?:ihrer? )?bestell(?:ung)?s?[\s-]*{_NUMBER}|"
    r"(?:(?:rechnung )?(?:gema(?:ss|ß)|zu|laut|lt\.) )?ihrer? bestellung|ihr auftrag|"
    rf"(?:{_NUMBER} {_OF}|ref(?:erence|\.)? {_OF}|votre |vos )?(?:bons? de )?commande(?: client)?(?:[\s-]*{_NUMBER})?|"
    rf"(?:uw )?(?:inkoop)?(?:order|bestel)[\s-]*{_NUMBER}|uw (?:bestelling|order)|inkooporder|"
    rf"(?:{_NUMBER} {_OF}|ref(?:erencia|\.)? {_OF}|su )?pedido(?: cliente)?(?:[\s-]*{_NUMBER})?(?: ?/ ?po)?|"
    rf"(?:{_NUMBER} {_OF}|rif(?:erimento|\.)? {_OF}|vs\.? |vostro )?ordine(?: {_OF}(?:acquisto|cliente))?"
    rf"(?:[\s-]*{_NUMBER})?"
    r")(?:(?![a-z])|(?<=[°º#№]))"
)
"""Labels of the buyer's order number. An `Auftragsnummer` is usually the seller's, so it is not included."""
STAY = any_of(
    r"arrivals?|departures?|check[\s-]?(?:in|out)|anreise|ankunft|abreise|aankomst|vertrek|arrivee|depart|llegada|salida",
    r"entrada|arrivo|partenza|stay|sejour|aufenthalt|verblijf|estancia|soggiorno",
)
"""Labels of a guest's arrival or departure date."""
PLAIN_DATE = re.compile(r"^\W*(?:date|datum|fecha|data|dato)\W*(?:$|\d|[a-z]+,? )")
DATE_AFTER_NUMBER = re.compile(r"\b(?:vom|von|du|dated|of|(?<!antes )del|van|d\.d\.|date)\s*$")
_BEFORE_NL = r"(?:voor|tegen|tot(?: en met)?|uiterlijk(?: op)?|ten laatste(?: op)?)"
_INSIDE = r"(?:[^.]|(?<=\d)\.(?=\d\d(?!\d|\.\d))|(?<=\d)\.(?=\d{3}(?!\d))|\.(?=\.)|(?<=\.)\.)"
"""A character within a sentence. The full stop of an amount does not end it; that of a date does."""
DUE_DATE = any_of(
    LABELS[Label.DUE_DATE],
    r"(?:payment\s*)?due(?: for payment)?\s*(?:date|by|on|no later than)?",
    r"pay(?:ment|able)?\s*(?:by|(?:on or )?before|until|deadline|on(?= \d))",
    r"to be (?:paid|settled) (?:by|before|no later than)",
    r"(?:payment|invoice) (?:expiry|expiration) date|(?:latest|last) payment date|settlement date",
    r"(?:last date|deadline) for payment|to reach us by",
    rf"(?:remit|transfer|settle|pay)(?:ment)?\b{_INSIDE}{{0,40}}?\b(?:until|before|no later than|by)",
    rf"(?:balance|remainder)\b{_INSIDE}{{0,40}}?\b(?:no later than|at the latest (?:by|on)|by(?= \d))",
    rf"direct debit (?:date|on)|will (?:be )?(?:collect|take|debit|charge)\w*\b{_INSIDE}{{0,50}}?\bon(?: or \w+)?",
    r"(?:letzter )?zahltag|(?:letzter )?zahl(?:ungs)?t(?:ermin|ag)|netto bis|ohne abzug bis",
    r"fallig(?:keit|keitsdatum|keitstag|keitstermin)?(?:\s*(?:am|bis|zum))?",
    rf"zahlbar{_INSIDE}{{0,40}}?\bbis(?:\s*zum)?",
    r"(?:spatestens|langstens) (?:am|bis)(?: zum)?|bis (?:spatestens|langstens)(?: zum| am)?",
    r"zahlungsziel|zahlungsfrist|inner(?:t|halb)\b.{0,25}?\bbis(?: zum| spatestens)?",
    r"(?:zahlbar|fallig)\s*(?:zum|am)",
    rf"(?:zahl(?:en?|ung(?:seingang)?)|uberweis(?:en?|ung)|begleich(?:en?|ung)|ausgleich)\b{_INSIDE}{{0,80}}?"
    r"\bbis(?: spatestens)?(?: zum| am)?",
    rf"\w*(?:betrag|zahlung|forderung)\b{_INSIDE}{{0,40}}?\bwird (?:am|zum)",
    rf"(?:buchen|ziehen)\b{_INSIDE}{{0,60}}?\b(?:am|zum)",
    r"\w*betrag ist (?:spatestens )?(?:am|zum|bis(?: zum)?)(?=.{6,30}(?:fallig|zahlbar|zu [uzb]))",
    r"(?:abbuchung|lastschrift(?:einzug)?|einzug|bankeinzug) (?:am|zum)|valuta(?=\W*\d)",
    r"bis(?: zum)?(?= \d{1,2}\.\d{1,2}\.\d{2,4}\W{1,2}(?:rein )?(?:ohne|netto))",
    r"bis(?: zum)?(?= \d.{4,24}\b(?:zu )?(?:be)?(?:zahlen|uberweisen|begleichen))",
    r"verval(?:datum|dag|t(?: op)?(?=\W*(?:\d|$)))|incassodatum|afschrijfdatum",
    r"(?:uiterlijk|te)\s*(?:betalen|voldoen)\s*(?:voor|op|uiterlijk)|uiterlijk (?:te )?(?:betalen|voldoen)",
    rf"(?:te (?:betalen|voldoen)|betaalbaar) (?:op|{_BEFORE_NL})",
    r"(?:uiterste\s*)?betaal(?:datum|dag|termijn)|betalingstermijn|voldoen voor",
    rf"(?:beta(?:len|al|ling)|overma(?:ken|king)|storten)(?: graag)? {_BEFORE_NL}",
    rf"bedrag{_INSIDE}{{0,20}}? {_BEFORE_NL}(?= \d)|(?:^\W*|(?:dagen|betaling|betalen)\W+)"
    r"(?:uiterlijk|ten laatste)(?: op)?(?=\W*\d)",
    r"(?:voor|tegen|uiterlijk|ten laatste)(?: op)?(?= \d.{4,24}\b(?:te )?(?:betalen|voldoen|maken|storten))",
    rf"(?:saldo|restant)\b{_INSIDE}{{0,40}}? (?:uiterlijk|ten laatste)(?: op)?(?= \d)",
    r"wordt (?:op|rond|omstreeks)(?=.{6,40}(?:afgeschr|geincass))",
    rf"(?:incasso|incasseren|afschrijving|schrijven|domiciliering)\b{_INSIDE}{{0,40}}?\b(?:op|rond|omstreeks)(?= \d)",
    r"(?:date\s*(?:d'|de\s*)?)?(?:limite de (?:paiement|reglement)|exigibilite)",
    r"(?:date\s*(?:d'|de\s*)?)?echeances?(?: de (?:paiement|reglement))?",
    r"reglement (?:attendu )?(?:le|au)(?=\W*\d)|date\s*(?:d[eu]\s*)?(?:reglement|prelevement)",
    r"(?:virement|cheque|traite|lcr)(?: bancaire)? (?:au|le)(?= \d)",
    r"preleve(?:e|s|ment)?(?: automatique)? (?:le|au|a (?:partir|compter) du)(?=\W*(?:\d|$))",
    r"^\W*(?:avant|au plus tard) le",
    r"(?:a payer|payable|regler|paiement|reglement)\b[^.\d]{0,20}? pour le(?=\W*(?:\d|$))",
    r"(?:a payer|payable|a regler)\b[^.\d]{0,20}? (?:le|au)(?=\W*(?:\d|$))",
    rf"(?:payer|payable|regler|verser|acquitter|reglement|paiement|virement)\b{_INSIDE}{{0,40}}?"
    r"(?:avant|au plus tard|jusqu'au)(?: le)?",
    rf"(?:solde|reste|somme|montant|acompte)\b{_INSIDE}{{0,40}}?\bau plus tard(?: le)?",
    rf"(?:paiement|reglement|payable|virement|echeance|jours)\b{_INSIDE}{{0,40}}?\bsoit (?:le|au)(?=\W*(?:\d|$))",
    r"(?:due?s?|exigible|echoit|echeant) (?:le|au)(?=\W*(?:\d|$))",
    r"(?:fecha\s*(?:de\s*)?)?(?:vencimientos?|vto|vence(?: el)?)|(?:pagader[oa]|exigible|a pagar) el",
    rf"(?:pag[aou]\w*|abon(?:o|ar|en?)|transferencia)\b{_INSIDE}{{0,60}}?"
    r"\b(?:antes del?|hasta|a mas tardar|como maximo)(?: el)?",
    rf"(?:saldo|resto|restante|importe|pendiente)\b{_INSIDE}{{0,40}}?\b(?:a mas tardar|como maximo)(?: el)?",
    r"fecha (?:(?:limite|maxima|tope)(?: de pago)?|(?:de )?(?:cargo|cobro|adeudo))|plazo(?: de pago)?",
    r"(?:cargo|adeudo|cobro|domicilia(?:cion|do))(?: en (?:su )?cuenta)?(?:\W+el)?(?=\W+\d)",
    rf"(?:se (?:cargara|cobrara|adeudara)|sera (?:cargad|cobrad|adeudad)[oa])\b{_INSIDE}{{0,50}}? el(?: dia)?",
    r"^\W*(?:a mas tardar|como maximo)(?: el)?",
    r"(?:data\s*(?:di\s*)?)?scad(?:enz[ae](?: (?:del )?pagamento)?|e(?: il)?|\.)|data (?:di )?addebito",
    r"(?:(?:da )?pagare |pagamento )?entro(?: e non oltre)?(?: il)?",
    r"termine(?: ultimo)?(?: (?:di|del|per il) pagamento)?",
    r"(?:ri\.?ba\.?|r\.?b\.?|ricevuta bancaria|pagamento) al(?=\W*(?:\d|$))",
    rf"(?:pagabile|esigibile|addebit(?:o|at[oa])\b{_INSIDE}{{0,25}}?) il(?=\W*(?:\d|$))",
    r"(?:payment|payable|zahlbar|zahlung|paiement|reglement|virement|betal(?:en|ing)|betaalbaar|pago|pagadero|"
    r"transferencia|giro|pagamento|bonifico|ri\.?ba\.?)(?: terms)?\W{1,2}(?:(?:within|in|innerhalb(?: von)?|innert|"
    r"binnen|a|sous|bancario|bancaire|bonifico) )*(?=\d{1,3} (?:days|tagen?|jours|dagen|dias|giorni|gg)(?![a-z]))",
)
DELIVERY_DATE = re.compile(
    r"(?:^|(?<=\d)\s)\W*(?:"
    rf"{LABELS[Label.DELIVERY_DATE]}|"
    r"(?:actual )?(?:delivery|supply|service|performance) date|date of (?:delivery|supply|service|performance)|"
    r"date (?:delivered|supplied)|delivered on|"
    r"(?:liefer-? ?(?:und|u\.|/|oder|&) ?)?(?:liefer|leistungs)[\s-]*(?:datum|tag)(?: ?/ ?leistungs(?:datum|tag))?|"
    r"(?:datum|tag) der (?:lieferung|leistung)|geliefert am|"
    r"date\s*(?:de\s*)?(?:la\s*|l')?(?:livraison|prestation|execution)|livree?s? le|"
    r"lever(?:ings)?[\s-]*datum|datum (?:van )?(?:levering|prestatie)|geleverd op|"
    r"fecha\s*(?:de\s*)?(?:la\s*)?(?:entrega|operacion|prestacion|servicio)|entregado el|"
    r"data\s*(?:di\s*|della\s*)?(?:consegna|prestazione|esecuzione)|consegnato il"
    r")(?![a-z])"
)
"""Starts its cell or follows another value: an `expected delivery date` is not the actual one."""
NEXT_ONES = any_of(
    r"erstmals|erstmalig|voor het eerst|for the first time|pour la premiere fois|por primera vez|per la prima volta",
    r"(?:neue[rns]?|kunftige[rn]?|nachste[rn]?|new|future|next|nouvel\w*|prochaine?s?|futur\w*|nieuwe?|volgende|"
    r"nuev[oa]s?|proxim[oa]s?|nuov[aoei]|prossim[aoei]) (?:\w+ ){0,2}?(?:\w*abschlag\w*|raten?|instal\w*|payments?|"
    r"mensualites?|echeances?|prelevements?|termijn\w*|voorschot\w*|maandbedrag|cuotas?|plazos?|pagos?|recibos?|rate?|"
    r"pagament[oi]|bollett[ae]|factur\w+|fattur[ae]|\w*rechnung|invoice|bill)",
)
"""Matches labels of future charges, which are not charged by this document."""

SELLER = _party(
    LABELS[Label.SELLER],
    r"sold by|seller|vendor|supplier|from|issued by|service provider",
    r"verkaufer|lieferant|rechnungs(?:steller|ersteller|aussteller)|aussteller|leistungserbringer|venduto da",
    r"fournisseur|vendeur|emetteur|prestataire",
    r"leverancier|verkoper",
    r"(?:datos del )?(?:proveedor|vendedor|emisor)|fornitore|mittente|prestatore",
    r"cedente(?:\s*/\s*prestatore)?(?: \(fornitore\))?|(?:de|da|van|von)(?=\W*$)",
)
PAYEE = _party(
    r"pay(?:able)? to|payee|remit to|account (?:name|holder)|in favou?r of|beneficiary|kontoinhaber|zahlungsempfanger",
    r"titulaire du compte|beneficiaire|ten name van|t\.?n\.?v\.?|titular(?: de la cuenta)?|beneficiario|intestatario",
)
"""Labels of the payee: usually the seller, but also its owner, its bank or a factor."""
BUYER = _party(
    LABELS[Label.BUYER],
    r"bill(?:ed|ing)?[\s-]*(?:to|address)(?:\s*address)?|invoice(?:d)?[\s-]*to|sold[\s-]*to",
    r"invoice for(?=\W*$)|prepared for",
    r"ship(?:ped|ping)?[\s-]*(?:to|address)|deliver(?:y|ed)?[\s-]*(?:to|address)|customer",
    r"client|buyer|purchaser|consignee|recipient|attn",
    r"(?:rechnungs|waren|leistungs)\s*(?:empfanger|adresse|anschrift)|rechnung an|an(?=\s*:)|kunde|kaufer|auftraggeber",
    r"liefer(?:adresse|anschrift)|versand an",
    r"(?:votre )?adresse (?:du |de )?client|contact acheteur|(?:facture|livre|adresse)e? a|a l'attention de",
    r"(?:adresse de )?(?:facturation|livraison)|destinataire|acheteur|client(?:e)?|abonne",
    r"klant|factuur (?:aan|voor)|factuur\s*adres|aflever\s*adres|koper|bestemd voor|(?:gefactureerd )?aan|t\.?a\.?v\.?",
    r"cliente|factura(?:r|do) a|fatturato a|intestato a|datos del cliente|destinatario|receptor",
    r"cessionario(?:\s*/\s*committente)?|committente|spett(?:\.le|abile)?|comprador",
    r"(?:patient(?:in|e)?|paciente|paziente|guest|gast|huesped|ospite|student|alumn[oa]|tenant|mieter(?:in)?|locataire|"
    r"huurder|inquilin[oa]|opdrachtgever|bauherr(?:in)?|maitre d'ouvrage)(?=\s*:|\W*$)",
    r"to(?! (?:pay|be|date|settle)(?![a-z]))|(?:para|voor)(?=\W*$)",
)
SALUTATION = re.compile(
    r"(?:an(?: die| das| den)?|firma|herrn?|frau|familie|eheleute|monsieur|madame|mme|mlle|societe|ste|"
    r"(?:de heer|dhr\.?|mevrouw|mevr\.?)(?: en (?:mevrouw|mevr\.?))?|"
    r"se[nñ]or(?:es|a)?|sr(?:a|es)?\.?|gent(?:\.le|ile)|egr(?:\.|egio)(?: sig(?:\.|nore)?)?|messrs\.?)[.,]?"
)
"""A salutation on a line of its own, above the recipient's name; folded."""
ATTENTION = re.compile(r"\W*(?:fao|attn|z\. ?hd\.|z\. ?h\.|zu handen|p/a|t\. ?a\. ?v\.|tav|a l'attention)(?![a-z])")
"""A line directly under a name that addresses a person there; folded."""
THIRD_PARTY = _party(
    r"represent[ae]nte? fiscal|(?:fiscal|tax) representative|(?:steuer|fiskal)vertreter|fiscaal vertegenwoordiger",
    r"rappresentante fiscale",
)
YOURS = any_of(
    r"your|ihre?[nrms]?|uw|votre|vos|(?<!bonifico )(?<!bancario )su(?! (?:banc[ao]|conto|c/c))",
    r"(?:a|de|en|por) su banco|vuestro|vostr[oa]|customer'?s?",
    r"client|cliente|acheteur|kunden?|empfangers?|klant|buyer'?s?|debit\w*",
    r"(?:recipient'?s?|\w+empfangers?|auftraggebers?|opdrachtgever|afnemer|preneur|destinatari[oa]|adquirente|cessionario|"
    r"committente)(?!\w|\.\s|\s[^\w\s(]\s)",  # not before a full stop: `des Leistungsempfängers. USt-IdNr.`
)
"""Matches before an identifier that belongs to the recipient of the invoice, not to its sender."""

REGISTRATION = any_of(
    r"registered|co(?:mpany)?[ .-]{1,2}(?:no|number|reg\w*)|(?:vat|gst|sst) (?:reg\w*|no|id|number)|gstin",
    r"hrb|hra|amtsgericht|handelsregister|geschaftsfuhr\w*|ust\W{0,3}id\w*|kvk|k\.v\.k",
    r"fn(?= ?\d)|firmenbuch\w*|uid(?=\W)|ondernemingsn\w+|kbo|bce|rp[mr](?= )",
    r"siren|siret|rcs|capital|registro mercantil|rea|cap\. ?soc\w*|capitale sociale",
    r"(?:n[o°º]\.? ?)?tva(?: intra\w*)?|btw(?: ?-?nr)?|p\.? ?iva|partita iva|c\.?i\.?f|n\.?i\.?f|steuer\W?n(?:r|ummer)",
)
"""Registration details a company prints next to its name and address."""
VAT_LABEL = any_of(
    LABELS[Label.VAT_ID],
    r"vatin|vat(?:\s*(?:reg\w*|id\w*|no|nr|number|#))*",
    r"u\.?\s?st\.?[\s.-]*id\w*(?:[\s.-]*(?:nr|nummer|no|ident\w*))*",
    r"umsatzsteuer[\s-]*(?:id\w*|identifikation\w*)[\s.-]*(?:nr|nummer)?|uid(?:[\s.-]*(?:nr|nummer))?|mwst[\s.-]*nr",
    r"(?:n[o°º]\s*(?:de\s*)?)?t\.?v\.?a\.?(?:\s*intra\s*communautaire|\s*intra\w*)?",
    r"btw(?:[\s.-]*(?:nr|nummer|id))?",
    r"identificativo fiscale(?: ai fini iva)?",
    r"p(?:artita|art\.|\.)?\s*i\.?v\.?a\.?|p\.\s?i\.|(?:c\.?i\.?f|n\.?i\.?f)\.?",
)
CURRENCY_LABEL = any_of(
    LABELS[Label.CURRENCY],
    r"(?:invoice |document )?currency|(?:rechnungs|beleg)?wahrung(?! der)|devise|valuta|munt(?:eenheid)?|moneda|divisa",
)
IBAN_LABEL = any_of(r"iban(?:[\s.-]*(?:nr|no|number|nummer))?")

LINE_DESCRIPTION = any_of(
    LABELS[Label.DESCRIPTION],
    r"desc\w*|items?|produ[ck]ts?|produits?|productos?|prodott[oi]|servic(?:e|io)s?|servizio",
    r"activit(?:y|e|eit)|werkzaamheden|arbeiten|travaux|trabajos|lavori",
    r"article|artikel\w*|bezeichnung|beschreibung|leistung|designation|libelle",
    r"omschrijving|dienst|concepto|descripcion|descrizione|title|details?|particulars|prestation|denominazione|articulo",
)
LINE_QUANTITY = any_of(
    LABELS[Label.QUANTITY],
    r"qty|quantity|hours|stunden|uren|ore|menge|anzahl|stk|std|quantite|qte|nombre|aantal",
    r"hoeveelheid|cantidad|cant|quantita|q\.?ta|units?|unidades|uds?|days|tage|dagen|jours|dias|giorni|ilosc",
)
LINE_PRICE = any_of(
    LABELS[Label.PRICE],
    r"(?:unit\s*)?(?:price|cost|rate)|(?:einzel|netto|vk|e|stuck)?-?\s*preis|satz|p\.?u\.?|prix|tarif",
    r"(?:stuk)?prijs|tarief|precio|prezzo|tariffa",
)
LINE_AMOUNT = any_of(
    LABELS[Label.AMOUNT],
    r"(?:line\s*)?(?:amount|total|value)|charges|debits?|betrag|gesamt\w*|\w*betrag|entgelt|nettowert|summe|montant|bedrag|totaal",
    r"importe|importo",
)
TABLE_END = any_of(
    r"zahlungsbedingungen|zahlungsart|zu- und abschlage|(?:umsatz)?steuer\w*aufschlusselung|belegsummen",
    r"(?:payment|tax|vat) (?:terms|information|details|breakdown|summary|method)|total(?:s| summary)|notes?|remarks",
    r"(?:conditions|modalites|mode) de (?:paiement|reglement)|detail (?:de la )?tva|betalingsvoorwaarden|btw-overzicht",
    r"(?:condiciones|forma) de pago|desglose (?:de |del )?iva|(?:condizioni|modalita) di pagamento|riepilogo iva",
)
"""Headings of the part of an invoice after its lines."""
LINE_COLUMNS = (LINE_DESCRIPTION, LINE_QUANTITY, LINE_PRICE, LINE_AMOUNT)
