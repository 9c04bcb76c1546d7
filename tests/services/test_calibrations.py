"""Calibrations: each fit is kept, one counts, and an earlier one can count again; outcomes follow decisions."""

import asyncio

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import NotStored
from docrail.invoices.assessment.calibration import POOLED, Calibration, Observation, default_calibration
from docrail.services.documents.repository.calibrations import (
    activate_calibration,
    list_calibrations,
    load_calibration,
    load_outcomes,
    save_calibration,
    save_outcomes,
)
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT
from tests.services.arrivals import approve, arrive, correct, judged


def halving(observations: int = 3) -> Calibration:
    return Calibration(name="new", curves={POOLED: ((0.0, 0.0), (1.0, 0.5))}, observations=observations)


async def test_the_newest_fit_counts_under_its_version(db: PoolConnectionProxy) -> None:
    assert await load_calibration(db, TENANT) is None
    assert await save_calibration(db, TENANT, halving(), "labelled files") == 1
    assert await save_calibration(db, TENANT, halving(9), "decisions") == 2
    loaded = await load_calibration(db, TENANT)
    assert loaded
    assert (loaded.name, loaded.curves, loaded.observations) == ("v2", halving().curves, 9)
    assert await load_calibration(db, OTHER_TENANT) is None
    reported = [
        (each.version, each.fitted_on, each.active, each.observations) for each in await list_calibrations(db, TENANT)
    ]
    assert reported == [(1, "labelled files", False, 3), (2, "decisions", True, 9)]


async def test_an_earlier_fit_or_the_shipped_one_can_count_again(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db)
    for _ in range(2):
        await save_calibration(db, TENANT, halving(), "labelled files")
    await activate_calibration(db, TENANT, 1)
    first = await judged(db, document_id)
    await activate_calibration(db, TENANT, None)
    shipped = await judged(db, document_id)
    assert (first.calibration, shipped.calibration) == ("v1", default_calibration().name)
    assert first.total.confidence < 0.51 < shipped.total.confidence
    with pytest.raises(NotStored, match="has no calibration '7'"):
        await activate_calibration(db, TENANT, 7)


async def test_of_fits_at_once_each_gets_a_version_and_one_counts(pool: asyncpg.Pool) -> None:
    async def save() -> int:
        async with pool.acquire() as connection, connection.transaction():
            return await save_calibration(connection, COMMITTING, halving(), "labelled files")

    assert len(set(await asyncio.gather(*(save() for _ in range(5))))) == 5
    assert sum(each.active for each in await list_calibrations(pool, COMMITTING)) == 1


async def test_a_decision_records_which_readings_were_right(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db)
    await correct(db, document_id, "total", "120.00")
    await approve(db, document_id)
    outcomes = {each.field: each for each in await load_outcomes(db, TENANT)}
    assert len(outcomes) == 9
    assert [field for field, each in outcomes.items() if not each.right] == ["total"]
    assert {each.family for each in outcomes.values()} == {"vat:DE136695976"}
    assert await load_outcomes(db, OTHER_TENANT) == []


async def test_a_later_decision_replaces_the_earlier_one(db: PoolConnectionProxy) -> None:
    for right in (False, True):
        await save_outcomes(db, TENANT, "doc_1", [Observation("total", 0.9, right, "vat:1")])
    assert await load_outcomes(db, TENANT) == [Observation("total", 0.9, right=True, family="vat:1")]
