"""List and show review items, decide those of human steps, and report totals for dashboards."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json, digest
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.audit.models import AuditEvent
from docrail.services.audit.service import list_events
from docrail.services.errors import AlreadyDecided, InvalidInput, NotFound, OperationError, Unavailable, WrongState
from docrail.services.model_config import SHOWN
from docrail.services.paging import MOST_COMPARED, Unmatched, after_of, not_a_page, token_of, unmatched
from docrail.services.reviews.items import find_item
from docrail.services.reviews.models import (
    DECIDED,
    OPEN,
    FullReview,
    Place,
    Review,
    ReviewFilter,
    Sort,
)
from docrail.services.reviews.repository import queue as review_lists
from docrail.services.reviews.repository.items import load_full_review, load_review
from docrail.services.reviews.repository.queue import place_of
from docrail.services.reviews.repository.steps import (
    load_document_review,
)
from docrail.services.runs.control import answer_wait
from docrail.services.runs.views.explanation import load_step_status
from docrail.services.runs.views.reports import show_run
from docrail.workflows.contract.names import BY_DECISION


async def list_item_events(
    app: App, principal: Principal, review_id: str, *, after: int = 0, limit: int = 100
) -> list[AuditEvent]:
    """Return the audit events of one item after event number `after`, oldest first. Raises: NotFound."""
    await find_item(load_review, app.db, principal, review_id)
    return await list_events(app.db, principal.tenant_id, review_id=review_id, after=after, limit=limit)


_PLACE = TypeAdapter(Place)


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """A page of review items, most urgent first."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    reviews: list[Review]
    after: str | None
    unmatched: list[Unmatched]
    """If there are no items: a queue or group that no item has ever had."""


@dataclass(frozen=True, slots=True)
class Decided:
    """An accepted decision, and the status of the run."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    review_id: str
    run_id: str
    step_id: str
    status: Annotated[str, Field(examples=[DECIDED])]
    """`open` while more people must make the same decision."""
    approvals_missing: int
    """Number of people who must still make the same decision; 0 once it is decided."""
    run_status: RunStatus


async def list_reviews(
    app: App,
    principal: Principal,
    wanted: ReviewFilter | None = None,
    *,
    sort: Sort = Sort.PRIORITY,
    limit: int = 100,
    after: str | None = None,
) -> ReviewPage:
    """Return a page of the tenant's review items, by default the open ones. Raises: InvalidInput."""
    tenant_id = principal.tenant_id
    query = f"{tenant_id} {sort} {wanted}"
    place = _place_in(token_of(after, query))
    as_of = place.as_of if place else dt.datetime.now(dt.UTC)
    found = await review_lists.list_reviews(
        app.db, tenant_id, wanted, sort=sort, limit=limit + 1, as_of=as_of, after=place
    )
    unknown = [] if found or after or wanted is None else await _unmatched(app, tenant_id, wanted)
    rest = _PLACE.dump_json(place_of(found[limit - 1], sort, as_of)) if len(found) > limit else None
    return ReviewPage(found[:limit], after_of(rest, query), unknown)


def _place_in(token: bytes | None) -> Place | None:
    try:
        place = None if token is None else _PLACE.validate_json(token)
        for time in filter(None, (place.as_of, place.due_at, place.created_at)) if place else ():
            time.astimezone(dt.UTC)  # PostgreSQL's times end with the year 9999 in UTC
    except (ValidationError, OverflowError):  # forged with knowledge of the checksum
        raise not_a_page() from None
    return place


async def _unmatched(app: App, tenant_id: str, wanted: ReviewFilter) -> list[Unmatched]:
    asked = {name: value for name, value in (("queue", wanted.queue), ("group", wanted.group)) if value is not None}
    known = {
        name: await review_lists.list_values(app.db, tenant_id, name, value, limit=MOST_COMPARED + 1)
        for name, value in asked.items()
    }
    return unmatched(asked, known)


async def show_review(app: App, principal: Principal, review_id: str) -> FullReview:
    """Return the tenant's review item with its form and context. Raises: NotFound."""
    return await find_item(load_full_review, app.db, principal, review_id)


