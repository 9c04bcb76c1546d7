"""Which version of a definition runs inside another: the one named, or the one that was current at the start."""

import uuid

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.stack import eventually


async def publish_inner(service: Service, definition_id: str, says: int) -> int:
    """Publish a version of the inner definition that says its number; return the number that it was given."""
    inner: Json = {
        "id": definition_id,
        "steps": [{"id": "say", "handler": "echo", "config": {"value": says}}],
        "outputs": {"said": "{{ say.value }}"},
    }
    response = await service.http.post("/v1/definitions", json={"definition": inner})
    assert response.status_code == 201, response.text
    version: int = response.json()["version"]
    return version


def outer(nested: Json) -> Json:
    """Return a definition that waits for a person's word before it starts the run inside it."""
    return {
        "id": f"outer_{uuid.uuid4().hex}",
        "steps": [
            {"id": "word", "wait": {"for": "signal"}},
            {"id": "inside", "workflow": nested, "depends_on": ["word"]},
        ],
        "outputs": {"said": "{{ inside.said }}"},
    }


@pytest.mark.parametrize(
    ("named", "expected"),
    [pytest.param({"version": 1}, 1, id="pinned"), pytest.param({}, 2, id="current at the outer run's start")],
)
async def test_a_run_inside_another_has_the_version_named_or_current_when_that_began(
    service: Service, named: Json, expected: int
) -> None:
    inner = f"inner_{uuid.uuid4().hex}"
    assert [await publish_inner(service, inner, number) for number in (1, 2)] == [1, 2]
    started = await service.http.post("/v1/runs", json={"definition": outer({"id": inner, **named})})
    run_id = started.json()["run_id"]
    await eventually(lambda: waits(service, run_id), "the outer run waits")
    assert await publish_inner(service, inner, 3) == 3

    answered = await service.http.post(f"/v1/runs/{run_id}/waits/word", json={"answer": {}})
    assert answered.status_code == 200, answered.text
    ended = await service.closed(run_id)
    assert (ended["status"], ended["outputs"]) == ("completed", {"said": expected})
    inside = (await service.http.get(f"/v1/runs/{run_id}~inside")).json()
    assert (inside["definition_id"], inside["version"]) == (inner, expected)


async def waits(service: Service, run_id: str) -> bool:
    run = (await service.http.get(f"/v1/runs/{run_id}")).json()
    return bool(run["steps"]["word"]["status"] == "waiting")


async def test_a_version_that_was_never_published_is_refused_when_the_outer_run_is_started(service: Service) -> None:
    inner = f"inner_{uuid.uuid4().hex}"
    await publish_inner(service, inner, 1)
    whole = outer({"id": inner, "version": 2})
    refused = await service.http.post("/v1/runs", json={"definition": whole})
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
    reported = f"there is no definition '{inner} version 2', and step 'inside' of '{whole['id']}' runs it"
    assert refused.json()["detail"] == reported


async def test_a_retry_with_a_version_uses_the_corrected_inner_definition(service: Service) -> None:
    """Also with the version that ran: it is the definition inside that is another."""
    inner = f"inner_{uuid.uuid4().hex}"
    fails = {"id": "a", "handler": "fail", "config": {"times": 9}, "max_retries": 0}
    await service.http.post("/v1/definitions", json={"definition": {"id": inner, "steps": [fails]}})
    around = {"id": f"outer_{uuid.uuid4().hex}", "steps": [{"id": "inside", "workflow": {"id": inner}}]}
    run_id = (await service.http.post("/v1/runs", json={"definition": around})).json()["run_id"]
    assert (await service.closed(run_id))["status"] == "failed"
    works = {"id": "a", "handler": "noop"}
    await service.http.post("/v1/definitions", json={"definition": {"id": inner, "steps": [works]}})
    await service.http.post(f"/v1/runs/{run_id}/retry")
    assert (await service.closed(run_id))["status"] == "failed"
    await service.http.post(f"/v1/runs/{run_id}/retry", json={"version": 1})
    assert (await service.closed(run_id))["status"] == "completed"
    assert (await service.http.get(f"/v1/runs/{run_id}~inside")).json()["version"] == 2
