"""Review items of human steps end as the run ended, in whatever order their messages arrive, repeated or late."""

import datetime as dt
from dataclasses import replace
from itertools import permutations

import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.services.reviews.models import (
    CLOSED,
    DECIDED,
    ESCALATED,
    Appearance,
    FullReview,
    Question,
    Review,
    ReviewFilter,
    Sort,
    StepEnd,
    StepQuestion,
)
from docrail.services.reviews.repository.items import load_full_review, load_review
from docrail.services.reviews.repository.queue import list_reviews, place_of
from docrail.services.reviews.repository.steps import ask_question, close_question, step_review_id
from tests.postgres import OTHER_TENANT, TENANT, upload
from tests.review_items import upsert_review

RUN, STEP = "payment_approval.4711", "approval"
FORM = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "number"}}}
DUE = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
ASKED = StepQuestion("payments", "Pay 12?", FORM, {"amount": 12}, 70, DUE, asked_at=100.0)
ESCALATION = replace(ASKED, queue="managers", due_at=DUE + dt.timedelta(days=1), band=ESCALATED)
END = StepEnd(DECIDED, 100.0, {"approved": True}, "ann")


async def do(db: PoolConnectionProxy, *events: StepQuestion | StepEnd) -> Review:
    for event in events:
        if isinstance(event, StepEnd):
            await close_question(db, TENANT, RUN, STEP, event)
        else:
            await ask_question(db, TENANT, RUN, STEP, event)
    found = await load_review(db, TENANT, step_review_id(TENANT, RUN, STEP))
    assert found
    return found


async def content(db: PoolConnectionProxy) -> FullReview | None:
    return await load_full_review(db, TENANT, step_review_id(TENANT, RUN, STEP))


async def test_a_question_is_loaded_as_it_was_asked(db: PoolConnectionProxy) -> None:
    item = await do(db, replace(ASKED, document_id="doc_unknown"))
    assert (item.kind, item.run_id, item.step_id, item.document_id) == ("step", RUN, STEP, "doc_unknown")
    assert (item.queue, item.title, item.priority, item.due_at) == ("payments", "Pay 12?", 70, DUE)
    assert (item.status, item.closed_at) == ("open", None)
    asked = await content(db)
    assert asked
    assert (asked.form, asked.show, asked.decision) == (FORM, {"amount": 12}, None)
    assert list(asked.form["properties"]) == ["z", "a"]  # as the author wrote them


@pytest.mark.parametrize("events", list(permutations([ASKED, ESCALATION, END, ASKED])))
async def test_in_any_order_the_end_is_the_end(
    db: PoolConnectionProxy, events: tuple[StepQuestion | StepEnd, ...]
) -> None:
    item = await do(db, *events)
    assert (item.status, item.decided_by, item.title) == (DECIDED, "ann", "Pay 12?")
    assert item.closed_at
    asked = await content(db)
    assert asked
    assert (asked.decision, asked.form) == ({"approved": True}, FORM)


@pytest.mark.parametrize("events", [(ASKED, ESCALATION), (ESCALATION, ASKED), (ASKED, ESCALATION, ASKED)])
async def test_a_question_that_was_handed_on_stays_where_it_is(
    db: PoolConnectionProxy, events: tuple[StepQuestion, ...]
) -> None:
    item = await do(db, *events)
    assert (item.queue, item.band, item.status, item.due_at) == ("managers", 1, "open", ESCALATION.due_at)


async def test_the_first_end_counts(db: PoolConnectionProxy) -> None:
    item = await do(db, ASKED, END, StepEnd(CLOSED, 100.0))
    assert (item.status, item.decided_by) == (DECIDED, "ann")


async def test_a_step_that_is_tried_again_asks_anew(db: PoolConnectionProxy) -> None:
    again = replace(ASKED, asked_at=200.0, title="Pay 12 now?")
    item = await do(db, ASKED, StepEnd(CLOSED, 100.0), again)
    assert (item.status, item.title, item.closed_at) == ("open", "Pay 12 now?", None)
    late = await do(db, StepEnd(CLOSED, 100.0), ASKED, ESCALATION)
    assert (late.status, late.title, late.queue) == ("open", "Pay 12 now?", "payments")
    closed = await do(db, replace(END, asked_at=200.0))
    assert closed.status == DECIDED


