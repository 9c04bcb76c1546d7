"""German."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, Label, Language

LANGUAGE = Language(
    code="de",
    titles=(
        r"\w*rechnung(?:skorrektur|skopie|sbeleg)?(?: ?[/(-]? ?(?:kopie|duplikat|quittung|lieferschein)\)?)?",
        r"\w*gutschrift(?:s(?:anzeige|beleg|note))?",
        *("(?:honorar|kosten|gebuhren|kostenvorschuss|kredit)note", r"\w*liquidation", "fakturenkopie"),
        "(?:gebuhren|beitrags|kosten)bescheid",
        "(?:zahlungs|beitrags)a[nu]f+orderung|(?:zahlungs)?vorschreibung",
    ),
    months=(
        "januar janner jan",
        "februar feb febr",
        "marz mrz mar",
        "april apr",
        "mai",
        "juni jun",
        "juli jul",
        "august aug",
        "september sept sep",
        "oktober okt",
        "november nov",
        "dezember dez",
    ),
    common=(
        "und der die das von fur mit bitte rechnung datum betrag gesamt zahlung menge preis steuer mwst ust "
        "bank innerhalb tage nummer ihre wir netto brutto kunde zzgl"
    ),
    printed=(
        "belegdatum belegnummer betrag bezeichnung brutto bruttobetrag datum einzelpreis endbetrag fallig "
        "falligkeit falligkeitsdatum gesamt gesamtbetrag gesamtpreis mehrwertsteuer menge netto nettobetrag "
        "nummer preis rechnung rechnungsbetrag rechnungsdatum rechnungsnummer steuer summe umsatzsteuer "
        "zahlbar zahlbetrag zahlungsziel zwischensumme"
    ),
    days="(?:kalender)?tagen?",
    weeks="wochen?",
    counts="einer=1 zwei=2 drei=3 vier=4 sechs=6 acht=8 zehn=10 vierzehn=14 zwanzig=20 dreißig=30 sechzig=60",
    paying=r"netto|zahl\w+|fallig|rein netto|ohne abzug|begleich\w+|uberweis\w+|ausgleich",
    labels={
        Label.INVOICE: ("rechnung(?:en)?",),
        Label.NUMBERED: (
            *("beleg", "dokument", "fakt(?:u+r)?[ay]?", "rechn?", "korrektur", "gutschrifts", "r[eg]?"),
            *("quittungs?", "storno", "(?:kassen)?bon", "dok", "dokumenten", "fakturen", "rng", r"gutschr\.?", "g[su]"),
            *("liquidations", "(?:honorar|kosten)(?:noten)?", "noten", "bescheid", "vorgangs?", "buchungs"),
            *("vorschreibungs?", "anforderungs?", "korrekturbeleg", "rechnungsbeleg"),
        ),
        Label.NUMBER: (
            rf"(?:\w*rechnung(?:s|skorrektur)?|gutschrift){BRACKETED}[\s-]*{NO}",
            rf"\w*rechnungs?[\s-]*{NO}\.?(?: ?/ ?(?:invoice|facture|fattura)[\s-]*{NO})?",
            *(rf"rechnung mit (?:der )?{NO}", "rechnungs(?:referenz|zeichen|kennung|code)"),
            rf"rechnungs-? ?/ ?(?:beleg|kunden)[\s-]*{NO}",
            rf"\w*rechnung (?:zur?|zum|fur|uber|des|der) (?:\w+ ){{1,3}}?(?:\([^)]*\) )?{NO}",
        ),
        Label.DATED: ("vom", "von"),
        Label.SLIP: ("bon",),
        Label.OTHER_PAPER: (".*dokument", ".*bon", "vorgang", "buchung", "bescheid", "anforderung"),
        Label.TITLE: (r"beleg(?=\W*$)", r"(?:privat)?liquidation(?=\W+(?:[a-z]{1,4}[-./]?)?\d)"),
        Label.CORRECTION: ("korrektur", "storno"),
        Label.ISSUE_DATE: (
            (
                r"(?:rechnungs|rechn?\.?|r[eg]?\.?|beleg|aus(?:stell(?:ungs)?|gabe)|erstell(?:ungs)?)"
                r"[\s-]*(?:dat(?:um|\.)|tag(?=\W*(?:\d|$)))"
            ),
            r"(?:dok(?:ument(?:en)?|\.)|gutschr(?:ifts?|\.)|faktur(?:a|ier(?:ungs)?)?|storno)[\s-]*datum",
            "(?:honorarnoten|liquidations)datum",
            r"rechnungs(?:ausstellungs|legungs|stellungs)datum|datum (?:rechnung|faktura)(?=\W)",
            r"(?:^\W*|rechnungs)(?:(?:aus|er)stellung|ausgestellt|erstellt|stellung)(?: am)?(?=\W*(?:\d|$))",
            r"tag der (?:ausstellung|rechnung)|fakturiert am|in rechnung gestellt am|(?:bescheid|liquidation) vom",
            r"^\W*rechnungs(?:-|datum)? ?(?:und|/|=) ?(?:liefer|leistungs)datum",
            r"^\W*(?:abrechnungs|verrechnungs|buchungs|verkaufs|kauf|versand|brief|druck)datum",
            *(r"^\W*(?:versendet|gedruckt) am", "datum de[rs] (?:rechnung(?:sstellung)?|ausstellung|bescheide?s)"),
            *("(?:bescheid|ausfertigungs)datum", "ausgefertigt am", "ausgestellt am"),
            *(r"^\W*(?:rechnung )?vom\s*(?::(?=\s*\d)|:?$)", r"(?:^\W*|rechnung\W+)erstellt am"),
        ),
        Label.WEAK_DATE: (
            *(".*erstellt", r"\W*vom", r"\W*(?:abrechnungs|verrechnungs|buchungs|verkaufs|kauf|versand|brief|druck)"),
            *(r"\W*versendet", r"\W*gedruckt"),
        ),
        Label.OTHER_DOCUMENT: (
            *(r"abzg?l\.", "abzuglich", r"zu(?:r)? rechnung", r"ursprung\w*", r"bezug\w*", r"zugrunde\w*"),
            "korrigierte[nr]?",
        ),
        Label.ORDER: (r"(?:\w*bestell|auftrag|vertrag|liefer|angebot)\w*",),
        Label.ORDER_REFERENCE: (
            (
                r"(?:(?:rechnung )?(?:gema(?:ss|ß)|zu|laut|lt\.) )?(?:ihrer? )?"
                rf"(?:kunden-?|einkaufs)?best(?:ell(?:ung)?s?|\.)?[\s-]*{NO}"
            ),
            rf"(?:kd\.|kunden)-?(?:best(?:ell|\.)|auftrags)[\s-]*{NO}|po-{NO}|ihre auftrags?[\s-]*{NO}",
            rf"bestell(?:referenz(?:{NO})?|kennung|kennzeichen|zeichen|code)|(?:abruf|order)[\s-]*{NO}",
            r"(?:(?:rechnung )?(?:gema(?:ss|ß)|zu|laut|lt\.) )?ihrer? bestellung",
            "ihr auftrag",  # an `Auftragsnummer` is usually the seller's
        ),
        Label.STAY: ("anreise", "ankunft", "abreise", "aufenthalt"),
        Label.PLAIN_DATE: ("datum",),
        Label.PAYMENT_TERMS: ("zahlungs(?:ziel|bedingung(?:en)?|frist|kondition(?:en)?)",),
        Label.DUE_DATE: (
            *("(?:letzter )?zahltag", "(?:letzter )?zahl(?:ungs)?t(?:ermin|ag)", "netto bis", "ohne abzug bis"),
            r"fallig(?:keit|keitsdatum|keitstag|keitstermin)?(?: ohne abzug)?(?:\s*(?:am|bis|zum))?",
            *(rf"zahlbar{IN_SENTENCE}{{0,40}}?\bbis(?:\s*zum)?", "(?:spatestens|langstens) (?:am|bis)(?: zum)?"),
            "bis (?:spatestens|langstens)(?: zum| am)?",
            r"(?:zahlungs|rechnungs|beitrags|pramien|netto)fallig(?:keit)?(?: am)?|falligk\.(?:[\s-]*datum)?",
            "falligkeit der zahlung",
            (
                rf"(?:gesamt|rechnungs)betrag\b(?:(?!skonto){IN_SENTENCE}){{0,60}}? bis zum(?= \d[\w. ]{{4,20}} "
                r"(?:an (?:uns|die)\b|zu (?:uberweisen|zahlen)|auf \w+ [\w ]{0,30}konto))"
            ),
            (
                "(?:zu (?:be)?zahlen|zu entrichten|(?:be)?zahlen|(?:ein)?zahl(?:ung|bar)|einzuzahlen|geldeingang)"
                " (?:bis|per)(?: zum)?|(?:zu zahlen|zahlbar) am"
            ),
            "spatestes? (?:zahlungsdatum|zahlungseingang)|spatestens zu zahlen am|zahlungseingang spatestens",
            r"(?:abbuchungs|einzugs|lastschrift-?|belastungs)(?:datum|termin|tag)|datum der abbuchung",
            r"(?:kreditkarten)?belastung (?:am|per|erfolgt am)|wird (?:abgebucht|eingezogen|belastet) am",
            r"valutadatum|nettodatum|verfall(?:s?datum|tag| am)|^\W*verfall(?=\W*(?:\d|$))",
            rf"belasten\b{IN_SENTENCE}{{0,40}}? am(?= \d)",
            r"(?:wird|ist) (?:am|zum|bis(?: zum)?)(?=.{6,30}(?:belastet|fallig|zu entrichten))",
            *(rf"einzahl(?:en|ung)\b{IN_SENTENCE}{{0,30}}? bis", "zahlungsziel", "zahlungsfrist", "zahlbar spatestens"),
            *(r"inner(?:t|halb)\b.{0,25}?\bbis(?: zum| spatestens)?", r"(?:zahlbar|fallig)\s*(?:zum|am)"),
            (
                rf"(?:zahl(?:en?|ung(?:seingang)?)|uberweis(?:en?|ung)|begleich(?:en?|ung)|ausgleich)\b{IN_SENTENCE}{{0,80}}?"
                r"\bbis(?: spatestens)?(?: zum| am)?"
            ),
            rf"\w*(?:betrag|zahlung|forderung)\b{IN_SENTENCE}{{0,40}}?\bwird (?:am|zum)",
            rf"(?:buchen|ziehen)\b{IN_SENTENCE}{{0,60}}?\b(?:am|zum)",
            r"\w*betrag ist (?:spatestens )?(?:am|zum|bis(?: zum)?)(?=.{6,30}(?:fallig|zahlbar|zu [uzb]))",
            "(?:abbuchung|lastschrift(?:einzug)?|einzug|bankeinzug)(?: erfolgt)? (?:am|zum)",
            *(r"^\W*(?:abbuchung|lastschrift(?:einzug)?|einzug|bankeinzug)(?=\s*(?::|$))", r"valuta(?=\W*(?:\d|$))"),
            r"bis(?: zum)?(?= \d{1,2}\. ?(?:\d{1,2}\.|[a-z]+ )\d{2,4}\W{1,2}(?:rein )?(?:ohne|netto))",
            r"(?:am|zum)(?= \d.{4,60}\b(?:einziehen|abbuchen|eingezogen|abgebucht)(?![a-z]))",
            r"bis(?: zum)?(?= \d.{4,24}\b(?:zu )?(?:be)?(?:zahlen|uberweisen|begleichen))",
            r"(?:zahlbar|zahlung)\W{1,2}(?:(?:in|innerhalb(?: von)?|innert) )*(?=\d{1,3} tagen?(?![a-z]))",
        ),
        Label.DELIVERY_DATE: (
            (
                r"(?:liefer-? ?(?:und|u\.|/|oder|&) ?)?(?:liefer|leistungs)[\s-]*(?:datum|tag)"
                "(?: ?/ ?leistungs(?:datum|tag))?"
            ),
            *("(?:datum|tag) der (?:lieferung|leistung)", "geliefert am"),
        ),
        Label.FUTURE: (
            *("erstmals", "erstmalig"),
            r"(?:neue[rns]?|kunftige[rn]?|nachste[rn]?) (?:\w+ ){0,2}?(?:\w*abschlag\w*|raten?|\w*rechnung)",
        ),
        Label.SELLER: (
            *(
                "verkaufer(?:in)?",
                "lieferant(?:in)?",
                "rechnungs(?:steller|ersteller|aussteller)(?:in)?",
                "aussteller(?:in)?",
            ),
            *("leistungserbringer(?:in)?", r"von(?=\W*$)", "absender(?:in)?"),
            *("(?:rechnung|ausgestellt|gestellt|verkauft) von", "auftragnehmer(?:in)?", "leistender(?: unternehmer)?"),
            *(
                "verkauf (?:und versand )?durch",
                "vermieter(?:in)?",
                "glaubiger(?:in)?",
                "kreditor(?:in)?",
                "anbieter(?:in)?",
            ),
        ),
        Label.PAYEE: (
            *("(?:name (?:des )?)?konto-?inhabers?(?:in|/in)?", "kontoinh", "zahlungsempfanger(?:in)?"),
            *(
                "konto ?/ ?zahlbar an",
                "begunstigter?",
                "empfanger der zahlung",
                r"(?:zahlbar|zahlung(?:en)?|uberweis(?:en|ung)) an(?=\W)",
            ),
            *(r"zu ?gunsten(?: von)?(?=\W)", "kontoname"),
        ),
        Label.BUYER: (
            r"(?:rechnungs|waren|leistungs|faktura|liefer)\s*(?:empfanger(?:in)?|adresse|anschrift)",
            r"rechnung (?:geht )?an|rechnung fur(?=\W*$|:)|faktura an|(?:ausgestellt|geliefert|lieferung|berechnet) an",
            r"kunden(?:name|adresse|anschrift|daten)|kundin|name des kunden|ihre (?:daten|adresse|anschrift)",
            *(r"(?:besteller|abnehmer|auftraggeber|kaufer)(?:in)?", r"an(?=\s*:)"),
            *("kunde", "liefer(?:adresse|anschrift)", "versand an"),
        ),
        Label.BUYER_ROLE: (
            *("patient(?:in)?", "gast", "mieter(?:in)?", "bauherr(?:in|schaft)?", "empfanger(?:in)?"),
            *(
                "mitglied",
                "mandant(?:in)?",
                "klient(?:in)?",
                "(?:leasing|lizenz|versicherungs)nehmer(?:in)?",
                "debitor(?:in)?",
                "zahlungspflichtiger?",
            ),
            *(
                "teilnehmer(?:in)?",
                "tier(?:halter|besitzer)",
                "(?:anschluss|vertrags)inhaber",
                "kostentrager",
                "pachter",
            ),
        ),
        Label.SALUTATION: ("an(?: die| das| den)?", "firma", "herrn?", "frau", "familie", "eheleute"),
        Label.ATTENTION: (r"z\. ?hd\.", r"z\. ?h\.", "zu handen"),
        Label.THIRD_PARTY: ("(?:steuer|fiskal)vertreter",),
        Label.YOURS: ("ihre?[nrms]?", "kunden?", r"kd\.", "empfangers?", "debitor(?:en)?"),
        Label.RECIPIENTS: (
            *(r"\w+empfangers?", "auftraggebers?", "kaufers?", "bestellers?", "abnehmers?", "mandant(?:en)?"),
        ),
        Label.REGISTRATION: (
            *("hrb", "hra", "amtsgericht", "handelsregister", r"geschaftsfuhr\w*", r"ust\W{0,3}id\w*"),
            *(r"fn(?= ?\d)", r"firmenbuch\w*", r"uid(?=\W)", r"steuer\W?n(?:r|ummer)", r"mwst\W{1,2}n(?:r|ummer)"),
        ),
        Label.VAT_ID: (
            r"u\.?\s?st\.?[\s.-]*id\w*(?:[\s.-]*(?:nr|nummer|no|ident\w*))*",
            *(r"umsatzsteuer[\s-]*(?:id\w*|identifikation\w*)[\s.-]*(?:nr|nummer)?", r"uid(?:[\s.-]*(?:nr|nummer))?"),
            r"(?:mwst|mehrwertsteuer)[\s.-]*(?:id\w*[\s.-]*)?(?:reg\.?-?)?(?:nr|nummer)|(?:mwst|mehrwertsteuer)[\s.-]*id",
            r"u(?:msatz)?st(?:euer)?\.?[\s.-]*(?:nr|nummer)",
        ),
        Label.CURRENCY: ("(?:rechnungs|beleg)?wahrung(?! der)",),
        Label.DESCRIPTION: (
            *("produkts?", "arbeiten", r"artikel\w*", "bezeichnung", r"\w*beschreibung", "leistung(?:en|sart)?"),
            *(
                "tatigkeit(?:en)?",
                "dienstleistung(?:en)?",
                "produktname",
                "benennung",
                "ware(?:n(?:bezeichnung)?)?",
                "gegenstand",
            ),
        ),
        Label.QUANTITY: ("stunden", "menge", "mge", "anzahl", "anz", "stk", "std", "tage"),
        Label.PRICE: (
            *(r"(?:einzel|netto|vk|e|stuck|listen|verkaufs|einheits|nettoeinzel)?-?\s*preis", "(?:stunden|tages)?satz"),
            *("ep", "einzel"),
        ),
        Label.AMOUNT: (
            *("betrag", "soll", r"gesamt\w*", r"\w*betrag", "entgelt", r"\w*wert", r"\w*summe", "gp"),
            r"g(?:es)?\.?-?\s?preis",
        ),
        Label.TABLE_END: (
            *("zahlungsbedingungen", "zahlungsart", "zu- und abschlage"),
            *(r"(?:umsatz)?steuer\w*aufschlusselung", "belegsummen"),
        ),
        Label.GROSS: (r"brutto\w*", r"inkl\w*", "zu (?:(?:ihren|unseren) )?gunsten"),
        Label.BEFORE_TAX: (
            *(r"netto(?!y)\w*", r"exkl\w*", "ohne (?:ust|mwst|tva|steuern?)", "vor steuern?"),
            *("(?:betrag|summe|gesamt|preise?|wert) zzgl", "zwischen(?:summe|total)"),
        ),
        Label.SUM: ("summe", r"gesamt\w*", r"\w*betrag"),
        Label.INCLUDING: ("inkl", "inklusive", "mit (?:mwst|ust)"),
        Label.TOTAL: (
            (
                r"(?:rechnungs|gesamt|brutto|end|schluss|zahl(?:ungs)?|gesamtrechnungs|bruttorechnungs|rechnungsgesamt|total)"
                r"\s*(?:betrag|summe)(?: brutto)?"
            ),
            *("rechnungstotal", "gesamtkosten", "rechnungssumme brutto"),
            "(?:summe|gesamt|total|betrag) (?:brutto|inkl)",
            *(r"\w*endbetrag", "gesamtforderung", "forderungsbetrag", "falliger betrag"),
            *("zu (?:be)?(?:zahlen|uberweisen|begleichen|erstatten)(?:der betrag)?", "bitte uberweisen"),
            *("gesamt(?:honorar|preis)", "endsumme", "total inkl", "gutschrifts?(?:betrag|summe)", "gesamtgutschrift"),
            *("gutgeschriebener betrag", "(?:ruck)?erstattung(?:sbetrag)?"),
            "(?:auszahlungs|storno|abbuchungs|einzugs|lastschrift|uberweisungs|liquidations)(?:betrag|summe)",
            "(?:beleg|dokument|abrechnungs|faktura)(?:betrag|summe|total)",
            "gesamt(?:brutto|wert|entgelt|beitrag|pramie|miete|gebuhr|total|kaufpreis)|endpreis|honorarsumme",
            "brutto(?:gesamt(?:betrag)?|entgelt)|rechnungs-betrag",
            "(?:abzubuchender|einzuziehender|zahlbarer) betrag|rechnungsforderung|bitte zahlen|wir buchen ab",
            "gutschriftstotal|ruckzahlungsbetrag|stornosumme|summa",
            r"(?:betrag |total |^\W*)zu (?:ihren|unseren) gunsten",
        ),
        Label.PLAIN_TOTAL: ("gesamt", "summe", "insgesamt", r"zusammen(?=\W*$)", "brutto", "endbetrag"),
        Label.NET: (
            *(r"netto\s*(?:betrag|summe|wert|total)?", r"(?:zwischen|netto|positions)\s*summe"),
            *("summe (?:der )?positionen", "gesamtpreis netto"),
            r"(?:gesamt|waren|steuerbasis)\s*(?:betrag|wert)?\s*netto",
            r"(?:summe|gesamt|rechnungssumme|gesamtbetrag|betrag)\s*(?:netto|ohne|exkl|excl|zzgl)\w*\.?(?: ust| mwst)?",
            *("nettobetrag", "bemessungsgrundlage", "warenwert"),
            "(?:mehrwert)?steuer(?:pflichtiger|barer) betrag",
            "(?:waren(?:betrag|summe)|rechnungsnetto|steuer(?:basis|grundlage|bemessungsgrundlage))",
        ),
        Label.INSIDE: ("davon", "darin", r"enthalten\w*", "inklusive"),
        Label.TAX_SUM: (
            r"zwischensumme (?:der )?(?:mwst|ust)|gesamtbetrag (?:mwst|ust)|mehrwertst|mw\.st|steueranteil",
        ),
        Label.TAX: (
            r"(?:mwst|ust|umsatzsteuer|mehrwertsteuer|steuer)(?:[\s.-]*(?:betrag|summe))?",
            r"\w*steuern?(?:betrag)?",
        ),
        Label.TURNOVER_TAX: ("mwst", "ust", "umsatzsteuer", "mehrwertsteuer"),
        Label.ADJUSTMENT: (
            *(r"verpackung\w*", r"versand\w*", "porto(?:kosten)?", r"fracht\w*", r"transport\w*", "lieferkosten"),
            *(
                "aufschlag",
                r"zuschlag\w*",
                r"\w*rabatt\w*",
                r"\w*nachla(?:ss|ß)",
                "treuebonus",
                "ermassigung",
                r"abschlag\w*",
                "skonto",
            ),
            *("(?:bau)?abzugs?steuer", r"rundung\w*"),
            *("(?:kur|orts|gaste|betten|tourismus)(?:taxe|abgabe|steuer)", "beherbergungs(?:steuer|abgabe)", "citytax"),
            *(
                "auslagen",
                "durchlaufende posten",
                "gutschein",
                "pfand",
                "leergut",
                r"nicht steuerbar\w*",
                r"steuerfrei\w*",
            ),
        ),
        Label.PAID: (
            *(
                "(?:bereits )?(?:bezahlt|gezahlt|beglichen|abgebucht)",
                "bereits (?:geleistet|erhalten)",
                r"anzahlung\w*",
                r"erhaltene\w*",
                "offener? betrag",
                "offene",
            ),
        ),
        Label.PREPAID: (
            *(r"vorauszahlung\w*", r"abschlag\w*", "abschlage", r"\w*einbehalt\w*", r"(?:bau)?abzugs?steuer"),
            "teilzahlung(?:en)?",
            *(
                "teilrechnung",
                r"a(?:k|-?c| c)onto\w*",
                r"\w*vorschusse?",
                r"\w*ru(?:ck)(?:behalt|lass)",
                "quellensteuer",
                "guthaben",
            ),
            *(
                "zahlung(?:en|seingang)?",
                "bisher(?:ige)?",
                "gutschein",
                "kassenanteil",
                "zuschuss",
                "beihilfe",
                "kaution",
            ),
        ),
        Label.NOT_A_SUM: ("basis(?:betrag)?",),
        Label.CASH_DISCOUNT: (r"skonto\w*",),
        Label.WITHOUT: ("ohne ", "kein ", "keinen "),
        Label.OTHERWISE: ("sonst", "danach", "ansonsten"),
        Label.TENDER: (
            *("bar(?:geld|zahlung)?", "gegeben", "ruckgeld", "wechselgeld"),
            *(r"(?:geg\.? )?(?:ec|giro)[\s-]?(?:karte|card|cash)", "kartenzahlung"),
        ),
        Label.TENDER_WORD: ("kontaktlos", "betrag"),
        Label.CHANGE: ("ruckgeld", "wechselgeld"),
        Label.ROUNDING: (r"rundung\w*",),
    },
    papers={
        DocumentType.CREDIT_NOTE: (r"(?:\w{4,}|rechnungs)?gutschrift(?:s(?:anzeige|beleg|note))?", "kreditnote"),
        DocumentType.RECEIPT: ("quittung", "kassen(?:bon|beleg|zettel)", "barbeleg"),
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:erste|zweite|dritte|letzte|\d)\.? )?(?:zahlungs|rechnungs)?(?:mahnung|erinnerung)",
            *("mahnschreiben", "letzte aufforderung"),
        ),
        DocumentType.STATEMENT: (
            *("konto(?:auszug|blatt)", "offene[- ]posten(?:[- ]?liste)?", "saldenbestatigung", "saldenliste"),
        ),
        DocumentType.PURCHASE_ORDER: ("(?:einkaufs)?bestellung", "bestellschein", "auftragserteilung"),
        DocumentType.QUOTE: (r"\w*angebot", "offerte", "kosten(?:vor)?anschlag"),
        DocumentType.DELIVERY_NOTE: ("(?:waren)?lieferschein", "packliste", "packzettel", "warenbegleitschein"),
        DocumentType.REMITTANCE_ADVICE: ("zahlungsavis", "zahlungsanzeige", "uberweisungsavis"),
        DocumentType.CONTRACT: (r"\w*vertrag", "vereinbarung"),
    },
)
