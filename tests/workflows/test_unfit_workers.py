"""A worker that lacks a step's handler, or a setting that it needs, leaves it to another one, on the real server."""

import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from docrail.activities.handlers import call_external_service
from docrail.activities.wrapper import Attempts, missing_handler_activity
from docrail.adapters.temporal.draining import working
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS
from docrail.dag.values.json_values import Json
from docrail.services.tools import Outside
from docrail.worker import assemble_worker
from docrail.workflows.contract.names import EXPLAIN
from docrail.workflows.map_chunk import Chunk
from docrail.workflows.run import Run
from tests.activities.outside import OnlyOutside, tools_with
from tests.loopback import Reply, loopback
from tests.stack import Servers, eventually
from tests.workflows.conftest import Bench, Gates, step

REFUSED = "the host 127.0.0.1 is refused: it is a loopback address"
PASSED_ON = "reached a worker that lacks what it needs and was made again, which is not a failed attempt"


class Fleet:
    """Workers of one task queue. Only the unfit one runs workflows, so that it is offered every activity first."""

    def __init__(self, client: Client, unfit: Client) -> None:
        self.bench = Bench(client, f"test-{uuid.uuid4().hex}", Gates(), None)
        self._unfit = unfit

    def unfit(self, *activities: Callable[..., Any]) -> AbstractAsyncContextManager[None]:
        inbox = self.bench.gates.inbox_activities()
        return self._work(self._unfit, [Run, Chunk], [*activities, *inbox, missing_handler_activity({})])

    def fit(self, *activities: Callable[..., Any]) -> AbstractAsyncContextManager[None]:
        return self._work(self.bench.client, [], activities)

    @asynccontextmanager
    async def _work(
        self, client: Client, workflows: Sequence[type], activities: Sequence[Callable[..., Any]]
    ) -> AsyncIterator[None]:
        async with working([assemble_worker(client, self.bench.task_queue, workflows, activities, sandboxed=False)]):
            yield


@pytest.fixture
async def fleet(embedded: Servers) -> Fleet:
    address = embedded.temporal_address
    clients = [
        await Client.connect(address, data_converter=pydantic_data_converter, identity=identity)
        for identity in ("fit", "unfit")
    ]
    return Fleet(*clients)


def calls(*, may_reach_loopback: bool) -> Callable[..., Any]:
    tools = tools_with()
    if not may_reach_loopback:
        tools = OnlyOutside(Outside(), None, None)  # type: ignore[assignment]
    return Attempts(call_external_service.HANDLER, tools).as_activity()


def call(url: str, **fields: Json) -> dict[str, Json]:
    return step("a", "call_external_service", config={"url": url}, max_retries=0, **fields)


def said(report: RunReport, words: str) -> list[str]:
    return [line for line in report.steps["a"].why if words in line]


async def test_a_step_completes_at_a_worker_that_has_the_setting(fleet: Fleet) -> None:
    async with loopback(Reply(204)) as service, fleet.unfit(calls(may_reach_loopback=False)):
        handle = await fleet.bench.start([call(service.url)])

        async def was_passed_on() -> bool:
            return REFUSED in str(await handle.query(EXPLAIN))

        await eventually(was_passed_on, "the worker without the setting to leave the step to others")
        async with fleet.fit(calls(may_reach_loopback=True)):
            report = await fleet.bench.finish(handle)
    assert (report.status, report.steps["a"].attempts) == (RunStatus.COMPLETED, 1)
    first, *_ = said(report, PASSED_ON)
    assert first.startswith(f"attempt 1 {PASSED_ON}: {REFUSED}")
    assert first.endswith("(worker unfit)")


async def test_steps_complete_although_their_runs_worker_lacks_the_handler(fleet: Fleet) -> None:
    """Temporal offers an activity to its run's worker first, and to that one again, unless the queue is asked for."""
    noop = Attempts(fleet.bench.gates.handlers()[0], tools_with()).as_activity()
    async with fleet.unfit(), fleet.fit(noop):
        reports = [await fleet.bench.run([step("a", max_retries=0, resource_tag=None)]) for _ in range(5)]
    assert {report.status for report in reports} == {RunStatus.COMPLETED}


@pytest.mark.parametrize("items", [2, pytest.param(CHUNK_ITEMS + 1, marks=pytest.mark.slow)])
async def test_the_items_of_a_list_complete_at_a_worker_that_has_the_handler(fleet: Fleet, items: int) -> None:
    noop = Attempts(fleet.bench.gates.handlers()[0], tools_with()).as_activity()
    listed = step("a", max_retries=0, for_each={"items": [*range(items)], "max_concurrency": 50})
    async with fleet.unfit(), fleet.fit(noop):
        report = await fleet.bench.run([listed])
    assert (report.status, report.steps["a"].attempts) == (RunStatus.COMPLETED, items)


LACK = "this worker has no handler 'noop': set DOCRAIL_HANDLERS on every worker (worker unfit)"


async def test_a_step_that_no_worker_can_run_fails_and_names_what_is_missing(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docrail.workflows.lost_workers.LONGEST_PAUSE_SECONDS", 0.01)
    async with fleet.unfit():
        report = await fleet.bench.run([step("a", max_retries=0)])
    error = report.steps["a"].error
    assert report.status is RunStatus.FAILED
    assert error is not None
    assert error.type == "NoHandlerError"
    assert error.message == f"{LACK}; no worker that has it took the step in 21 tries"
    assert [letter.retryable for letter in fleet.bench.gates.letters] == [True]


@pytest.mark.parametrize("seconds", [0.5, 2])
async def test_a_step_whose_time_is_over_names_what_is_missing(fleet: Fleet, seconds: float) -> None:
    async with fleet.unfit():
        report = await fleet.bench.run([step("a", max_retries=0, total_timeout_seconds=seconds)])
    assert report.status is RunStatus.FAILED
    assert report.steps["a"].error is not None
    assert LACK in report.steps["a"].error.message


async def test_a_definition_may_refuse_to_wait_for_another_worker(fleet: Fleet) -> None:
    never = {"retry_config": {"non_retryable": ["NoHandlerError"]}}
    async with fleet.unfit():
        report = await fleet.bench.run([step("a") | never])
    assert report.status is RunStatus.FAILED
    assert said(report, PASSED_ON) == []


async def test_attempts_before_an_unfit_worker_count(fleet: Fleet) -> None:
    flaky = step("a", "flaky", config={"times": 1}, max_retries=1)
    handler = next(each for each in fleet.bench.gates.handlers() if each.name == "flaky")
    async with fleet.unfit():
        handle = await fleet.bench.start([flaky])
        async with fleet.fit(Attempts(handler, tools_with()).as_activity()):
            report = await fleet.bench.finish(handle)
    assert (report.status, report.steps["a"].attempts) == (RunStatus.COMPLETED, 2)