async def test_an_end_that_overtakes_the_next_question_closes_that(db: PoolConnectionProxy) -> None:
    item = await do(db, ASKED, replace(END, asked_at=200.0), replace(ASKED, asked_at=200.0))
    assert (item.status, item.decided_by) == (DECIDED, "ann")


async def test_a_question_about_a_document_leaves_the_documents_own_item_alone(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    own = await upsert_review(db, TENANT, "doc_a", Question("invoice.doc_a", Appearance(10, {}, [], {}), DUE))
    item = await do(db, replace(ASKED, document_id="doc_a"))
    assert (own.document_id, item.document_id) == ("doc_a", "doc_a")
    assert await load_review(db, TENANT, own.review_id) == own
    assert (own.kind, own.queue, own.step_id) == ("document", "documents", None)


async def test_one_queue_lists_both_kinds_most_urgent_first(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    await upsert_review(db, TENANT, "doc_a", Question("invoice.doc_a", Appearance(80, {}, [], {}), DUE))
    await do(db, ASKED)
    assert [item.kind for item in await list_reviews(db, TENANT)] == ["document", "step"]
    assert [item.kind for item in await list_reviews(db, TENANT, ReviewFilter(kind="step"))] == ["step"]
    assert [item.kind for item in await list_reviews(db, TENANT, ReviewFilter(kind="document"))] == ["document"]
    assert [item.queue for item in await list_reviews(db, TENANT, ReviewFilter(queue="payments"))] == ["payments"]
    assert await list_reviews(db, TENANT, ReviewFilter(queue="managers")) == []
    await do(db, END)
    assert [item.kind for item in await list_reviews(db, TENANT)] == ["document"]


async def test_a_question_for_a_group_is_listed_by_it(db: PoolConnectionProxy) -> None:
    item = await do(db, replace(ASKED, group="cashiers", may_not_decide=("ann", "bob")))
    assert (item.group, item.may_not_decide) == ("cashiers", ["ann", "bob"])
    assert await list_reviews(db, TENANT, ReviewFilter(group="cashiers")) == [item]
    assert await list_reviews(db, TENANT, ReviewFilter(group="managers")) == []
    again = await do(db, replace(ASKED, asked_at=200.0))
    assert (again.group, again.may_not_decide) == (None, [])


async def test_questions_are_seen_by_their_tenant_alone(db: PoolConnectionProxy) -> None:
    item = await do(db, ASKED)
    assert await load_review(db, OTHER_TENANT, item.review_id) is None
    assert await load_full_review(db, OTHER_TENANT, item.review_id) is None
    await close_question(db, OTHER_TENANT, RUN, STEP, END)
    assert (await do(db)).status == "open"


async def test_the_questions_of_a_run_and_of_runs_in_it_are_listed_by_the_run(db: PoolConnectionProxy) -> None:
    for run_id in (RUN, f"{RUN}~inner", f"{RUN}2"):
        await ask_question(db, TENANT, run_id, "approve", ASKED)
    found = await list_reviews(db, TENANT, ReviewFilter(run_id=RUN))
    assert sorted(item.run_id for item in found) == [RUN, f"{RUN}~inner"]


async def test_of_equal_priorities_the_earliest_deadline_comes_first_on_every_page(db: PoolConnectionProxy) -> None:
    deadlines = [None, DUE + dt.timedelta(days=2), DUE, DUE + dt.timedelta(days=1)]
    for number, due_at in enumerate(deadlines):
        await ask_question(db, TENANT, RUN, f"step{number}", replace(ASKED, due_at=due_at))
    listed: list[str] = []
    page = await list_reviews(db, TENANT, limit=1)
    while page:
        listed += [str(each.step_id) for each in page]
        place = place_of(page[-1], Sort.PRIORITY, dt.datetime.now(dt.UTC))
        page = await list_reviews(db, TENANT, limit=1, after=place)
    assert listed == ["step2", "step3", "step1", "step0"]
