"""Explain the confidences of a reading: each with the terms that it is the sum of."""

from collections.abc import Iterator, Sequence

from docrail.invoices.assessment.explanation import Term, explain, explain_overall
from docrail.invoices.model import FIELD_NAMES, InvoiceData

SMALLEST_SHOWN = 0.0005
"""Smaller terms of the whole document would be shown as -0.000, and are left out."""


def explanation_of(invoice: InvoiceData) -> Iterator[str]:
    """Yield the document's line, then one for each field that was found."""
    shares = [part for part in explain_overall(invoice) if abs(part.weight) >= SMALLEST_SHOWN]
    yield f"  {invoice.confidence:.3f}  document: {_terms(shares, 3) or 'nothing lowers it'}"
    for name in FIELD_NAMES:
        field = getattr(invoice, name)
        if field.value is not None:
            yield f"  {field.confidence:.3f}  {name.replace('_', ' ')}: {_terms(explain(field, name), 2)}"


def _terms(parts: Sequence[Term], digits: int) -> str:
    return ", ".join(f"{part.what.replace('_', ' ')} {part.weight:+.{digits}f}" for part in parts)
