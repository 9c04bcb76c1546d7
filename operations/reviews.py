"""The questions that people have to answer: list them most urgent first, show one, decide what a run waits for."""

import re
from dataclasses import dataclass

from dag.inputs import InputProblem
from dag.state import RunStatus
from dag.values import Json, digest
from operations.app import App
from operations.errors import AlreadyDecided, InvalidInput, NotFound, OperationError, WrongState
from operations.principal import Principal
from operations.run_control import answer_wait
from operations.run_reports import show_run
from storage import reviews as stored_reviews
from storage.reviews import OPEN, Review, ReviewContent
from storage.step_reviews import DECIDED

REVIEW_ID_PATTERN = r"^rev_[0-9a-f]{26}$"


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which items to list; None: all."""

    status: str | None = OPEN
    queue: str | None = None
    kind: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some review items, and what to ask for to get the ones after them; None at the end."""

    reviews: list[Review]
    after: str | None


@dataclass(frozen=True, slots=True)
class Decided:
    """A review item that was decided, and how its run stands now."""

    review: Review
    run_status: RunStatus


async def list_reviews(
    app: App, principal: Principal, wanted: ReviewFilter | None = None, *, limit: int = 100, after: str | None = None
) -> ReviewPage:
    """Return a page of the tenant's review items, by default the open ones. Raises: InvalidInput."""
    if after is not None and not re.fullmatch(REVIEW_ID_PATTERN, after):
        raise InvalidInput([InputProblem("after", "is not a review item's id")])
    wanted = wanted or ReviewFilter()
    found = await stored_reviews.list_reviews(
        app.db,
        principal.tenant_id,
        status=wanted.status,
        queue=wanted.queue,
        kind=wanted.kind,
        group=wanted.group,
        limit=limit + 1,
        after=after,
    )
    return ReviewPage(found[:limit], found[limit - 1].review_id if len(found) > limit else None)


async def show_review(app: App, principal: Principal, review_id: str) -> tuple[Review, ReviewContent]:
    """Return the tenant's review item with its form and what it shows. Raises: NotFound."""
    if re.fullmatch(REVIEW_ID_PATTERN, review_id):
        review = await stored_reviews.load_review(app.db, principal.tenant_id, review_id)
        content = await stored_reviews.load_content(app.db, principal.tenant_id, review_id)
        if review is not None and content is not None:
            return review, content
    raise NotFound("review item", review_id)


async def decide_review(app: App, principal: Principal, review_id: str, decision: Json) -> Decided:
    """Decide what a human step asks. The first decision counts; the same person's same decision again is taken again.

    Raises: NotFound, AlreadyDecided, MayNotDecide (the step wants somebody else's), WrongState (nobody asks any more),
    InvalidInput (the decision does not fit the form, or the item is a document's, which no run waits for), Unavailable.
    """
    review, _ = await show_review(app, principal, review_id)
    if review.step_id is None:
        message = "is a document's item, which no run waits for: expected that of a human step"
        raise InvalidInput([InputProblem("review_id", message)])
    update_id = f"decision-{digest([review.step_id, decision, principal.name])}"
    try:
        status = await answer_wait(app, principal, review.run_id, review.step_id, decision, update_id=update_id)
    except InvalidInput as error:
        raise InvalidInput([_about_decision(problem) for problem in error.problems]) from None
    except WrongState as error:
        raise await _refusal(app, principal, review, error) from None
    return Decided(review, status)


def _about_decision(problem: InputProblem) -> InputProblem:
    path = problem.path.removeprefix("answer").lstrip(".")
    return InputProblem(f"decision.{path}" if path else "decision", problem.message, problem.suggestion)


async def _refusal(app: App, principal: Principal, review: Review, refused: WrongState) -> OperationError:
    """Return why the run takes no decision: who was first, or that it does not ask any more.

    A decided item is closed a moment later, so the run may know more than the queue.
    """
    stored, content = await show_review(app, principal, review.review_id)
    if stored.status == DECIDED:
        return AlreadyDecided(stored.decided_by or "", content.decision)
    if stored.status == OPEN and review.step_id is not None:
        step = (await show_run(app, principal, review.run_id)).steps.get(review.step_id)
        if step is not None and step.answered_by is not None:
            return AlreadyDecided(step.answered_by, step.output)
    return WrongState("decide", refused.state, "step that asked" if stored.status == OPEN else "run")
