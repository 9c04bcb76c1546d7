"""Cached outputs are found until they are too old, by their tenant alone, and are removed later."""

import asyncio
import math

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.dag.values.json_values import Json, digest
from docrail.services.runs.models import CachedOutput
from docrail.services.runs.repository import REMOVED_AT_ONCE, load_cached, save_cached
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT

KEY, OTHER_KEY = digest("work"), digest("other work")
AGE = f"""
UPDATE step_cache SET made_at = made_at - $1 * interval '1 s', expires_at = expires_at - $1 * interval '1 s'
 WHERE tenant_id = '{TENANT}'"""
EXPIRED = f"SELECT count(*) FROM step_cache WHERE tenant_id = '{TENANT}' AND expires_at <= now()"


async def keep(db: PoolConnectionProxy, output: Json, key: str = KEY, *, ttl_seconds: float = 60) -> None:
    await save_cached(db, TENANT, key, "echo", output, ttl_seconds)


async def found(db: PoolConnectionProxy, key: str = KEY, *, ttl_seconds: float = 60) -> CachedOutput | None:
    return await load_cached(db, TENANT, key, ttl_seconds)


@pytest.mark.parametrize("output", [{"b": 1, "a": [None, 1.5]}, None, [], "text\x00", {"half": "\ud83d"}, 10**30])
async def test_an_output_comes_back_as_it_was(db: PoolConnectionProxy, output: Json) -> None:
    assert await found(db) is None
    await keep(db, output)
    kept = await found(db)
    assert kept == CachedOutput(output)
    if isinstance(output, dict) and kept is not None:
        assert list(kept.output) == list(output), "in the handler's order"


async def test_another_tenant_does_not_find_it(db: PoolConnectionProxy) -> None:
    await keep(db, 1)
    assert await found(db, OTHER_KEY) is None
    assert await load_cached(db, OTHER_TENANT, KEY, 60) is None


async def test_an_output_that_is_too_old_is_not_found(db: PoolConnectionProxy) -> None:
    await keep(db, 1)
    await db.execute(AGE, 59)
    assert await found(db) == CachedOutput(1)
    assert await found(db, ttl_seconds=30) is None, "whoever asks now takes nothing so old"
    await db.execute(AGE, 1)
    assert await found(db) is None


async def test_a_longer_time_does_not_bring_back_what_was_kept_for_a_shorter_one(db: PoolConnectionProxy) -> None:
    await keep(db, 1, ttl_seconds=10)
    await db.execute(AGE, 11)
    assert await found(db, ttl_seconds=3600) is None


async def test_the_later_output_stays(db: PoolConnectionProxy) -> None:
    await keep(db, 1)
    await db.execute(AGE, 50)
    await keep(db, 2)
    assert await found(db, ttl_seconds=30) == CachedOutput(2)


async def test_a_value_that_is_not_json_is_refused(db: PoolConnectionProxy) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        await keep(db, math.nan)


async def test_every_write_removes_some_of_what_has_expired(db: PoolConnectionProxy) -> None:
    for number in range(REMOVED_AT_ONCE + 5):
        await keep(db, number, digest(number))
    await db.execute(AGE, 60)
    await keep(db, "new")
    assert await db.fetchval(EXPIRED) == 5
    assert await found(db) == CachedOutput("new")
    await keep(db, "newer")
    assert await db.fetchval(EXPIRED) == 0


async def test_workers_that_write_at_once_do_not_hinder_each_other(pool: asyncpg.Pool) -> None:
    await pool.execute("INSERT INTO step_cache SELECT $1, md5(n::text) || md5(n::text), 'echo', 'null', now(), now()"
                       " FROM generate_series(1, 200) AS n", COMMITTING)  # fmt: skip
    writes = (save_cached(pool, COMMITTING, KEY, "echo", number, 60) for number in range(20))
    await asyncio.gather(*writes)
    assert await load_cached(pool, COMMITTING, KEY, 60) is not None
    count = await pool.fetchval("SELECT count(*) FROM step_cache WHERE tenant_id = $1", COMMITTING)
    assert count == 1, "20 writes removed 200 rows"
