"""Aliases and their moves: kept together, one mover at a time, seen by their tenant alone."""

import asyncio

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database, NotStored, transaction
from docrail.dag.language.version_refs import CANARY, STABLE, Move, MoveKind, Target, move_alias
from docrail.dag.values.json_values import digest
from docrail.services.definitions.repository import (
    list_moves,
    load_aliases,
    load_last_mover,
    load_stable_history,
    lock_definition,
    publish,
    record_moves,
)
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, new_document_id

FIRST = Move(STABLE, None, Target(1))


async def publish_versions(
    db: Database, count: int, *, tenant_id: str = TENANT, definition_id: str = "invoice"
) -> None:
    for number in range(count):
        body = {"id": definition_id, "title": str(number)}
        await publish(db, tenant_id, body, digest(body), "", by="ann", reason="")


async def record(
    db: Database,
    *moves: Move,
    kind: MoveKind = MoveKind.SET,
    tenant_id: str = TENANT,
    by: str = "ada",
    reason: str = "",
) -> None:
    await record_moves(db, tenant_id, "invoice", moves, kind, by=by, reason=reason)


async def test_recorded_moves_match_the_aliases(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 2)
    await record(db, FIRST, Move(CANARY, None, Target(2, 10)), Move("pilot", None, Target(2)))
    found = await load_aliases(db, TENANT, ["invoice", "other"])
    assert found == {"invoice": {STABLE: Target(1), CANARY: Target(2, 10), "pilot": Target(2)}, "other": {}}


async def test_a_move_is_recorded_with_who_when_why_from_and_to(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 2)
    await record(db, FIRST, Move(CANARY, None, Target(2, 10)), kind=MoveKind.PUBLISH, by="docrail")
    moves = move_alias({STABLE: Target(1), CANARY: Target(2, 10)}, STABLE, Target(2))
    await record(db, *moves, by="ada", reason="it works")
    recorded = await list_moves(db, TENANT, "invoice")
    found = [(Move(each.alias, each.before, each.after), each.kind, each.moved_by, each.reason) for each in recorded]
    assert found == [
        (Move(CANARY, Target(2, 10), None), MoveKind.REMOVE, "ada", "it works"),
        (Move(STABLE, Target(1), Target(2)), MoveKind.SET, "ada", "it works"),
        (Move(CANARY, None, Target(2, 10)), MoveKind.PUBLISH, "docrail", ""),
        (FIRST, MoveKind.PUBLISH, "docrail", ""),
    ]
    assert (await load_aliases(db, TENANT, ["invoice"]))["invoice"] == {STABLE: Target(2)}
    assert recorded[0].moved_at.tzinfo is not None


async def test_moves_are_listed_in_pages(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 1)
    for name in ("a", "b", "c"):
        await record(db, Move(name, None, Target(1)))
    first = await list_moves(db, TENANT, "invoice", limit=2)
    rest = await list_moves(db, TENANT, "invoice", before=first[-1].move_id)
    assert [found.alias for found in (*first, *rest)] == ["c", "b", "a"]


async def test_the_history_of_stable_is_listed_oldest_first(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 2)
    await record(db, FIRST, kind=MoveKind.PUBLISH, by="docrail")
    await record(db, Move("pilot", None, Target(2)))
    await record(db, Move(STABLE, Target(1), Target(2)), by="ada")
    await record(db, Move(STABLE, Target(2), Target(1)), kind=MoveKind.ROLLBACK, by="bob")
    assert await load_stable_history(db, TENANT, "invoice") == [
        (MoveKind.PUBLISH, 1),
        (MoveKind.SET, 2),
        (MoveKind.ROLLBACK, 1),
    ]
    assert await load_last_mover(db, TENANT, "invoice") == "bob"
    assert await load_last_mover(db, TENANT, "other") is None


async def test_an_alias_cannot_name_a_version_that_is_not_there(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 1)
    with pytest.raises(NotStored, match="invoice 7"):
        await record(db, Move(STABLE, None, Target(7)))


async def test_only_a_canary_has_a_share(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 1)
    with pytest.raises(asyncpg.CheckViolationError):
        await record(db, Move(STABLE, None, Target(1, 10)))


async def test_aliases_are_seen_by_their_tenant_alone(db: PoolConnectionProxy) -> None:
    await publish_versions(db, 1)
    await record(db, FIRST)
    assert await load_aliases(db, OTHER_TENANT, ["invoice"]) == {"invoice": {}}
    assert await list_moves(db, OTHER_TENANT, "invoice") == []
    assert await load_stable_history(db, OTHER_TENANT, "invoice") == []
    assert not await lock_definition(db, OTHER_TENANT, "invoice")


async def test_the_lock_lets_one_mover_at_a_time_read_and_write(pool: asyncpg.Pool) -> None:
    definition_id = f"locked_{new_document_id()}"
    await publish_versions(pool, 1, tenant_id=COMMITTING, definition_id=definition_id)

    async def raise_share() -> None:
        async with transaction(pool) as connection:
            assert await lock_definition(connection, COMMITTING, definition_id)
            aliases = (await load_aliases(connection, COMMITTING, [definition_id]))[definition_id]
            before = aliases.get(CANARY)
            after = Target(1, 1 if before is None else (before.percent or 0) + 1)
            moves = move_alias(aliases, CANARY, after)
            await record_moves(connection, COMMITTING, definition_id, moves, MoveKind.SET, by="ada", reason="")

    await asyncio.gather(*(raise_share() for _ in range(8)))
    assert (await load_aliases(pool, COMMITTING, [definition_id]))[definition_id] == {CANARY: Target(1, 8)}


async def test_publishing_does_not_wait_for_a_mover(pool: asyncpg.Pool) -> None:
    definition_id = f"busy_{new_document_id()}"
    await publish_versions(pool, 1, tenant_id=COMMITTING, definition_id=definition_id)
    async with transaction(pool) as connection:
        await lock_definition(connection, COMMITTING, definition_id)
        async with asyncio.timeout(5):
            await publish_versions(pool, 2, tenant_id=COMMITTING, definition_id=definition_id)
