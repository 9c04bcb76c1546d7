"""Builds on the real server: runs stay on theirs, new ones go where Temporal's own command sends them (upgrade.md)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter

from docrail.adapters.temporal.connection import Connection
from docrail.adapters.temporal.draining import working
from docrail.dag.values.json_values import Json
from docrail.services.limits.service import apply_limits
from docrail.settings import Settings
from docrail.worker import build_workers, open_tools
from docrail.workflows.contract.names import workflow_id
from tests.api.service import Service, serve, settings_for
from tests.builds import change_deployment, make_current
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

TAGGED = {"handler": "noop", "resource_tag": "gemini_api"}
LASTING = {
    "id": "lasting",
    "steps": [
        {"id": "first", **TAGGED},
        {"id": "wait", "depends_on": ["first"], "wait": {"for": "signal"}},
        {"id": "inside", "depends_on": ["wait"], "handler": "noop"},
        {"id": "last", "depends_on": ["inside"], **TAGGED},
    ],
}
SHORT = {"id": "short", "steps": [{"id": "only", "handler": "noop"}]}


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A fleet of its own, whose workers tests start, and the API before it."""

    service: Service

    async def temporal(self, command: str, *options: str) -> None:
        settings = self.service.settings
        await change_deployment(str(settings.temporal_address), settings.deployment, command, *options)

    async def make_current(self, build_id: str) -> None:
        await make_current(str(self.service.settings.temporal_address), self.service.settings.deployment, build_id)

    @asynccontextmanager
    async def worker(self, build_id: str | None, tags: tuple[str, ...] | None = None) -> AsyncIterator[None]:
        """Run a worker of a build: its identity in the histories is the build's id."""
        settings = self.service.settings.model_copy(update={"build_id": build_id, "worker_resource_tags": tags})
        assert settings.temporal_address is not None
        client = await Client.connect(
            settings.temporal_address, identity=str(build_id), data_converter=pydantic_data_converter
        )
        async with open_tools(settings) as tools, working(build_workers(client, settings, tools)):
            yield

    async def start(self, definition: Json) -> str:
        response = await self.service.http.post("/v1/runs", json={"definition": definition})
        assert response.status_code == 202, response.text
        return str(response.json()["run_id"])

    def handle(self, run_id: str) -> WorkflowHandle[object, object]:
        return self.service.app.temporal.get_workflow_handle(workflow_id("default", run_id))

    async def waits(self, run_id: str) -> None:
        async def waiting() -> bool:
            return bool((await self.service.http.get(f"/v1/runs/{run_id}")).json().get("status") == "waiting")

        await eventually(waiting, "the run to wait")

    async def workers_of(self, run_id: str) -> set[str]:
        """Return the identities of all workers that ever had a task of the run."""
        events = [event async for event in self.handle(run_id).fetch_history_events()]
        tasks = [event.workflow_task_completed_event_attributes.identity for event in events]
        return {*tasks, *(event.activity_task_started_event_attributes.identity for event in events)} - {""}

    async def ready(self) -> str:
        return str((await self.service.http.get("/readyz")).json()["worker"])


@pytest.fixture(scope="module")
async def dsn(embedded: Servers) -> AsyncIterator[str]:
    async with migrated_database(embedded.dsn) as made:
        yield made


@pytest.fixture
async def upgraded(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Upgraded]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    async with serve(settings) as service:
        yield Upgraded(service)


async def test_a_run_ends_on_the_build_it_began_on_and_new_runs_go_to_the_new_one(upgraded: Upgraded) -> None:
    async with AsyncExitStack() as workers:
        await workers.enter_async_context(upgraded.worker("b1"))
        await upgraded.make_current("b1")
        old = await upgraded.start(LASTING)
        await upgraded.waits(old)
        await workers.enter_async_context(upgraded.worker("b2"))
        await upgraded.make_current("b2")
        new = await upgraded.start(LASTING)
        for run_id in (old, new):
            await upgraded.waits(run_id)
            await upgraded.service.http.post(f"/v1/runs/{run_id}/waits/wait", json={"answer": {}})
            assert (await upgraded.service.ended(run_id))["status"] == "completed"
        assert await upgraded.workers_of(old) == {"b1"}
        assert await upgraded.workers_of(new) == {"b2"}


