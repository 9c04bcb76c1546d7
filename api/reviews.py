"""Reviews: the queue of what a person has to look at, documents and the questions of human steps.

Who works on what, and what is decided of documents, is in review_claims.py and review_decisions.py.
"""

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.auth import NAME_PATTERN, MayReview
from api.errors import problems
from api.parameters import After, AppDep, Limit, Time, as_utc
from dag.kinds import ID_PATTERN
from dag.state import RunStatus
from dag.values import Json
from operations import reviews
from operations.errors import AlreadyDecided, MayNotDecide, NotFound, WrongState
from operations.principal import person
from operations.unmatched import Unmatched
from storage.review_lists import ReviewFilter, Sort
from storage.reviews import OPEN
from storage.step_reviews import DECIDED

Text = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]
Who = Annotated[str, Field(pattern=NAME_PATTERN), AfterValidator(person)]

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])


class PersonsDecisionOut(BaseModel):
    """What one of several people has decided."""

    by: str
    at: dt.datetime
    digest: str = Field(description="of the decision: equal decisions have equal digests")
    decision: Json = Field(None, description="null in lists")


class ReviewOut(BaseModel):
    """A question to a person. Of a document, `parts` say what the priority is made of, `reasons` what is doubtful."""

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
    """A question with all that belongs to it."""

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
    """What a person decided: any JSON that the item's form allows."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"decision": {"approved": True}}]})

    decision: Json


class DecidedOut(BaseModel):
    """A decision that was taken, and how the run stands now."""

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
    """List review items, most urgent first. All pages show the priorities of the moment at which the first was read."""
    wanted = ReviewFilter(status, queue, kind, group, claimed_by, vendor, band, as_utc(due), assigned_to)
    return ReviewListOut.model_validate(
        await reviews.list_reviews(app, who, wanted, sort=sort, limit=limit, after=after)
    )


@router.get("/{review_id}", responses=problems(NotFound))
async def show_review(review_id: str, who: MayReview, app: AppDep) -> ReviewContentOut:
    """Show a review item with its form and its content."""
    review, content = await reviews.show_review(app, who, review_id)
    shown = dict(ReviewOut.model_validate(review)) | asdict(content)
    if not content.decided_so_far:  # a document's item has its first approval there, which shows no decision
        shown["decided_so_far"] = review.decided_so_far
    return ReviewContentOut.model_validate(shown)


@router.post("/{review_id}/decision", responses=problems(NotFound, AlreadyDecided, MayNotDecide, WrongState))
async def decide_review(review_id: str, wanted: DecisionIn, who: MayReview, app: AppDep) -> DecidedOut:
    """Decide what a human step asks, at whatever depth its run is. The first decision counts.

    Where several people must decide alike, each has one decision: another one takes its place while the item is open.
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
