"""Calls of a chunk, or many of a run, wait for each other once they have an outcome, and for nothing else."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from docrail.activities import report_together
from docrail.activities.report_together import ReportTogether
from docrail.worker import DEFAULT_SLOTS, assemble_worker
from docrail.workflows.contract.messages import AttemptRequest, GroupCall, HandlerCalls
from docrail.workflows.contract.names import DOCUMENT_CHUNK_TYPE, WORKFLOW_TYPE
from tests.postgres import TENANT
from tests.stack import Servers, eventually


class Calls(ActivityInboundInterceptor):
    """Makes calls that end, or fail, when the test says so."""

    def __init__(self) -> None:
        self.ends: dict[str, asyncio.Future[str]] = {}
        self.made: list[str] = []

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - its name there
        [call] = input.args
        step_id = call.parts[0].handler if isinstance(call, GroupCall) else call.step_id
        self.ends[step_id] = asyncio.get_running_loop().create_future()
        outcome = await self.ends[step_id]
        self.made.append(step_id)
        return outcome


@dataclass
class Worker:
    """Runs activities of a workflow, by default a chunk, as the interceptor's worker does."""

    calls: Calls = field(default_factory=Calls)
    own: ReportTogether = field(default_factory=lambda: ReportTogether(DEFAULT_SLOTS))
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    async def begin(
        self,
        step_id: str,
        *,
        workflow_type: str = DOCUMENT_CHUNK_TYPE,
        chunk: str = "chunk",
        seconds: float = 300,
        seconds_in_all: float = 300,
        grouped: bool = False,
        many: bool = False,
    ) -> asyncio.Task[Any]:
        environment, now = ActivityEnvironment(), datetime.now(UTC)
        environment.info = replace(
            environment.info,
            workflow_type=workflow_type,
            workflow_run_id=chunk,
            scheduled_time=now,
            started_time=now,
            start_to_close_timeout=timedelta(seconds=seconds),
            schedule_to_close_timeout=timedelta(seconds=seconds_in_all),
        )
        group = GroupCall(tenant_id=TENANT, parts=(HandlerCalls(handler=step_id, calls=(), seconds=1),))
        alone = AttemptRequest(tenant_id=TENANT, run_id="r", step_id=step_id, config={}, jitter=0, is_one_of_many=many)
        call = ExecuteActivityInput(fn=len, args=[group if grouped else alone], executor=None, headers={})

        async def run() -> Any:
            return await self.own.intercept_activity(self.calls).execute_activity(call)

        task = asyncio.create_task(environment.run(run))
        self.tasks.append(task)
        await eventually(lambda: step_id in self.calls.ends, "the call to begin")
        return task

    async def end(self, step_id: str) -> None:
        self.calls.ends[step_id].set_result(f"{step_id} done")
        await eventually(lambda: step_id in self.calls.made, "the call to be made")
        for _ in range(5):  # what need not wait ends in these turns of the loop
            await asyncio.sleep(0)


@pytest.fixture
async def worker(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worker]:
    monkeypatch.setattr(report_together, "LONGEST_WAIT", 60.0)
    own = Worker()
    yield own
    for task in own.tasks:
        task.cancel()
    await asyncio.gather(*own.tasks, return_exceptions=True)


async def test_outcomes_wait_for_the_last_call_of_their_chunk(worker: Worker) -> None:
    first, second, third = [await worker.begin(name) for name in "abc"]
    await worker.end("a")
    await worker.end("b")
    assert not first.done()
    assert not second.done()
    await worker.end("c")
    assert [*await asyncio.gather(first, second, third)] == ["a done", "b done", "c done"]


async def test_calls_that_end_before_the_next_begins_are_reported_together(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_together, "QUIET_SECONDS", 60.0)
    first = await worker.begin("a")
    await worker.end("a")
    assert not first.done()
    monkeypatch.setattr(report_together, "QUIET_SECONDS", 0.0)
    second = await worker.begin("b")
    assert not first.done()
    await worker.end("b")
    assert [*await asyncio.gather(first, second)] == ["a done", "b done"]


