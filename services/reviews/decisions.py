"""Decide on documents: approve (with a second approval where required), reject, reopen. Many at once: bulk.py.

A decision is stored with its audit event, then the waiting runs are answered (run_answers). It names the digest of the
document as shown, and is refused if that has changed.
"""

import datetime as dt
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.language.inputs import InputProblem, InvalidValueError, check_answer
from docrail.invoices.assessment.review_summary import shown_digest, why_two_approvals
from docrail.invoices.model import InvoiceData, InvoiceProblem
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.service import remember
from docrail.services.errors import (
    AlreadyDecided,
    ClaimedByOther,
    DecisionOutdated,
    InvalidInput,
    MayNotDecide,
    OperationError,
    WrongState,
)
from docrail.services.model_config import SHOWN, Text, body
from docrail.services.reviews.approvals import answer_of, decide_document
from docrail.services.reviews.items import assessed, check_held, check_second, document_of, lock_item, record
from docrail.services.reviews.models import (
    APPROVED,
    DECISIONS,
    EXAMPLE_DIGEST,
    REJECTED,
    REVIEWED,
    SAMPLED,
    SECONDS,
    TOUCHED,
    Decision,
    Digest,
    Review,
    Token,
)
from docrail.services.reviews.repository.decisions import (
    load_forms,
    load_unanswered,
    record_first_approval,
    reopen_review,
)
from docrail.services.reviews.repository.items import count_review, load_full_review, load_review
from docrail.services.reviews.run_answers import answer_runs


