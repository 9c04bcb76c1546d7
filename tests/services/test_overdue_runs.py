"""Overdue runs are stored once each, and a retried run again."""

from asyncpg.pool import PoolConnectionProxy

from docrail.services.runs.repository import insert_overdue, is_notified, mark_notified
from docrail.workflows.contract.messages import OverdueRun
from tests.postgres import OTHER_TENANT, TENANT

RUN = OverdueRun(
    tenant_id=TENANT,
    run_id="invoice.1",
    definition_id="invoice",
    version=3,
    document_id=None,
    started_at=1_800_000_000.25,
    deadline_seconds=60,
)


async def test_a_run_is_overdue_once(db: PoolConnectionProxy) -> None:
    assert await insert_overdue(db, RUN)
    assert not await insert_overdue(db, RUN)


async def test_a_retried_run_and_another_tenants_are_other_ones(db: PoolConnectionProxy) -> None:
    await insert_overdue(db, RUN)
    assert await insert_overdue(db, RUN.model_copy(update={"started_at": RUN.started_at + 100}))
    assert await insert_overdue(db, RUN.model_copy(update={"tenant_id": OTHER_TENANT}))


async def test_notifications_are_recorded(db: PoolConnectionProxy) -> None:
    await insert_overdue(db, RUN)
    assert not await is_notified(db, RUN)
    await mark_notified(db, RUN)
    await mark_notified(db, RUN)
    assert await is_notified(db, RUN)
    assert not await is_notified(db, RUN.model_copy(update={"run_id": "invoice.2"}))
