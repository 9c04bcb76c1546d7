"""Limits of resources and who goes first, through the API: a limit counts at once, and no tenant starves another."""

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from pydantic import BaseModel
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from docrail.activities.wrapper import Attempts
from docrail.adapters.temporal.draining import working
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall
from docrail.services.runs.priority import PARTS
from docrail.services.tools import Tools
from docrail.worker import assemble_activity_worker, assemble_worker
from docrail.workflows.contract.names import tag_queue
from docrail.workflows.run import Run
from tests.api.service import Service, serve, settings_for
from tests.stack import Servers, eventually

TAG = "gemini_api"
FLOOD, FEW = 30, 5


class Nothing(BaseModel, extra="allow"):
    """Config and output of the recording handler."""


@pytest.fixture
async def alone(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    """An API on a task queue of its own, which no worker serves yet."""
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as served:
        yield served


@asynccontextmanager
async def interpreting(service: Service, more: Sequence[Worker] = ()) -> AsyncIterator[None]:
    """Run a worker of workflows alone, and those given."""
    client = await connect(service)
    queue = service.settings.task_queue
    async with working([assemble_worker(client, queue, [Run], [], sandboxed=True), *more]):
        yield


async def connect(service: Service) -> Client:
    assert service.settings.temporal_address
    return await Client.connect(service.settings.temporal_address, data_converter=pydantic_data_converter)


async def limit_of(service: Service, tag: str = TAG) -> dict[str, Json]:
    answer = (await service.http.get("/v1/limits")).json()
    return next(limit for limit in answer["limits"] if limit["tag"] == tag)


async def start(service: Service, *, tenant: str = "default", **order: Json) -> httpx.Response:
    definition = {
        "id": "limited",
        "inputs": {"customer": {"type": "string"}},
        "priority": {"fairness_key": "{{ inputs.customer }}"},
        "steps": [{"id": "call", "handler": "noop", "resource_tag": TAG}],
    }
    headers = {"X-Test-Tenant": tenant}
    return await service.http.post("/v1/runs", json={"definition": definition, **order}, headers=headers)


async def wait_for_backlog(service: Service, count: int) -> None:
    async def all_wait() -> bool:
        return bool((await limit_of(service))["waiting"] == count)

    await eventually(all_wait, f"{count} attempts wait")


def recorder(client: Client, service: Service, starts: list[str]) -> Worker:
    """Return a worker of the tag that runs one attempt after the other and notes whose run it is."""

    async def noop(call: StepCall[Any], _: Tools) -> Nothing:
        starts.append(call.run_id.partition(".")[2])
        return Nothing()

    handler = Handler("noop", Nothing, Nothing, noop)
    return Worker(
        client,
        task_queue=tag_queue(service.settings.task_queue, TAG),
        activities=[Attempts(handler, cast(Tools, None)).as_activity()],
        max_concurrent_activities=1,
    )


async def order_of_starts(service: Service, runs: int) -> list[str]:
    """Let the waiting steps of so many runs start, one by one, and return the runs' keys in that order."""
    starts: list[str] = []
    async with recorder(await connect(service), service, starts):
        await eventually(lambda: len(starts) >= runs, "every step to start")
    return starts


async def test_a_limit_is_shown_changed_and_given_back(alone: Service) -> None:
    before = await limit_of(alone)
    assert (before["per_second"], before["initial_per_second"], before["changed_by"]) == (10, 10, None)
    wanted = {"per_second": 2.5, "reason": "quota was cut"}
    changed = (await alone.http.put(f"/v1/limits/{TAG}", json=wanted)).json()
    assert changed == await limit_of(alone)
    assert {**changed, "changed_at": None} == {
        **before,
        "per_second": 2.5,
        "changed_by": "operator tester",
        "changed_at": None,
        "reason": "quota was cut",
    }
    assert (await alone.http.delete(f"/v1/limits/{TAG}")).json() == before


async def test_a_limit_set_live_is_what_temporal_keeps(alone: Service) -> None:
    await alone.http.put("/v1/limits/database", json={"per_second": 7})
    queue = TaskQueue(name=tag_queue(alone.settings.task_queue, "database"))
    kind = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
    request = DescribeTaskQueueRequest(namespace="default", task_queue=queue, task_queue_type=kind, report_config=True)
    found = await alone.app.temporal.workflow_service.describe_task_queue(request)
    assert found.config.queue_rate_limit.rate_limit.requests_per_second == 7


async def test_an_unknown_tag_is_not_found(alone: Service) -> None:
    for response in (
        await alone.http.put("/v1/limits/gemini", json={"per_second": 1}),
        await alone.http.delete("/v1/limits/gemini"),
    ):
        assert (response.status_code, response.json()["detail"]) == (404, "there is no resource tag 'gemini'")


@pytest.mark.parametrize("wrong", [{"per_second": -1}, {"per_second": 1e9}, {"per_second": "many"}, {}])
async def test_a_rate_that_is_none_is_refused(alone: Service, wrong: Json) -> None:
    response = await alone.http.put(f"/v1/limits/{TAG}", json=wrong)
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "per_second")


