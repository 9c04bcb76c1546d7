"""Routes of the review queue: list and show items, claim them, and decide documents and human steps.

Claims: take an item or the most urgent free one, renew, release, assign, postpone. Decisions: approve, reject, reopen,
approve in bulk; and the audit log of an item.

In one file because all routes act on the same item and return its model.
"""

import datetime as dt
from typing import Annotated, Literal, Self

from fastapi import Body, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from docrail.api.audit import AfterEvent, AuditOut
from docrail.api.auth import MayReview
from docrail.api.errors import problems
from docrail.api.parameters import After, AppDep, Limit, SearchWords, Time, as_utc
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.values.json_values import Json
from docrail.field_docs import describe_fields
from docrail.services.errors import (
    AlreadyDecided,
    ClaimedByOther,
    ClaimLost,
    DecisionOutdated,
    MayNotDecide,
    NotFound,
    WrongState,
)
from docrail.services.inbox import service as inbox
from docrail.services.inbox.models import DocumentFilter
from docrail.services.model_config import Text, without_null
from docrail.services.reviews import bulk
from docrail.services.reviews import claims as review_claims
from docrail.services.reviews import decisions as review_decisions
from docrail.services.reviews import service as reviews
from docrail.services.reviews.bulk import MOST_AT_ONCE, MOST_PREVIEWED, ApprovalPreview, BulkResult
from docrail.services.reviews.decisions import DecisionOutcome, DocumentVerdict
from docrail.services.reviews.models import (
    EXAMPLE_DIGEST,
    Claim,
    FullReview,
    Kind,
    Name,
    Review,
    ReviewFilter,
    Sort,
    Token,
    Who,
    Wish,
)
from docrail.services.reviews.preview_tokens import ShownItem
from docrail.services.reviews.service import Decided, ReviewPage, list_item_events

router = PrefixRouter(prefix="/v1/reviews", tags=["reviews"])


Status = Literal["open", "postponed", "approved", "rejected", "decided", "closed"]


class DecisionIn(BaseModel):
    """A person's decision: any JSON that the item's form allows."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"decision": {"approved": True}}]})

    decision: Json


@router.get("", responses=problems())
async def list_reviews(
    who: MayReview,
    app: AppDep,
    *,
    status: Annotated[Status, Query(description="`postponed`: open, but not before a given time")] = "open",
    queue: Annotated[Name | None, Query(description="one queue's items")] = None,
    kind: Annotated[Kind | None, Query(description="what asks")] = None,
    group: Annotated[Name | None, Query(description="items for this group of people")] = None,
    claimed_by: Annotated[Who | None, Query(description="items that this person works on")] = None,
    assigned_to: Annotated[Who | None, Query(description="items assigned to this person")] = None,
    vendor: Annotated[Text | None, Query(max_length=200, description="a part of the vendor's name")] = None,
    band: Annotated[int | None, Query(ge=0, le=2, description="items of this band")] = None,
    due: Annotated[Time | None, Query(description="items due until then")] = None,
    run_id: Annotated[Text | None, Query(max_length=200, description="items of this run and of runs in it")] = None,
    sort: Annotated[
        Sort, Query(description="the most urgent first, or those with the largest value of one part of the priority")
    ] = Sort.PRIORITY,
    limit: Limit = 100,
    after: After = None,
) -> ReviewPage:
    """List review items, most urgent first. All pages show the priorities as of the time of the first."""
    wanted = ReviewFilter(status, queue, kind, group, claimed_by, vendor, band, as_utc(due), assigned_to, run_id)
    return await reviews.list_reviews(app, who, wanted, sort=sort, limit=limit, after=after)


@router.get("/{review_id}", responses=problems(NotFound))
async def show_review(review_id: str, who: MayReview, app: AppDep) -> FullReview:
    """Show a review item with its form and content."""
    return await reviews.show_review(app, who, review_id)


@router.post("/{review_id}/decision", responses=problems(NotFound, AlreadyDecided, MayNotDecide, WrongState))
async def decide_review(review_id: str, wanted: DecisionIn, who: MayReview, app: AppDep) -> Decided:
    """Decide a human step's item, at any nesting depth of its run. The first decision counts.

    Where several people must make the same decision, each has one decision, which they may replace while the item is
    open.
    """
    return await reviews.decide_review(app, who, review_id, wanted.decision)


class NextOut(BaseModel):
    """The claimed item; null if none is free."""

    claim: Claim | None


class TokenIn(BaseModel):
    """The caller's claim."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"token": 3}]})

    token: Token


