"""Submitted executions: stored once, triggered once, seen by their tenant alone."""

import asyncio

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.dag.values.json_values import digest
from docrail.services.definitions.repository import publish
from docrail.services.runs.models import Execution
from docrail.services.runs.repository import ExecutionConflict, insert_execution, load_execution, mark_triggered
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, new_document_id


async def submit(db: Database, execution_id: str, *, tenant_id: str = TENANT, title: str = "") -> Execution:
    body = {"id": "invoice", "title": title}
    definition = await publish(db, tenant_id, body, digest(body), "", by="ann", reason="")
    return await insert_execution(
        db, tenant_id, execution_id, definition_id=definition.definition_id, version=definition.version
    )


async def test_a_submission_waits_and_is_loaded_as_stored(db: PoolConnectionProxy) -> None:
    stored = await submit(db, "exe_1")
    assert (stored.definition_id, stored.version, stored.run_id, stored.triggered_at) == ("invoice", 1, None, None)
    assert await load_execution(db, TENANT, "exe_1") == stored
    assert await submit(db, "exe_1") == stored


async def test_an_execution_is_triggered_once(db: PoolConnectionProxy) -> None:
    await submit(db, "exe_1")
    assert await mark_triggered(db, TENANT, "exe_1", "invoice.exe_1")
    assert not await mark_triggered(db, TENANT, "exe_1", "invoice.other")
    triggered = await load_execution(db, TENANT, "exe_1")
    assert triggered
    assert triggered.run_id == "invoice.exe_1"
    assert triggered.triggered_at


async def test_of_many_triggers_at_once_one_is_the_first(pool: asyncpg.Pool) -> None:
    execution_id = f"exe_{new_document_id()}"
    await submit(pool, execution_id, tenant_id=COMMITTING)
    firsts = await asyncio.gather(*(mark_triggered(pool, COMMITTING, execution_id, f"invoice.{n}") for n in range(10)))
    assert sum(firsts) == 1


async def test_another_tenant_neither_sees_nor_triggers_nor_takes_over(db: PoolConnectionProxy) -> None:
    await submit(db, "exe_1")
    assert await load_execution(db, OTHER_TENANT, "exe_1") is None
    assert not await mark_triggered(db, OTHER_TENANT, "exe_1", "invoice.theirs")
    with pytest.raises(ExecutionConflict):
        await submit(db, "exe_1", tenant_id=OTHER_TENANT)


async def test_an_id_is_not_taken_over_by_another_definition(db: PoolConnectionProxy) -> None:
    await submit(db, "exe_1")
    with pytest.raises(ExecutionConflict, match="exe_1"):
        await submit(db, "exe_1", title="another")


async def test_a_definition_that_was_never_published_cannot_be_submitted(db: PoolConnectionProxy) -> None:
    with pytest.raises(NotStored, match="invoice 7"):
        await insert_execution(db, TENANT, "exe_1", definition_id="invoice", version=7)
