"""English."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="en",
    papers={
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:first|second|third|final|last|friendly|\d\w+) )?(?:(?:payment|invoice|overdue) ){0,2}reminder",
            "(?:final|overdue|past due|late payment) (?:payment )?notice",
            "notice of default",
            "final demand",
            "letter before action",
            "reminder letter",
        ),
        DocumentType.STATEMENT: (
            "(?:(?:customer|supplier|vendor) )?statement of accounts?",
            "account statement",
            "(?:customer|supplier) statement",
            "open items(?: list)?",
        ),
        DocumentType.PURCHASE_ORDER: ("purchase order(?: form)?", "order form", "work order"),
        DocumentType.QUOTE: (
            "(?:(?:price|sales) )?quot(?:e|ation)",
            "(?:written )?estimate",
            "proposal",
            "offer(?: letter)?",
        ),
        DocumentType.DELIVERY_NOTE: (
            "delivery (?:note|slip|docket)",
            "packing (?:slip|list)",
            "dispatch note",
            "goods received note",
        ),
        DocumentType.REMITTANCE_ADVICE: ("(?:payment|remittance) advice(?: note)?", "remittance(?: slip)?"),
        DocumentType.CONTRACT: (
            r"(?:\w+ )?(?:services?|framework|lease|rental|maintenance|licen[cs]e|sales) (?:agreement|contract)",
            r"(?:consulting|supply|employment|non-disclosure) (?:agreement|contract)",
            "agreement",
            "contract",
        ),
    },
)
