"""Route of a review item as a page shows it: the item, its fields, its file, and what the caller may do."""

import datetime as dt

from pydantic import BaseModel, Field

from docrail.api.auth import MayReview
from docrail.api.corrections import FieldsOut
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.documents.models import Document, StoredChange
from docrail.services.errors import NotFound
from docrail.services.reviews import views
from docrail.services.reviews.models import FullReview
from docrail.services.reviews.views import ReviewAction

router = PrefixRouter(prefix="/v1/reviews", tags=["reviews"])


class ReviewViewOut(BaseModel):
    """A document's review item with everything that a person needs to decide it."""

    review: FullReview
    fields: FieldsOut = Field(description="the document's current fields, and the digest that a decision names")
    document: Document = Field(description="the file")
    page_count: int = Field(description="its pages; 0 for an e-invoice without any")
    actions: list[ReviewAction] = Field(description="what the caller may do now, and why not")
    undoable: StoredChange | None = Field(description="the caller's change that undo takes back; null if there is none")
    as_of: dt.datetime = Field(description="the server's time, with which `claimed_until` is compared")


@router.get("/{review_id}/view", responses=problems(NotFound))
async def show_review_view(review_id: str, who: MayReview, app: AppDep) -> ReviewViewOut:
    """Show a document's item as a page needs it, in one answer. It claims nothing."""
    shown = await views.show_view(app, who, review_id)
    return ReviewViewOut(
        review=shown.review,
        fields=FieldsOut.of(shown.fields),
        document=shown.document,
        page_count=shown.fields.invoice.page_count,
        actions=shown.actions,
        undoable=shown.undoable,
        as_of=shown.as_of,
    )
