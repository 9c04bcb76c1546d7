"""Outputs that people give steps are what the steps would have given: else what reads them fails later, elsewhere."""

import uuid

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.api.test_retries import failed, failing, retry

FORM = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


async def refused(service: Service, step: Json, output: Json) -> tuple[str, str]:
    """Give a step that had to wait for a failed one an output; return where that is wrong, and why."""
    steps = [{"id": "bad", "handler": "fail", "config": {"times": 9}, "max_retries": 0}]
    steps += [{"id": "a", "depends_on": ["bad"], **step}]
    run_id = await failed(service, {"id": f"given_{uuid.uuid4().hex}", "steps": steps})
    response = await retry(service.http, run_id, steps={"a": {"output": output}}, preview=True)
    assert response.status_code == 422, response.text
    [problem] = response.json()["problems"]
    return problem["path"], problem["message"]


@pytest.mark.parametrize("output", ["text", None, [1], {}, {"attempts": "many"}])
async def test_an_output_given_by_hand_fits_its_handler(service: Service, output: Json) -> None:
    run_id = await failed(service, failing())
    response = await retry(service.http, run_id, steps={"sum": {"output": output}})
    assert response.status_code == 422, response.text
    [problem] = response.json()["problems"]
    assert problem["path"].startswith("steps.sum.output")
    assert (await retry(service.http, run_id, steps={"sum": {"output": {"attempts": 1}}})).status_code == 200


async def test_a_refusal_says_what_was_found_and_expected(service: Service) -> None:
    fails = {"handler": "fail", "config": {"times": 9}}
    path, message = await refused(service, fails, {"attempts": "many"})
    assert path == "steps.a.output.attempts"
    assert message == "'attempts' must be a whole number, found the text 'many'"


async def test_a_question_and_a_list_give_what_their_readers_read(service: Service) -> None:
    path, message = await refused(service, {"human": {"form": FORM}}, {"ok": "yes"})
    assert (path, "true or false" in message or "boolean" in message) == ("steps.a.output.ok", True)
    each = {"handler": "echo", "for_each": {"items": [1, 2]}, "config": {"value": "{{ item }}"}}
    for output, found in (
        ([1, 2], "found a list"),
        ({"total": 3}, "it has no completed, failed, items"),
        ({"total": 3, "completed": 3, "failed": 0, "items": 7}, "found items as the number 7"),
        ({"total": True, "completed": 3, "failed": 0, "items": []}, "found total as true"),
    ):
        path, message = await refused(service, each, output)
        assert (path, message.partition("; ")[2]) == ("steps.a.output", found)


async def test_a_nested_run_gives_an_object(service: Service) -> None:
    inner = {"id": f"inner_{uuid.uuid4().hex}", "steps": [{"id": "a", "handler": "noop"}]}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    path, message = await refused(service, {"workflow": {"id": inner["id"]}}, 7)
    assert (path, message) == (
        "steps.a.output",
        "a nested run gives an object, its outputs by name; found the number 7",
    )
