"""Review items: one for each document, renewed while open, most urgent first, seen by their tenant alone."""

import asyncio
import datetime as dt
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import NotStored
from docrail.services.access.models import Principal
from docrail.services.reviews.models import Appearance, Decision, Question, ReviewFilter, Sort, review_id_of
from docrail.services.reviews.repository.decisions import record_decision, record_first_approval
from docrail.services.reviews.repository.items import load_review, open_or_renew_all, update_appearance
from docrail.services.reviews.repository.queue import list_reviews, place_of
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, upload
from tests.review_items import upsert_review

DUE = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
QUESTION = Question(
    "invoice.doc_a",
    Appearance(
        priority=41.25,
        parts={"uncertainty": 0.7},
        reasons=[{"code": "totals", "message": "net + tax ≠ total"}],
        summary={"vendor": "Müller", "total": "119.10"},
    ),
    due_at=DUE,
)
LOOK = QUESTION.appearance


def asking(**look: Any) -> Question:
    return replace(QUESTION, appearance=replace(LOOK, **look))


async def test_a_review_is_loaded_as_it_was_opened(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    opened = await upsert_review(db, TENANT, "doc_a", QUESTION)
    assert opened.review_id == review_id_of(TENANT, "doc_a")
    assert (opened.status, opened.document_id, opened.priority, opened.due_at) == ("open", "doc_a", 41.25, DUE)
    assert (opened.parts, opened.reasons, opened.summary) == (LOOK.parts, LOOK.reasons, LOOK.summary)
    assert await load_review(db, TENANT, opened.review_id) == opened


async def test_opening_again_renews_the_one_item(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    first = await upsert_review(db, TENANT, "doc_a", QUESTION)
    renewed = await upsert_review(db, TENANT, "doc_a", replace(asking(priority=80), run_id="invoice.again"))
    assert (renewed.review_id, renewed.created_at) == (first.review_id, first.created_at)
    assert (renewed.priority, renewed.run_id) == (80, "invoice.again")
    assert len(await list_reviews(db, TENANT)) == 1


async def test_several_are_opened_or_renewed_at_once_and_a_decided_one_stays(db: PoolConnectionProxy) -> None:
    ids = ["doc_new", "doc_open", "doc_decided"]
    for document_id in ids:
        await upload(db, document_id=document_id)
    before = {document_id: await upsert_review(db, TENANT, document_id, QUESTION) for document_id in ids[1:]}
    await record_decision(db, TENANT, before["doc_decided"].review_id, Decision("rejected", {}, "ann", None))
    questions = {
        document_id: asking(priority=priority) for document_id, priority in zip(ids, (70, 80, 90), strict=True)
    }
    opened = await open_or_renew_all(db, TENANT, questions)
    found = {document_id: (review.status, review.priority, new) for document_id, (review, new) in opened.items()}
    assert found == {
        "doc_new": ("open", 70, True),
        "doc_open": ("open", 80, False),
        "doc_decided": ("rejected", 41.25, False),
    }
    assert {document_id: opened[document_id][0].created_at for document_id in ids[1:]} == {
        document_id: review.created_at for document_id, review in before.items()
    }


async def test_a_first_approval_is_valid_until_the_document_changes(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    opened = await upsert_review(db, TENANT, "doc_a", asking(digest="a"))
    await record_first_approval(db, Principal(TENANT, "ann", frozenset()), opened.review_id, "a")
    firsts = [
        (await upsert_review(db, TENANT, "doc_a", asking(priority=priority, digest=digest))).first_approved_by
        for priority, digest in ((80, "a"), (80, "b"), (80, "a"))
    ]
    assert firsts == ["ann", None, None]


async def test_opening_many_times_at_once_makes_one_item(pool: asyncpg.Pool) -> None:
    """With two unique indexes this failed sometimes, because ON CONFLICT considers only one of them."""
    for _ in range(20):
        document = await upload(pool, tenant_id=COMMITTING)
        opened = await asyncio.gather(
            *(upsert_review(pool, COMMITTING, document.document_id, QUESTION) for _ in range(8))
        )
        assert len({review.review_id for review in opened}) == 1


async def test_a_decided_item_stays_as_it_was_decided(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    await upsert_review(db, TENANT, "doc_a", QUESTION)
    await db.execute("UPDATE reviews SET status = 'approved'")
    late = await upsert_review(db, TENANT, "doc_a", asking(priority=80))
    assert (late.status, late.priority) == ("approved", 41.25)


async def test_a_review_needs_a_document_of_its_tenant(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    async with db.transaction():  # the refusal ends this savepoint only
        with pytest.raises(NotStored, match="'globex' has no document 'doc_a'"):
            async with db.transaction():
                await upsert_review(db, OTHER_TENANT, "doc_a", QUESTION)
    await upsert_review(db, TENANT, "doc_a", QUESTION)
    with pytest.raises(NotStored):
        await upsert_review(db, OTHER_TENANT, "doc_a", asking(priority=99))
    ours = await load_review(db, TENANT, review_id_of(TENANT, "doc_a"))
    assert ours
    assert ours.priority == 41.25


async def test_reviews_are_seen_by_their_tenant_alone(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    opened = await upsert_review(db, TENANT, "doc_a", QUESTION)
    assert await load_review(db, OTHER_TENANT, opened.review_id) is None
    assert await list_reviews(db, OTHER_TENANT) == []
    assert await list_reviews(db, OTHER_TENANT, after=place_of(opened, Sort.PRIORITY, DUE)) == []


async def test_the_queue_is_by_band_then_priority_in_pages(db: PoolConnectionProxy) -> None:
    for document_id, band, priority in (("d1", 0, 10), ("d2", 0, 95.5), ("d3", 2, 1), ("d4", 0, 10), ("d5", 1, 20)):
        await upload(db, document_id=document_id)
        await upsert_review(db, TENANT, document_id, asking(band=band, priority=priority))
    pages, after = [], None
    while page := await list_reviews(db, TENANT, limit=2, as_of=DUE, after=after):
        pages.append([review.document_id for review in page])
        after = place_of(page[-1], Sort.PRIORITY, DUE)
    order = [str(document_id) for page in pages for document_id in page]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert order[:3] == ["d3", "d5", "d2"]
    assert sorted(order[3:]) == ["d1", "d4"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (Sort.PRIORITY, ["d1", "d2", "d3"]),
        (Sort.UNCERTAINTY, ["d3", "d1", "d2"]),
        (Sort.SLA, ["d2", "d1", "d3"]),
        (Sort.VALUE, ["d2", "d3", "d1"]),
        (Sort.COMPLEXITY, ["d1", "d2", "d3"]),  # nothing is said of it: the most urgent first
    ],
)
async def test_the_queue_is_by_a_part_of_the_priority_in_pages(
    db: PoolConnectionProxy, sort: Sort, expected: list[str]
) -> None:
    now = dt.datetime.now(dt.UTC)
    parts = {"d1": (0.5, 0.1), "d2": (0.2, 0.9), "d3": (0.7, 0.3)}
    for place, (document_id, (uncertainty, value)) in enumerate(parts.items()):
        await upload(db, document_id=document_id)
        question = asking(priority=99 - 40 * place, parts={"uncertainty": uncertainty, "value": value})
        hours = {"d1": 1, "d2": 2, "d3": 0}[document_id]
        await upsert_review(
            db,
            TENANT,
            document_id,
            replace(question, sla_from=now - dt.timedelta(hours=hours), due_at=now + dt.timedelta(hours=10)),
        )
    order, after = [], None
    while page := await list_reviews(db, TENANT, sort=sort, limit=2, as_of=now, after=after):
        order += [review.document_id for review in page]
        after = place_of(page[-1], sort, now)
    assert order == expected


@pytest.mark.parametrize("sort", [Sort.PRIORITY, Sort.SLA, Sort.VALUE])
async def test_no_item_is_left_out_or_met_twice_though_items_rise_change_and_go_between_pages(
    db: PoolConnectionProxy, sort: Sort
) -> None:
    now, hour = dt.datetime.now(dt.UTC), dt.timedelta(hours=1)
    for place in range(6):  # the last one has the shortest SLA: an hour later it stands first
        await upload(db, document_id=f"d{place}")
        question = asking(priority=60 - place, parts={"value": (60 - place) / 100})
        await upsert_review(
            db, TENANT, f"d{place}", replace(question, sla_from=now, due_at=now + (30 - 5 * place) * hour)
        )
    first = await list_reviews(db, TENANT, sort=sort, limit=3, as_of=now)
    corrected, decided = first[-1].review_id, first[0].review_id
    await update_appearance(db, TENANT, corrected, replace(LOOK, priority=1, parts={"value": 0.0}))
    await db.execute("UPDATE reviews SET status = 'approved', closed_at = now() WHERE review_id = $1", decided)
    await db.execute("UPDATE reviews SET sla_from = sla_from - $1::interval, due_at = due_at - $1::interval", 4 * hour)
    after = place_of(first[-1], sort, now - 4 * hour)  # four hours have passed
    rest = await list_reviews(db, TENANT, sort=sort, limit=9, after=after)
    met = [str(review.document_id) for review in (*first, *rest) if review.review_id != corrected]
    assert sorted(met) == sorted({f"d{place}" for place in range(6)} - {first[-1].document_id})


async def test_the_queue_can_be_asked_for_a_status_or_for_all(db: PoolConnectionProxy) -> None:
    for document_id in ("d1", "d2"):
        await upload(db, document_id=document_id)
        await upsert_review(db, TENANT, document_id, QUESTION)
    await db.execute("UPDATE reviews SET status = 'rejected' WHERE document_id = 'd1'")
    listed = {
        status: [r.document_id for r in await list_reviews(db, TENANT, ReviewFilter(status=status))]
        for status in ("open", "rejected")
    }
    assert listed == {"open": ["d2"], "rejected": ["d1"]}
    assert len(await list_reviews(db, TENANT, ReviewFilter(status=None))) == 2
