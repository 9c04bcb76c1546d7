"""Decide a document's review item: the only place where documents are approved, by people or straight through."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import asyncpg

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.review_summary import shown_digest, why_two_approvals
from docrail.invoices.model import InvoiceData
from docrail.services.access.models import PASSED_BY
from docrail.services.audit.models import Act
from docrail.services.documents.service import load_changes, mark_decided
from docrail.services.reviews.models import APPROVED, Decision, Question, Review
from docrail.services.reviews.records import record_act
from docrail.services.reviews.repository.decisions import record_decision
from docrail.services.reviews.repository.items import load_review, open_or_renew, open_or_renew_all

NOTHING_WRONG = "nothing is wrong with it"
"""Reason of an approval without a person."""


def answer_of(status: str, why: str) -> dict[str, Json]:
    """Return the answer that waiting runs get for a document with this decision."""
    return {"approved": status == APPROVED, "reason": why}


async def decide_document(tx: Database, review: Review, decision: Decision, **detail: Json) -> None:
    """Close the locked item as decided and add the decision to the audit log; must come last in the transaction.

    The tenant's other transactions wait for the audit log until this one ends.
    """
    await record_decision(tx, review.tenant_id, review.review_id, decision)
    await mark_decided(tx, review.tenant_id, str(review.document_id), decision.status)
    facts: dict[str, Json] = {"digest": decision.digest, "why": decision.answer["reason"], **detail}
    act = Act(decision.by, decision.status, review.review_id, review.document_id, facts)
    await record_act(tx, review.tenant_id, act)


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """A review that is requested for a document as it stands. One that `passes` is approved without a person."""

    question: Question
    invoice: InvoiceData
    passes: bool


async def open_items(
    db: asyncpg.Pool, tenant_id: str, asked: Sequence[ReviewRequest], four_eyes_above: Decimal | None
) -> list[Review]:
    """Open or renew the items of documents, each named once. Raises: NotStored."""
    questions = {each.invoice.document_id: each.question for each in asked if not each.passes}
    opened = await open_or_renew_all(db, tenant_id, questions) if questions else {}
    reviews = {document_id: review for document_id, (review, _) in opened.items()}
    for each in asked:
        if each.passes:
            async with transaction(db) as tx:
                passing = await _open_passing(tx, tenant_id, each.question, each.invoice, four_eyes_above)
            reviews[each.invoice.document_id] = passing
    return [reviews[each.invoice.document_id] for each in asked]


async def _open_passing(
    tx: Database, tenant_id: str, question: Question, invoice: InvoiceData, four_eyes_above: Decimal | None
) -> Review:
    """Open or renew the document's item, and approve a new one without a person.

    An item stays open if a person corrected the document, or if two people must approve it. The approval teaches
    nothing about the vendor, because no person looked.
    """
    review, is_new = await open_or_renew(tx, tenant_id, invoice.document_id, question)
    if not is_new or why_two_approvals(invoice, four_eyes_above):
        return review
    if await load_changes(tx, tenant_id, invoice.document_id):
        return review
    answer = answer_of(APPROVED, NOTHING_WRONG)
    await decide_document(tx, review, Decision(APPROVED, answer, PASSED_BY, shown_digest(invoice), invoice))
    decided = await load_review(tx, tenant_id, review.review_id)
    assert decided is not None, "was updated just now"
    return decided
