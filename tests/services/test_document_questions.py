"""Steps that ask about a document do so through its item, in whatever order the run's messages arrive."""

import datetime as dt
import itertools
from dataclasses import replace

import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.dag.values.json_values import Json
from docrail.services.reviews.models import (
    CLOSED,
    DECIDED,
    ESCALATED,
    Appearance,
    Decision,
    Question,
    Review,
    ReviewFilter,
    StepEnd,
    StepQuestion,
)
from docrail.services.reviews.repository.decisions import (
    load_all_unanswered,
    load_forms,
    load_unanswered,
    put_off,
    record_decision,
    reopen_review,
)
from docrail.services.reviews.repository.items import load_review
from docrail.services.reviews.repository.queue import list_reviews
from docrail.services.reviews.repository.steps import ask_question, close_question, load_document_review
from tests.postgres import TENANT, upload
from tests.review_items import upsert_review

RUN, STEP, DOCUMENT = "approval.4711", "approval", "doc_a"
DUE = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
ASKED = StepQuestion(
    "documents", "Approve it?", {"type": "object"}, {}, 50, DUE, 100.0, "cashiers", ("eve",), document_id=DOCUMENT
)
ESCALATION = replace(ASKED, queue="managers", band=ESCALATED)
AGAIN = replace(ASKED, asked_at=200.0)
APPROVED = Decision("approved", {"approved": True, "reason": ""}, "ann", "0" * 64)


async def document(db: PoolConnectionProxy) -> Review:
    await upload(db, document_id=DOCUMENT)
    return await upsert_review(db, TENANT, DOCUMENT, Question("invoice.doc_a", Appearance(10, {}, [], {}), DUE))


async def do(db: PoolConnectionProxy, *events: StepQuestion | StepEnd) -> None:
    for event in events:
        if isinstance(event, StepEnd):
            await close_question(db, TENANT, RUN, STEP, event)
        else:
            await ask_question(db, TENANT, RUN, STEP, event)


async def now(db: PoolConnectionProxy, item: Review) -> Review:
    found = await load_review(db, TENANT, item.review_id)
    assert found
    return found


async def test_the_documents_item_represents_the_steps(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED)
    [listed] = await list_reviews(db, TENANT, ReviewFilter(status=None))
    assert (listed.review_id, listed.group, listed.may_not_decide) == (item.review_id, "cashiers", ["eve"])
    assert await load_forms(db, TENANT, item.review_id) == [{"type": "object"}]


async def test_a_step_in_another_queue_asks_for_itself(db: PoolConnectionProxy) -> None:
    await document(db)
    await do(db, replace(ASKED, queue="payments"))
    assert [listed.kind for listed in await list_reviews(db, TENANT)] == ["step", "document"]


async def test_a_question_that_is_handed_on_takes_the_item_with_it(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED, ESCALATION)
    found = await now(db, item)
    assert (found.queue, found.band, found.status) == ("managers", 1, "open")


ENDS = {
    "closed": StepEnd(CLOSED, 100.0),
    "open": StepEnd(DECIDED, 100.0, {"approved": True}, "op"),  # what was decided in the item, and it is open again
}


# The run hands a question on once it was asked, a whole timeout later; all else may overtake and be repeated.
ORDERS = [order for order in sorted({*itertools.permutations((0, 0, 1, 2))}) if order.index(0) < order.index(1)]


@pytest.mark.parametrize("status", ENDS)
@pytest.mark.parametrize("order", ORDERS, ids=str)
async def test_only_a_run_that_asks_no_more_ends_the_item_in_any_order_that_can_be(
    db: PoolConnectionProxy, status: str, order: tuple[int, ...]
) -> None:
    item = await document(db)
    events: list[StepQuestion | StepEnd] = [ASKED, ESCALATION, ENDS[status]]
    await do(db, *(events[place] for place in order))
    found = await now(db, item)
    assert (found.status, found.decided_by, found.closed_at is None) == (status, None, status == "open")


async def test_an_end_leaves_what_people_decided(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED)
    await record_decision(db, TENANT, item.review_id, APPROVED)
    await do(db, replace(ENDS["open"], decision={"approved": False}))
    found = await now(db, item)
    assert (found.status, found.decided_by) == ("approved", "ann")


async def test_a_run_that_asks_again_opens_what_its_end_closed(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED, ENDS["closed"], AGAIN)
    assert (await now(db, item)).status == "open"


