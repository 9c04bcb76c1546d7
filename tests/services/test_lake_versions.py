"""The versions of documents in the lake: the same state is the same version, however often it is saved."""

import asyncio
import datetime as dt
from decimal import Decimal

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database, NotStored, transaction
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import Change, CorrectionAct
from docrail.services.documents.service import insert_change
from docrail.services.lake.models import LakeVersion
from docrail.services.lake.repository import claim_versions
from docrail.services.lake.service import load_version
from docrail.services.reviews.models import Appearance, Question
from docrail.services.reviews.repository.items import lock_review, update_appearance
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, upload
from tests.review_items import upsert_review
from tests.services.arrivals import TODAY, arrive
from tests.services.invoices import invoice
from tests.stack import eventually


async def claim_version(db: Database, tenant_id: str, invoice: InvoiceData, status: str = "open") -> LakeVersion:
    """Claim the version of one document."""
    return (await claim_versions(db, tenant_id, {invoice.document_id: (invoice, status)}))[invoice.document_id]


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


async def test_the_versions_of_several_documents_are_claimed_at_once(db: PoolConnectionProxy) -> None:
    old, new = [(await upload(db)).document_id for _ in range(2)]
    before = await claim_version(db, TENANT, invoice(old))
    claimed = await claim_versions(db, TENANT, {old: (invoice(old), "open"), new: (invoice(new), "approved")})
    assert claimed[old] == before
    assert (claimed[new].number, claimed[new].status) == (1, "approved")


async def test_another_tenants_document_has_no_versions_here(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    with pytest.raises(NotStored, match=f"'{OTHER_TENANT}' has no document"):
        await claim_version(db, OTHER_TENANT, invoice(document_id))


async def test_a_decision_is_another_state_and_what_was_not_decided_stays_the_version_that_it_was(
    db: PoolConnectionProxy,
) -> None:
    document_id = (await upload(db)).document_id
    statuses = ["open", "approved", "approved", "rejected", "open"]
    claimed = [await claim_version(db, TENANT, invoice(document_id), status) for status in statuses]
    assert [(each.number, each.status) for each in claimed] == [
        (1, "open"),
        (2, "approved"),
        (2, "approved"),
        (3, "rejected"),
        (4, "open"),
    ]


async def test_a_document_that_is_corrected_while_it_is_saved_is_saved_as_corrected(pool: asyncpg.Pool) -> None:
    document_id = await arrive(pool, COMMITTING)
    look = Appearance(1, {}, [], {})
    review = await upsert_review(pool, COMMITTING, document_id, Question("r", look, dt.datetime.now(dt.UTC)))
    async with transaction(pool) as tx:
        await lock_review(tx, COMMITTING, review.review_id)
        saving = asyncio.create_task(load_version(pool, COMMITTING, document_id, today=TODAY))
        await eventually(lambda: is_blocked(pool), "the save waits for the correction")
        await insert_change(tx, COMMITTING, document_id, Change("total", CorrectionAct.LOCK, "200.00", "ann"))
        await update_appearance(tx, COMMITTING, review.review_id, look)
    saved, version = await saving
    assert (saved.total.value, version.number) == (Decimal("200.00"), 1)


async def is_blocked(pool: asyncpg.Pool) -> bool:
    blocked = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with transaction(pool) as tx:
        await tx.execute("SET LOCAL ROLE NONE")  # only the owner sees what others wait for
        return bool(await tx.fetch(blocked))
