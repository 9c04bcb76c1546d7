"""How a judged document looks in the review queue, whether a run opens its item or a person changes a field."""

from decimal import Decimal

from invoices.judging import currency_is_foreign, vendor_is_known
from invoices.model import InvoiceData
from invoices.priority import review_priority
from invoices.reviewing import review_reasons, shown_digest, summary, why_two_approvals
from storage.reviews import Appearance


def appearance_of(invoice: InvoiceData, four_eyes_above: Decimal | None = None) -> Appearance:
    """Return the item's appearance, with a priority that leaves out the SLA: that part is added when it is read.

    `four_eyes_above` is the largest total that one person may approve; None: any.
    """
    priority = review_priority(
        invoice,
        sla_hours=1,
        hours_used=0,
        new_vendor=not vendor_is_known(invoice),
        foreign_currency=currency_is_foreign(invoice),
    )
    parts = {name: part for name, part in priority.parts_json().items() if name != "sla"}
    return Appearance(
        priority=priority.score,
        parts=parts,
        reasons=[problem.model_dump(mode="json") for problem in review_reasons(invoice)],
        summary=dict(summary(invoice)),
        band=priority.band,
        digest=shown_digest(invoice),
        approvals=2 if why_two_approvals(invoice, four_eyes_above) else 1,
    )
