"""English."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="en",
    titles=(
        "(?:tax |sales |commercial |credit )?invoice",
        "credit ?(?:note|memo)",
        "fee (?:note|account)",
        "note of fees",
    ),
    months=(
        "january jan",
        "february feb",
        "march mar",
        "april apr",
        "may",
        "june jun",
        "july jul",
        "august aug",
        "september sept sep",
        "october oct",
        "november nov",
        "december dec",
    ),
    common=(
        "the and of to for invoice date due total amount payment please your with from number price "
        "description quantity tax account bank within days thank terms"
    ),
    days="days",
    paying=r"net|pay(?:ment|able)?|paid|due|terms|settle\w*|credit",
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