async def test_a_change_counts_for_work_that_waits(alone: Service) -> None:
    client = await connect(alone)
    activities = [Attempts(handler, cast(Tools, None)).as_activity() for handler in alone.app.catalogue.values()]
    queue = tag_queue(alone.settings.task_queue, TAG)
    tagged = assemble_activity_worker(client, queue, activities, per_second=10)
    await alone.http.put(f"/v1/limits/{TAG}", json={"per_second": 0})
    async with interpreting(alone, [tagged]):
        started = (await start(alone)).json()
        await wait_for_backlog(alone, 1)
        found = await limit_of(alone)
        assert (found["per_second"], found["workers"]) == (0, 1)  # the workers' own 10 does not count
        await alone.http.put(f"/v1/limits/{TAG}", json={"per_second": 10})
        assert (await alone.ended(started["run_id"]))["status"] == "completed"


async def test_another_tenant_sees_a_limit_and_not_how_much_others_wait_for_it(alone: Service) -> None:
    async with interpreting(alone):
        await start(alone)
        await wait_for_backlog(alone, 1)
        answer = await alone.http.get("/v1/limits", headers={"X-Test-Tenant": "globex"})
    found = next(each for each in answer.json()["limits"] if each["tag"] == TAG)
    assert (found["per_second"], found["waiting"]) == (10, None)


async def test_an_unknown_tag_in_a_definition_is_refused_with_a_suggestion(alone: Service) -> None:
    definition = {"id": "limited", "steps": [{"id": "a", "handler": "noop", "resource_tag": "gemini_apy"}]}
    response = await alone.http.post("/v1/runs", json={"definition": definition})
    assert response.status_code == 422
    [problem] = response.json()["problems"]
    assert (problem["code"], problem["path"], problem["suggestion"]) == (
        "unknown-resource-tag",
        "steps[0].resource_tag",
        TAG,
    )


async def test_a_tag_that_is_gone_since_it_was_published_is_refused_at_the_start(
    alone: Service, embedded: Servers, dsn: str, tmp_path: Path
) -> None:
    definition = {"id": "gone", "steps": [{"id": "a", "handler": "noop", "resource_tag": TAG}]}
    assert (await alone.http.post("/v1/definitions", json={"definition": definition})).is_success
    settings = settings_for(embedded.temporal_address, dsn, tmp_path).model_copy(update={"resource_limits": {"b": 1.0}})
    async with serve(settings) as later:
        response = await later.http.post("/v1/runs", json={"definition": "gone"})
    assert response.status_code == 422
    assert response.json()["detail"] == (
        "gone.a.resource_tag: no worker takes steps with the tag 'gemini_api': DOCRAIL_RESOURCE_LIMITS has b"
    )