@dataclass(frozen=True, slots=True)
class DocumentVerdict:
    """A decision, with the caller's claim and the digest of the document as shown to them."""

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {"token": 3, "digest": EXAMPLE_DIGEST, "why": "the deposit is in it"}
    )

    token: Token
    digest: Digest
    why: Text = ""
    """Required for a rejection, and for an approval with broken rules."""


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """The result of a decision."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    review: Review
    needs_second: list[InvoiceProblem]
    """Why another person must approve too; empty once it is decided."""
    runs_answered: bool
    """False: Temporal or a worker is unavailable; a waiting run gets the answer later, normally within a minute."""


async def approve(app: App, principal: Principal, review_id: str, verdict: DocumentVerdict) -> DecisionOutcome:
    """Approve a document as it was shown. With broken rules a reason is required.

    Repeating one's own approval changes nothing and has the same outcome: the first response may have been lost.

    Raises: NotFound, WrongState, ClaimLost, AlreadyDecided, DecisionOutdated, MayNotDecide, InvalidInput.
    """
    async with transaction(app.db) as tx:
        review = await lock_item(tx, principal, review_id)
        missing = await made_before(app, tx, principal, review, APPROVED, verdict)
        if missing is None:
            invoice = await checked(tx, principal, review, verdict, "approve")
            if invoice.has_errors() and not verdict.why.strip():
                broken = ", ".join(problem.code for problem in invoice.problems if problem.severity == "error")
                raise InvalidInput([InputProblem("why", f"is required: these rules are broken: {broken}")])
            missing = await approve_locked(app, tx, principal, review, invoice, verdict.why)
    return await _outcome(app, principal, review_id, missing)


async def reject(app: App, principal: Principal, review_id: str, verdict: DocumentVerdict) -> DecisionOutcome:
    """Reject a document; a reason is required. Raises: as `approve`."""
    if not verdict.why.strip():
        raise InvalidInput([InputProblem("why", "is required: a rejection has a reason")])
    async with transaction(app.db) as tx:
        review = await lock_item(tx, principal, review_id)
        if await made_before(app, tx, principal, review, REJECTED, verdict) is None:
            invoice = await checked(tx, principal, review, verdict, "reject")
            await _decide(tx, principal, review, REJECTED, invoice, verdict.why)
    return await _outcome(app, principal, review_id, [])


async def reopen(app: App, principal: Principal, review_id: str, why: str) -> Review:
    """Reopen the item of a decided document.

    A run that already received the decision continues with it; while a run is being answered, reopening is refused.

    Raises: NotFound, WrongState, InvalidInput.
    """
    if not why.strip():
        raise InvalidInput([InputProblem("why", "is required: why the decision is reopened")])
    async with transaction(app.db) as tx:
        review = await lock_item(tx, principal, review_id)
        document_of(review)
        # an item closed by its run stays closed: no run would close it again
        if review.status not in (APPROVED, REJECTED):
            raise WrongState("reopen", review.status, "review item")
        if await load_unanswered(tx, principal.tenant_id, review_id):
            raise WrongState("reopen", f"{review.status}, and a run is being answered", "review item")
        await reopen_review(tx, principal.tenant_id, review_id)
        await record(tx, principal, review, "reopened", why=why, was=review.status, decided_by=review.decided_by)
        return await lock_item(tx, principal, review_id)


async def made_before(
    app: App, tx: Database, principal: Principal, review: Review, status: str, verdict: DocumentVerdict
) -> list[InvoiceProblem] | None:
    """Return the result of the same decision by the same person; None if there was none."""
    first = review.first_approval or {}
    is_first = status == APPROVED and (first.get("by"), first.get("digest")) == (principal.name, verdict.digest)
    if is_first and review.is_open:
        invoice = await assessed(tx, principal.tenant_id, document_of(review))
        return why_two_approvals(invoice, app.four_eyes_above) or None
    if review.status != status:
        return None
    return [] if is_first or await _is_decision_of(tx, principal, review, verdict) else None


async def _is_decision_of(tx: Database, principal: Principal, review: Review, verdict: DocumentVerdict) -> bool:
    """Check whether the principal decided the item with the same reason, on the same document."""
    if review.decided_by != principal.name:
        return False
    full = await load_full_review(tx, review.tenant_id, review.review_id)
    if full is None or full.decision != answer_of(review.status, verdict.why):
        return False
    return shown_digest(await assessed(tx, principal.tenant_id, document_of(review))) == verdict.digest


async def checked(
    tx: Database, principal: Principal, review: Review, verdict: DocumentVerdict, action: str, *, is_bulk: bool = False
) -> InvoiceData:
    """Return the document of the locked item, if it is as it was shown and the principal may decide it."""
    invoice = await decidable(tx, principal, review, action, token=None if is_bulk else verdict.token)
    if (current := shown_digest(invoice)) != verdict.digest:
        raise DecisionOutdated(current)
    return invoice


async def decidable(
    db: Database, principal: Principal, review: Review, action: str, *, token: int | None
) -> InvoiceData:
    """Return the item's document if the principal may decide it now.

    The principal must have claimed the item with `token`; without one, in bulk, no one else may have.
    """
    if not review.is_open:
        raise await _too_late(db, review, action)
    if token is not None:
        check_held(principal, review, token)
    elif review.claimed_by not in (None, principal.name):
        raise ClaimedByOther(str(review.claimed_by))
    document_id = document_of(review)
    if barred := principal.people & set(review.may_not_decide):
        by = ", ".join(sorted(barred))
        raise MayNotDecide(f"{by} started the run, and the step accepts only another person's decision")
    return await assessed(db, principal.tenant_id, document_id)


async def _too_late(tx: Database, review: Review, action: str) -> OperationError:
    if review.decided_by is None:
        return WrongState(action, review.status, "review item")
    full = await load_full_review(tx, review.tenant_id, review.review_id)
    return AlreadyDecided(review.decided_by, full.decision if full else None)


async def approve_locked(
    app: App, tx: Database, principal: Principal, review: Review, invoice: InvoiceData, why: str
) -> list[InvoiceProblem]:
    """Approve the locked item; return why a second person must approve too, empty if it is approved now."""
    digest, needs = shown_digest(invoice), why_two_approvals(invoice, app.four_eyes_above)
    first = review.first_approval
    if needs and (first is None or first["digest"] != digest):  # the document has changed since the first approval
        await record_first_approval(tx, principal, review.review_id, digest)
        messages = [need.message for need in needs]
        await record(tx, principal, review, "approved_first", digest=digest, why=why, needs_second=messages)
        return needs
    if needs:
        check_second(principal, review)
    taught = await remember(tx, principal.tenant_id, invoice)
    await _decide(tx, principal, review, APPROVED, invoice, why, taught_vendor=taught)
    return []


async def _decide(
    tx: Database,
    principal: Principal,
    review: Review,
    status: str,
    invoice: InvoiceData,
    why: str,
    *,
    taught_vendor: str | None = None,
) -> None:
    answer = answer_of(status, why)
    for form in await load_forms(tx, principal.tenant_id, review.review_id):
        try:
            check_answer(form, answer)
        except InvalidValueError as error:
            message = f"the run's form does not accept the decision of a document, {answer}: {error}"
            raise InvalidInput([InputProblem("review_id", message)]) from None
    digest = shown_digest(invoice)
    await _count(tx, review, status)
    first = review.first_approval if status == APPROVED else None
    by = first["by"] if first and first["digest"] == digest else None
    decision = Decision(status, answer, principal.name, digest, invoice, taught_vendor)
    await decide_document(tx, review, decision, first_approved_by=by)


async def _count(tx: Database, review: Review, status: str) -> None:
    counts = [(DECISIONS, status, 1.0)]
    if review.touched:
        counts.append((TOUCHED, status, 1.0))
    if review.audit_sample:
        counts.append((SAMPLED, "wrong" if review.touched or status == REJECTED else "right", 1.0))
    if review.claimed_at is not None and review.claimed_by is not None:
        seconds = (dt.datetime.now(dt.UTC) - review.claimed_at).total_seconds()
        counts += [(SECONDS, "", max(seconds, 0.0)), (REVIEWED, "", 1.0)]
    for name, label, by in counts:
        await count_review(tx, review.tenant_id, name, label, by)


async def _outcome(
    app: App, principal: Principal, review_id: str, needs_second: list[InvoiceProblem]
) -> DecisionOutcome:
    answered = True if needs_second else await answer_runs(app, principal.tenant_id, review_id)
    review = await load_review(app.db, principal.tenant_id, review_id)
    assert review is not None, "was decided just now"
    return DecisionOutcome(review, needs_second, answered)