class RenewedOut(BaseModel):
    """The new end of the claim."""

    until: dt.datetime


class ReleaseIn(BaseModel):
    """The caller's claim; operators can take items from others without one."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"token": 3}]})

    token: Token | None = None


class AssignIn(ReleaseIn):
    """The person to assign the item to."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"to": "bob", "token": 3}]})

    to: Who


class PostponeIn(TokenIn):
    """The end of the postponement, and the reason."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"token": 3, "until": "2026-11-30T09:00:00Z", "why": "the vendor was asked"}]},
    )

    until: Time = Field(examples=["2026-11-30T09:00:00Z"])
    why: Text = ""


@router.post("/next", responses=problems())
async def claim_next(who: MayReview, app: AppDep, wanted: Wish | None = None) -> NextOut:
    """Claim the most urgent free item. Concurrent callers never get the same one."""
    return NextOut(claim=await review_claims.claim_next(app, who, wanted or Wish()))


@router.post("/{review_id}/claim", responses=problems(NotFound, ClaimedByOther, MayNotDecide, WrongState))
async def claim_review(review_id: str, who: MayReview, app: AppDep) -> Claim:
    """Claim an item for 15 minutes. Claiming one's own item again returns a new token, and invalidates the old one."""
    return await review_claims.claim_review(app, who, review_id)


@router.post("/{review_id}/renew", responses=problems(NotFound, ClaimLost))
async def renew_claim(review_id: str, wanted: TokenIn, who: MayReview, app: AppDep) -> RenewedOut:
    """Extend a claim by another 15 minutes."""
    return RenewedOut(until=await review_claims.renew_claim(app, who, review_id, wanted.token))


@router.post("/{review_id}/release", responses=problems(NotFound, ClaimedByOther, WrongState))
async def release_review(review_id: str, who: MayReview, app: AppDep, wanted: ReleaseIn | None = None) -> Review:
    """Return an item to the queue. Operators can also release the items of others."""
    token = wanted.token if wanted else None
    return await review_claims.release_review(app, who, review_id, token)


@router.post("/{review_id}/assign", responses=problems(NotFound, ClaimedByOther, WrongState))
async def assign_review(review_id: str, wanted: AssignIn, who: MayReview, app: AppDep) -> Review:
    """Assign an item to one person, who gets it first when claiming the next item. Others may still claim it."""
    return await review_claims.assign_review(app, who, review_id, wanted.to, wanted.token)


@router.post("/{review_id}/postpone", responses=problems(NotFound, ClaimLost, WrongState))
async def postpone_review(review_id: str, wanted: PostponeIn, who: MayReview, app: AppDep) -> Review:
    """Postpone an item. Its SLA continues."""
    return await review_claims.postpone_review(app, who, review_id, wanted.token, until=wanted.until, why=wanted.why)


REFUSALS = (NotFound, WrongState, ClaimLost, AlreadyDecided, DecisionOutdated, MayNotDecide)


NOT_BLANK = r"^[^\x00]*[^\s\x00-\x1f\x85][^\x00]*$"
"""Of a text that must have more than whitespace."""


class ReopenIn(BaseModel):
    """The reason for reopening."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"why": "paid twice"}]})

    why: Text = Field(min_length=1, json_schema_extra={"pattern": NOT_BLANK})


PreviewToken = Annotated[str, Field(min_length=1, max_length=40_000, description="of a preview")]


class BulkApprovalIn(BaseModel):
    """The items to approve: either as they were shown, or those of a preview by its token."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"items": [{"review_id": "rev_0f9c6c4b3a2d4e5f8a7b6c5d4e", "digest": EXAMPLE_DIGEST}]}],
            "oneOf": [{"required": ["items"]}, {"required": ["token"]}],
        },
    )

    items: list[ShownItem] | None = Field(
        default=None, min_length=1, max_length=MOST_AT_ONCE, json_schema_extra=without_null
    )
    token: PreviewToken | None = Field(default=None, json_schema_extra=without_null)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.items is None) is (self.token is None):
            raise ValueError("expected either items or token")
        return self


