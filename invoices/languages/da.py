"""Danish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

LANGUAGE = Language(
    code="da",
    titles=(
        "faktura",
        "kreditnota",
    ),
    months=(
        "januar jan",
        "februar feb",
        "marts mar",
        "april apr",
        "maj",
        "juni jun",
        "juli jul",
        "august aug",
        "september sep",
        "oktober okt",
        "november nov",
        "december dec",
    ),
    common=(
        "og at af for med jeres faktura dato belob alt betaling antal pris moms kunde beskrivelse "
        "forfaldsdato dage cvr vi bedes venligst konto reg"
    ),
    printed="belob betaling faktura fakturadato fakturanr fakturanummer forfaldsdato netto subtotal total",
    days="dage",
    paying=r"betal\w+|netto|forfald\w*",
    labels={
        Label.INVOICE: ("faktura",),
        Label.PLAIN_DATE: ("dato",),
        Label.NUMBER: (r"faktura(?:nummer|nr)\.?", "faktura nr"),
        Label.ISSUE_DATE: ("fakturadato", "udstedelsesdato", "udstedt"),
        Label.DUE_DATE: (
            "forfald(?:sdato|er)?",
            "betalingsfrist",
            "betales senest",
            "sidste (?:rettidige )?betalings(?:dato|dag)",
        ),
        Label.DELIVERY_DATE: ("levering(?:sdato|sdag)",),
        Label.TOTAL: (
            "(?:i alt |total |belob )?at betale",
            r"i alt(?: inkl\.? moms| dkk)?",
            r"total(?:belob)? inkl\.? moms",
            "fakturatotal",
            "totalbelob",
            "til betaling",
        ),
        Label.NET: (
            r"(?:i alt|total|belob|subtotal) (?:ekskl|ex|excl|u)\.? ?moms",
            "momsgrundlag",
            "nettobelob",
            r"(?:ekskl|ex)\.? moms",
        ),
        Label.TAX: ("moms(?:belob)?", "heraf moms"),
        Label.SELLER: ("salger", "leverandor", "afsender", "udsteder"),
        Label.BUYER: ("kunde", "kober", "modtager", "faktureres til", "leveringsadresse", "debitor"),
        Label.VAT_ID: (r"cvr(?:[ /.-]*(?:se))?(?:[ .-]*(?:nr|nummer))?\.?", r"se[ -]?nr\.?", r"momsnr\.?"),
        Label.CURRENCY: ("valuta",),
        Label.DESCRIPTION: ("beskrivelse", "vare(?:tekst|nummer)?", "tekst", "ydelse"),
        Label.QUANTITY: ("antal", "mangde"),
        Label.PRICE: (r"(?:stk\.?|enheds|styk)?-?pris", "a pris"),
        Label.AMOUNT: ("belob", "i alt", "linjetotal"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("kreditnota",),
        DocumentType.RECEIPT: ("(?:kasse)?kvittering", "kassebon"),
        DocumentType.DUNNING_LETTER: ("(?:betalings)?pamindelse", "rykker(?:skrivelse|brev)?", "inkassovarsel"),
        DocumentType.STATEMENT: ("kontoudtog",),
        DocumentType.PURCHASE_ORDER: ("indkobsordre", "indkobsordre", "rekvisition"),
        DocumentType.QUOTE: ("tilbud",),
        DocumentType.DELIVERY_NOTE: ("folgeseddel", "leveringsseddel", "pakkeseddel"),
        DocumentType.REMITTANCE_ADVICE: ("betalingsadvis",),
        DocumentType.CONTRACT: (r"\w*(?:aftale|kontrakt)",),
    },
)
