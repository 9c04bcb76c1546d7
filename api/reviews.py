"""Reviews: the queue of documents that a person has to look at."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayReview
from api.errors import problems
from api.parameters import After, AppDep, Limit
from dag.values import Json
from operations import reviews
from storage.reviews import OPEN

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])


class ReviewOut(BaseModel):
    """A question to a person. `parts` say what the priority is made of, `reasons` what is doubtful."""

    model_config = ConfigDict(from_attributes=True)

    review_id: str
    document_id: str
    run_id: str
    status: str = Field(examples=[OPEN])
    band: int = Field(description="items of a higher band come first: overdue, then nearly due or suspicious")
    priority: float = Field(description="0 to 100")
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    due_at: dt.datetime
    created_at: dt.datetime
    updated_at: dt.datetime


class ReviewListOut(BaseModel):
    """A page of review items, most urgent first."""

    model_config = ConfigDict(from_attributes=True)

    reviews: list[ReviewOut]
    after: str | None


@router.get("", responses=problems())
async def list_reviews(
    who: MayReview,
    app: AppDep,
    *,
    status: Annotated[str, Query(max_length=32, pattern="^[a-z_]+$")] = OPEN,
    limit: Limit = 100,
    after: After = None,
) -> ReviewListOut:
    """List review items, most urgent first."""
    return ReviewListOut.model_validate(await reviews.list_reviews(app, who, status=status, limit=limit, after=after))
