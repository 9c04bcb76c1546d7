"""List the questions that people have to answer, most urgent first."""

import re
from dataclasses import dataclass

from operations.app import App
from operations.errors import InputProblem, InvalidInput
from operations.principal import Principal
from storage import reviews as stored_reviews
from storage.reviews import OPEN, Review

REVIEW_ID_PATTERN = r"^rev_[0-9a-f]{26}$"


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some review items, and what to ask for to get the ones after them; None at the end."""

    reviews: list[Review]
    after: str | None


async def list_reviews(
    app: App, principal: Principal, *, status: str | None = OPEN, limit: int = 100, after: str | None = None
) -> ReviewPage:
    """Return a page of the tenant's review items; `status` None lists all. Raises: InvalidInput."""
    if after is not None and not re.match(REVIEW_ID_PATTERN, after):
        raise InvalidInput([InputProblem("after", "is not a review item's id")])
    found = await stored_reviews.list_reviews(app.db, principal.tenant_id, status=status, limit=limit + 1, after=after)
    return ReviewPage(found[:limit], found[limit - 1].review_id if len(found) > limit else None)
