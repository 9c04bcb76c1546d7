"""Danish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="da",
    papers={
        DocumentType.DUNNING_LETTER: ("(?:betalings)?pamindelse", "rykker(?:skrivelse|brev)?", "inkassovarsel"),
        DocumentType.STATEMENT: ("kontoudtog",),
        DocumentType.PURCHASE_ORDER: ("indkobsordre", "indkøbsordre", "rekvisition"),
        DocumentType.QUOTE: ("tilbud",),
        DocumentType.DELIVERY_NOTE: ("følgeseddel", "leveringsseddel", "pakkeseddel"),
        DocumentType.REMITTANCE_ADVICE: ("betalingsadvis",),
        DocumentType.CONTRACT: (r"\w*(?:aftale|kontrakt)",),
    },
)
