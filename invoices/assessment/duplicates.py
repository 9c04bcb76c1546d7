"""Find other documents that request the same money: the same invoice again, or a suspiciously similar one."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from docrail.invoices.assessment.vendor_memory import LONGEST_KEY
from docrail.invoices.facts import DocumentType
from docrail.invoices.model import InvoiceData, InvoiceProblem
from docrail.invoices.values.folding import squeeze

DAYS_APART = 5
"""Largest difference in days between the dates of an invoice and a rewritten one for the same work."""
SHORTEST_NUMBER = 4
"""Shorter numbers are not compared for near matches: any two may differ by one character."""
SHOWN = 3
"""Number of documents listed in one message."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The normalized values of a document that are compared with others; None if not found."""

    document_id: str
    sha256: str = ""
    document_type: DocumentType = DocumentType.INVOICE
    number_key: str | None = None
    vat_id: str | None = None
    iban: str | None = None
    name_key: str | None = None
    total: Decimal | None = None
    issued_on: dt.date | None = None
    came_later: bool = False
    """Whether it arrived after the document it is compared with."""


def seen_of(invoice: InvoiceData, sha256: str = "") -> Seen:
    """Return the values of `invoice` to compare; `sha256` is the digest of its bytes."""
    return Seen(
        document_id=invoice.document_id,
        sha256=sha256,
        document_type=invoice.counts_as,
        number_key=number_key(invoice.invoice_number.value),
        vat_id=_cut(invoice.vendor_vat_id.value),
        iban=_cut(invoice.iban.value),
        name_key=_cut(squeeze(invoice.vendor_name.value or "")),
        total=invoice.total.value,
        issued_on=invoice.date.value,
    )


def number_key(number: str | None) -> str | None:
    """Return an invoice number normalized for comparison: its letters and digits without leading zeros."""
    return _cut(squeeze(number or "").lstrip("0"))


def find_duplicates(own: Seen, others: Sequence[Seen]) -> list[InvoiceProblem]:
    """Return an error if this document repeats an earlier one, and warnings for later or similar ones.

    Two documents that arrive at the same moment may each take themselves for the earlier one, so later ones are
    reported as well.
    """
    others = list({other.document_id: other for other in others if other.document_id != own.document_id}.values())
    again = [other for other in others if _is_again(own, other)]
    earlier, later = [o for o in again if not o.came_later], [o for o in again if o.came_later]
    alike = [other for other in others if other not in again and _is_alike(own, other)]
    problems = []
    if earlier:
        message = f"The same invoice is already here as {_named(earlier)}. Pay one of them only."
        problems.append(InvoiceProblem.error("duplicate", message))
    if later:
        message = f"The same invoice came again as {_named(later)}. Pay one of them only."
        problems.append(InvoiceProblem.warning("near_duplicate", message))
    if alike:
        message = f"An invoice like this one is here as {_named(alike)}. Compare them before paying both."
        problems.append(InvoiceProblem.warning("near_duplicate", message))
    return problems


def one_edit_apart(one: str, other: str) -> bool:
    """Return whether adding, removing or replacing one character turns one text into the other."""
    short, long = sorted((one, other), key=len)
    if one == other or len(long) - len(short) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[start:] == long[start + 1 :] or short[start + 1 :] == long[start + 1 :]


def _is_again(own: Seen, other: Seen) -> bool:
    if own.sha256 and own.sha256 == other.sha256:
        return True
    return _same_kind(own, other) and _same(own.number_key, other.number_key) and _same_vendor(own, other)


def _is_alike(own: Seen, other: Seen) -> bool:
    if not (_same_kind(own, other) and _same(own.total, other.total)):
        return False
    return _same(own.number_key, other.number_key) or _nearly_same_number(own, other) or _same_work(own, other)


def _same_kind(own: Seen, other: Seen) -> bool:
    """Compare document types: an invoice and the credit note that cancels it may agree in everything else.

    An invoice and the receipt for it are two papers of one purchase.
    """
    types = {own.document_type, other.document_type}
    return len(types) == 1 or types == {DocumentType.INVOICE, DocumentType.RECEIPT}


def _nearly_same_number(own: Seen, other: Seen) -> bool:
    one, two = own.number_key, other.number_key
    return bool(one and two and len(one) >= SHORTEST_NUMBER and one_edit_apart(one, two))


def _same_work(own: Seen, other: Seen) -> bool:
    if own.issued_on is None or other.issued_on is None or not _same_vendor(own, other):
        return False
    return abs((own.issued_on - other.issued_on).days) <= DAYS_APART


def _same_vendor(own: Seen, other: Seen) -> bool:
    """Compare vendors: companies may share a name or, with factoring, an account, but not a VAT id."""
    if own.vat_id and other.vat_id:
        return own.vat_id == other.vat_id
    return _same(own.iban, other.iban) or _same(own.name_key, other.name_key)


def _cut(key: str | None) -> str | None:
    return key[:LONGEST_KEY] if key else None


def _same(one: object, other: object) -> bool:
    return one is not None and one == other


def _named(others: Sequence[Seen]) -> str:
    shown = ", ".join(other.document_id for other in others[:SHOWN])
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    return f"document {shown}{more}" if len(others) == 1 else f"documents {shown}{more}"
