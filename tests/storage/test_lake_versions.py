"""The versions of documents in the lake: the same state is the same version, however often it is saved."""

import asyncio

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from storage.db import NotStored
from storage.lake_versions import claim_version
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, upload
from tests.storage.invoices import invoice


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
