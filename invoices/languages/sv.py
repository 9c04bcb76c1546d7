"""Swedish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

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
    days="dagar",
    paying=r"betal\w+|netto|villkor\w*",
    papers={
        DocumentType.DUNNING_LETTER: ("(?:betalnings)?paminnelse", "kravbrev", "inkassokrav"),
        DocumentType.STATEMENT: ("kontoutdrag", "saldobesked"),
        DocumentType.PURCHASE_ORDER: ("inkopsorder", "bestallning"),
        DocumentType.QUOTE: ("offert", "anbud"),
        DocumentType.DELIVERY_NOTE: ("foljesedel", "packsedel"),
        DocumentType.REMITTANCE_ADVICE: ("betalningsavi", "remitteringsavi"),
        DocumentType.CONTRACT: (r"\w*avtal",),
    },
)
