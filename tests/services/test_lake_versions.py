"""The versions of documents in the lake: the same state is the same version, however often it is saved."""

import asyncio
import datetime as dt

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import NotStored
from docrail.services.documents.models import Standing
from docrail.services.lake.models import LakeVersion, StandingChanged
from docrail.services.lake.repository import claim_version
from docrail.services.reviews.models import Appearance, Question
from docrail.services.reviews.repository.items import update_appearance, upsert_review
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, upload
from tests.services.invoices import invoice


async def test_the_same_state_again_is_the_same_version(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    first = await claim_version(db, TENANT, invoice(document_id))
    assert first.number == 1
    assert await claim_version(db, TENANT, invoice(document_id)) == first


async def test_another_state_is_the_next_version_also_one_that_was_before(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    states = [invoice(document_id, number=number) for number in ("A", "B", "A", "A")]
    assert [(await claim_version(db, TENANT, state)).number for state in states] == [1, 2, 3, 3]


async def test_many_who_save_at_once_share_one_version_for_each_state(pool: asyncpg.Pool) -> None:
    document_id = (await upload(pool, tenant_id=COMMITTING)).document_id
    same = await asyncio.gather(*(claim_version(pool, COMMITTING, invoice(document_id)) for _ in range(8)))
    assert {version.number for version in same} == {1}
    others = [invoice(document_id, number=str(number)) for number in range(8)]
    different = await asyncio.gather(*(claim_version(pool, COMMITTING, other) for other in others))
    assert sorted(version.number for version in different) == list(range(2, 10))


async def test_another_tenants_document_has_no_versions_here(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    with pytest.raises(NotStored, match=f"'{OTHER_TENANT}' has no document"):
        await claim_version(db, OTHER_TENANT, invoice(document_id))


async def test_a_decision_is_another_state_and_what_was_not_decided_stays_the_version_that_it_was(
    db: PoolConnectionProxy,
) -> None:
    document_id = (await upload(db)).document_id
    standings = [Standing(), Standing("approved"), Standing("approved"), Standing("rejected"), Standing()]
    claimed = [await claim_version(db, TENANT, invoice(document_id), standing) for standing in standings]
    assert [(each.number, each.status) for each in claimed] == [
        (1, "open"),
        (2, "approved"),
        (2, "approved"),
        (3, "rejected"),
        (4, "open"),
    ]


async def test_what_was_loaded_before_somebody_corrected_it_gets_no_version(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    look = Appearance(1, {}, [], {})
    review = await upsert_review(db, TENANT, document_id, Question("r", look, dt.datetime.now(dt.UTC)))
    assert isinstance(await claim_version(db, TENANT, invoice(document_id), Standing()), LakeVersion)
    await update_appearance(db, TENANT, review.review_id, look)
    with pytest.raises(StandingChanged, match="load it again"):
        await claim_version(db, TENANT, invoice(document_id, number="old"), Standing())
    assert (await claim_version(db, TENANT, invoice(document_id), Standing(revision=1))).number == 1