async def test_runs_of_before_there_were_builds_go_on_at_the_first_one(upgraded: Upgraded) -> None:
    async with upgraded.worker(None):
        run_id = await upgraded.start(LASTING)
        await upgraded.waits(run_id)
    async with upgraded.worker("b1"):
        await upgraded.make_current("b1")
        await upgraded.service.http.post(f"/v1/runs/{run_id}/waits/wait", json={"answer": {}})
        assert (await upgraded.service.ended(run_id))["status"] == "completed"
    assert await upgraded.workers_of(run_id) == {"None", "b1"}


async def test_readiness_reports_a_build_that_is_not_current(upgraded: Upgraded) -> None:
    async with upgraded.worker("b1"):
        await eventually(
            lambda: _shows(upgraded, "the current build is none, and those that poll are of b1"), "/readyz"
        )
        await upgraded.make_current("b1")
        await eventually(lambda: _shows(upgraded, "ok"), "/readyz to be green")


async def _shows(upgraded: Upgraded, text: str) -> bool:
    return text in await upgraded.ready()


async def test_a_share_of_the_new_runs_tries_a_build(upgraded: Upgraded) -> None:
    async with upgraded.worker("b1"), upgraded.worker("b2"):
        await upgraded.make_current("b1")
        await upgraded.temporal("set-ramping-version", "--build-id", "b2", "--percentage", "50")
        ran = [await upgraded.start(SHORT) for _ in range(24)]
        for run_id in ran:
            await upgraded.service.ended(run_id)
        assert set.union(*[await upgraded.workers_of(run_id) for run_id in ran]) == {"b1", "b2"}


async def test_new_runs_can_go_back_to_workers_without_a_build(upgraded: Upgraded) -> None:
    async with upgraded.worker("b1"), upgraded.worker(None):
        await upgraded.make_current("b1")
        await upgraded.temporal("set-current-version", "--unversioned")
        run_id = await upgraded.start(SHORT)
        await upgraded.service.ended(run_id)
        assert await upgraded.workers_of(run_id) == {"None"}


async def test_a_limit_counts_for_all_builds_together(upgraded: Upgraded) -> None:
    """Else an upgrade would double what a limited resource is asked."""
    settings = upgraded.service.settings
    await apply_limits(Connection(str(settings.temporal_address)), settings.task_queue, {"gemini_api": 5})
    many = {"id": "many", "steps": [{"id": f"s{number}", **TAGGED} for number in range(15)]}
    async with upgraded.worker("b1"), upgraded.worker("b2"):
        began = []
        for build_id in ("b1", "b2"):
            await upgraded.make_current(build_id)
            began.append(await upgraded.start({**many, "limits": {"max_concurrency": 15}}))
        for run_id in began:
            await upgraded.service.ended(run_id)
        times = [time for run_id in began for time in await _started(upgraded, run_id)]
    assert len(times) == 30
    most = max(sum(begin <= time < begin + 2 for time in times) for begin in times)
    assert most <= 5 * 2 + 5 + 1, "two seconds' turns, the bucket's of one second, and one for the clock"


async def _started(upgraded: Upgraded, run_id: str) -> list[float]:
    events = [event async for event in upgraded.handle(run_id).fetch_history_events()]
    kind = EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
    return [event.event_time.ToMicroseconds() / 1e6 for event in events if event.event_type == kind]


def test_a_deployment_is_named_as_its_task_queue_by_default() -> None:
    assert Settings(task_queue="docs.eu").deployment == "docs-eu"
    assert Settings(task_queue="docs.eu", deployment_name="eu").deployment == "eu"
    assert Settings(build_id="", deployment_name="").build_id is None
