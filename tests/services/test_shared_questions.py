"""Several runs that ask about one document share its item; a run and its nested runs ask through it once."""

import asyncio
import datetime as dt
import uuid
from dataclasses import replace

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import transaction
from docrail.services.reviews.models import (
    CLOSED,
    DECIDED,
    ESCALATED,
    Appearance,
    Decision,
    Question,
    Review,
    ReviewFilter,
    SettledItem,
    StepEnd,
    StepQuestion,
)
from docrail.services.reviews.repository.decisions import load_unanswered, record_decision
from docrail.services.reviews.repository.items import load_review
from docrail.services.reviews.repository.queue import list_reviews
from docrail.services.reviews.repository.steps import ask_question, close_question, load_document_review
from tests.postgres import COMMITTING, TENANT, upload
from tests.review_items import upsert_review

DUE = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
ONE, OTHER, STEP = "one.4711", "other.4711", "approval"
ASKED = StepQuestion("documents", "Approve it?", {}, {}, 50, DUE, 100.0, "cashiers", ("eve",), document_id="doc_a")
ALSO = replace(ASKED, group="managers", may_not_decide=("ann", "eve"), asked_at=200.0)
APPROVED = Decision("approved", {"approved": True, "reason": ""}, "bob", "0" * 64)


@pytest.fixture
async def item(db: PoolConnectionProxy) -> Review:
    await upload(db, document_id="doc_a")
    return await upsert_review(db, TENANT, "doc_a", Question("invoice.doc_a", Appearance(10, {}, [], {}), DUE))


async def now(db: PoolConnectionProxy, item: Review) -> Review:
    found = await load_review(db, TENANT, item.review_id)
    assert found
    return found


async def ask(db: PoolConnectionProxy, run_id: str, question: StepQuestion = ASKED, step_id: str = STEP) -> None:
    await ask_question(db, TENANT, run_id, step_id, question)


async def close(db: PoolConnectionProxy, run_id: str, asked_at: float = 100.0) -> SettledItem | None:
    return await close_question(db, TENANT, run_id, STEP, StepEnd(CLOSED, asked_at))


async def test_two_runs_ask_by_one_item_and_both_are_answered(db: PoolConnectionProxy, item: Review) -> None:
    await ask(db, ONE)
    await ask(db, OTHER, ALSO)
    assert [each.review_id for each in await list_reviews(db, TENANT, ReviewFilter(status=None))] == [item.review_id]
    await record_decision(db, TENANT, item.review_id, APPROVED)
    assert [each.run_id for each in await load_unanswered(db, TENANT, item.review_id)] == [ONE, OTHER]


async def test_a_run_that_asks_no_more_leaves_the_item_to_the_other(db: PoolConnectionProxy, item: Review) -> None:
    await ask(db, ONE)
    await ask(db, OTHER, ALSO)
    assert await close(db, OTHER, 200.0) is None
    left = await now(db, item)
    assert (left.status, left.group, left.may_not_decide, left.closed_at) == ("open", "cashiers", ["eve"], None)
    assert await close(db, ONE) == SettledItem(item.review_id, "doc_a")
    assert await close(db, ONE) is None
    assert (await now(db, item)).status == "closed"


async def test_a_person_who_may_not_answer_one_run_does_not_decide_for_both(
    db: PoolConnectionProxy, item: Review
) -> None:
    await ask(db, OTHER, ALSO)
    await ask(db, ONE, replace(ASKED, may_not_decide=("cy",), asked_at=300.0))
    assert ((await now(db, item)).group, (await now(db, item)).may_not_decide) == ("cashiers", ["ann", "cy", "eve"])


async def test_a_question_that_was_handed_on_is_where_the_item_lies(db: PoolConnectionProxy, item: Review) -> None:
    await ask(db, ONE)
    await ask(db, ONE, replace(ASKED, queue="managers", band=ESCALATED))
    await ask(db, OTHER, ALSO)
    assert ((await now(db, item)).queue, (await now(db, item)).band) == ("managers", 1)
    await close(db, ONE)
    assert ((await now(db, item)).queue, (await now(db, item)).status) == ("documents", "open")


async def test_a_run_whose_end_overtakes_its_question_leaves_it_too(db: PoolConnectionProxy, item: Review) -> None:
    await ask(db, OTHER, ALSO)
    await close(db, ONE)
    await ask(db, ONE)
    assert ((await now(db, item)).status, (await now(db, item)).group) == ("open", "managers")


INSIDE = [f"{ONE}~first", f"{ONE}~first~deeper", f"{ONE}~list~7"]


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("is_decided", [False, True])
async def test_a_run_and_those_inside_it_ask_by_the_item_once(
    db: PoolConnectionProxy, item: Review, inside: str, is_decided: bool
) -> None:
    await ask(db, ONE)
    if is_decided:
        await record_decision(db, TENANT, item.review_id, APPROVED)
        await close_question(db, TENANT, ONE, STEP, StepEnd(DECIDED, 100.0, APPROVED.answer, "bob"))
    await ask(db, inside, ALSO)
    assert await load_document_review(db, TENANT, inside, STEP) is None
    [own] = [each for each in await list_reviews(db, TENANT) if each.kind == "step"]
    assert (own.run_id, own.status) == (inside, "open")  # people see it, and decide it by its form
    await close(db, inside, 200.0)
    assert (await now(db, item)).status == ("approved" if is_decided else "open")


async def test_runs_that_only_look_alike_are_not_inside_each_other(db: PoolConnectionProxy, item: Review) -> None:
    await ask(db, ONE)
    await ask(db, f"{ONE}1", ALSO)
    assert await load_document_review(db, TENANT, f"{ONE}1", STEP) == item.review_id


async def committed(pool: asyncpg.Pool) -> Review:
    async with transaction(pool) as tx:
        document = await upload(tx, tenant_id=COMMITTING)
        question = Question("invoice.doc", Appearance(10, {}, [], {}), DUE)
        return await upsert_review(tx, COMMITTING, document.document_id, question)


async def at_once(pool: asyncpg.Pool, item: Review, run_ids: list[str], end: StepEnd | None = None) -> list[object]:
    async def do(run_id: str) -> SettledItem | None:
        async with transaction(pool) as tx:
            if end is not None:
                return await close_question(tx, COMMITTING, run_id, STEP, end)
            await ask_question(tx, COMMITTING, run_id, STEP, replace(ASKED, document_id=item.document_id))
            return None

    return list(await asyncio.gather(*map(do, run_ids)))


async def test_of_runs_that_end_at_once_the_last_takes_the_item_along(pool: asyncpg.Pool) -> None:
    item = await committed(pool)
    runs = [f"run.{uuid.uuid4().hex}" for _ in range(6)]
    await at_once(pool, item, runs)
    settled = await at_once(pool, item, runs, StepEnd(CLOSED, 100.0))
    assert settled.count(None) == len(runs) - 1
    found = await load_review(pool, COMMITTING, item.review_id)
    assert found
    assert found.status == "closed"


async def test_of_runs_inside_one_that_ask_at_once_one_asks_by_the_item(pool: asyncpg.Pool) -> None:
    item = await committed(pool)
    outer = f"run.{uuid.uuid4().hex}"
    runs = [f"{outer}~{number}" for number in range(6)]
    await at_once(pool, item, runs)
    by = [await load_document_review(pool, COMMITTING, run_id, STEP) for run_id in runs]
    assert (by.count(item.review_id), by.count(None)) == (1, len(runs) - 1)
