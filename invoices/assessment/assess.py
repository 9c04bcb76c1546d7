"""Assess a reading with knowledge from outside the document: other documents, the vendor's history, the calibration."""

import datetime as dt
from dataclasses import dataclass

from docrail.invoices.assessment.calibration import Calibration
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.duplicates import Seen, find_duplicates, seen_of
from docrail.invoices.assessment.vendor_memory import VendorMemory, recall, vendor_facts, vendor_problems
from docrail.invoices.facts import Evidence
from docrail.invoices.model import InvoiceData

VENDOR_FIELDS = ("vendor_vat_id", "iban", "vendor_name")
"""Fields that identify a vendor."""


@dataclass(frozen=True, slots=True)
class Known:
    """Knowledge from outside the document. With `calibration` None, the shipped one is used."""

    sha256: str = ""
    """Digest of the document's bytes."""
    vendor: VendorMemory | None = None
    namesakes: tuple[VendorMemory, ...] = ()
    """Other vendors the document matches, if its VAT id, account and name belong to different ones."""
    others: tuple[Seen, ...] = ()
    """Documents that may be duplicates of this one."""
    calibration: Calibration | None = None


def judge(invoice: InvoiceData, known: Known, today: dt.date) -> InvoiceData:
    """Return `invoice` with the vendor's memory applied, all rules checked and every confidence computed.

    If it matches several vendors, no memory is applied, and its account must be known for each of them. Calling it
    again with the same knowledge changes nothing.
    """
    vendors = (known.vendor, *known.namesakes) if known.vendor else ()
    recalled = recall(invoice, vendors[0]) if len(vendors) == 1 else invoice
    duplicates = find_duplicates(seen_of(recalled, known.sha256), known.others)
    return assess(
        recalled,
        today,
        history=[*duplicates, *vendor_problems(recalled, *vendors)],
        facts=vendor_facts(recalled, *vendors),
        calibration=known.calibration,
    )


def vendor_is_known(judged: InvoiceData) -> bool:
    """Return whether a document of this vendor was approved before, from a judged reading alone."""
    return any(Evidence.AS_VENDOR_HISTORY in getattr(judged, name).evidence for name in VENDOR_FIELDS)


def currency_is_foreign(judged: InvoiceData) -> bool:
    """Return whether the vendor is known but was never approved with this currency."""
    currency = judged.currency
    return (
        vendor_is_known(judged) and currency.value is not None and Evidence.AS_VENDOR_HISTORY not in currency.evidence
    )


def account_is_new(judged: InvoiceData) -> bool:
    """Return whether the document names an account that was never approved for its vendor."""
    return judged.iban.value is not None and Evidence.AS_VENDOR_HISTORY not in judged.iban.evidence
