"""Judges a reading by all that is known besides the document itself: other documents, the vendor, the calibration."""

import datetime as dt
from dataclasses import dataclass

from docrail.invoices.assessment.calibration import Calibration
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.duplicates import Seen, find_duplicates, seen_of
from docrail.invoices.assessment.vendor_memory import VendorMemory, recall, vendor_facts, vendor_problems
from docrail.invoices.facts import Evidence
from docrail.invoices.model import InvoiceData

VENDOR_FIELDS = ("vendor_vat_id", "iban", "vendor_name")
"""Fields by which a vendor is known."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides the document. `calibration` None is the shipped one."""

    sha256: str = ""
    """Of the document's bytes."""
    vendor: VendorMemory | None = None
    namesakes: tuple[VendorMemory, ...] = ()
    """Other vendors that the document names too: its VAT id, account and name do not lead to the same one."""
    others: tuple[Seen, ...] = ()
    """Documents that may be this one again."""
    calibration: Calibration | None = None


def judge(invoice: InvoiceData, known: Known, today: dt.date) -> InvoiceData:
    """Return `invoice` with the vendor's memory applied, all rules checked and every confidence computed.

    Where it names several vendors, nothing is applied, and its account has to be one that each of them had.
    Judging again by the same knowledge changes nothing.
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
    """Tell whether people approved something of this vendor before, by a judged reading alone."""
    return any(Evidence.AS_VENDOR_HISTORY in getattr(judged, name).evidence for name in VENDOR_FIELDS)


def currency_is_foreign(judged: InvoiceData) -> bool:
    """Tell whether the document of a known vendor is in a currency that nobody approved of that vendor before."""
    currency = judged.currency
    return (
        vendor_is_known(judged) and currency.value is not None and Evidence.AS_VENDOR_HISTORY not in currency.evidence
    )


def account_is_new(judged: InvoiceData) -> bool:
    """Tell whether the document names an account that nobody approved of its vendor before."""
    return judged.iban.value is not None and Evidence.AS_VENDOR_HISTORY not in judged.iban.evidence
