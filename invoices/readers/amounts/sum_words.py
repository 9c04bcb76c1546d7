"""Patterns of the names of an invoice's sums, made of the words in the files of `languages`; they match folded text."""

import re

from docrail.invoices.languages.all import LABELS
from docrail.invoices.languages.language import Label
from docrail.invoices.readers.layout.vocabulary import NOT_WITHOUT, any_of, words_of

GROSS_WORDS = words_of(Label.GROSS)
NET_WORDS = words_of(Label.BEFORE_TAX)
TOTAL = any_of(
    LABELS[Label.TOTAL],
    rf"(?:{LABELS[Label.SUM]})\W[^.]{{0,20}}?(?<![a-z])(?:{LABELS[Label.INCLUDING]})",
)
PLAIN_TOTAL = words_of(Label.PLAIN_TOTAL)
NET = words_of(Label.NET)
NET_TOTAL = words_of(Label.NET_TOTAL)
INSIDE = words_of(Label.INSIDE)
TAX_SUM = words_of(Label.TAX_SUM)
TAX = words_of(Label.TAX)
TAX_RETURN = re.compile(
    r"aangifte|(?:vor)?anmeldung|erklarung(?:en)?\b|\b(?:vat|gst|tax) returns?\b|"
    r"\bdeclara(?:tion|cion|cao)|dichiarazion|deklaracj"
)
"""An accountant's service, which the name of a tax begins: `btw-aangifte derde kwartaal`; on folded text."""
TURNOVER_TAX = words_of(Label.TURNOVER_TAX)
ADJUSTMENT = words_of(Label.ADJUSTMENT)
PAID = words_of(Label.PAID)
PREPAID = words_of(Label.PAID, Label.PREPAID)
NOT_A_SUM = words_of(Label.PAID, Label.NOT_A_SUM)
CASH_DISCOUNT = re.compile(rf"{NOT_WITHOUT}\b(?:{LABELS[Label.CASH_DISCOUNT]})(?![a-z]|\D{{0,12}}0[.,]00(?!\d))")
OTHERWISE = re.compile(rf"\. |[;:]|\b(?:{LABELS[Label.OTHERWISE]})(?![a-z])")
TENDERED = re.compile(
    rf"^\W*(?:{LABELS[Label.TENDER]})(?:\W+(?:{LABELS[Label.TENDER]}|{LABELS[Label.TENDER_WORD]}|"
    r"rm|myr|eur|usd|gbp|chf|sgd))*\W*$"
)
"""Amounts handed over at a till, and the change."""
CHANGE = re.compile(rf"^\W*(?:{LABELS[Label.CHANGE]})(?![a-z])")
ROUNDING = words_of(Label.ROUNDING)
ZERO_RATED = re.compile(r"(?<![\d.,])0(?:[.,]0+)?\s?%")
