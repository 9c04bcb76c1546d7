"""Show a document's review item to a person: its fields, its place in the queue, and what they may do with it."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.documents.models import Document, StoredChange
from docrail.services.documents.service import load_changes, show_document
from docrail.services.model_config import SHOWN
from docrail.services.reviews.corrections import AssessedDocument, show_fields
from docrail.services.reviews.items import document_of, find_item, gave_first
from docrail.services.reviews.models import APPROVED, REJECTED, FullReview, Review
from docrail.services.reviews.repository.items import load_full_review

ActionName = Literal["claim", "correct", "undo", "approve", "reject", "postpone", "release", "reopen"]


@dataclass(frozen=True, slots=True)
class ReviewAction:
    """Whether the caller may act on the item now. The server checks it again when they do."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    name: ActionName
    allowed: bool
    """Whether it would be accepted now."""
    problem: Annotated[str | None, Field(examples=["claimed-by-other"])] = None
    """Name of the problem that would refuse it; null if it is allowed."""
    reason: str | None = None
    """Why it is not allowed, for people."""


@dataclass(frozen=True, slots=True)
class ReviewView:
    """Everything that a person needs to decide a document's item."""

    review: FullReview
    fields: AssessedDocument
    document: Document
    actions: list[ReviewAction]
    undoable: StoredChange | None
    """The caller's change that undo takes back."""
    as_of: dt.datetime
    """The server's time."""


async def show_view(app: App, principal: Principal, review_id: str) -> ReviewView:
    """Return the document's item as a page needs it.

    Raises: NotFound (also if the document was not read yet), InvalidInput (a step's item).
    """
    review = await find_item(load_full_review, app.db, principal, review_id)
    document_id = document_of(review)
    document = await show_document(app, principal, document_id)
    fields = await show_fields(app, principal, document_id)
    changes = [each for each in await load_changes(app.db, principal.tenant_id, document_id) if not each.undone_at]
    last = changes[-1] if changes and changes[-1].corrected_by == principal.name else None
    actions = list(_actions(principal, review, last))
    return ReviewView(review, fields, document, actions, last, dt.datetime.now(dt.UTC))


def _actions(principal: Principal, review: Review, last: StoredChange | None) -> Iterator[ReviewAction]:
    mine = review.claimed_by == principal.name
    busy = _busy(principal, review)
    personal = busy or _personal(principal, review)
    nothing = None if last else ("nothing-to-take-back", "there is no change of yours to undo")
    unclaimed = None if mine else ("claim-lost", "you have not claimed it")
    decided = None if review.status in (APPROVED, REJECTED) else ("wrong-state", f"it is {review.status}")
    refusals: dict[ActionName, tuple[str, str] | None] = {
        "claim": busy or _first(principal, review),
        "correct": busy,
        "undo": busy or nothing,
        "approve": personal,
        "reject": personal,
        "postpone": busy,
        "release": busy or unclaimed,
        "reopen": decided,
    }
    allowed = Scope.REVIEW in principal.scopes
    for name, refusal in refusals.items():
        problem, reason = (refusal or (None, None)) if allowed else ("forbidden", "this needs the scope 'review'")
        yield ReviewAction(name, allowed=problem is None, problem=problem, reason=reason)


def _busy(principal: Principal, review: Review) -> tuple[str, str] | None:
    """Return why no one, or only another person, may work on the item."""
    if not review.is_open:
        return "wrong-state", f"it is {review.status}"
    if review.claimed_by not in (None, principal.name):
        return "claimed-by-other", f"{review.claimed_by} has claimed it"
    return None


def _first(principal: Principal, review: Review) -> tuple[str, str] | None:
    if gave_first(principal, review):
        return "may-not-decide", "you approved it first: someone else must give the second approval"
    return None


def _personal(principal: Principal, review: Review) -> tuple[str, str] | None:
    """Return why this person may not decide the item."""
    if principal.people & set(review.may_not_decide):
        return "may-not-decide", "you started the run, and the step accepts only another person's decision"
    return _first(principal, review)
