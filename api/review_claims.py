"""Who works on which review item: claim one, or the most urgent that is free; keep it, give it back, let it lie."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayReview
from api.errors import problems
from api.parameters import AppDep, Time
from api.reviews import ReviewOut, Text, Who
from dag.kinds import ID_PATTERN
from operations import review_claims
from operations.errors import ClaimedByOther, ClaimLost, MayNotDecide, NotFound, WrongState
from storage.review_claims import Claim, Wish

Token = Annotated[int, Field(strict=True, ge=1, le=2**53, description="of the caller's claim")]

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])


class ClaimOut(BaseModel):
    """A claimed item. Every act on it names `token`; it holds until `until`, unless it is renewed."""

    review: ReviewOut
    token: int
    until: dt.datetime

    @classmethod
    def of(cls, claim: Claim) -> "ClaimOut":
        """Return what is told of a claim."""
        return cls(review=ReviewOut.model_validate(claim.review), token=claim.token, until=claim.until)


class NextOut(BaseModel):
    """The item that was handed out, null if none is free."""

    claim: ClaimOut | None


class NextIn(BaseModel):
    """Which items may be handed out."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"queue": "payments"}]})

    queue: str | None = Field(default=None, max_length=64, pattern=ID_PATTERN)
    kind: Literal["document", "step"] | None = None
    group: str | None = Field(default=None, max_length=64, pattern=ID_PATTERN)


class TokenIn(BaseModel):
    """The caller's claim."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"token": 3}]})

    token: Token


class RenewedOut(BaseModel):
    """Until when the claim holds now."""

    until: dt.datetime


class ReleaseIn(BaseModel):
    """The caller's claim; who operates needs none to take an item from others."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"token": 3}]})

    token: Token | None = None


class AssignIn(ReleaseIn):
    """Who is to get the item."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"to": "bob", "token": 3}]})

    to: Who


class PostponeIn(TokenIn):
    """Until when the item is to lie, and why."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"token": 3, "until": "2026-11-30T09:00:00Z", "why": "the vendor was asked"}]},
    )

    until: Time = Field(examples=["2026-11-30T09:00:00Z"])
    why: Text = ""


@router.post("/next", responses=problems())
async def claim_next(who: MayReview, app: AppDep, wanted: NextIn | None = None) -> NextOut:
    """Claim the most urgent item that is free. However many people ask at once, no two get the same one."""
    wish = Wish(**dict(wanted or NextIn()))
    claim = await review_claims.claim_next(app, who, wish)
    return NextOut(claim=claim and ClaimOut.of(claim))


@router.post("/{review_id}/claim", responses=problems(NotFound, ClaimedByOther, MayNotDecide, WrongState))
async def claim_review(review_id: str, who: MayReview, app: AppDep) -> ClaimOut:
    """Claim an item for 15 minutes. Claiming one's own again gives a new token, and ends the old one."""
    return ClaimOut.of(await review_claims.claim_review(app, who, review_id))


@router.post("/{review_id}/renew", responses=problems(NotFound, ClaimLost))
async def renew_claim(review_id: str, wanted: TokenIn, who: MayReview, app: AppDep) -> RenewedOut:
    """Keep a claimed item for another 15 minutes."""
    return RenewedOut(until=await review_claims.renew_claim(app, who, review_id, wanted.token))


@router.post("/{review_id}/release", responses=problems(NotFound, ClaimedByOther, WrongState))
async def release_review(review_id: str, who: MayReview, app: AppDep, wanted: ReleaseIn | None = None) -> ReviewOut:
    """Give an item back to the queue. Who may operate may take it from others so."""
    token = wanted.token if wanted else None
    return ReviewOut.model_validate(await review_claims.release_review(app, who, review_id, token))


@router.post("/{review_id}/assign", responses=problems(NotFound, ClaimedByOther, WrongState))
async def assign_review(review_id: str, wanted: AssignIn, who: MayReview, app: AppDep) -> ReviewOut:
    """Put an item before one person: theirs comes first when they ask for the next. Others may still claim it."""
    return ReviewOut.model_validate(await review_claims.assign_review(app, who, review_id, wanted.to, wanted.token))


@router.post("/{review_id}/postpone", responses=problems(NotFound, ClaimLost, WrongState))
async def postpone_review(review_id: str, wanted: PostponeIn, who: MayReview, app: AppDep) -> ReviewOut:
    """Let an item lie until a time. Its SLA goes on."""
    review = await review_claims.postpone_review(app, who, review_id, wanted.token, until=wanted.until, why=wanted.why)
    return ReviewOut.model_validate(review)