async def test_they_wait_no_longer_than_the_longest_wait(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_together, "LONGEST_WAIT", 0.01)
    ended, running = await worker.begin("a"), await worker.begin("b")
    await worker.end("a")
    assert await ended == "a done"
    assert not running.done()


async def test_every_wait_is_bounded(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_together, "LONGEST_WAIT", 0.01)
    running = await worker.begin("a")
    for name in "bcd":
        ended = await worker.begin(name)
        await worker.end(name)
        assert await ended == f"{name} done"
    monkeypatch.setattr(report_together, "LONGEST_WAIT", 60.0)
    waiting = await worker.begin("e")
    await worker.end("e")
    assert not waiting.done()
    assert not running.done()


async def test_waiting_leaves_slots_to_others(worker: Worker) -> None:
    worker.own = ReportTogether(4)
    calls = {name: await worker.begin(name) for name in "abc"}
    await worker.end("a")
    assert not calls["a"].done()
    await worker.end("b")
    assert await calls["b"] == "b done"
    assert not calls["a"].done()


async def test_a_failure_is_reported_at_once(worker: Worker) -> None:
    failing, running = await worker.begin("a"), await worker.begin("b")
    worker.calls.ends["a"].set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        await failing
    assert not running.done()


async def test_a_failure_lets_the_others_go_if_it_is_the_last(worker: Worker) -> None:
    ended, failing = await worker.begin("a"), await worker.begin("b")
    await worker.end("a")
    worker.calls.ends["b"].set_exception(ValueError("no"))
    assert await ended == "a done"
    with pytest.raises(ValueError, match="no"):
        await failing


async def test_a_call_that_is_cancelled_while_it_waits_keeps_its_outcome(worker: Worker) -> None:
    ended, running = await worker.begin("a"), await worker.begin("b")
    await worker.end("a")
    ended.cancel()
    assert await ended == "a done"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(
    "other",
    [
        {"workflow_type": WORKFLOW_TYPE},
        {"chunk": "another"},
        {"grouped": True},
        {"seconds": 100},
        {"seconds_in_all": 100},
    ],
)
async def test_calls_of_other_workflows_groups_and_late_calls_do_not_wait(
    worker: Worker, other: dict[str, Any]
) -> None:
    await worker.begin("a")
    ended = await worker.begin("b", **other)
    await worker.end("b")
    assert await ended == "b done"


async def test_many_calls_of_a_run_wait_for_each_other(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_together, "LONGEST_WAIT_OF_RUN", 60.0)
    first, second = [await worker.begin(name, workflow_type=WORKFLOW_TYPE, many=True) for name in "ab"]
    alone = await worker.begin("c", workflow_type=WORKFLOW_TYPE)
    await worker.end("a")
    await worker.end("c")
    assert await alone == "c done"
    assert not first.done()
    await worker.end("b")
    assert [*await asyncio.gather(first, second)] == ["a done", "b done"]


async def test_they_wait_no_longer_than_those_of_a_run_may(worker: Worker) -> None:
    ended, running = [await worker.begin(name, workflow_type=WORKFLOW_TYPE, many=True) for name in "ab"]
    await worker.end("a")
    assert await asyncio.wait_for(ended, 10) == "a done"
    assert not running.done()


async def test_a_workflow_is_forgotten_with_its_last_call(worker: Worker) -> None:
    ended = await worker.begin("a")
    await worker.end("a")
    await ended
    later, running = await worker.begin("c"), await worker.begin("d")
    await worker.end("c")
    assert not later.done()
    await worker.end("d")
    assert [*await asyncio.gather(later, running)] == ["c done", "d done"]
    assert (worker.own.by_workflow, worker.own.waiting) == ({}, 0)


async def test_workers_of_workflows_have_it(embedded: Servers) -> None:
    client = await Client.connect(embedded.temporal_address)
    config = assemble_worker(client, "queue", [], [_nothing], sandboxed=False).config()
    assert ReportTogether in map(type, config["interceptors"])


@activity.defn
async def _nothing() -> None:
    """Do nothing: a worker needs an activity."""
