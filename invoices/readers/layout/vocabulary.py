"""Patterns of invoice labels, made of the words in the files of `languages`; they match folded text.

The modules that use them decide where a label may be and what may follow it.
"""

import re

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.all import LABELS, LANGUAGES, PAPERS
from docrail.invoices.languages.language import NO, Label
from docrail.invoices.readers.layout.alternatives import spread


def any_of(*alternatives: str) -> re.Pattern[str]:
    """Match any of the alternatives as whole words; a sign for `number` may touch what follows: `n°F-26`."""
    return re.compile(rf"(?<![a-z0-9])(?:{spread(*alternatives)})(?:(?![a-z])|(?<=[°º#№]))")


def words_of(*labels: Label) -> re.Pattern[str]:
    """Match any of the labels in any language, as whole words."""
    return any_of(*(LABELS[label] for label in labels))


def _party(*alternatives: str) -> re.Pattern[str]:
    """Match like `any_of`, but not the first half of a compound: `Seller-IBAN` does not name the seller."""
    return re.compile(rf"(?<![a-z0-9])(?:{spread(*alternatives)})(?![a-z]|-[a-z])")


def _starts(*alternatives: str) -> re.Pattern[str]:
    """Match at the start of a cell or after another value: an `expected delivery date` is not the actual one."""
    return re.compile(rf"(?:^|(?<=\d)\s)\W*(?:{spread(*alternatives)})(?:(?![a-z])|(?<=[°º#№]))")


NOT_WITHOUT = "".join(f"(?<!{words})" for language in LANGUAGES for words in language.labels.get(Label.WITHOUT, ()))
"""Before a word, if none like `without` precedes it."""
INVOICE_WORDS = "|".join(title for language in LANGUAGES for title in language.titles)
INVOICES = re.compile(rf"(?:{LABELS[Label.INVOICE]})(?![a-z])")
"""Words for the document itself, including compounds; a text with one is not a company name."""
BARE_NUMBER = re.compile(rf"^\W*{NO}(?:\s*/\s*{NO})?(?![a-z])")
"""A number label without a noun: the title next to it or above it says what is numbered."""
INVOICE_NUMBER = any_of(
    LABELS[Label.NUMBER],
    rf"(?:{INVOICE_WORDS}|{LABELS[Label.NUMBERED]})\.?[\s-]*{NO}",
    (
        rf"{NO}\.?\s*(?:de |d'|du |d[ao] |del(?:la)? |di |der |van )?(?:la |l')?(?:{INVOICE_WORDS}|"
        rf"{LABELS[Label.COUNTED]})"
    ),
)
DATED_NUMBER = any_of(
    rf"(?:{LABELS[Label.INVOICE]}) (?:{LABELS[Label.DATED]}|de fecha|de) "
    rf"\d[\w./-]*(?: (?:de )?[a-z]+\.?,?)?(?: (?:de )?\d{{4}})?\W{{1,4}}{NO}",
)
"""A number after the date in a title, or in a mention of an earlier invoice."""
OTHER_PAPER = re.compile(LABELS[Label.OTHER_PAPER])
"""Matches labels whose number may belong to another document than the invoice."""
CREDIT_NUMBER = re.compile(LABELS[Label.CREDIT_NUMBER])
RECEIPT_NAME = re.compile(rf"^\W*(?:{'|'.join(PAPERS[DocumentType.RECEIPT])}|{LABELS[Label.SLIP]})(?![a-z])")
"""Names of receipts, which their number may follow directly."""
INVOICE_TITLE = any_of(INVOICE_WORDS, LABELS[Label.TITLE])
CORRECTION = re.compile(LABELS[Label.CORRECTION])
SLIP_TITLE = any_of(*PAPERS[DocumentType.REMITTANCE_ADVICE])
"""Heads the slip below an invoice that is sent back with the payment; alone, it is the title of another paper."""

ISSUE_DATE = words_of(Label.ISSUE_DATE)
WEAK_DATE = re.compile(LABELS[Label.WEAK_DATE])
OTHER_DOCUMENT = words_of(Label.OTHER_DOCUMENT)
ORDER = words_of(Label.ORDER)
ORDER_REFERENCE = _starts(LABELS[Label.ORDER_REFERENCE])
STAY = words_of(Label.STAY)
PLAIN_DATE = re.compile(rf"^\W*(?:{LABELS[Label.PLAIN_DATE]})\W*(?:$|\d|[a-z]+,? )")
DATE_AFTER_NUMBER = re.compile(rf"\b(?:{LABELS[Label.DATED]})\s*:?\s*$")
DUE_DATE = words_of(Label.DUE_DATE)
PAYMENT_TERMS = words_of(Label.PAYMENT_TERMS)
DELIVERY_DATE = _starts(LABELS[Label.DELIVERY_DATE])
NEXT_ONES = words_of(Label.FUTURE)

SELLER = _party(LABELS[Label.SELLER])
PAYEE = _party(LABELS[Label.PAYEE])
BUYER = _party(LABELS[Label.BUYER], rf"(?:{LABELS[Label.BUYER_ROLE]})(?=\s*:|\W*$)")
SALUTATION = re.compile(rf"(?:{LABELS[Label.SALUTATION]})[.,]?")
ATTENTION = re.compile(rf"\W*(?:{LABELS[Label.ATTENTION]})(?![a-z])")
THIRD_PARTY = _party(LABELS[Label.THIRD_PARTY])
YOURS = any_of(
    LABELS[Label.YOURS],
    rf"(?:{LABELS[Label.RECIPIENTS]})(?!\w|\.\s|\s[^\w\s(:]\s)",  # not: `des Leistungsempfängers. USt-IdNr.`
)
"""Matches before an identifier that belongs to the recipient of the invoice, not to its sender."""

REGISTRATION = words_of(Label.REGISTRATION)
VAT_LABEL = words_of(Label.VAT_ID)
CURRENCY_LABEL = words_of(Label.CURRENCY)
IBAN_LABEL = any_of(r"iban(?:[\s.-]*(?:nr|no|number|nummer))?")

LINE_DESCRIPTION = words_of(Label.DESCRIPTION)
LINE_QUANTITY = words_of(Label.QUANTITY)
LINE_PRICE = words_of(Label.PRICE)
LINE_AMOUNT = words_of(Label.AMOUNT)
TABLE_END = words_of(Label.TABLE_END)
LINE_COLUMNS = (LINE_DESCRIPTION, LINE_QUANTITY, LINE_PRICE, LINE_AMOUNT)
