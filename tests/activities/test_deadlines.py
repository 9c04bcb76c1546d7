"""The alert of an overdue run: a row, a counter, a line in the log and a notification, once each if tried often."""

import dataclasses
import datetime as dt
import uuid
from pathlib import Path

import asyncpg
import pytest
from temporalio.testing import ActivityEnvironment

from docrail.activities.internal.deadlines import NOTIFY_SECONDS, overdue_activity
from docrail.adapters.http.addresses import AllowedHosts, RefusedAddressError
from docrail.adapters.http.client import HttpClient
from docrail.adapters.http.errors import TryAgainLaterError
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.runs.repository import is_notified
from docrail.services.tools import Outside, Tools
from docrail.workflows.contract.messages import OverdueRun
from docrail.workflows.contract.names import RECORD_OVERDUE
from tests.loopback import Loopback, Reply, loopback
from tests.postgres import COMMITTING


@pytest.fixture
def tools(pool: asyncpg.Pool, tmp_path: Path) -> Tools:
    return Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())


def notifying(tools: Tools, server: Loopback) -> Tools:
    http = HttpClient(AllowedHosts.parse(["127.0.0.1"]))
    return dataclasses.replace(tools, outside=Outside(http, notify_url=f"{server.url}/alerts"))


def overdue(**fields: object) -> OverdueRun:
    run = OverdueRun(
        tenant_id=COMMITTING,
        run_id=f"invoice.{uuid.uuid4().hex}",
        definition_id="invoice",
        version=3,
        document_id="doc_1",
        started_at=1_800_000_000.5,
        deadline_seconds=90,
    )
    return run.model_copy(update=fields)


async def record(run: OverdueRun, tools: Tools, *, after_seconds: float = 0) -> None:
    """Run the activity as if it had been scheduled `after_seconds` ago."""
    environment = ActivityEnvironment()
    at = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=after_seconds)
    environment.info = dataclasses.replace(ActivityEnvironment.default_info(), scheduled_time=at)
    await environment.run(overdue_activity(tools), run)


def counted(tools: Tools) -> float | None:
    return tools.metrics.registry.get_sample_value("docrail_runs_overdue_total", {"definition": "invoice"})


def test_it_has_the_name_that_runs_call(tools: Tools) -> None:
    assert overdue_activity(tools).__name__ == RECORD_OVERDUE


async def test_it_alerts_once(tools: Tools, caplog: pytest.LogCaptureFixture) -> None:
    run = overdue()
    async with loopback() as server:
        for _ in range(3):
            await record(run, notifying(tools, server))
    assert counted(tools) == 1
    warned = [line for line in caplog.messages if run.run_id in line]
    assert warned == [
        f"the run {run.run_id} is overdue: it had not ended 90 s after its start (invoice, tenant {COMMITTING})"
    ]
    [asked] = server.asked
    assert (asked.method, asked.target) == ("POST", "/alerts")
    reported = asked.json()
    assert reported["text"] == f"[warning] the run {run.run_id} is overdue: it had not ended 90 s after its start"
    assert (reported["level"], reported["tenant_id"], reported["run_id"]) == ("warning", COMMITTING, run.run_id)
    assert reported["details"] == {
        "definition_id": "invoice",
        "version": 3,
        "document_id": "doc_1",
        "deadline_seconds": 90.0,
        "started_at": "2027-01-15T08:00:00.500000+00:00",
    }
    assert await is_notified(tools.db, run)


async def test_without_a_receiver_there_is_the_row_the_counter_and_the_log(tools: Tools) -> None:
    run = overdue()
    await record(run, tools)
    await record(run, tools)
    assert counted(tools) == 1
    assert not await is_notified(tools.db, run)


async def test_a_retried_run_is_another_alert(tools: Tools) -> None:
    run = overdue()
    async with loopback() as server:
        await record(run, notifying(tools, server))
        await record(run.model_copy(update={"started_at": run.started_at + 1}), notifying(tools, server))
    ids = [asked.headers["webhook-id"] for asked in server.asked]
    assert len(set(ids)) == 2
    assert counted(tools) == 2


async def test_a_receiver_that_is_away_is_tried_again_under_the_same_id(tools: Tools) -> None:
    run = overdue()
    async with loopback(Reply(503), Reply(200)) as server:
        with pytest.raises(TryAgainLaterError):
            await record(run, notifying(tools, server))
        await record(run, notifying(tools, server), after_seconds=5)
    ids = [asked.headers["webhook-id"] for asked in server.asked]
    assert ids[0] == ids[1]
    assert counted(tools) == 1, "the row was there already"


async def test_a_worker_that_may_not_call_the_receiver_leaves_it_to_another(tools: Tools) -> None:
    run = overdue()
    async with loopback() as server:
        unfit = dataclasses.replace(tools, outside=Outside(notify_url=f"{server.url}/alerts"))
        with pytest.raises(RefusedAddressError):
            await record(run, unfit)
        await record(run, notifying(tools, server), after_seconds=5)
    assert len(server.asked) == 1


async def test_a_receiver_that_stays_away_keeps_no_run_from_ending(
    tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    run = overdue()
    async with loopback(Reply(503)) as server:
        await record(run, notifying(tools, server), after_seconds=NOTIFY_SECONDS + 1)
    assert "not sent within 120 s" in caplog.text
    assert not await is_notified(tools.db, run)
    await record(overdue(), notifying(tools, server), after_seconds=NOTIFY_SECONDS + 1)  # nothing listens any more


async def test_a_receiver_that_refuses_is_not_asked_again(tools: Tools, caplog: pytest.LogCaptureFixture) -> None:
    async with loopback(Reply(400)) as server:
        await record(overdue(), notifying(tools, server))
    assert len(server.asked) == 1
    assert "cannot be sent" in caplog.text
