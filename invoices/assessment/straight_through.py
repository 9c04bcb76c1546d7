"""Decide whether a document may pass without a person, and give the reasons if not."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from docrail.invoices.assessment.assess import account_is_new, vendor_is_known
from docrail.invoices.facts import Severity, Source
from docrail.invoices.model import FIELDS, InvoiceData

DIGEST_RANGE = 2**64


@dataclass(frozen=True, slots=True)
class Policy:
    """Conditions for a document to pass. While not `enabled`, decisions only show what would have passed."""

    enabled: bool = False
    min_confidence: float = 0.95
    """Applies to every required field and to every other field that was found."""
    max_total: Decimal | None = Decimal(1000)
    """In the document's own currency; None means no limit."""
    audit_share: float = 0.05
    """Share of the documents that a person checks anyway, to measure the error rate."""
    known_vendor: bool = True
    sources: frozenset[Source] = frozenset(Source)
    """Allowed sources of the required fields."""
    tolerated: frozenset[str] = frozenset()
    """Codes of warnings to ignore. Errors are never ignored."""


WITHOUT_HISTORY = Policy(
    max_total=None,
    audit_share=0,
    known_vendor=False,
    sources=frozenset({Source.XML, Source.QR}),
    tolerated=frozenset({"date_old", "vat_checksum"}),
)
"""For single files without a database: only values supplied as data by an e-invoice or payment code, without
contradictions."""


@dataclass(frozen=True, slots=True)
class StraightThrough:
    """`passes`: nothing prevents it and it was not drawn for the audit. Whether it takes effect is up to the policy."""

    passes: bool
    reasons: tuple[str, ...]
    """Reasons for people why it does not pass; empty if it passes or was only drawn for the audit."""
    audit_sample: bool


def decide(judged: InvoiceData, policy: Policy) -> StraightThrough:
    """Decide whether a judged document may pass under `policy`. The audit draw is always the same for a document."""
    reasons = tuple(_reasons(judged, policy))
    drawn = in_audit_sample(judged.document_id, policy.audit_share)
    return StraightThrough(passes=not reasons and not drawn, reasons=reasons, audit_sample=drawn)


def in_audit_sample(document_id: str, share: float) -> bool:
    """Return whether the document belongs to the audit sample; depends only on its id."""
    drawn = int.from_bytes(hashlib.sha256(document_id.encode()).digest()[:8])
    return drawn < share * DIGEST_RANGE


def _reasons(judged: InvoiceData, policy: Policy) -> Iterator[str]:
    for problem in judged.problems:
        if problem.severity is Severity.ERROR or problem.code not in policy.tolerated:
            yield problem.message
    for name, spec in FIELDS.items():
        field = getattr(judged, name)
        if field.value is None:
            continue
        if field.confidence < policy.min_confidence:
            yield f"The {spec.label} has confidence {field.confidence:.2f}; {policy.min_confidence:.2f} is needed."
        if spec.required and field.source not in policy.sources:
            yield f"The {spec.label} has the source {field.source.value}, which may not pass without a person."
    if policy.known_vendor and not vendor_is_known(judged):
        yield "No document of this vendor has been approved yet."
    elif policy.known_vendor and account_is_new(judged):
        yield "This account of the vendor has not been approved yet."
    total = judged.total.value
    if policy.max_total is not None and total is not None and abs(total) > policy.max_total:
        yield f"The total {total} is above the limit of {policy.max_total}."
