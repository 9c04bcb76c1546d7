"""Norwegian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="no",
    papers={
        DocumentType.DUNNING_LETTER: ("(?:betalings)?paminnelse", "purring", "inkassovarsel"),
        DocumentType.STATEMENT: ("kontoutskrift", "kontoutdrag"),
        DocumentType.PURCHASE_ORDER: ("innkjøpsordre", "bestilling"),
        DocumentType.QUOTE: ("tilbud",),
        DocumentType.DELIVERY_NOTE: ("pakkseddel", "følgeseddel"),
        DocumentType.REMITTANCE_ADVICE: ("betalingsavis", "remitteringsavis"),
        DocumentType.CONTRACT: (r"\w*(?:avtale|kontrakt)",),
    },
)
