"""Norwegian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="no",
    titles=(
        "faktura",
        "kreditnota",
    ),
    months=(
        "januar jan",
        "februar feb",
        "mars mar",
        "april apr",
        "mai",
        "juni jun",
        "juli jul",
        "august aug",
        "september sep",
        "oktober okt",
        "november nov",
        "desember des",
    ),
    common=(
        "og av for med deres faktura dato belop totalt betaling antall pris mva kunde beskrivelse "
        "forfallsdato dager org sum kontonummer vi vennligst ved"
    ),
    days="dager",
    paying=r"betal\w+|netto|forfall\w*",
    papers={
        DocumentType.DUNNING_LETTER: ("(?:betalings)?paminnelse", "purring", "inkassovarsel"),
        DocumentType.STATEMENT: ("kontoutskrift", "kontoutdrag"),
        DocumentType.PURCHASE_ORDER: ("innkjopsordre", "bestilling"),
        DocumentType.QUOTE: ("tilbud",),
        DocumentType.DELIVERY_NOTE: ("pakkseddel", "folgeseddel"),
        DocumentType.REMITTANCE_ADVICE: ("betalingsavis", "remitteringsavis"),
        DocumentType.CONTRACT: (r"\w*(?:avtale|kontrakt)",),
    },
)
