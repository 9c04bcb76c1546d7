"""The audit chain has one order, and every edit, cut and addition is detected."""

import asyncio

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import transaction
from docrail.services.audit.models import Act
from docrail.services.audit.repository import GENESIS, append_event, list_events, verify_chain
from tests.postgres import as_owner

ACT = Act("ann", "corrected", "rev_1", "doc_1", {"field": "total", "was": 1.5, "ä": [None, True]})


async def chain(db: PoolConnectionProxy, tenant_id: str, length: int) -> None:
    for _ in range(length):
        await append_event(db, tenant_id, ACT)


async def edit(db: PoolConnectionProxy, statement: str) -> None:
    """Do what only the owner of the database can."""
    await as_owner(db)
    await db.execute("ALTER TABLE audit_events DISABLE TRIGGER USER")
    await db.execute(statement)


async def test_events_are_kept_in_order_and_fit(db: PoolConnectionProxy) -> None:
    await chain(db, "fits", 3)
    events = await list_events(db, "fits")
    assert [event.sequence for event in events] == [1, 2, 3]
    assert (events[0].actor, events[0].detail) == (ACT.actor, ACT.detail)
    verdict = await verify_chain(db, "fits")
    assert (verdict.events, verdict.head, verdict.broken_at) == (3, events[-1].hash, None)


async def test_each_tenant_has_a_chain_of_its_own(db: PoolConnectionProxy) -> None:
    await chain(db, "one", 2)
    await chain(db, "two", 1)
    assert [(await verify_chain(db, name)).events for name in ("one", "two", "none")] == [2, 1, 0]
    assert (await verify_chain(db, "none")).head == GENESIS


async def test_events_of_an_item_are_found(db: PoolConnectionProxy) -> None:
    await chain(db, "items", 2)
    await append_event(db, "items", Act("bob", "approved", "rev_2", "doc_2", {}))
    assert [event.actor for event in await list_events(db, "items", review_id="rev_2")] == ["bob"]
    assert len(await list_events(db, "items", document_id="doc_1")) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET actor = 'eve' WHERE tenant_id = 'kept'",
        "DELETE FROM audit_events WHERE tenant_id = 'kept'",
        "TRUNCATE audit_events",
    ],
)
async def test_the_database_refuses_to_change_events(db: PoolConnectionProxy, statement: str) -> None:
    await chain(db, "kept", 1)
    await as_owner(db)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await db.execute(statement)


@pytest.mark.parametrize(
    ("statement", "broken_at"),
    [
        ("UPDATE audit_events SET actor = 'eve' WHERE tenant_id = 'edited' AND sequence = 3", 3),
        ("UPDATE audit_events SET detail = '{}' WHERE tenant_id = 'edited' AND sequence = 1", 1),
        ("UPDATE audit_events SET happened_at = now() WHERE tenant_id = 'edited' AND sequence = 2", 2),
        ("UPDATE audit_events SET state = 'new.' WHERE tenant_id = 'edited' AND sequence = 2", 2),
        ("UPDATE audit_events SET happened_at = 'infinity' WHERE tenant_id = 'edited' AND sequence = 2", 2),
        ("UPDATE audit_events SET detail = '{\"a\": 1e999}' WHERE tenant_id = 'edited' AND sequence = 2", 2),
        ("UPDATE audit_events SET detail = '[\"\\ud800\"]' WHERE tenant_id = 'edited' AND sequence = 2", 2),
        ("UPDATE audit_events SET happened_at = '4000-01-01 BC' WHERE tenant_id = 'edited' AND sequence = 2", 1),
        ("UPDATE audit_heads SET sequence = 9 WHERE tenant_id = 'edited'", 6),
        ("UPDATE audit_heads SET hash = repeat('0', 64) WHERE tenant_id = 'edited'", 6),
        ("DELETE FROM audit_heads WHERE tenant_id = 'edited'", 6),
        ("DELETE FROM audit_events WHERE tenant_id = 'edited' AND sequence = 2", 2),
        ("DELETE FROM audit_events WHERE tenant_id = 'edited' AND sequence > 3", 4),
        ("DELETE FROM audit_events WHERE tenant_id = 'edited'", 1),
        (
            """INSERT INTO audit_events
               SELECT tenant_id, 6, happened_at, 'eve', act, review_id, document_id, detail, state, hash
                 FROM audit_events
                WHERE tenant_id = 'edited' AND sequence = 5""",
            6,
        ),
        (
            """UPDATE audit_events a SET (actor, detail, hash) = (SELECT 'eve', b.detail, b.hash FROM audit_events b
                WHERE b.tenant_id = 'edited' AND b.sequence = 3) WHERE tenant_id = 'edited' AND sequence = 4""",
            4,
        ),
    ],
)
async def test_a_chain_that_was_tampered_with_is_found_out(
    db: PoolConnectionProxy, statement: str, broken_at: int
) -> None:
    await chain(db, "edited", 5)
    await edit(db, statement)
    verdict = await verify_chain(db, "edited")
    assert verdict.broken_at == broken_at
    assert verdict.problem


async def test_a_chain_that_was_written_anew_is_found_out_by_a_head_that_was_kept(db: PoolConnectionProxy) -> None:
    await chain(db, "anew", 3)
    kept = (await verify_chain(db, "anew")).head
    await chain(db, "anew", 2)
    whole = await verify_chain(db, "anew", kept_head=kept)
    assert (whole.events, whole.problem) == (5, "")
    await edit(db, "DELETE FROM audit_events WHERE tenant_id = 'anew' AND sequence > 2")
    hash_ = (await list_events(db, "anew"))[-1].hash
    await db.execute("UPDATE audit_heads SET sequence = 2, hash = $1 WHERE tenant_id = 'anew'", hash_)
    await chain(db, "anew", 3)
    assert (await verify_chain(db, "anew")).problem == ""
    verdict = await verify_chain(db, "anew", kept_head=kept)
    assert (verdict.broken_at, kept in verdict.problem) == (None, True)


async def test_events_that_are_added_at_once_make_one_chain(pool: asyncpg.Pool) -> None:
    async def add() -> None:
        async with transaction(pool) as tx:
            await append_event(tx, "crowded", ACT)

    await asyncio.gather(*(add() for _ in range(60)))
    verdict = await verify_chain(pool, "crowded")
    assert (verdict.events, verdict.broken_at) == (60, None)


async def test_an_act_that_is_rolled_back_leaves_no_gap(pool: asyncpg.Pool) -> None:
    async def add(tx: PoolConnectionProxy) -> None:
        await append_event(tx, "rolled", ACT)

    async with transaction(pool) as tx:
        await add(tx)
    async with pool.acquire() as connection:
        undone = connection.transaction()
        await undone.start()
        await add(connection)
        await undone.rollback()
    async with transaction(pool) as tx:
        await add(tx)
    verdict = await verify_chain(pool, "rolled")
    assert (verdict.events, verdict.broken_at) == (2, None)
