"""Runs that cannot continue, or were ended from outside, show why, and can be ended by force."""

import uuid

import httpx
import pytest
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.values.json_values import MAX_VALUE_BYTES
from docrail.services.engine import MAX_REQUEST_BYTES
from docrail.workflows.contract.names import DEFINITION, TENANT, WORKFLOW_TYPE, RunRequest, workflow_id
from tests.api.service import HELLO, SLOW, Service
from tests.stack import eventually

MEMO = {"definition": "broken", "version": 1, "digest": "d"}


async def start(service: Service, definition: object) -> str:
    response = await service.http.post("/v1/runs", json={"definition": definition})
    run_id: str = response.json()["run_id"]
    return run_id


async def start_broken(service: Service) -> str:
    """Start a run whose workflow task fails, as with a bug in Docrail: Temporal refuses such delays."""
    run_id = f"broken.{uuid.uuid4().hex}"
    step = {"id": "a", "handler": "echo", "retry_config": {"initial_delay": 10, "max_delay": 5}}
    await service.app.temporal.start_workflow(
        WORKFLOW_TYPE,
        RunRequest(
            tenant_id="default",
            run_id=run_id,
            definition={"id": "broken", "steps": [step]},
            version=1,
            digest="d",
            inputs={},
            semantics=SEMANTICS,
        ),
        id=workflow_id("default", run_id),
        task_queue=service.settings.task_queue,
        memo=MEMO,
        search_attributes=TypedSearchAttributes(
            [SearchAttributePair(TENANT, "default"), SearchAttributePair(DEFINITION, "broken")]
        ),
    )

    async def has_failed() -> bool:
        found = await service.app.temporal.get_workflow_handle(workflow_id("default", run_id)).describe()
        return found.raw_description.pending_workflow_task.attempt > 1

    await eventually(has_failed, "the run's workflow task to fail")
    return run_id


async def test_a_run_whose_workflow_task_fails_shows_it_and_can_be_ended_by_force(service: Service) -> None:
    run_id = await start_broken(service)
    for response in (
        await service.http.get(f"/v1/runs/{run_id}"),
        await service.http.get(f"/v1/runs/{run_id}/explain"),
        await service.http.get(f"/v1/runs/{run_id}/waits"),
        await service.http.post(f"/v1/runs/{run_id}/abort"),
    ):
        assert response.status_code == 503
        assert response.json()["detail"].startswith("the run is not available: its workflow task has failed")
        assert f"default%2Fbroken%2F{run_id.partition('.')[2]}" in response.json()["detail"]
    response = await service.http.post(f"/v1/runs/{run_id}/abort", json={"force": True, "reason": "a bug"})
    assert (response.status_code, response.json()["status"]) == (200, "failed")
    run = (await service.http.get(f"/v1/runs/{run_id}")).json()
    assert run["status"] == "failed"
    assert run["reason"].startswith("terminated in Temporal: aborted by force, by tester: a bug")
    again = await service.http.post(f"/v1/runs/{run_id}/abort", json={"force": True})
    assert (again.status_code, again.json()["state"]) == (409, "failed")


async def test_a_terminated_run_has_failed_and_shows_why_and_its_steps(service: Service) -> None:
    run_id = await start(service, SLOW)
    handle = service.app.temporal.get_workflow_handle(workflow_id("default", run_id))
    await eventually(lambda: _naps(service.http, run_id), "the nap to begin")
    await handle.terminate(reason="history too large")
    run = (await service.http.get(f"/v1/runs/{run_id}")).json()
    assert (run["status"], run["reason"]) == ("failed", "terminated in Temporal: history too large")
    assert run["steps"]["nap"]["status"] == "running"
    assert run["ended_at"] is not None

    async def is_listed() -> bool:
        listed = await service.http.get("/v1/runs", params={"status": "failed", "definition": "slow"})
        return run_id in [line["run_id"] for line in listed.json()["runs"]]

    await eventually(is_listed, "the run to be listed as failed")


async def test_a_run_that_no_worker_serves_may_still_be_aborted_and_that_is_said(workerless: Service) -> None:
    run_id = await start(workerless, HELLO)
    response = await workerless.http.post(f"/v1/runs/{run_id}/abort")
    assert (response.status_code, response.json()["service"]) == (503, "worker")
    assert response.json()["detail"].endswith(
        "; the abort may still be carried out, so look at the run before you ask again"
    )


async def _naps(http: httpx.AsyncClient, run_id: str) -> bool:
    return bool((await http.get(f"/v1/runs/{run_id}")).json()["steps"]["nap"]["status"] == "running")


async def test_inputs_that_are_too_large_are_refused_with_size_and_limit_before_anything_is_stored(
    http: httpx.AsyncClient,
) -> None:
    definition = {**HELLO, "id": "fresh", "inputs": {"small": {"type": "string"}, "large": {"type": "string"}}}
    inputs = {"small": "x", "large": "x" * 3_000_000}
    response = await http.post("/v1/runs", json={"definition": definition, "inputs": inputs})
    [problem] = response.json()["problems"]
    assert (response.status_code, problem["path"]) == (422, "inputs.large")
    assert f"all inputs together take 3000005 bytes, more than {MAX_VALUE_BYTES}" in problem["message"]
    assert (await http.get("/v1/definitions/fresh")).status_code == 404


async def test_definitions_that_are_too_large_together_are_refused_with_size_and_limit(http: httpx.AsyncClient) -> None:
    for name in ("wide", "wider"):
        text = {"id": name, "steps": [{"id": "a", "handler": "echo", "config": {"value": "x" * 1_200_000}}]}
        assert (await http.post("/v1/definitions", json={"definition": text})).status_code == 201
    outer = {"id": "outer", "steps": [{"id": name, "workflow": {"id": name}} for name in ("wide", "wider")]}
    response = await http.post("/v1/runs", json={"definition": outer})
    [problem] = response.json()["problems"]
    assert (response.status_code, problem["path"]) == (422, "definition")
    assert f"more than the {MAX_REQUEST_BYTES} that a run can start with" in problem["message"]


@pytest.mark.parametrize("path", ["runs/{}", "documents/{}", "reviews/{}", "definitions/{}"])
async def test_an_id_that_ends_with_a_line_break_does_not_exist(service: Service, path: str) -> None:
    ids = {
        "runs/{}": await start(service, HELLO),
        "documents/{}": f"doc_{'0' * 26}",
        "reviews/{}": f"rev_{'0' * 26}",
        "definitions/{}": "hello",
    }
    assert (await service.http.get(f"/v1/{path.format(ids[path])}%0A")).status_code == 404


async def test_a_key_that_ends_with_a_line_break_is_refused_and_starts_nothing(http: httpx.AsyncClient) -> None:
    key = uuid.uuid4().hex
    response = await http.post("/v1/runs", json={"definition": HELLO, "key": f"{key}\n"})
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "key")
    assert (await http.get(f"/v1/runs/hello.{key}")).status_code == 404