class MatchingIn(BaseModel):
    """Which documents: as in the list of documents. Only those that wait for a decision count."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=describe_fields)

    vendor: SearchWords | None = Field(default=None, json_schema_extra=without_null)
    """A VAT id, or how the vendor's name begins."""
    text: SearchWords | None = Field(default=None, json_schema_extra=without_null)
    """Part of the file name, the vendor's name or the invoice number, or the total."""


class PreviewIn(BaseModel):
    """The items to preview: some, or all that match."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"review_ids": ["rev_0f9c6c4b3a2d4e5f8a7b6c5d4e"]}, {"matching": {"vendor": "coolblue"}}],
            "oneOf": [{"required": ["review_ids"]}, {"required": ["matching"]}],
        },
    )

    review_ids: list[Annotated[str, Field(max_length=64, pattern=r"^[^\x00]*$")]] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_PREVIEWED,
        json_schema_extra=without_null,
        description="the items",
    )
    matching: MatchingIn | None = Field(
        default=None, json_schema_extra=without_null, description="instead of items: all documents that match"
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.review_ids is None) is (self.matching is None):
            raise ValueError("expected either review_ids or matching")
        return self


@router.post("/approve/preview", responses=problems())
async def preview_approval(wanted: PreviewIn, who: MayReview, app: AppDep) -> ApprovalPreview:
    """Show what a bulk approval would do: what is approved, with its sums, and what stays open and why.

    Approve exactly that with the `token`: an item that changes in between stays open.
    """
    if wanted.review_ids is not None:
        return await bulk.preview_many(app, who, wanted.review_ids)
    assert wanted.matching is not None, "one of both"
    matching = DocumentFilter(vendor=wanted.matching.vendor, text=wanted.matching.text)
    return await inbox.preview_matching(app, who, matching)


@router.post("/approve", responses=problems())
async def approve_many(wanted: BulkApprovalIn, who: MayReview, app: AppDep) -> BulkResult:
    """Approve documents without problems. The problems of the others are reported per item; these stay open.

    Of a preview, at most 100 items are approved at once: repeat it with the `token` of the result until that is null.
    """
    if wanted.token is not None:
        return await bulk.approve_previewed(app, who, wanted.token)
    return BulkResult(await bulk.approve_many(app, who, wanted.items or []), None)


@router.post("/{review_id}/approve", responses=problems(*REFUSALS))
async def approve(review_id: str, verdict: DocumentVerdict, who: MayReview, app: AppDep) -> DecisionOutcome:
    """Approve a document as it was shown. Above a limit, or with a changed IBAN, two people must approve."""
    return await review_decisions.approve(app, who, review_id, verdict)


WITH_REASON: dict[str, Json] = {"required": ["why"], "properties": {"why": {"pattern": r"[^\s\x1c-\x1f]"}}}


@router.post("/{review_id}/reject", responses=problems(*REFUSALS))
async def reject(
    review_id: str,
    verdict: Annotated[DocumentVerdict, Body(json_schema_extra=WITH_REASON)],
    who: MayReview,
    app: AppDep,
) -> DecisionOutcome:
    """Reject a document; a reason is required."""
    return await review_decisions.reject(app, who, review_id, verdict)


@router.post("/{review_id}/reopen", responses=problems(NotFound, WrongState))
async def reopen(review_id: str, wanted: ReopenIn, who: MayReview, app: AppDep) -> Review:
    """Reopen a decided document. A run that has already received the decision continues with it."""
    return await review_decisions.reopen(app, who, review_id, wanted.why)


@router.get("/{review_id}/audit", responses=problems(NotFound))
async def show_audit(
    review_id: str, who: MayReview, app: AppDep, *, after: AfterEvent = 0, limit: Limit = 100
) -> AuditOut:
    """Show the audit events of an item and its document, oldest first."""
    events = await list_item_events(app, who, review_id, after=after, limit=limit)
    return AuditOut(events=events)
