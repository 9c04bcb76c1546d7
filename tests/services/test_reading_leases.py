"""Leases: one holder at a time, whoever asks at once; a holder that dies loses it, one that renews does not."""

import asyncio
import secrets

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.services.extraction.repository import Claim, Lease, claim_lease, leave_lease, release_lease, renew_lease
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT


def lease(holder: str = "me", *, tenant_id: str = TENANT, work: str = "bytes/reader") -> Lease:
    return Lease(tenant_id, work, holder)


async def age(db: PoolConnectionProxy, seconds: float) -> None:
    """Let so much time pass for every lease."""
    await db.execute("UPDATE reading_leases SET expires_at = expires_at - make_interval(secs => $1)", seconds)


async def test_work_has_one_holder_at_a_time(db: PoolConnectionProxy) -> None:
    assert await claim_lease(db, lease("first"), 30) == Claim(mine=True, note={})
    second = await claim_lease(db, lease("second"), 30)
    assert not second.mine
    assert second.free_in_seconds == pytest.approx(30, abs=1)
    assert (await claim_lease(db, lease("first"), 30)).mine is False, "another attempt is another holder"


@pytest.mark.parametrize("other", [lease("o", tenant_id=OTHER_TENANT), lease("o", work="other bytes/reader")])
async def test_other_work_is_free(db: PoolConnectionProxy, other: Lease) -> None:
    await claim_lease(db, lease("first"), 30)
    assert (await claim_lease(db, other, 30)).mine is True


async def test_of_many_claims_at_once_one_is_given(pool: asyncpg.Pool) -> None:
    work = secrets.token_hex(8)
    claims = await asyncio.gather(
        *(claim_lease(pool, lease(str(n), tenant_id=COMMITTING, work=work), 30) for n in range(10))
    )
    assert sum(claim.mine for claim in claims) == 1


async def test_a_lease_that_began_a_moment_later_lasts_no_longer(pool: asyncpg.Pool) -> None:
    work = secrets.token_hex(8)
    async with pool.acquire() as early, early.transaction():
        await early.fetchval("SELECT now()")  # from here on its time stands still
        await claim_lease(pool, lease("first", tenant_id=COMMITTING, work=work), 30)
        second = await claim_lease(early, lease("second", tenant_id=COMMITTING, work=work), 30)
    assert not second.mine
    assert second.free_in_seconds <= 30


async def test_a_holder_that_died_loses_it_and_one_that_renews_does_not(db: PoolConnectionProxy) -> None:
    await claim_lease(db, lease("living"), 30)
    await age(db, 25)
    await renew_lease(db, lease("living"), 30)
    await renew_lease(db, lease("another"), 3000)
    await age(db, 25)
    assert (await claim_lease(db, lease("next"), 30)).mine is False
    await age(db, 25)
    assert (await claim_lease(db, lease("next"), 30)).mine is True
    await renew_lease(db, lease("living"), 3000)  # it comes back to life: too late
    await age(db, 35)
    assert (await claim_lease(db, lease("third"), 30)).mine is True


async def test_a_claim_says_each_time_that_the_holder_before_it_died(db: PoolConnectionProxy) -> None:
    assert (await claim_lease(db, lease("first"), 30)).died is False
    for number in range(2):
        await age(db, 31)
        taken = await claim_lease(db, lease(f"next {number}"), 30)
        assert (taken.mine, taken.died, taken.note) == (True, True, {})
    await leave_lease(db, lease("next 1"), 5, {"repair": True})
    waiting = await claim_lease(db, lease("last"), 30)
    assert (waiting.mine, waiting.died) == (False, False)
    await age(db, 6)
    assert (await claim_lease(db, lease("last"), 30)).died is False


async def test_a_lease_that_is_left_passes_its_note_to_the_next_holder(db: PoolConnectionProxy) -> None:
    await claim_lease(db, lease("first"), 30)
    await leave_lease(db, lease("first"), 120, {"repair": True})
    waiting = await claim_lease(db, lease("second"), 30)
    assert (waiting.mine, waiting.note) == (False, {"repair": True})
    assert waiting.free_in_seconds == pytest.approx(120, abs=1)
    await age(db, 121)
    assert await claim_lease(db, lease("second"), 30) == Claim(mine=True, note={"repair": True})


async def test_a_refusal_ends_when_another_attempt_asks_again(db: PoolConnectionProxy) -> None:
    await claim_lease(db, lease("first"), 30)
    await leave_lease(db, lease("first"), 600, {"refused": ["code", "why"], "repair": True})
    assert (await claim_lease(db, lease("second"), 30)).note["refused"] == ["code", "why"]
    await age(db, 601)
    assert await claim_lease(db, lease("second"), 30) == Claim(mine=True, note={"repair": True})
    assert (await claim_lease(db, lease("third"), 30)).note == {"repair": True}


async def test_a_released_lease_is_forgotten(db: PoolConnectionProxy) -> None:
    await claim_lease(db, lease("first"), 30)
    await release_lease(db, lease("another"))
    assert (await claim_lease(db, lease("second"), 30)).mine is False
    await leave_lease(db, lease("first"), 0, {"repair": True})
    await claim_lease(db, lease("second"), 30)
    await release_lease(db, lease("second"))
    assert await claim_lease(db, lease("third"), 30) == Claim(mine=True, note={})


async def test_abandoned_leases_are_removed(db: PoolConnectionProxy) -> None:
    await claim_lease(db, lease("gone", work="a"), 30)
    await age(db, 86_400 + 60)
    await claim_lease(db, lease("here", work="b"), 30)
    assert await db.fetchval("SELECT array_agg(work_key) FROM reading_leases WHERE tenant_id = $1", TENANT) == ["b"]
