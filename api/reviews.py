"""Routes of the review queue: list and show items, claim them, and decide documents and human steps.

Claims: take an item or the most urgent free one, renew, release, assign, postpone. Decisions: approve, reject, reopen,
approve in bulk; and the audit log of an item.

In one file because all routes act on the same item and return its model.
"""

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from docrail.api.audit import AfterEvent, AuditOut
from docrail.api.auth import NAME_PATTERN, MayReview
from docrail.api.errors import problems
from docrail.api.parameters import After, AppDep, Limit, Time, as_utc
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import ID_PATTERN
from docrail.services.access.models import person
from docrail.services.errors import (
    AlreadyDecided,
    ClaimedByOther,
    ClaimLost,
    DecisionOutdated,
    MayNotDecide,
    NotFound,
    WrongState,
)
from docrail.services.paging import Unmatched
from docrail.services.reviews import claims as review_claims
from docrail.services.reviews import decisions as review_decisions
from docrail.services.reviews import service as reviews
from docrail.services.reviews.decisions import MOST_AT_ONCE, BulkOutcome, Outcome, Verdict
from docrail.services.reviews.models import DECIDED, OPEN, Claim, ReviewFilter, Sort, Wish
from docrail.services.reviews.service import list_item_events

Text = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]


Who = Annotated[str, Field(pattern=NAME_PATTERN), AfterValidator(person)]


router = APIRouter(prefix="/v1/reviews", tags=["reviews"])


class PersonsDecisionOut(BaseModel):
    """The decision of one of several people."""

    by: str
    at: dt.datetime
    digest: str = Field(description="of the decision: equal decisions have equal digests")
    decision: Json = Field(None, description="null in lists")


class ReviewOut(BaseModel):
    """A review item. For a document, `parts` are the components of the priority, and `reasons` the doubts."""

    model_config = ConfigDict(from_attributes=True)

    review_id: str
    kind: Literal["document", "step"] = Field(description="what asks: a document, or a human step of a run")
    document_id: str | None = Field(description="of a step's item, the document of its run, if it has one")
    run_id: str
    step_id: str | None
    queue: str = Field(description="`documents`, or what the human step says")
    title: str = Field(description="what it is about, in a line: the step's question, or what is known of the document")
    status: str = Field(
        examples=[OPEN],
        description="`open` or, until a time, `postponed`; a document's item ends as `approved` or `rejected`, a "
        "step's as `decided`, and either as `closed` when its run asks no more",
    )
    band: int = Field(
        description="items of a higher band come first: overdue (2), then nearly due, suspicious or escalated (1)"
    )
    priority: float = Field(description="0 to 100; of a document as of now: it rises as its SLA is used")
    parts: dict[str, float] = Field(
        description="each 0 to 1; of the priority, uncertainty gives 35, sla 30, value 20 and complexity 15"
    )
    reasons: list[Json]
    summary: dict[str, Json]
    group: str | None = Field(description="the people that it is for, where a human step says so")
    may_not_decide: list[str] = Field(description="who may not decide it: `assignees.not_the_submitter`")
    approvals_needed: int = Field(description="how many people must decide alike")
    approvals_missing: int = Field(description="how many more people must decide as most of those have who did")
    decided_so_far: list[PersonsDecisionOut] = Field(description="what each of them has decided")
    assigned_to: str | None = Field(description="who gets it next, where somebody said so")
    claimed_by: str | None = Field(description="who works on it; null again once the lease is over")
    claimed_until: dt.datetime | None
    postponed_until: dt.datetime | None
    digest: str | None = Field(description="of what this shows of a document: a bulk approval names it")
    first_approved_by: str | None = Field(description="who approved it first, where two people must")
    straight_through: bool | None = Field(description="whether it passed, or would have passed, without a person")
    audit_sample: bool = Field(description="whether it was drawn to be looked at whatever is said of it")
    touched: bool = Field(description="whether somebody corrected a field")
    decided_by: str | None
    due_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime
    closed_at: dt.datetime | None


class ReviewContentOut(ReviewOut):
    """A review item with its form and content."""

    form: dict[str, Json] = Field(description="JSON Schema that a decision must fit")
    show: dict[str, Json] = Field(description="what the definition puts beside the form")
    decision: Json = Field(description="what was decided, null before")


class ReviewListOut(BaseModel):
    """A page of review items, most urgent first."""

    model_config = ConfigDict(from_attributes=True)

    reviews: list[ReviewOut]
    after: str | None
    unmatched: list[Unmatched] = Field(
        description="if there are no items: a queue, or a group, that no item has ever had"
    )


Status = Literal["open", "postponed", "approved", "rejected", "decided", "closed"]


