"""What people decide of documents: approve, reject, reopen, approve many at once; and the audit of one item."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.audit import AfterEvent, AuditOut
from api.auth import MayReview
from api.errors import problems
from api.parameters import AppDep, Limit
from api.review_claims import Token
from api.reviews import ReviewOut, Text
from operations import audit, review_decisions
from operations.errors import AlreadyDecided, ClaimLost, DecisionOutdated, MayNotDecide, NotFound, WrongState
from operations.review_decisions import MOST_AT_ONCE, BulkOutcome, Outcome, Verdict

EXAMPLE_DIGEST = "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
Digest = Annotated[
    str, Field(pattern="^[0-9a-f]{64}$", description="of what was shown: the document's fields say it, and each item")
]
REFUSALS = (NotFound, WrongState, ClaimLost, AlreadyDecided, DecisionOutdated, MayNotDecide)

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])


class VerdictIn(BaseModel):
    """A decision, with the caller's claim and the digest of what they were shown."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"token": 3, "digest": EXAMPLE_DIGEST, "why": "the deposit is in it"}]},
    )

    token: Token
    digest: Digest
    why: Text = Field(default="", description="a rejection needs it, and an approval with broken rules")


class DocumentDecisionOut(BaseModel):
    """What became of a decision."""

    review: ReviewOut
    needs_second: list[str] = Field(description="why somebody else must approve too; empty once it is decided")
    runs_told: bool = Field(description="false: a run that waits will be told in a moment, for its worker is away")

    @classmethod
    def of(cls, outcome: Outcome) -> "DocumentDecisionOut":
        """Return what is told of an outcome."""
        review = ReviewOut.model_validate(outcome.review)
        return cls(review=review, needs_second=outcome.needs_second, runs_told=outcome.runs_told)


class ReopenIn(BaseModel):
    """Why the decision does not stand."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"why": "paid twice"}]})

    why: Text = Field(min_length=1)


class ShownIn(BaseModel):
    """An item, and the digest that the queue showed of it."""

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
    """What became of each item, in the order given."""

    items: list[BulkOutcome]


@router.post("/approve", responses=problems())
async def approve_many(wanted: BulkApprovalIn, who: MayReview, app: AppDep) -> BulkOut:
    """Approve documents of which nothing is wrong. What is wrong with the others is told of each; they stay open."""
    given = [(item.review_id, item.digest) for item in wanted.items]
    outcomes = await review_decisions.approve_many(app, who, given)
    return BulkOut(items=outcomes)


@router.post("/{review_id}/approve", responses=problems(*REFUSALS))
async def approve(review_id: str, wanted: VerdictIn, who: MayReview, app: AppDep) -> DocumentDecisionOut:
    """Approve a document as it was shown. Above a limit, or with a changed IBAN, two people must."""
    verdict = Verdict(wanted.token, wanted.digest, wanted.why)
    return DocumentDecisionOut.of(await review_decisions.approve(app, who, review_id, verdict))


@router.post("/{review_id}/reject", responses=problems(*REFUSALS))
async def reject(review_id: str, wanted: VerdictIn, who: MayReview, app: AppDep) -> DocumentDecisionOut:
    """Reject a document, with a reason."""
    verdict = Verdict(wanted.token, wanted.digest, wanted.why)
    return DocumentDecisionOut.of(await review_decisions.reject(app, who, review_id, verdict))


@router.post("/{review_id}/reopen", responses=problems(NotFound, WrongState))
async def reopen(review_id: str, wanted: ReopenIn, who: MayReview, app: AppDep) -> ReviewOut:
    """Open a decided document again. A run that was told of the decision goes on with it."""
    return ReviewOut.model_validate(await review_decisions.reopen(app, who, review_id, wanted.why))


@router.get("/{review_id}/audit", responses=problems(NotFound))
async def show_audit(
    review_id: str, who: MayReview, app: AppDep, *, after: AfterEvent = 0, limit: Limit = 100
) -> AuditOut:
    """Show what people did to an item and its document, oldest first."""
    events = await audit.list_item_events(app, who, review_id, after=after, limit=limit)
    return AuditOut(events=events)
