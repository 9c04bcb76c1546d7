"""Convert values from e-invoice XML (amounts, dates, identifiers) to FieldValues with evidence."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import TypeVar

from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.model import Candidate, FieldValue, InvoiceProblem, TaxPart
from docrail.invoices.readers.einvoice.xml_tree import Element, text, words_of
from docrail.invoices.values.currencies import tolerance
from docrail.invoices.values.identifiers import compact, iban_evidence, iban_valid, vat_evidence

AMOUNT = re.compile(r"[+-]?(?:\d{1,14}(?:\.\d{0,30})?|\.\d{1,30})$")
"""xsd:decimal with bounded length: a longer number is not an amount. Some senders write 20 zeros after the point."""
DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")
IBAN_START = re.compile(r"[A-Z]{2}\d\d")
CREDIT_NOTE_CODES = frozenset({"81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532"})
"""UNTDID 1001 as classified by EN 16931. 389 (self-billed; German: Gutschrift) requests money like an invoice."""
CORRECTION = "384"
MAX_ACCOUNTS = 20

T = TypeVar("T")


def as_field(value: T | None, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    """Return `value` as a field read from XML; an empty field for None."""
    if value is None:
        return FieldValue[T]()
    return FieldValue[T](value=value, source=Source.XML, evidence=evidence)


def as_amount(words: str | None) -> Decimal | None:
    """Return the amount with two decimals, or more if they are significant; None if it is not a number."""
    if words is None or not AMOUNT.match(words):
        return None
    amount = Decimal(words)
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else Decimal(f"{amount:f}".rstrip("0"))


def amount_at(parent: Element | None, path: str) -> Decimal | None:
    """Return the amount at `path`; None if there is none."""
    return as_amount(text(parent, path))


@dataclass(frozen=True, slots=True)
class Payable:
    """What is left to pay, if it is not the total, and a problem if the other sums do not give it."""

    amount: Decimal | None = None
    problems: tuple[InvoiceProblem, ...] = ()


def payable_of(total: Decimal | None, due: Decimal | None, paid: Decimal | None, rounding: Decimal | None) -> Payable:
    """Compare the amount due with the total less what was paid before (BT-115 = BT-112 - BT-113 + BT-114)."""
    if total is None or due is None:
        return Payable()
    expected = total - (paid or Decimal(0)) + (rounding or Decimal(0))
    if abs(expected - due) <= tolerance(None):
        return Payable(due if due != total else None)
    message = (
        f"The e-invoice asks for {due}, but its total {total} less earlier payments and with rounding is {expected}. "
        "Ask the sender which one is right before paying."
    )
    return Payable(due, (InvoiceProblem.error("payable_disagrees", message, "total"),))


def tax_part(row: Element, *, rate: str, base: str, tax: str) -> TaxPart | None:
    """Return a row of the tax summary, given the paths of its values; None if it states no tax."""
    stated = amount_at(row, tax)
    return TaxPart(rate=amount_at(row, rate), base=amount_at(row, base), tax=stated) if stated is not None else None


def as_unit_price(price: str | None, base: str | None) -> Decimal | None:
    """Return the price of one unit; it may be stated for a larger base quantity, such as 100."""
    amount, quantity = as_amount(price), as_amount(base)
    if amount is None or quantity is None or quantity <= 0 or quantity == 1:
        return amount
    return as_amount(f"{amount / quantity:.6f}")


def as_date(words: str | None) -> dt.date | None:
    """Parse `20180305`, `2018-03-05` or a longer ISO time; return None if it is not a date."""
    match = DATE.match(words or "")
    if not match:
        return None
    try:
        return dt.date(*map(int, match.groups()))
    except ValueError:
        return None


def as_vat_field(words: str | None) -> FieldValue[str]:
    """Return the VAT id without spaces, with the result of its check digits as evidence."""
    vat_id = compact(words)
    return as_field(vat_id, vat_evidence(vat_id)) if vat_id else FieldValue[str]()


def as_iban_field(accounts: Iterable[str | None], *, direct_debit: bool) -> FieldValue[str]:
    """Return the first valid IBAN of `accounts`, else the first that looks like one; the others are candidates.

    Empty if there are only national account numbers. For a direct debit the empty field's source is XML, because the
    invoice states that there is no account to pay to.
    """
    ibans = dict.fromkeys(
        iban for account in islice(accounts, MAX_ACCOUNTS) if (iban := compact(account)) and IBAN_START.match(iban)
    )
    ordered = sorted(ibans, key=lambda iban: not iban_valid(iban))
    if not ordered:
        return FieldValue[str](source=Source.XML if direct_debit else Source.NOWHERE)
    candidates = tuple(Candidate[str](value=iban, source=Source.XML) for iban in ordered)
    return as_field(ordered[0], iban_evidence(ordered[0])).model_copy(update={"candidates": candidates})


def account_of(accounts: Iterable[Element]) -> dict[str, str | None]:
    """Return `account`, the first one that is no IBAN, and `account_scheme`; empty if there is an IBAN or none."""
    numbers = [(number, each.get("schemeID")) for each in islice(accounts, MAX_ACCOUNTS) if (number := words_of(each))]
    if not numbers or any(IBAN_START.match(compact(number) or "") for number, _ in numbers):
        return {}
    return {"account": numbers[0][0], "account_scheme": numbers[0][1]}


def as_document_type(code: str | None, total: Decimal | None, *, is_credit_note: bool = False) -> DocumentType:
    """Return the document type of a UNTDID 1001 code. A correction (384) with a negative total is a credit note."""
    if is_credit_note or code in CREDIT_NOTE_CODES or (code == CORRECTION and total is not None and total < 0):
        return DocumentType.CREDIT_NOTE
    return DocumentType.INVOICE


def own_amount(amounts: Iterable[Element], currency: str | None) -> Element | None:
    """Return the amount in the document's currency: the tax may also be stated in an accounting currency."""
    known = list(amounts)
    own = [amount for amount in known if amount.get("currencyID") in (currency, None)]
    return next(iter(own or known), None)


def sum_of(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum of the known amounts; None if there are none."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known else None