async def test_a_tenant_that_floods_a_resource_does_not_starve_another(alone: Service) -> None:
    async with interpreting(alone):
        for number in range(FLOOD):
            assert (await start(alone, tenant="flooder", key=f"flood-{number}")).is_success
        await wait_for_backlog(alone, FLOOD)  # all of it stands before the other tenant comes
        for number in range(FEW):
            assert (await start(alone, tenant="other", key=f"few-{number}")).is_success
        await wait_for_backlog(alone, FLOOD + FEW)
        starts = await order_of_starts(alone, FLOOD + FEW)
    last = max(place for place, key in enumerate(starts) if key.startswith("few-"))
    assert last < 3 * FEW, starts  # in turns it is the tenth; after the flood it would be the last


async def test_a_fairness_key_of_its_own_gives_a_customer_its_own_turn(alone: Service) -> None:
    async with interpreting(alone):
        for number in range(FLOOD):
            await start(alone, inputs={"customer": "large"}, key=f"large-{number}")
        await wait_for_backlog(alone, FLOOD)
        await start(alone, inputs={"customer": "small"}, key="small")
        await wait_for_backlog(alone, FLOOD + 1)
        starts = await order_of_starts(alone, FLOOD + 1)
    assert starts.index("small") < FEW, starts


async def test_a_tenant_with_many_fairness_keys_has_one_turn(alone: Service) -> None:
    async with interpreting(alone):
        for number in range(FLOOD):
            inputs = {"customer": f"customer {number}"}
            assert (await start(alone, tenant="many", inputs=inputs, key=f"many-{number}")).is_success
        await wait_for_backlog(alone, FLOOD)
        for number in range(FLOOD):
            assert (await start(alone, tenant="one", key=f"one-{number}")).is_success
        await wait_for_backlog(alone, 2 * FLOOD)
        starts = await order_of_starts(alone, 2 * FLOOD)
    first = [key for key in starts[: FLOOD + PARTS] if key.startswith("one-")]
    assert len(first) >= FLOOD / 2, starts  # a first turn for each part, then in turns; otherwise a few at most


async def test_a_tenant_that_asks_for_the_highest_priority_does_not_starve_another(alone: Service) -> None:
    """By default only the operator's tenant may go first."""
    async with interpreting(alone):
        for number in range(FLOOD):
            assert (await start(alone, tenant="urgent", key=f"urgent-{number}", priority=1)).is_success
        await wait_for_backlog(alone, FLOOD)
        for number in range(FEW):
            assert (await start(alone, tenant="usual", key=f"few-{number}")).is_success
        await start(alone, key="operator", priority=1)
        await wait_for_backlog(alone, FLOOD + FEW + 1)
        starts = await order_of_starts(alone, FLOOD + FEW + 1)
    last = max(place for place, key in enumerate(starts) if key.startswith("few-"))
    assert last < 3 * FEW, starts
    assert starts[0] == "operator"


async def test_a_run_of_a_higher_priority_goes_first(alone: Service) -> None:
    async with interpreting(alone):
        for number in range(FEW):
            await start(alone, key=f"usual-{number}")
        await wait_for_backlog(alone, FEW)
        await start(alone, key="urgent", priority=1)
        await start(alone, key="idle", priority=5)
        await wait_for_backlog(alone, FEW + 2)
        starts = await order_of_starts(alone, FEW + 2)
    assert starts[0] == "urgent"
    assert starts[-1] == "idle"


async def test_the_same_key_with_another_priority_is_another_request(alone: Service) -> None:
    key = uuid.uuid4().hex
    assert (await start(alone, key=key, priority=2)).json()["created"]
    assert not (await start(alone, key=key, priority=2)).json()["created"]
    conflict = await start(alone, key=key, priority=1)
    assert (conflict.status_code, conflict.json()["differences"]) == (409, ["priority"])


@pytest.mark.parametrize("priority", [0, 6, "high"])
async def test_a_priority_that_is_none_is_refused(alone: Service, priority: Json) -> None:
    response = await start(alone, priority=priority)
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "priority")
