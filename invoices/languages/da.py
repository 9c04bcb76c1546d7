"""Danish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

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
    days="dage",
    paying=r"betal\w+|netto|forfald\w*",
    papers={
        DocumentType.DUNNING_LETTER: ("(?:betalings)?pamindelse", "rykker(?:skrivelse|brev)?", "inkassovarsel"),
        DocumentType.STATEMENT: ("kontoudtog",),
        DocumentType.PURCHASE_ORDER: ("indkobsordre", "indkobsordre", "rekvisition"),
        DocumentType.QUOTE: ("tilbud",),
        DocumentType.DELIVERY_NOTE: ("folgeseddel", "leveringsseddel", "pakkeseddel"),
        DocumentType.REMITTANCE_ADVICE: ("betalingsadvis",),
        DocumentType.CONTRACT: (r"\w*(?:aftale|kontrakt)",),
    },
)
