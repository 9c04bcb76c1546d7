"""What the readers know of a language: one file a language fills this in, with folded patterns and no code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from docrail.invoices.facts import DocumentType


class Label(Enum):
    """What a label on an invoice names."""

    NUMBER = auto()
    ISSUE_DATE = auto()
    DUE_DATE = auto()
    DELIVERY_DATE = auto()
    TOTAL = auto()
    NET = auto()
    TAX = auto()
    SELLER = auto()
    BUYER = auto()
    VAT_ID = auto()
    CURRENCY = auto()
    DESCRIPTION = auto()
    QUANTITY = auto()
    PRICE = auto()
    AMOUNT = auto()


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
    days: str
    """Days, after their number in a payment term: `14 days`."""
    paying: str
    """Words that make a number of days a payment term."""
    labels: Mapping[Label, tuple[str, ...]] = field(default_factory=dict)
    """Patterns of labels, in addition to those of `layout/vocabulary.py`, which has the words of the first six
    languages."""
    papers: Mapping[DocumentType, tuple[str, ...]] = field(default_factory=dict)
    """Titles of papers that are no invoices, although they have numbers, dates and amounts."""
