"""`GET /v1/runs/{id}/steps/{step}/output` and `docrail run output` return full outputs, even large ones."""

import asyncio
import json
import shutil
import uuid
from collections.abc import AsyncIterator

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import part_of
from tests.api.service import Service
from tests.cli.process import docrail
from tests.stack import eventually

TEXT = "Bäume ✓ " * 10_000
MANY = {
    "id": "outputs_of_steps",
    "inputs": {"text": {"type": "string", "required": True}},
    "on_failure": "continue",
    "steps": [
        {"id": "large", "handler": "echo", "config": {"value": {"text": "{{ inputs.text }}"}}},
        {"id": "small", "handler": "echo", "config": {"value": 5}},
        {"id": "nothing", "handler": "noop"},
        {"id": "fails", "handler": "fail", "config": {"times": 9}, "max_retries": 0, "optional": True},
        {"id": "skipped", "handler": "echo", "config": {"value": 1}, "condition": "1 > 2"},
        {"id": "asks", "wait": {"for": "signal"}},
    ],
}


@pytest.fixture(scope="module")
async def run_id(service: Service) -> AsyncIterator[str]:
    """Yield a run with every kind of output; one of its steps waits."""
    started = await service.http.post("/v1/runs", json={"definition": MANY, "inputs": {"text": TEXT}})
    run_id: str = started.json()["run_id"]

    async def waits() -> bool:
        response = await service.http.get(f"/v1/runs/{run_id}")
        steps = response.json()["steps"]
        return response.status_code == 200 and steps["asks"]["status"] == "waiting" and len(done(steps)) == 5

    await eventually(waits, "all but one of the steps have ended")
    yield run_id
    await service.http.post(f"/v1/runs/{run_id}/waits/asks", json={"answer": None})
    assert (await service.ended(run_id))["status"] == "completed"
    assert (await get(service, run_id, "asks")).json()["output"] is None
    assert (await get(service, run_id, "large")).json()["output"] == {"value": {"text": TEXT}}


def done(steps: Json) -> list[str]:
    return [name for name, step in steps.items() if step["status"] in ("completed", "failed", "skipped")]


async def get(service: Service, run_id: str, step_id: str, **headers: str) -> httpx.Response:
    return await service.http.get(f"/v1/runs/{run_id}/steps/{step_id}/output", headers=headers)


async def test_a_stored_output_is_returned_whole(service: Service, run_id: str) -> None:
    report = (await service.http.get(f"/v1/runs/{run_id}")).json()
    part = part_of(report["steps"]["large"]["output"])
    assert part is not None
    shown = await get(service, run_id, "large")
    assert shown.status_code == 200
    assert shown.headers["content-type"] == "application/json"
    assert shown.json() == {"run_id": run_id, "step_id": "large", "output": {"value": {"text": TEXT}}}


async def test_small_and_empty_outputs_are_returned_too(service: Service, run_id: str) -> None:
    assert (await get(service, run_id, "small")).json()["output"] == {"value": 5}
    assert (await get(service, run_id, "nothing")).json()["output"] == {}


@pytest.mark.parametrize("step", ["fails", "skipped", "asks"])
async def test_a_step_that_gave_nothing_has_no_output(service: Service, run_id: str, step: str) -> None:
    refused = await get(service, run_id, step)
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
    assert refused.json()["detail"] == f"there is no output of the step '{run_id} {step}'"


@pytest.mark.parametrize(("run", "step"), [("outputs_of_steps.none", "large"), ("odd", "large"), (None, "largest")])
async def test_an_unknown_output_is_not_found(service: Service, run_id: str, run: str | None, step: str) -> None:
    refused = await get(service, run or run_id, step)
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")


async def test_another_tenant_sees_nothing(service: Service, run_id: str) -> None:
    refused = await get(service, run_id, "large", **{"X-Test-Tenant": "globex"})
    assert (refused.status_code, refused.json()["detail"]) == (404, f"there is no run '{run_id}'")


