"""Tests in a definition: run on request before it is published, kept in its text, and never part of what runs."""

import uuid
from typing import Any

import pytest

from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import workflow_id
from tests.api.service import Service

STEPS: list[Json] = [{"id": "greet", "handler": "echo", "config": {"value": "{{ inputs.name }}"}}]


def definition(*, title: str = "", expected: Json = "ann") -> dict[str, Any]:
    """Return a definition of its own, with a test that passes and one that expects to be given `expected`."""
    return {
        "id": f"t_{uuid.uuid4().hex}",
        "title": title,
        "inputs": {"name": {"type": "string", "default": "ann"}},
        "steps": STEPS,
        "outputs": {"said": "{{ greet.value }}"},
        "tests": [
            {"name": "a greeting", "steps": {"greet": {"output": {"value": 1}}}, "expect": {"status": "completed"}},
            {
                "name": "by name",
                "steps": {"greet": {"output": {"value": 1}}},
                "expect": {"status": "completed", "steps": {"greet": {"config": {"value": expected}}}},
            },
        ],
    }


async def test_a_definition_whose_tests_fail_is_not_published(service: Service) -> None:
    wanted = definition(expected="bob")
    refused = await service.http.post("/v1/definitions", params={"run_tests": True}, json={"definition": wanted})
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    reported = refused.json()
    assert (reported["type"], reported["detail"]) == ("/problems/failed-tests", "1 of the definition's 2 tests failed")
    assert reported["problems"] == [
        {
            "test": "by name",
            "path": "tests[1].expect.steps.greet.config.value",
            "message": 'by name: expected "bob", found "ann"',
            "expected": "bob",
            "found": "ann",
        }
    ]
    assert (await service.http.get(f"/v1/definitions/{wanted['id']}")).status_code == 404


@pytest.mark.parametrize(("expected", "run_tests"), [("ann", True), ("bob", False)])
async def test_publishing_with_passing_tests_and_without_running_tests(
    service: Service, expected: str, run_tests: bool
) -> None:
    wanted = definition(expected=expected)
    published = await service.http.post("/v1/definitions", params={"run_tests": run_tests}, json={"definition": wanted})
    assert published.status_code == 201, published.text


async def test_tests_are_kept_in_the_text_and_make_no_version(service: Service) -> None:
    first = definition()
    other = {**first, "tests": first["tests"][:1]}
    answers = [
        (await service.http.post("/v1/definitions", json={"definition": each})).json() for each in (first, other)
    ]
    assert answers[0]["version"] == answers[1]["version"] == 1
    assert answers[0]["digest"] == answers[1]["digest"]
    shown = (await service.http.get(f"/v1/definitions/{first['id']}")).json()
    assert "tests" not in shown["body"]
    assert "by name" in shown["source"]


async def test_a_run_does_not_carry_them(service: Service) -> None:
    wanted = definition()
    started = await service.http.post("/v1/runs", json={"definition": wanted, "key": "k"})
    assert started.status_code == 202, started.text
    ended = await service.ended(started.json()["run_id"])
    assert (ended["status"], ended["outputs"]) == ("completed", {"said": "ann"})
    handle = service.app.temporal.get_workflow_handle(workflow_id("default", ended["run_id"]))
    history = (await handle.fetch_history()).to_json()
    assert "a greeting" not in str([await _decoded(service, handle)])
    assert '"tests"' not in history


async def _decoded(service: Service, handle: Any) -> Json:
    first = await anext(handle.fetch_history_events(page_size=1))
    payloads = first.workflow_execution_started_event_attributes.input.payloads
    return await service.app.temporal.data_converter.decode(payloads)


async def test_problems_of_tests_have_their_places(service: Service) -> None:
    test = "  - {name: it, steps: {b: {output: {}}}, expect: {status: completed}}\n"
    text = f"id: x\nsteps: [{{id: a, handler: noop}}]\ntests:\n{test}"
    refused = await service.http.post("/v1/definitions", json={"definition": text})
    [problem] = refused.json()["problems"]
    assert (problem["code"], problem["line"], problem["column"]) == ("unknown-step", 4, 24)


async def test_the_tests_of_a_text_run_without_publishing_it(service: Service) -> None:
    wanted = definition(expected="bob")
    answer = await service.http.post("/v1/definitions/test", json={"definition": wanted})
    assert answer.status_code == 200, answer.text
    passed, failed = answer.json()["tests"]
    assert (passed["name"], passed["passed"], passed["problems"]) == ("a greeting", True, [])
    assert (failed["name"], failed["passed"]) == ("by name", False)
    assert [problem["path"] for problem in failed["problems"]] == ["tests[1].expect.steps.greet.config.value"]
    assert (await service.http.get(f"/v1/definitions/{wanted['id']}")).status_code == 404


async def test_the_tests_of_a_definition_with_errors_do_not_run(service: Service) -> None:
    refused = await service.http.post("/v1/definitions/test", json={"definition": "id: x\nsteps: []\n"})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-definition")
