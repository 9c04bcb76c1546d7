"""Each decision of several people on a step's question is shown once, in whatever order the run sends them."""

import datetime as dt
from dataclasses import replace
from itertools import permutations

import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.dag.values.json_values import Json, digest
from docrail.services.access.models import Principal
from docrail.services.reviews.models import (
    CLOSED,
    ESCALATED,
    Appearance,
    PersonsDecision,
    Question,
    Review,
    StepEnd,
    StepQuestion,
    Wish,
)
from docrail.services.reviews.repository.claims import claim_next
from docrail.services.reviews.repository.decisions import record_first_approval, reopen_review
from docrail.services.reviews.repository.items import load_full_review, load_review
from docrail.services.reviews.repository.steps import (
    TooEarlyError,
    ask_question,
    close_question,
    keep_decision,
    step_review_id,
)
from tests.postgres import TENANT, upload
from tests.review_items import upsert_review

RUN, STEP = "release.4711", "release"
ITEM = step_review_id(TENANT, RUN, STEP)
ASKED = StepQuestion("payments", "Pay?", {}, {}, 50, None, asked_at=100.0, approvals=3)
YES, NO = {"approved": True}, {"approved": False}


def made(by: str, number: int, decision: Json) -> PersonsDecision:
    return PersonsDecision(by, "2026-11-22T00:00:00+00:00", digest(decision), decision, number)


async def keep(db: PoolConnectionProxy, decision: PersonsDecision, asked_at: float = 100.0) -> str | None:
    return await keep_decision(db, TENANT, RUN, STEP, asked_at=asked_at, made=decision)


async def shown(db: PoolConnectionProxy) -> Review:
    found = await load_review(db, TENANT, ITEM)
    assert found
    return found


async def test_the_decisions_so_far_and_the_missing_ones_are_shown(db: PoolConnectionProxy) -> None:
    await ask_question(db, TENANT, RUN, STEP, ASKED)
    assert ((await shown(db)).approvals_needed, (await shown(db)).approvals_missing) == (3, 3)
    assert await keep(db, made("ann", 1, YES)) == ITEM
    assert await keep(db, made("bob", 2, NO)) == ITEM
    assert await keep(db, made("cy", 3, YES)) == ITEM
    item, content = await shown(db), await load_full_review(db, TENANT, ITEM)
    assert ([each.by for each in item.decided_so_far], item.approvals_missing) == (["ann", "bob", "cy"], 1)
    assert not any(each.decision for each in item.decided_so_far)  # it may be long
    assert content
    assert [each.decision for each in content.decided_so_far] == [YES, NO, YES]


async def test_a_repeated_decision_changes_nothing_and_another_one_replaces_it(db: PoolConnectionProxy) -> None:
    await ask_question(db, TENANT, RUN, STEP, ASKED)
    await keep(db, made("ann", 1, YES))
    assert await keep(db, made("ann", 1, YES)) is None
    await keep(db, made("ann", 2, NO))
    assert await keep(db, made("ann", 1, YES)) is None
    assert [each.digest for each in (await shown(db)).decided_so_far] == [digest(NO)]


async def test_a_person_who_has_decided_does_not_get_the_item_again(db: PoolConnectionProxy) -> None:
    await ask_question(db, TENANT, RUN, STEP, ASKED)
    mine = Wish(queue="payments")
    assert await claim_next(db, TENANT, "ann", mine)
    await keep(db, made("ann", 1, YES))
    assert (await shown(db)).claimed_by is None
    assert await claim_next(db, TENANT, "ann", mine) is None
    bob = await claim_next(db, TENANT, "bob", mine)
    assert bob
    await keep(db, made("cy", 2, YES))  # a decision without a claim ends no claim
    assert (bob.review.review_id, (await shown(db)).claimed_by) == (ITEM, "bob")


DECISIONS = [made("ann", 1, YES), made("bob", 2, NO), made("bob", 3, YES)]


@pytest.mark.parametrize("order", [*permutations(range(4))], ids=str)
async def test_in_any_order_every_decision_is_stored_if_each_is_sent_until_it_is(
    db: PoolConnectionProxy, order: tuple[int, ...]
) -> None:
    left, kept = list(order), list[str | None]()
    while left:
        for place in list(left):
            try:
                if place == 0:
                    await ask_question(db, TENANT, RUN, STEP, ASKED)
                else:
                    kept.append(await keep(db, DECISIONS[place - 1]))
            except TooEarlyError:
                continue
            left.remove(place)
    assert kept == [ITEM] * 3  # each is news once
    assert [(each.by, each.digest) for each in (await shown(db)).decided_so_far] == [
        ("ann", digest(YES)),
        ("bob", digest(YES)),
    ]


async def test_a_new_question_has_no_decisions(db: PoolConnectionProxy) -> None:
    await ask_question(db, TENANT, RUN, STEP, ASKED)
    await keep(db, made("ann", 1, YES))
    await ask_question(db, TENANT, RUN, STEP, replace(ASKED, queue="managers", band=ESCALATED))
    assert len((await shown(db)).decided_so_far) == 1
    with pytest.raises(TooEarlyError):
        await keep(db, made("ann", 1, YES), asked_at=200.0)
    await ask_question(db, TENANT, RUN, STEP, replace(ASKED, asked_at=200.0))
    assert (await shown(db)).decided_so_far == []
    assert await keep(db, made("bob", 2, YES)) is None  # of the asking before
    assert await keep(db, made("bob", 1, YES), asked_at=200.0) == ITEM


async def test_an_end_that_overtakes_its_question_takes_what_was_decided_before_it(db: PoolConnectionProxy) -> None:
    await close_question(db, TENANT, RUN, STEP, StepEnd(CLOSED, 100.0))
    assert await keep(db, made("ann", 1, YES)) == ITEM
    assert (await shown(db)).approvals_missing == 0  # nothing is missing of what is over
    await close_question(db, TENANT, RUN, STEP, StepEnd(CLOSED, 200.0))
    assert (await shown(db)).decided_so_far == []


async def test_a_first_approval_of_a_document_is_shown_the_same_way(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    due = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
    item = await upsert_review(db, TENANT, "doc_a", Question("invoice.doc_a", Appearance(10, {}, [], {}), due))
    assert (item.approvals_needed, item.approvals_missing, item.decided_so_far) == (1, 1, [])
    await record_first_approval(db, Principal(TENANT, "ann", frozenset(), known_to="it"), item.review_id, "d")
    found = await load_review(db, TENANT, item.review_id)
    assert found
    assert (found.approvals_needed, found.approvals_missing) == (2, 1)
    assert [(each.by, each.digest) for each in found.decided_so_far] == [("ann", "d")]
    await reopen_review(db, TENANT, item.review_id)
    assert (await load_review(db, TENANT, item.review_id)) == item.model_copy(update={"updated_at": found.updated_at})