async def test_the_command_prints_the_output(service: Service, run_id: str) -> None:
    shown = await docrail("run", "output", run_id, "large", DOCRAIL_API_URL=str(service.http.base_url))
    assert (shown.code, shown.err) == (0, "")
    assert json.loads(shown.out) == {"value": {"text": TEXT}}


async def test_the_command_says_that_there_is_none(service: Service, run_id: str) -> None:
    refused = await docrail("run", "output", run_id, "fails", DOCRAIL_API_URL=str(service.http.base_url))
    message = f"docrail: Not found: there is no output of the step '{run_id} fails'\n"
    assert (refused.code, refused.out, refused.err) == (1, "", message)


async def test_an_unavailable_value_store_is_reported(service: Service) -> None:
    text = uuid.uuid4().hex * 3000
    order = {"definition": MANY, "inputs": {"text": text}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]

    async def is_kept() -> bool:
        return (await get(service, run_id, "large")).status_code == 200

    await eventually(is_kept, "the large output is there")
    root = service.settings.data_dir / "values"
    [kept] = [path for path in root.rglob("*") if path.is_file() and text in path.read_text()]
    away = kept.with_name("away")
    await asyncio.to_thread(shutil.move, kept, away)
    refused = await get(service, run_id, "large")
    assert (refused.status_code, refused.json()["service"]) == (503, "the value store")
    await asyncio.to_thread(shutil.move, away, kept)
    assert (await get(service, run_id, "large")).json()["output"] == {"value": {"text": text}}
    await service.http.post(f"/v1/runs/{run_id}/abort")
    assert (await service.ended(run_id))["status"] == "aborted"


