"""Dutch."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="nl",
    papers={
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:eerste|tweede|derde|laatste|\d\w*) )?(?:betalings)?(?:herinnering|aanmaning)",
            "ingebrekestelling",
        ),
        DocumentType.STATEMENT: ("rekening(?:overzicht|uittreksel|afschrift)", "openstaande posten"),
        DocumentType.PURCHASE_ORDER: ("(?:in|aan)koop(?:order|opdracht)", "bestelbon", "(?:bestel|order)formulier"),
        DocumentType.QUOTE: ("offerte", "prijsopgave"),
        DocumentType.DELIVERY_NOTE: ("pakbon", "(?:af)?leverbon"),
        DocumentType.REMITTANCE_ADVICE: ("beta(?:al|lings)(?:advies|specificatie)",),
        DocumentType.CONTRACT: (r"\w*(?:overeenkomst|contract)",),
    },
)
