"""Swedish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="sv",
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
