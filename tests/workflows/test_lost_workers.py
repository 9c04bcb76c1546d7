"""A worker that stops or dies is not a failed attempt of the steps that it was running, on the real server."""

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from docrail.adapters.temporal.draining import working
from docrail.dag.engine.state import EarlierError, StepError
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS
from docrail.workflows.contract.messages import AttemptRequest, StepOutcome
from docrail.workflows.contract.names import ABORT, EXPLAIN
from docrail.workflows.lost_workers import LossKind
from tests.stack import Servers
from tests.workflows.conftest import Bench, Gates, step, tools_in, work

STOPPED = "lost its worker and was made again, which is not a failed attempt: the worker was stopped"
DIED = "the worker died or hung: no heartbeat for 1 s"
SILENT = f"lost its worker and was made again, which is not a failed attempt: {DIED}"


@pytest.fixture
async def idle(embedded: Servers) -> Bench:
    """Return a bench whose workers the test itself starts and stops."""
    client = await Client.connect(embedded.temporal_address, data_converter=pydantic_data_converter)
    return Bench(client, f"test-{uuid.uuid4().hex}", Gates(), None)


def lost(report: RunReport) -> list[str]:
    return [line for line in report.steps["a"].why if "lost its worker" in line]


async def across_a_stop(bench: Bench, folder: Path, gated: str, **fields: Any) -> RunReport:
    """Run a step whose worker is stopped while it holds, and then another worker's."""
    async with work(bench.client, bench.task_queue, bench.gates, tools_in(folder)):
        handle = await bench.start([step("a", "gate", max_retries=0, **fields)])
        await bench.gates.began[gated].wait()
    async with work(bench.client, bench.task_queue, bench.gates, tools_in(folder)):
        bench.gates.opened[gated].set()
        return await bench.finish(handle)


async def test_a_planned_stop_of_its_worker_does_not_fail_a_step_without_retries(idle: Bench, tmp_path: Path) -> None:
    report = await across_a_stop(idle, tmp_path, "a")
    assert (report.status, report.steps["a"].attempts) == (RunStatus.COMPLETED, 1)
    assert lost(report) == [f"attempt 1 {STOPPED}"]
    assert report.steps["a"].why[-1] == "attempts made: 1, of at most 1"


async def test_a_running_step_says_that_it_lost_a_worker(idle: Bench, tmp_path: Path) -> None:
    async with work(idle.client, idle.task_queue, idle.gates, tools_in(tmp_path)):
        handle = await idle.start([step("a", "gate", max_retries=0)])
        await idle.gates.began["a"].wait()
    idle.gates.began["a"].clear()
    async with work(idle.client, idle.task_queue, idle.gates, tools_in(tmp_path)):
        await idle.gates.began["a"].wait()
        explained = (await handle.query(EXPLAIN))["steps"]["a"]
        idle.gates.opened["a"].set()
        await idle.finish(handle)
    assert explained["status"] == "running"
    assert [each["error"]["type"] for each in explained["attempts"]["earlier"]] == ["WorkerLost"]


@pytest.mark.parametrize("items", [2, CHUNK_ITEMS + 1])
async def test_a_planned_stop_does_not_fail_the_items_of_a_list(idle: Bench, tmp_path: Path, items: int) -> None:
    report = await across_a_stop(idle, tmp_path, "a", for_each={"items": [*range(items)]})
    assert report.status is RunStatus.COMPLETED
    assert report.steps["a"].attempts == items
    assert lost(report)
    assert all(re.fullmatch(rf"attempt 1 at item \d+ {STOPPED}", line) for line in lost(report))


def silent(times: int, *, fails_at: tuple[int, ...] = ()) -> Callable[[AttemptRequest], Any]:
    """Return an activity that sends no heartbeat and never ends, so many times; else it fails, or completes."""
    calls = 0

    @activity.defn(name="silent")
    async def run(call: AttemptRequest) -> StepOutcome:
        nonlocal calls
        calls += 1
        attempt = call.failed_before + activity.info().attempt
        if calls in fails_at:
            left = EarlierError(attempt, StepError("ConnectionError", "no network"))
            activity.heartbeat(attempt, [left])  # as the wrapper does
            raise ApplicationError("no network", {"attempt": attempt}, type="ConnectionError")
        if calls <= times:
            await asyncio.Event().wait()
        return StepOutcome(output={}, attempt=attempt)

    return run


@asynccontextmanager
async def also(bench: Bench, code: Callable[[AttemptRequest], Any]) -> AsyncIterator[str]:
    """Serve `code` by a worker on a queue of a resource tag; yield the tag."""
    tag = "lossy"
    async with working([Worker(bench.client, task_queue=f"{bench.task_queue}.{tag}", activities=[code])]):
        yield tag


async def run_silent(bench: Bench, code: Callable[[AttemptRequest], Any], **fields: Any) -> RunReport:
    async with also(bench, code) as tag:
        quick = {"max_retries": 0, "heartbeat_seconds": 1, "resource_tag": tag, **fields}
        return await bench.run([step("a", "silent") | quick])


async def test_a_worker_that_sends_no_heartbeat_is_no_failed_attempt(bench: Bench) -> None:
    report = await run_silent(bench, silent(1))
    assert (report.status, report.steps["a"].attempts) == (RunStatus.COMPLETED, 1)
    assert lost(report) == [f"attempt 1 {SILENT}"]


async def test_lost_workers_leave_a_step_the_attempts_that_it_has(bench: Bench) -> None:
    report = await run_silent(bench, silent(2, fails_at=(1, 3)), max_retries=1)
    assert (report.steps["a"].status, report.steps["a"].attempts) == (StepStatus.FAILED, 2)
    assert report.steps["a"].error is not None
    assert report.steps["a"].error.type == "ConnectionError"


async def test_a_step_that_kills_every_worker_fails(bench: Bench) -> None:
    report = await run_silent(bench, silent(100))
    assert report.status is RunStatus.FAILED
    error = report.steps["a"].error
    assert error is not None
    assert error.type == "WorkerLost"
    assert error.message == f"{DIED}; the step has lost {LossKind.DIED.value + 1} workers, and may be the cause"


async def test_lost_workers_leave_a_step_the_time_that_it_has(bench: Bench) -> None:
    report = await run_silent(bench, silent(100), total_timeout_seconds=3)
    assert report.status is RunStatus.FAILED
    assert len(lost(report)) < LossKind.DIED.value


async def test_an_aborted_step_that_loses_its_worker_is_cancelled(bench: Bench) -> None:
    async with also(bench, silent(100)) as tag:
        quick = {"max_retries": 0, "heartbeat_seconds": 2, "resource_tag": tag}
        handle = await bench.start([step("a", "silent") | quick])
        await handle.execute_update(ABORT, args=["enough"])
        report = await bench.finish(handle)
    assert (report.status, report.steps["a"].status) == (RunStatus.ABORTED, StepStatus.CANCELLED)
