"""Recognize receipts of tills, whatever they call themselves: they were paid when they were printed.

An invoice may name a card or cash as well, so a receipt needs several marks of a till.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from docrail.invoices.facts import DocumentType, Source
from docrail.invoices.features import Feature, score
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.amounts.money import Money
from docrail.invoices.readers.amounts.sum_words import CHANGE, TENDERED
from docrail.invoices.readers.layout.page import Layout
from docrail.invoices.readers.layout.places import found
from docrail.invoices.values.folding import fold

NARROW = 0.6
"""Width of a till roll's page as a share of its height, at most; sheets of paper have 0.7."""
TERMINAL = re.compile(r"\ba[il1]d\W{0,3}a[0o]{4,}[\do]+")
"""The application of a card, which its terminal prints by the rules of EMV: `AID: A0000000031010`."""
LEAST = 2.5
"""Fewest points of a receipt."""


@dataclass(frozen=True, slots=True)
class Slip:
    """What of a document may be marks of a till."""

    layout: Layout
    paid: Sequence[Money]
    """The amounts handed over at a till, and the change."""
    has_buyer: bool
    asks: bool
    """Whether it says where or until when to pay."""


SLIP: tuple[Feature[Slip], ...] = (
    Feature("an amount is handed over", 1.0, lambda s: any(not CHANGE.search(money.label) for money in s.paid)),
    Feature("change is returned", 1.5, lambda s: any(CHANGE.search(m.label) is not None and m.value for m in s.paid)),
    Feature("a card's terminal printed it", 1.5, lambda s: TERMINAL.search(fold(s.layout.text)) is not None),
    Feature("it is printed on a roll", 1.0, lambda s: s.layout.pages[0].width < NARROW * s.layout.pages[0].height),
    Feature("it names no recipient", 0.5, lambda s: not s.has_buyer),
    Feature("it names a recipient", -1.5, lambda s: s.has_buyer),
    Feature("it says where or until when to pay", -2.0, lambda s: s.asks),
)


def receipt_if_paid(
    kind: FieldValue[DocumentType], layout: Layout, amounts: Sequence[Money], *, has_buyer: bool, asks: bool
) -> FieldValue[DocumentType]:
    """Return what a document is: a receipt instead of an invoice if a till printed it, at the words that say so."""
    paid = [money for money in amounts if money.exact and TENDERED.match(money.label)]
    if kind.value is not DocumentType.INVOICE or not paid:
        return kind
    if score(SLIP, Slip(layout, paid, has_buyer, asks)) < LEAST:
        return kind
    return found(layout, DocumentType.RECEIPT, paid[0].cell, Source.TEXT_LABEL)
