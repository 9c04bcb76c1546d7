"""Swedish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

LANGUAGE = Language(
    code="sv",
    titles=(
        "faktura",
        "kreditfaktura",
    ),
    months=(
        "januari jan",
        "februari feb",
        "mars mar",
        "april apr",
        "maj",
        "juni jun",
        "juli jul",
        "augusti aug",
        "september sep",
        "oktober okt",
        "november nov",
        "december dec",
    ),
    common=(
        "och att av for med er faktura datum belopp summa betalning antal pris moms kund beskrivning "
        "forfallodatum bankgiro dagar exkl oss vid betala inkl referens"
    ),
    printed="belopp betala faktura fakturadatum fakturanummer forfallodag forfallodatum netto summa totalt",
    days="dagar",
    paying=r"betal\w+|netto|villkor\w*",
    labels={
        Label.INVOICE: ("faktura",),
        Label.PLAIN_DATE: ("datum",),
        Label.NUMBER: (r"faktura(?:nummer|nr)\.?", "faktura nr"),
        Label.ISSUE_DATE: ("fakturadatum", "utskriftsdatum"),
        Label.DUE_DATE: (
            "forfallo(?:datum|dag)?",
            "forfaller",
            "betalas senast",
            "betala senast",
            "oss tillhanda(?: senast)?",
            "forfallodatum",
        ),
        Label.DELIVERY_DATE: ("leverans(?:datum|dag)", "utfort"),
        Label.TOTAL: (
            "(?:summa |belopp |totalt )?att betala",
            r"totalt? ?(?:inkl\.? moms|belopp)",
            "fakturabelopp",
            r"summa inkl\.? moms",
            "slutsumma",
        ),
        Label.NET: (r"(?:summa |belopp |totalt )?exkl\.? moms", "netto(?:belopp)?", "delsumma", "varuvarde"),
        Label.TAX: (r"moms(?:belopp)?(?: ?\d+ ?%)?", "varav moms"),
        Label.SELLER: ("saljare", "leverantor", "avsandare"),
        Label.BUYER: ("kund", "kopare", "fakturaadress", "bestallare", "mottagare", "leveransadress"),
        Label.VAT_ID: (r"moms(?:reg(?:istrerings)?)?\.?[ -]?(?:nr|nummer)\.?", "vat[ -]?nr", "vat[ -]?nummer"),
        Label.CURRENCY: ("valuta",),
        Label.DESCRIPTION: ("benamning", "beskrivning", "artikel", "vara"),
        Label.QUANTITY: ("antal", "kvantitet"),
        Label.PRICE: ("(?:a-?)?pris", "styckpris", "enhetspris"),
        Label.AMOUNT: ("belopp", "summa", "radsumma"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("kreditfaktura", "kreditnota"),
        DocumentType.RECEIPT: ("(?:kassa)?kvitto",),
        DocumentType.DUNNING_LETTER: ("(?:betalnings)?paminnelse", "kravbrev", "inkassokrav"),
        DocumentType.STATEMENT: ("kontoutdrag", "saldobesked"),
        DocumentType.PURCHASE_ORDER: ("inkopsorder", "bestallning"),
        DocumentType.QUOTE: ("offert", "anbud"),
        DocumentType.DELIVERY_NOTE: ("foljesedel", "packsedel"),
        DocumentType.REMITTANCE_ADVICE: ("betalningsavi", "remitteringsavi"),
        DocumentType.CONTRACT: (r"\w*avtal",),
    },
)
