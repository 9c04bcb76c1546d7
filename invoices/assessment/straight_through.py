"""Decides whether a document may pass without a person, and says in words why not (documents.md §5)."""

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
    """When a document may pass. While it is not `enabled`, decisions only show what would have passed."""

    enabled: bool = False
    min_confidence: float = 0.95
    """Of every required field, and of every other one that was found."""
    max_total: Decimal | None = Decimal(1000)
    """In the document's own currency; None: no limit."""
    audit_share: float = 0.05
    """Share of the documents that a person sees nevertheless, so that the error rate is known."""
    known_vendor: bool = True
    sources: frozenset[Source] = frozenset(Source)
    """Where the required fields may come from."""
    tolerated: frozenset[str] = frozenset()
    """Codes of warnings that do not matter. Errors always do."""


WITHOUT_HISTORY = Policy(
    max_total=None,
    audit_share=0,
    known_vendor=False,
    sources=frozenset({Source.XML, Source.QR}),
    tolerated=frozenset({"date_old", "vat_checksum"}),
)
"""For single files without a database: only what is told exactly by an e-invoice, and contradicted by nothing."""


@dataclass(frozen=True, slots=True)
class StraightThrough:
    """`passes`: nothing speaks against it, and it is not drawn for the audit; whether it counts, the policy says."""

    passes: bool
    reasons: tuple[str, ...]
    """Why not, in words for people; empty if it passes or was only drawn for the audit."""
    audit_sample: bool


def decide(judged: InvoiceData, policy: Policy) -> StraightThrough:
    """Return whether a judged document may pass under `policy`. The same document is always drawn or never."""
    reasons = tuple(_reasons(judged, policy))
    drawn = in_audit_sample(judged.document_id, policy.audit_share)
    return StraightThrough(passes=not reasons and not drawn, reasons=reasons, audit_sample=drawn)


def in_audit_sample(document_id: str, share: float) -> bool:
    """Tell whether a document is one of the share that a person always sees: by its id alone, on any machine."""
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
            yield f"The {spec.label} was not told exactly by an e-invoice."
    if policy.known_vendor and not vendor_is_known(judged):
        yield "Nobody has approved a document of this vendor yet."
    elif policy.known_vendor and account_is_new(judged):
        yield "Nobody has approved this account of this vendor yet."
    total = judged.total.value
    if policy.max_total is not None and total is not None and abs(total) > policy.max_total:
        yield f"The total {total} is above the limit of {policy.max_total}."
