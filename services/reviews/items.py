"""Lock review items, check claims and states, and record acts in the audit log.

Also computes how a document's item appears in the review queue.
"""

import datetime as dt
import re
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import TypeVar

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.assess import currency_is_foreign, vendor_is_known
from docrail.invoices.assessment.priority import review_priority
from docrail.invoices.assessment.review_summary import review_reasons, shown_digest, summary, why_two_approvals
from docrail.invoices.model import InvoiceData
from docrail.services.access.models import Principal, Scope
from docrail.services.audit.models import Act
from docrail.services.errors import ClaimedByOther, ClaimLost, InvalidInput, MayNotDecide, NotFound, WrongState
from docrail.services.reviews.models import DOCUMENT, Appearance, Review
from docrail.services.reviews.records import record_act
from docrail.services.reviews.repository.filing import load_unfiled, lock_unfiled, mark_filed
from docrail.services.reviews.repository.items import count_all_open, load_review, load_review_counts, lock_review
from docrail.services.reviews.standing import load_state

__all__ = [
    "appearance_of",
    "assessed",
    "check_held",
    "check_open",
    "check_second",
    "count_all_open",
    "document_of",
    "find_item",
    "gave_first",
    "load_review",
    "load_review_counts",
    "load_unfiled",
    "lock_free",
    "lock_held",
    "lock_item",
    "lock_unfiled",
    "mark_filed",
    "record",
]

REVIEW_ID_PATTERN = r"^rev_[0-9a-f]{26}$"

R = TypeVar("R", bound=Review)
Load = Callable[[Database, str, str], Awaitable[R | None]]


async def find_item(load: Load[R], db: Database, principal: Principal, review_id: str) -> R:
    """Return the tenant's item as `load` loads it. Raises: NotFound."""
    known = re.fullmatch(REVIEW_ID_PATTERN, review_id)
    review = await load(db, principal.tenant_id, review_id) if known else None
    if review is None:
        raise NotFound("review item", review_id)
    return review


async def lock_item(db: Database, principal: Principal, review_id: str) -> Review:
    """Return the tenant's item, locked until the transaction of `db` ends. Raises: NotFound."""
    return await find_item(lock_review, db, principal, review_id)


async def lock_held(db: Database, principal: Principal, review_id: str, token: int, action: str) -> Review:
    """Return the open item that the principal has claimed, locked. Raises: NotFound, WrongState, ClaimLost."""
    review = await lock_item(db, principal, review_id)
    check_open(review, action)
    check_held(principal, review, token)
    return review


async def lock_free(db: Database, principal: Principal, review_id: str, token: int | None, action: str) -> Review:
    """Return the open item, locked, if no one else has claimed it; operators may take it from others.

    Raises: NotFound, WrongState, ClaimedByOther.
    """
    review = await lock_item(db, principal, review_id)
    check_open(review, action)
    is_mine = review.claimed_by == principal.name and token in (None, review.claim_token)
    if review.claimed_by and not is_mine and Scope.OPERATE not in principal.scopes:
        raise ClaimedByOther(review.claimed_by)
    return review


def check_open(review: Review, action: str) -> None:
    """Raise WrongState if the item is no longer open."""
    if not review.is_open:
        raise WrongState(action, review.status, "review item")


def check_held(principal: Principal, review: Review, token: int) -> None:
    """Raise ClaimLost unless the principal has claimed the item, and last with this token."""
    if review.claimed_by != principal.name or review.claim_token != token:
        raise ClaimLost(review.claimed_by)


def gave_first(principal: Principal, review: Review) -> bool:
    """Check whether the principal, or someone who is one person with them, gave the first of the two approvals."""
    first = review.first_approval or {}
    return bool(principal.people & {first.get("by"), first.get("known_to")})


def check_second(principal: Principal, review: Review) -> None:
    """Raise MayNotDecide if the principal gave the first of the item's two approvals."""
    if not gave_first(principal, review):
        return
    if review.first_approved_by == principal.name:
        raise MayNotDecide(f"{principal.name} approved it first; someone else must give the second approval")
    raise MayNotDecide(
        f"one person knows the keys of {principal.name} and of {review.first_approved_by}, who approved it first; "
        "someone else must give the second approval"
    )


def document_of(review: Review) -> str:
    """Return the id of the item's document. Raises: InvalidInput if it is a step's item."""
    if review.kind != DOCUMENT or review.document_id is None:
        where = f": decide {review.document_review_id}" if review.document_review_id else ""
        message = f"is a human step's item, expected a document's{where or '; a step is decided by its form'}"
        raise InvalidInput([InputProblem("review_id", message)])
    return review.document_id


async def assessed(db: Database, tenant_id: str, document_id: str) -> InvoiceData:
    """Return the document as currently assessed.

    Raises: NotFound if the tenant has no such document, or it was not read.
    """
    try:
        return (await load_state(db, tenant_id, document_id, today=dt.datetime.now(dt.UTC).date())).invoice
    except NotStored as error:
        raise NotFound(error.kind, document_id) from None


async def record(db: Database, principal: Principal, review: Review, act: str, **detail: Json) -> None:
    """Add the principal's act to the audit log; must come last in the transaction, as it locks the tenant's log."""
    document_id = review.document_id if review.kind == DOCUMENT else None
    await record_act(db, principal.tenant_id, Act(principal.name, act, review.review_id, document_id, detail))


def appearance_of(invoice: InvoiceData, four_eyes_above: Decimal | None = None) -> Appearance:
    """Return the item's appearance; its priority excludes the SLA part, which is added on reading.

    `four_eyes_above` is the largest total that one person may approve; None: no maximum.
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