async def test_the_history_of_an_outer_run_does_not_carry_the_large_outputs_of_inner_steps(service: Service) -> None:
    steps = [{"id": f"s{n}", "handler": "echo", "config": {"value": "{{ inputs.text }}"}} for n in range(3)]
    inner = {"id": "outputs_inside", "inputs": {"text": {"type": "string"}}, "steps": steps}
    inner["outputs"] = {"size": "{{ s0.value | length }}"}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    nested = {"id": "nested", "workflow": {"id": inner["id"], "inputs": {"text": "{{ inputs.text }}"}}}
    outer = {"id": "outputs_outside", "inputs": {"text": {"type": "string"}}, "steps": [nested]}
    order = {"definition": outer, "inputs": {"text": "x" * 40_000}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    assert (await service.ended(run_id))["steps"]["nested"]["output"] == {"size": 40_000}
    handle = service.app.temporal.get_workflow_handle(f"default/{run_id.replace('.', '/', 1)}")
    completed = [
        event.child_workflow_execution_completed_event_attributes.result.payloads[0].data
        async for event in handle.fetch_history_events()
        if event.HasField("child_workflow_execution_completed_event_attributes")
    ]
    assert [len(data) < 5_000 for data in completed] == [True]
    shown = await service.ended(f"{run_id}~nested")
    assert (shown["step_outputs_omitted"], len(shown["steps"]["s2"]["output"]["value"])) == (False, 40_000)
    assert (await get(service, f"{run_id}~nested", "s1")).json()["output"] == {"value": "x" * 40_000}


async def test_outputs_that_a_report_omits_are_returned_one_by_one(service: Service) -> None:
    steps = [{"id": f"s{n}", "handler": "echo", "config": {"value": "{{ inputs.text }}"}} for n in range(35)]
    definition = {"id": "outputs_left_out", "inputs": {"text": {"type": "string"}}, "steps": steps}
    order = {"definition": definition, "inputs": {"text": "x" * 60_000}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    assert (await service.ended(run_id))["step_outputs_omitted"]
    assert (await get(service, run_id, "s7")).json()["output"] == {"value": "x" * 60_000}


async def test_the_outputs_of_a_run_are_returned_whole(service: Service) -> None:
    definition = {
        "id": "outputs_of_a_run",
        "inputs": {"text": {"type": "string"}},
        "steps": [{"id": "large", "handler": "echo", "config": {"value": "{{ inputs.text }}"}}],
        "outputs": {"text": "{{ large.value }}", "length": "{{ large.value | length }}"},
    }
    order = {"definition": definition, "inputs": {"text": TEXT}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    assert part_of((await service.ended(run_id))["outputs"]["text"]) is not None
    whole = {"text": TEXT, "length": len(TEXT)}
    assert (await service.http.get(f"/v1/runs/{run_id}/outputs")).json() == {"run_id": run_id, "outputs": whole}
    printed = await docrail("run", "output", run_id, DOCRAIL_API_URL=str(service.http.base_url))
    assert json.loads(printed.out) == whole


async def test_an_output_that_would_keep_others_waiting_is_not_shown(service: Service) -> None:
    values = {"one": "{{ inputs.text }}", "huge": ["{{ one.value }}"] * 18, "part": "{{ huge.value.0 }}"}
    before = {"one": [], "huge": ["one"], "part": ["huge"]}
    steps = [
        {"id": name, "handler": "echo", "config": {"value": value}, "depends_on": before[name]}
        for name, value in values.items()
    ]
    definition = {"id": "outputs_huge", "inputs": {"text": {"type": "string"}}, "steps": steps}
    order = {"definition": definition, "inputs": {"text": "x" * 250_000}}
    started = await service.http.post("/v1/runs", json=order)
    assert started.status_code == 202, started.text
    run_id = started.json()["run_id"]
    ended = await service.ended(run_id)
    assert (ended["status"], ended["reason"]) == ("completed", "")
    refused = await get(service, run_id, "huge")
    assert refused.status_code == 422
    (problem,) = refused.json()["problems"]
    assert problem["message"].startswith("is too large for one response: with its stored parts it takes at least 4500")
    shown = (await service.http.get(f"/v1/runs/{run_id}/steps/huge")).json()
    assert "too large for one response" in shown["output_problem"]
    assert (await get(service, run_id, "part")).json()["output"] == {"value": "x" * 250_000}


async def test_a_placeholder_of_a_stored_value_is_not_an_input(service: Service) -> None:
    mark = {"$stored": "a" * 64, "bytes": 70_000}
    definition = {"id": "no_marks", "inputs": {"x": {"type": "object"}}, "steps": [{"id": "a", "handler": "noop"}]}
    refused = await service.http.post("/v1/runs", json={"definition": definition, "inputs": {"x": {"in": [mark]}}})
    assert refused.status_code == 422
    (problem,) = refused.json()["problems"]
    said = "is a reference to a stored value, which only outputs of steps may contain"
    assert (problem["path"], problem["message"]) == ("inputs.x.in.0", said)


async def test_the_large_outputs_of_an_inner_run_are_returned_whole(service: Service) -> None:
    inner: dict[str, Json] = {"id": "outputs_given", "inputs": {"text": {"type": "string"}}}
    inner |= {"steps": [{"id": "a", "handler": "noop"}], "outputs": {"text": "{{ inputs.text }}"}}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    nested = {"id": "nested", "workflow": {"id": inner["id"], "inputs": {"text": "{{ inputs.text }}"}}}
    outer = {"id": "outputs_taken", "inputs": {"text": {"type": "string"}}, "steps": [nested]}
    order = {"definition": outer, "inputs": {"text": TEXT}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    report = await service.ended(run_id)
    assert part_of(report["steps"]["nested"]["output"]) is not None
    assert (await service.ended(f"{run_id}~nested"))["outputs"] == report["steps"]["nested"]["output"]
    whole = (await service.http.get(f"/v1/runs/{run_id}~nested/outputs")).json()
    assert whole["outputs"] == {"text": TEXT}
