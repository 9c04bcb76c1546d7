import asyncio

import httpx
import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import HELLO, Service

ADDRESSED = {
    "id": "addressed",
    "inputs": {"name": {"type": "string", "required": True}},
    "steps": [{"id": "greet", "handler": "echo", "config": {"value": "{{ inputs.name }}"}}],
    "outputs": {"said": "{{ greet.value }}"},
}


async def submit(http: httpx.AsyncClient, definition: Json = ADDRESSED) -> Json:
    response = await http.post("/v1/workflow", json={"definition": definition})
    assert response.status_code == 201, response.text
    return response.json()


async def trigger(http: httpx.AsyncClient, execution: Json, name: str = "Ada") -> httpx.Response:
    return await http.post(f"/v1/workflow/trigger/{execution['execution_id']}", json={"inputs": {"name": name}})


async def test_a_submitted_definition_waits_until_it_is_triggered(service: Service) -> None:
    execution = await submit(service.http)
    assert (execution["status"], execution["run_id"]) == ("pending", None)
    assert (execution["workflow_definition_id"], execution["version"]) == ("addressed", 1)
    response = await trigger(service.http, execution)
    assert (response.status_code, response.json()["status"]) == (202, "running")
    run = await service.ended(response.json()["run_id"])
    assert (run["status"], run["outputs"]) == ("completed", {"said": "Ada"})


async def test_a_submitted_definition_is_looked_up_before_and_after_its_run(service: Service) -> None:
    execution = await submit(service.http)
    path = f"/v1/workflow/{execution['execution_id']}"
    assert (await service.http.get(path)).json() == execution
    run_id = (await trigger(service.http, execution)).json()["run_id"]
    await service.ended(run_id)
    shown = (await service.http.get(path)).json()
    assert (shown["status"], shown["run_id"]) == ("completed", run_id)


async def test_triggering_again_answers_the_same_and_is_one_run(service: Service) -> None:
    execution = await submit(service.http)
    answers = await asyncio.gather(*(trigger(service.http, execution) for _ in range(5)))
    await service.ended(answers[0].json()["run_id"])
    answers.append(await trigger(service.http, execution))
    assert {answer.status_code for answer in answers} == {202}
    assert all(answer.json() == answers[0].json() for answer in answers)


async def test_the_seeds_word_for_inputs_is_accepted(service: Service) -> None:
    execution = await submit(service.http)
    path = f"/v1/workflow/trigger/{execution['execution_id']}"
    response = await service.http.post(path, json={"input_params": {"name": "Bob"}})
    assert (await service.ended(response.json()["run_id"]))["outputs"] == {"said": "Bob"}


async def test_a_definition_without_inputs_is_triggered_without_a_body(service: Service) -> None:
    execution = await submit(service.http, HELLO)
    response = await service.http.post(f"/v1/workflow/trigger/{execution['execution_id']}")
    assert (await service.ended(response.json()["run_id"]))["status"] == "completed"


async def test_triggering_again_with_other_inputs_is_a_conflict(http: httpx.AsyncClient) -> None:
    execution = await submit(http)
    await trigger(http, execution, "Ada")
    response = await trigger(http, execution, "Bob")
    assert (response.status_code, response.json()["differences"]) == (409, ["inputs.name"])


async def test_an_execution_keeps_the_version_it_was_submitted_with(service: Service) -> None:
    execution = await submit(service.http, {**ADDRESSED, "id": "kept"})
    await service.http.post("/v1/definitions", json={"definition": {**ADDRESSED, "id": "kept", "title": "newer"}})
    run = await service.ended((await trigger(service.http, execution)).json()["run_id"])
    assert run["version"] == execution["version"] == 1


async def test_wrong_inputs_leave_the_execution_pending(http: httpx.AsyncClient) -> None:
    execution = await submit(http)
    path = f"/v1/workflow/trigger/{execution['execution_id']}"
    refused = await http.post(path, json={"inputs": {"nam": "Ada"}})
    assert refused.status_code == 422
    assert (await trigger(http, execution)).status_code == 202


async def test_an_invalid_definition_is_refused_at_submit(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/workflow", json={"definition": {"id": "loop", "steps": []}})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-definition")


async def test_an_unknown_definition_is_refused_at_submit(http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/workflow", json={"definition": "nowhere"})).status_code == 404


@pytest.mark.parametrize("execution_id", ["exe_" + "0" * 26, "exe_1", "%00"])
async def test_an_unknown_execution_is_not_found(http: httpx.AsyncClient, execution_id: str) -> None:
    for method, path in (("POST", f"/v1/workflow/trigger/{execution_id}"), ("GET", f"/v1/workflow/{execution_id}")):
        response = await http.request(method, path)
        assert (response.status_code, response.json()["type"]) == (404, "/problems/not-found")


async def test_another_tenants_execution_is_not_found(http: httpx.AsyncClient) -> None:
    execution = await submit(http)
    globex = {"X-Test-Tenant": "globex"}
    path = f"/v1/workflow/trigger/{execution['execution_id']}"
    response = await http.post(path, json={"inputs": {"name": "Ada"}}, headers=globex)
    assert response.status_code == 404
    assert (await http.get(f"/v1/workflow/{execution['execution_id']}", headers=globex)).status_code == 404
