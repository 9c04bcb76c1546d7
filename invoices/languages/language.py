"""What the readers know of a language: one file a language fills this in, with folded patterns and no code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from docrail.invoices.facts import DocumentType

NO = r"(?:numbers?|numero|num|nummer|nro?|n\.ro|no|id|n\.?[o°º]|n\.|#|№)"
"""A sign for `number`; labels of several languages end or begin with it."""
OF = r"(?:de la |de |du |d'|di |del |van )?"
"""`of` between a number sign and what it counts."""
BRACKETED = r"(?:\s*\([^)]*\)){1,3}"
"""Remarks in brackets within a label."""
IN_SENTENCE = r"(?:[^.]|(?<=\d)\.(?=\d\d(?!\d|\.\d))|(?<=\d)\.(?=\d{3}(?!\d))|\.(?=\.)|(?<=\.)\.(?!\.))"
"""A character within a sentence. The full stop of an amount does not end it; that of a date does."""


class Label(Enum):
    """What a label or a word on an invoice names."""

    INVOICE = auto()
    """The document itself, also as the end of a compound."""
    NUMBERED = auto()
    """What may come before a number sign: `Bill No.`"""
    COUNTED = auto()
    """What may come after one, apart from titles: `N° de pièce`."""
    NUMBER = auto()
    DATED = auto()
    """What comes between a document's name or number and its date."""
    SLIP = auto()
    """Names of receipts that are no titles: they have other meanings too."""
    OTHER_PAPER = auto()
    """Starts of number labels that may name another document's number."""
    CREDIT_NUMBER = auto()
    """Starts of labels of a credit note's number, if the document is one."""
    TITLE = auto()
    """Titles that are one only in some places, unlike the language's `titles`."""
    CORRECTION = auto()
    """Parts of words of a title: the document corrects or cancels an earlier invoice."""
    ISSUE_DATE = auto()
    WEAK_DATE = auto()
    """Starts of date labels next to which a separate issue date may be printed."""
    OTHER_DOCUMENT = auto()
    """References to an earlier document."""
    ORDER = auto()
    """Orders, contracts, deliveries and offers, which have numbers and dates of their own."""
    ORDER_REFERENCE = auto()
    """The buyer's order number."""
    STAY = auto()
    """A guest's arrival or departure."""
    PLAIN_DATE = auto()
    DUE_DATE = auto()
    PAYMENT_TERMS = auto()
    """The caption of a box that has only a number of days."""
    DELIVERY_DATE = auto()
    FUTURE = auto()
    """Future charges, which are not charged by this document."""
    SELLER = auto()
    PAYEE = auto()
    """Usually the seller, but also its owner, its bank or a factor."""
    BUYER = auto()
    BUYER_ROLE = auto()
    """What a buyer is called in some trades: a label only alone or before a colon."""
    SALUTATION = auto()
    """On a line of its own, above the recipient's name."""
    ATTENTION = auto()
    """Starts of a line under a company's name that addresses a person there."""
    THIRD_PARTY = auto()
    YOURS = auto()
    """Before an identifier of the recipient."""
    RECIPIENTS = auto()
    """The same, but not at the end of a sentence."""
    REGISTRATION = auto()
    """Details of registration that a company prints next to its name and address."""
    VAT_ID = auto()
    CURRENCY = auto()
    DESCRIPTION = auto()
    QUANTITY = auto()
    PRICE = auto()
    AMOUNT = auto()
    TABLE_END = auto()
    """Headings of the part of an invoice after its lines."""
    TOTAL = auto()
    PLAIN_TOTAL = auto()
    NET = auto()
    NET_TOTAL = auto()
    """A total that tills call net."""
    TAX = auto()
    TAX_SUM = auto()
    """A subtotal of taxes."""
    TURNOVER_TAX = auto()
    """Taxes on the whole invoice. Other taxes, on electricity or for guests, may be line items."""
    GROSS = auto()
    """Marks an amount as including tax, whatever else it is called."""
    BEFORE_TAX = auto()
    """Marks an amount as excluding tax."""
    SUM = auto()
    """A sum that includes tax if a word of `INCLUDING` follows."""
    INCLUDING = auto()
    INSIDE = auto()
    """Marks a tax as included in the total."""
    ADJUSTMENT = auto()
    PAID = auto()
    """Amounts paid earlier."""
    PREPAID = auto()
    """More names of these, between a total and the remainder to pay."""
    NOT_A_SUM = auto()
    CASH_DISCOUNT = auto()
    """In a sentence: the amounts after it apply to early payment, unless a word of `WITHOUT` precedes it."""
    WITHOUT = auto()
    """No patterns; each with the space after it."""
    OTHERWISE = auto()
    """In the same sentence: the amounts after it apply to later payment."""
    TENDER = auto()
    """How a customer pays at a till."""
    TENDER_WORD = auto()
    """What may follow that."""
    CHANGE = auto()
    """The change returned at a till."""
    ROUNDING = auto()


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language. Each pattern is folded, and is tried on whole words only."""

    code: str
    """ISO 639-1."""
    titles: tuple[str, ...]
    """What an invoice or a credit note is called."""
    months: tuple[str, ...]
    """For each month, its names and abbreviations with spaces between them; no patterns."""
    common: str
    """Words that are frequent on invoices, with spaces between them; no patterns. They show the language of a page."""
    printed: str
    """Words of the labels of numbers, dates and sums as they are printed, with spaces between them; no patterns.
    Garbled ones are recognized by them."""
    days: str
    """Days, after their number in a payment term: `14 days`."""
    weeks: str = field(default="", kw_only=True)
    counts: str = field(default="", kw_only=True)
    """Numbers of days and weeks in words, as `two=2`; none that may end another number, as in `twenty eight`."""
    paying: str
    """Words that make a number of days a payment term."""
    labels: Mapping[Label, tuple[str, ...]] = field(default_factory=dict)
    """Patterns of labels. A language needs those of its usual invoices only."""
    papers: Mapping[DocumentType, tuple[str, ...]] = field(default_factory=dict)
    """Titles of credit notes, and of papers that are no invoices although they have numbers, dates and amounts."""
