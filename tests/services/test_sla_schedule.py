"""SLA events come from a schedule in Temporal, created once, whose workflow records the due ones."""

import datetime as dt
import uuid
from pathlib import Path

import asyncpg
import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow
from temporalio.contrib.pydantic import pydantic_data_converter

from docrail.activities.internal.sla import sla_activity
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.adapters.temporal.connection import Connection
from docrail.adapters.temporal.draining import working
from docrail.services.audit.repository import list_events
from docrail.services.lake.files import Lake
from docrail.services.maintenance.service import (
    apply_background_schedule,
    apply_sla_schedule,
    background_id,
    sla_schedule_id,
)
from docrail.services.metrics import Metrics
from docrail.services.reviews.models import Appearance, Question
from docrail.services.tools import Tools
from docrail.worker import assemble_worker
from docrail.workflows.background import BackgroundTasks
from docrail.workflows.maintenance import SlaWatch
from tests.postgres import dsn, pool, upload
from tests.review_items import upsert_review
from tests.stack import Servers, eventually

__all__ = ["dsn", "pool"]


@pytest.fixture
def tools(pool: asyncpg.Pool, tmp_path: Path) -> Tools:
    return Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())


async def test_the_schedule_is_made_once_and_its_rounds_record_what_is_due(embedded: Servers, tools: Tools) -> None:
    connection, queue = Connection(embedded.temporal_address), f"sla-{uuid.uuid4().hex}"
    client = await Client.connect(embedded.temporal_address, data_converter=pydantic_data_converter)
    tenant = await _half_used(tools)

    assert "every five minutes" in await apply_sla_schedule(connection, queue)
    assert await apply_sla_schedule(connection, queue) == ""
    handle = client.get_schedule_handle(sla_schedule_id(queue))
    try:
        async with working([assemble_worker(client, queue, [SlaWatch], [sla_activity(tools)], sandboxed=True)]):
            await handle.trigger()
            await eventually(lambda: _is_recorded(tools, tenant), "the event")
    finally:
        await handle.delete()


async def test_the_schedule_fires_by_itself(embedded: Servers, tools: Tools) -> None:
    connection, queue = Connection(embedded.temporal_address), f"sla-{uuid.uuid4().hex}"
    client = await Client.connect(embedded.temporal_address, data_converter=pydantic_data_converter)
    tenant = await _half_used(tools)
    await apply_sla_schedule(connection, queue, every=dt.timedelta(seconds=1))
    try:
        async with working([assemble_worker(client, queue, [SlaWatch], [sla_activity(tools)], sandboxed=True)]):
            await eventually(lambda: _is_recorded(tools, tenant), "the event", timeout_seconds=60)
    finally:
        await client.get_schedule_handle(sla_schedule_id(queue)).delete()


async def test_the_background_tasks_are_scheduled_once_for_a_task_queue(embedded: Servers) -> None:
    connection, queue = Connection(embedded.temporal_address), f"background-{uuid.uuid4().hex}"
    assert "every minute" in await apply_background_schedule(connection, queue)
    assert await apply_background_schedule(connection, queue) == ""
    client = await Client.connect(embedded.temporal_address, data_converter=pydantic_data_converter)
    handle = client.get_schedule_handle(background_id(queue))
    schedule = (await handle.describe()).schedule
    assert isinstance(schedule.action, ScheduleActionStartWorkflow)
    assert (schedule.action.workflow, schedule.action.task_queue) == (BackgroundTasks.__name__, queue)
    assert [each.every for each in schedule.spec.intervals] == [dt.timedelta(minutes=1)]
    await handle.delete()


async def _half_used(tools: Tools) -> str:
    """Open an item that has used more than half of its SLA, and return its tenant."""
    tenant, now = f"sla_{uuid.uuid4().hex[:12]}", dt.datetime.now(dt.UTC)
    document = await upload(tools.db, tenant_id=tenant)
    question = Question(
        "invoice.test", Appearance(1, {}, [], {}), now + dt.timedelta(hours=1), now - dt.timedelta(hours=2)
    )
    await upsert_review(tools.db, tenant, document.document_id, question)
    return tenant


async def _is_recorded(tools: Tools, tenant: str) -> bool:
    return [event.detail["percent"] for event in await list_events(tools.db, tenant)] == [50]