class DecisionIn(BaseModel):
    """A person's decision: any JSON that the item's form allows."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"decision": {"approved": True}}]})

    decision: Json


class DecidedOut(BaseModel):
    """An accepted decision, and the status of the run."""

    review_id: str
    run_id: str
    step_id: str
    status: str = Field(examples=[DECIDED], description="`open` while more people must decide alike")
    approvals_missing: int = Field(description="how many more people must")
    run_status: RunStatus


@router.get("", responses=problems())
async def list_reviews(
    who: MayReview,
    app: AppDep,
    *,
    status: Annotated[Status, Query(description="postponed: open, and put off")] = "open",
    queue: Annotated[str | None, Query(max_length=64, pattern=ID_PATTERN, description="one queue's items")] = None,
    kind: Annotated[Literal["document", "step"] | None, Query(description="what asks")] = None,
    group: Annotated[
        str | None, Query(max_length=64, pattern=ID_PATTERN, description="items for this group of people")
    ] = None,
    claimed_by: Annotated[Who | None, Query(description="items that this person works on")] = None,
    assigned_to: Annotated[Who | None, Query(description="items that were put before this person")] = None,
    vendor: Annotated[Text | None, Query(max_length=200, description="a part of the vendor's name")] = None,
    band: Annotated[int | None, Query(ge=0, le=2, description="items of this band")] = None,
    due: Annotated[Time | None, Query(description="items due until then")] = None,
    sort: Annotated[
        Sort, Query(description="the most urgent first, or those with the most of one part of the priority")
    ] = Sort.PRIORITY,
    limit: Limit = 100,
    after: After = None,
) -> ReviewListOut:
    """List review items, most urgent first. All pages show the priorities as of the time of the first."""
    wanted = ReviewFilter(status, queue, kind, group, claimed_by, vendor, band, as_utc(due), assigned_to)
    return ReviewListOut.model_validate(
        await reviews.list_reviews(app, who, wanted, sort=sort, limit=limit, after=after)
    )


@router.get("/{review_id}", responses=problems(NotFound))
async def show_review(review_id: str, who: MayReview, app: AppDep) -> ReviewContentOut:
    """Show a review item with its form and content."""
    review, content = await reviews.show_review(app, who, review_id)
    shown = dict(ReviewOut.model_validate(review)) | asdict(content)
    if not content.decided_so_far:  # a document's item keeps its first approval there, without a decision
        shown["decided_so_far"] = review.decided_so_far
    return ReviewContentOut.model_validate(shown)


@router.post("/{review_id}/decision", responses=problems(NotFound, AlreadyDecided, MayNotDecide, WrongState))
async def decide_review(review_id: str, wanted: DecisionIn, who: MayReview, app: AppDep) -> DecidedOut:
    """Decide a human step's item, at any nesting depth of its run. The first decision counts.

    Where several people must make the same decision, each has one decision, which they may replace while the item is
    open.
    """
    decided = await reviews.decide_review(app, who, review_id, wanted.decision)
    review = decided.review
    return DecidedOut(
        review_id=review.review_id,
        run_id=review.run_id,
        step_id=review.step_id or "",
        status=OPEN if decided.approvals_missing else DECIDED,
        approvals_missing=decided.approvals_missing,
        run_status=decided.run_status,
    )


Token = Annotated[int, Field(strict=True, ge=1, le=2**53, description="of the caller's claim")]


class ClaimOut(BaseModel):
    """A claimed item. Every act on it requires `token`; the claim ends at `until` unless it is renewed."""

    review: ReviewOut
    token: int
    until: dt.datetime

    @classmethod
    def of(cls, claim: Claim) -> "ClaimOut":
        """Return the response model of a claim."""
        return cls(review=ReviewOut.model_validate(claim.review), token=claim.token, until=claim.until)


class NextOut(BaseModel):
    """The claimed item; null if none is free."""

    claim: ClaimOut | None


class NextIn(BaseModel):
    """Filters for the item to claim."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"queue": "payments"}]})

    queue: str | None = Field(default=None, max_length=64, pattern=ID_PATTERN)
    kind: Literal["document", "step"] | None = None
    group: str | None = Field(default=None, max_length=64, pattern=ID_PATTERN)


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
async def claim_next(who: MayReview, app: AppDep, wanted: NextIn | None = None) -> NextOut:
    """Claim the most urgent free item. Concurrent callers never get the same one."""
    wish = Wish(**dict(wanted or NextIn()))
    claim = await review_claims.claim_next(app, who, wish)
    return NextOut(claim=claim and ClaimOut.of(claim))


@router.post("/{review_id}/claim", responses=problems(NotFound, ClaimedByOther, MayNotDecide, WrongState))
async def claim_review(review_id: str, who: MayReview, app: AppDep) -> ClaimOut:
    """Claim an item for 15 minutes. Claiming one's own item again returns a new token, and invalidates the old one."""
    return ClaimOut.of(await review_claims.claim_review(app, who, review_id))


@router.post("/{review_id}/renew", responses=problems(NotFound, ClaimLost))
async def renew_claim(review_id: str, wanted: TokenIn, who: MayReview, app: AppDep) -> RenewedOut:
    """Extend a claim by another 15 minutes."""
    return RenewedOut(until=await review_claims.renew_claim(app, who, review_id, wanted.token))


