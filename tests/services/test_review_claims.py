"""A claim has one holder at a time, also under concurrent requests; priorities rise while items wait."""

import asyncio
import datetime as dt
from decimal import Decimal

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.invoices.assessment.priority import review_priority
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.services.reviews.items import appearance_of
from docrail.services.reviews.models import Question, Review, Wish
from docrail.services.reviews.repository.claims import claim_next, claim_review, free_review, renew_claim
from docrail.services.reviews.repository.items import load_review
from tests.postgres import OTHER_TENANT, TENANT, upload
from tests.review_items import upsert_review

NO_TIME = dt.timedelta(0)


async def item(db: asyncpg.Pool | PoolConnectionProxy, *, tenant_id: str = TENANT, used_hours: float = 0) -> Review:
    document = await upload(db, tenant_id=tenant_id)
    sla_from = dt.datetime.now(dt.UTC) - dt.timedelta(hours=used_hours)
    question = Question("invoice.test", appearance_of(InvoiceData()), sla_from + dt.timedelta(hours=24), sla_from)
    return await upsert_review(db, tenant_id, document.document_id, question)


@pytest.mark.parametrize("used_hours", [0, 1.5, 12, 19.3, 24, 100])
async def test_the_live_priority_is_that_of_the_formula(db: PoolConnectionProxy, used_hours: float) -> None:
    total: FieldValue[Decimal] = FieldValue(value=Decimal("1190.00"), source=Source.XML, confidence=0.4)
    invoice = InvoiceData(total=total, confidence=0.3)
    document = await upload(db)
    now = await db.fetchval("SELECT now()")
    sla_from = now - dt.timedelta(hours=used_hours)
    question = Question("r", appearance_of(invoice), sla_from + dt.timedelta(hours=24), sla_from)
    review = await upsert_review(db, TENANT, document.document_id, question)
    expected = review_priority(invoice, sla_hours=24, hours_used=used_hours, new_vendor=True)
    assert review.priority == pytest.approx(expected.score, abs=0.02)
    assert review.band == expected.band
    assert review.parts == pytest.approx(expected.parts_json(), abs=0.001)


async def test_of_many_that_claim_one_item_one_has_it(pool: asyncpg.Pool) -> None:
    tenant = "claimers"
    review = await item(pool, tenant_id=tenant)
    claims = await asyncio.gather(*(claim_review(pool, tenant, review.review_id, f"p{n}") for n in range(12)))
    [claim] = [claim for claim in claims if claim]
    assert claim.review.claimed_by is not None
    assert claim.token == 1


async def test_next_gives_each_item_once_while_claims_end_and_begin(pool: asyncpg.Pool) -> None:
    tenant = "busy"
    for _ in range(30):
        await item(pool, tenant_id=tenant)
    taken: list[str] = []

    async def work(name: str) -> None:
        while claim := await claim_next(pool, tenant, name, Wish()):
            taken.append(claim.review.review_id)

    await asyncio.gather(*(work(f"p{number}") for number in range(8)))
    assert (len(taken), len(set(taken))) == (30, 30)


async def test_a_token_rises_with_every_claim(db: PoolConnectionProxy) -> None:
    review = await item(db)
    tokens = []
    for name in ("ann", "bob", "ann"):
        claim = await claim_review(db, TENANT, review.review_id, name, NO_TIME)
        assert claim
        tokens.append(claim.token)
    assert tokens == [1, 2, 3]


async def test_only_a_claim_that_holds_is_renewed(db: PoolConnectionProxy) -> None:
    review = await item(db)
    claim = await claim_review(db, TENANT, review.review_id, "ann")
    assert claim
    assert await renew_claim(db, TENANT, review.review_id, "ann", claim.token)
    assert await renew_claim(db, TENANT, review.review_id, "bob", claim.token) is None
    assert await renew_claim(db, TENANT, review.review_id, "ann", claim.token + 1) is None
    assert await renew_claim(db, OTHER_TENANT, review.review_id, "ann", claim.token) is None
    await free_review(db, TENANT, review.review_id)
    assert await renew_claim(db, TENANT, review.review_id, "ann", claim.token) is None


async def test_a_decided_item_cannot_be_claimed(db: PoolConnectionProxy) -> None:
    review = await item(db)
    await db.execute("UPDATE reviews SET status = 'approved' WHERE review_id = $1", review.review_id)
    assert await claim_review(db, TENANT, review.review_id, "ann") is None
    assert await claim_next(db, TENANT, "ann", Wish()) is None


async def test_next_never_returns_an_item_that_the_person_may_not_decide(db: PoolConnectionProxy) -> None:
    review = await item(db)
    await db.execute("UPDATE reviews SET may_not_decide = '{ann}' WHERE review_id = $1", review.review_id)
    assert await claim_next(db, TENANT, "ann", Wish()) is None
    assert await claim_next(db, TENANT, "bob", Wish())


async def test_another_tenants_item_is_not_claimed(db: PoolConnectionProxy) -> None:
    review = await item(db)
    assert await claim_review(db, OTHER_TENANT, review.review_id, "ann") is None
    assert await claim_next(db, OTHER_TENANT, "ann", Wish()) is None
    untouched = await load_review(db, TENANT, review.review_id)
    assert untouched
    assert untouched.claim_token == 0