async def test_a_decided_item_with_an_open_question_is_an_answer_to_be_given(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED)
    assert await load_unanswered(db, TENANT, item.review_id) == []
    await record_decision(db, TENANT, item.review_id, APPROVED)
    [unanswered] = await load_unanswered(db, TENANT, item.review_id)
    assert (unanswered.run_id, unanswered.step_id, unanswered.asked_at) == (RUN, STEP, 100.0)
    assert (unanswered.decision, unanswered.decided_by) == (APPROVED.answer, "ann")
    await do(db, StepEnd(DECIDED, 100.0, APPROVED.answer, "ann"))
    assert await load_unanswered(db, TENANT, item.review_id) == []


async def test_a_reopened_item_answers_no_run(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED)
    await record_decision(db, TENANT, item.review_id, APPROVED)
    await reopen_review(db, TENANT, item.review_id)
    assert await load_unanswered(db, TENANT, item.review_id) == []


async def test_a_late_word_that_the_question_is_closed_leaves_a_reopened_item_open(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED)
    await record_decision(db, TENANT, item.review_id, APPROVED)
    await reopen_review(db, TENANT, item.review_id)
    await do(db, StepEnd(DECIDED, 100.0, APPROVED.answer, "ann"))
    found = await now(db, item)
    assert (found.status, found.decided_by) == ("open", None)


async def stands_for(db: PoolConnectionProxy, step_id: str, form: dict[str, Json] | None = None) -> str | None:
    """Return the item that represents a step that asks now."""
    await ask_question(db, TENANT, RUN, step_id, replace(ASKED, form=form or {}, asked_at=200.0))
    return await load_document_review(db, TENANT, RUN, step_id)


@pytest.mark.parametrize("is_closed", [True, False])
async def test_a_decision_answers_one_step_of_a_run(db: PoolConnectionProxy, is_closed: bool) -> None:
    item = await document(db)
    await do(db, ASKED)
    await record_decision(db, TENANT, item.review_id, APPROVED)
    if is_closed:
        await do(db, StepEnd(DECIDED, 100.0, APPROVED.answer, "ann"))
    assert await stands_for(db, "second") is None
    assert [each.step_id for each in await load_unanswered(db, TENANT, item.review_id)] == [STEP] * (not is_closed)
    assert "step" in {listed.kind for listed in await list_reviews(db, TENANT)}  # people see its question


async def test_an_item_represents_one_step_of_a_run_at_a_time(db: PoolConnectionProxy) -> None:
    item = await document(db)
    await do(db, ASKED)
    assert await stands_for(db, "second") is None
    await record_decision(db, TENANT, item.review_id, APPROVED)
    await do(db, StepEnd(DECIDED, 100.0, APPROVED.answer, "ann"))
    await reopen_review(db, TENANT, item.review_id)
    assert await stands_for(db, "third") == item.review_id  # its answer will be another decision


FORMS: list[tuple[dict[str, Json], bool]] = [
    ({"properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}}}, True),
    ({"required": ["cost_centre"]}, False),
    ({"properties": {"approved": {"const": True}}}, False),
    ({"additionalProperties": False, "properties": {"approved": {}}}, False),
]


@pytest.mark.parametrize(("form", "fits"), FORMS)
async def test_a_step_whose_form_wants_more_asks_for_itself(
    db: PoolConnectionProxy, form: dict[str, Json], fits: bool
) -> None:
    item = await document(db)
    assert await stands_for(db, STEP, form) == (item.review_id if fits else None)


async def test_a_step_that_asks_anew_may_come_to_ask_for_itself(db: PoolConnectionProxy) -> None:
    await document(db)
    await do(db, ASKED, ENDS["closed"])
    assert await stands_for(db, STEP, {"required": ["cost_centre"]}) is None


async def test_a_run_that_could_not_be_answered_comes_last(db: PoolConnectionProxy) -> None:
    item = await document(db)
    for number in range(3):
        await ask_question(db, TENANT, f"approval.{number}", STEP, ASKED)
        await db.execute(
            "UPDATE reviews SET updated_at = now() - make_interval(mins => $1) WHERE run_id = $2",
            *(9 - number, f"approval.{number}"),
        )
    await record_decision(db, TENANT, item.review_id, APPROVED)
    await db.execute("UPDATE reviews SET closed_at = now() - interval '1 hour' WHERE review_id = $1", item.review_id)
    first, *rest = [each for each in await load_all_unanswered(db, older_than_seconds=0) if each.tenant_id == TENANT]
    await put_off(db, [first])
    assert await load_all_unanswered(db, older_than_seconds=10) == rest
    await db.execute("UPDATE reviews SET updated_at = now() - interval '1 min' WHERE run_id = $1", first.run_id)
    assert [each.run_id for each in await load_all_unanswered(db, older_than_seconds=10)] == [
        each.run_id for each in (*rest, first)
    ]