@router.post("/{review_id}/release", responses=problems(NotFound, ClaimedByOther, WrongState))
async def release_review(review_id: str, who: MayReview, app: AppDep, wanted: ReleaseIn | None = None) -> ReviewOut:
    """Return an item to the queue. Operators can also release the items of others."""
    token = wanted.token if wanted else None
    return ReviewOut.model_validate(await review_claims.release_review(app, who, review_id, token))


@router.post("/{review_id}/assign", responses=problems(NotFound, ClaimedByOther, WrongState))
async def assign_review(review_id: str, wanted: AssignIn, who: MayReview, app: AppDep) -> ReviewOut:
    """Assign an item to one person, who gets it first when claiming the next item. Others may still claim it."""
    return ReviewOut.model_validate(await review_claims.assign_review(app, who, review_id, wanted.to, wanted.token))


@router.post("/{review_id}/postpone", responses=problems(NotFound, ClaimLost, WrongState))
async def postpone_review(review_id: str, wanted: PostponeIn, who: MayReview, app: AppDep) -> ReviewOut:
    """Postpone an item. Its SLA continues."""
    review = await review_claims.postpone_review(app, who, review_id, wanted.token, until=wanted.until, why=wanted.why)
    return ReviewOut.model_validate(review)


EXAMPLE_DIGEST = "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"


Digest = Annotated[
    str, Field(pattern="^[0-9a-f]{64}$", description="of what was shown: the document's fields say it, and each item")
]


REFUSALS = (NotFound, WrongState, ClaimLost, AlreadyDecided, DecisionOutdated, MayNotDecide)


class VerdictIn(BaseModel):
    """A decision, with the caller's claim and the digest of the document as shown to them."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"token": 3, "digest": EXAMPLE_DIGEST, "why": "the deposit is in it"}]},
    )

    token: Token
    digest: Digest
    why: Text = Field(default="", description="a rejection needs it, and an approval with broken rules")


class DocumentDecisionOut(BaseModel):
    """The result of a decision."""

    review: ReviewOut
    needs_second: list[str] = Field(description="why somebody else must approve too; empty once it is decided")
    runs_answered: bool = Field(description="false: a run that waits will be told in a moment, for its worker is away")

    @classmethod
    def of(cls, outcome: Outcome) -> "DocumentDecisionOut":
        """Return the response model of an outcome."""
        review = ReviewOut.model_validate(outcome.review)
        return cls(review=review, needs_second=outcome.needs_second, runs_answered=outcome.runs_answered)


class ReopenIn(BaseModel):
    """The reason for reopening."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"why": "paid twice"}]})

    why: Text = Field(min_length=1)


class ShownIn(BaseModel):
    """An item, and its digest as shown in the queue."""

    model_config = ConfigDict(extra="forbid")

    review_id: str
    digest: Digest


class BulkApprovalIn(BaseModel):
    """The items to approve."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"items": [{"review_id": "rev_0f9c6c4b3a2d4e5f8a7b6c5d4e", "digest": EXAMPLE_DIGEST}]}]
        },
    )

    items: list[ShownIn] = Field(min_length=1, max_length=MOST_AT_ONCE)


class BulkOut(BaseModel):
    """The result for each item, in the given order."""

    items: list[BulkOutcome]


@router.post("/approve", responses=problems())
async def approve_many(wanted: BulkApprovalIn, who: MayReview, app: AppDep) -> BulkOut:
    """Approve documents without problems. The problems of the others are reported per item; these stay open."""
    given = [(item.review_id, item.digest) for item in wanted.items]
    outcomes = await review_decisions.approve_many(app, who, given)
    return BulkOut(items=outcomes)


@router.post("/{review_id}/approve", responses=problems(*REFUSALS))
async def approve(review_id: str, wanted: VerdictIn, who: MayReview, app: AppDep) -> DocumentDecisionOut:
    """Approve a document as it was shown. Above a limit, or with a changed IBAN, two people must approve."""
    verdict = Verdict(wanted.token, wanted.digest, wanted.why)
    return DocumentDecisionOut.of(await review_decisions.approve(app, who, review_id, verdict))


@router.post("/{review_id}/reject", responses=problems(*REFUSALS))
async def reject(review_id: str, wanted: VerdictIn, who: MayReview, app: AppDep) -> DocumentDecisionOut:
    """Reject a document; a reason is required."""
    verdict = Verdict(wanted.token, wanted.digest, wanted.why)
    return DocumentDecisionOut.of(await review_decisions.reject(app, who, review_id, verdict))


@router.post("/{review_id}/reopen", responses=problems(NotFound, WrongState))
async def reopen(review_id: str, wanted: ReopenIn, who: MayReview, app: AppDep) -> ReviewOut:
    """Reopen a decided document. A run that has already received the decision continues with it."""
    return ReviewOut.model_validate(await review_decisions.reopen(app, who, review_id, wanted.why))


@router.get("/{review_id}/audit", responses=problems(NotFound))
async def show_audit(
    review_id: str, who: MayReview, app: AppDep, *, after: AfterEvent = 0, limit: Limit = 100
) -> AuditOut:
    """Show the audit events of an item and its document, oldest first."""
    events = await list_item_events(app, who, review_id, after=after, limit=limit)
    return AuditOut(events=events)