async def decide_review(app: App, principal: Principal, review_id: str, decision: Json) -> Decided:
    """Decide a human step's item. The first decision counts; repeating one's own decision is accepted.

    Where several people must make the same decision, a person's decision counts until that person makes another one.

    Raises: NotFound, AlreadyDecided, MayNotDecide (the step requires another person), WrongState (the step no longer
    asks), InvalidInput (the decision does not fit the form, or the item is a document's, or asks about one),
    Unavailable.
    """
    review = await show_review(app, principal, review_id)
    if review.step_id is None:
        message = "is a document's item: approve or reject it; expected that of a human step"
        raise InvalidInput([InputProblem("review_id", message)])
    if review.document_review_id is not None and review.is_open:
        raise _asks_about_document("review_id", review.document_review_id)
    # its run may be about to ask again, through the document's item
    if review.document_id is not None and not review.is_open:
        return await _decided_before(app, principal, review, decision)
    is_shared = review.approvals_needed > 1  # people may return to their first decision
    update_id = None if is_shared else f"{BY_DECISION}{digest([review.step_id, decision, principal.name])}"
    try:
        status = await answer_wait(app, principal, review.run_id, review.step_id, decision, update_id=update_id)
    except InvalidInput as error:
        raise InvalidInput([_about_decision(problem) for problem in error.problems]) from None
    except WrongState as error:
        refused = await _refusal(app, principal, review, error)
        if is_shared and isinstance(refused, AlreadyDecided) and _is_theirs(review, refused, principal, decision):
            return await _as_it_stands(app, principal, review)
        raise refused from None
    return await _as_it_stands(app, principal, review) if is_shared else _decided(review, status)


async def _as_it_stands(app: App, principal: Principal, review: Review) -> Decided:
    run = await show_run(app, principal, review.run_id)
    return _decided(review, run.status, run.steps[review.step_id or ""].approvals_missing or 0)


def _decided(review: Review, run_status: RunStatus, missing: int = 0) -> Decided:
    step_id = review.step_id or ""
    return Decided(review.review_id, review.run_id, step_id, OPEN if missing else DECIDED, missing, run_status)


def _is_theirs(review: Review, made: AlreadyDecided, principal: Principal, decision: Json) -> bool:
    """Check whether the principal, perhaps with others, made this decision."""
    people = made.decided_by.split(", ") if review.approvals_needed > 1 else [made.decided_by]
    return principal.name in people and digest(made.decision) == digest(decision)


async def _decided_before(app: App, principal: Principal, review: FullReview, decision: Json) -> Decided:
    """Return the result of a repeated decision. Raises: AlreadyDecided, WrongState, NotFound, Unavailable."""
    if review.status != DECIDED:
        raise WrongState("decide", review.status, "review item")
    made = AlreadyDecided(review.decided_by or "", review.decision)
    if not _is_theirs(review, made, principal, decision):
        raise made
    return _decided(review, (await show_run(app, principal, review.run_id)).status)


async def answer_step(app: App, principal: Principal, run_id: str, step_id: str, answer: Json) -> RunStatus:
    """Answer a waiting step of a run, whatever it waits for; the first answer counts.

    Raises: as `runs.waits.answer_wait`, and InvalidInput for a step whose answer is the decision of its document: that
    may need two people, and is not for operators of runs. The run itself refuses it too, so that no answer precedes its
    question.
    """
    if "\0" not in run_id + step_id:
        review_id = await load_document_review(app.db, principal.tenant_id, run_id, step_id)
        if review_id is not None:
            raise _asks_about_document("step_id", review_id)
    try:
        return await answer_wait(app, principal, run_id, step_id, answer)
    except (NotFound, WrongState) as error:
        if not await _is_parked(app, principal, run_id, step_id, error):
            raise
        advice = f"use `docrail failure retry {run_id} {step_id}`, or `skip` or `output` in place of `retry`"
        raise WrongState("answer", StepStatus.PARKED, "step", advice=advice) from None


async def _is_parked(app: App, principal: Principal, run_id: str, step_id: str, refused: NotFound | WrongState) -> bool:
    """Check whether a run refused the answer because the step is parked; even a step without answers may be."""
    if isinstance(refused, WrongState):
        return refused.state == StepStatus.PARKED
    if refused.kind == "run":
        return False
    try:
        return await load_step_status(app, principal, run_id, step_id) is StepStatus.PARKED
    except (NotFound, Unavailable):  # the refusal can be reported without it
        return False


def _asks_about_document(path: str, review_id: str) -> InvalidInput:
    return InvalidInput([InputProblem(path, f"asks about a document: approve or reject its item, {review_id}")])


def _about_decision(problem: InputProblem) -> InputProblem:
    path = problem.path.removeprefix("answer").lstrip(".")
    return InputProblem(f"decision.{path}" if path else "decision", problem.message, problem.suggestion)


async def _refusal(app: App, principal: Principal, review: Review, refused: WrongState) -> OperationError:
    """Return why the run refuses a decision: it was already decided, or the run no longer asks.

    A decided item is closed a moment later, so the run may be ahead of the queue.
    """
    stored = await show_review(app, principal, review.review_id)
    if stored.status == DECIDED:
        return AlreadyDecided(stored.decided_by or "", stored.decision)
    if stored.status == OPEN and review.step_id is not None:
        step = (await show_run(app, principal, review.run_id)).steps.get(review.step_id)
        if step is not None and step.answered_by is not None:
            return AlreadyDecided(step.answered_by, step.output)
    return WrongState("decide", refused.state, "step that asked" if stored.status == OPEN else "run")
