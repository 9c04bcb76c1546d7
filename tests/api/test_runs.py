import asyncio
import uuid
from functools import partial

import httpx
import pytest

from docrail.services.runs.views.recorded import NO_WORKER
from tests.api.service import HELLO, SLOW, Service
from tests.stack import eventually

GREETING = {
    "id": "greeting",
    "inputs": {
        "name": {"type": "string", "required": True, "minLength": 1},
        "times": {"type": "integer", "default": 2},
        "note": {"type": "string"},
    },
    "steps": [{"id": "greet", "handler": "echo", "config": {"value": "{{ inputs }}"}}],
    "outputs": {"said": "{{ greet.value }}"},
}


def new_key() -> str:
    return uuid.uuid4().hex


async def start(http: httpx.AsyncClient, definition: object, **more: object) -> str:
    response = await http.post("/v1/runs", json={"definition": definition, **more})
    assert response.status_code == 202, response.text
    run_id: str = response.json()["run_id"]
    return run_id


async def test_an_inline_definition_runs_to_its_end(service: Service) -> None:
    response = await service.http.post("/v1/runs", json={"definition": GREETING, "inputs": {"name": "Ada"}})
    assert response.status_code == 202
    assert response.headers["location"] == f"/v1/runs/{response.json()['run_id']}"
    run = await service.ended(response.json()["run_id"])
    assert run["status"] == "completed"
    assert run["outputs"] == {"said": {"name": "Ada", "times": 2, "note": None}}
    assert run["steps"]["greet"]["attempts"] == 1
    assert run["history_url"].endswith(f"default%2Fgreeting%2F{run['run_id'].partition('.')[2]}")


async def test_a_published_definition_runs_by_its_id_and_version(service: Service) -> None:
    published = (await service.http.post("/v1/definitions", json={"definition": HELLO})).json()
    run_id = await start(service.http, "hello", version=published["version"])
    run = await service.ended(run_id)
    assert (run["definition_id"], run["digest"]) == ("hello", published["digest"])


async def test_starting_twice_with_a_key_is_one_run_even_after_it_ended(service: Service) -> None:
    key = new_key()
    first = await service.http.post("/v1/runs", json={"definition": HELLO, "key": key})
    await service.ended(first.json()["run_id"])
    again = await service.http.post("/v1/runs", json={"definition": HELLO}, headers={"Idempotency-Key": key})
    assert again.status_code == 202
    assert (first.json()["created"], again.json()["created"]) == (True, False)
    assert again.json()["run_id"] == first.json()["run_id"] == f"hello.{key}"


async def test_starting_at_the_same_moment_with_a_key_is_one_run(http: httpx.AsyncClient) -> None:
    order = {"definition": HELLO, "key": new_key()}
    answers = [answer.json() for answer in await asyncio.gather(*(http.post("/v1/runs", json=order) for _ in range(8)))]
    assert len({answer["run_id"] for answer in answers}) == 1
    assert [answer["created"] for answer in answers].count(True) == 1


async def test_a_key_with_other_inputs_is_a_conflict_that_says_what_differs(http: httpx.AsyncClient) -> None:
    order = {"definition": GREETING, "key": new_key(), "inputs": {"name": "Ada", "times": 1}}
    await http.post("/v1/runs", json=order)
    response = await http.post("/v1/runs", json={**order, "inputs": {"name": "Bob", "times": 1}})
    assert response.status_code == 409
    assert response.json()["type"] == "/problems/key-conflict"
    assert response.json()["differences"] == ["inputs.name"]
    assert "Ada" not in response.text


async def test_a_key_with_another_definition_is_a_conflict(http: httpx.AsyncClient) -> None:
    order = {"definition": HELLO, "key": new_key()}
    await http.post("/v1/runs", json=order)
    other = {**HELLO, "title": "another"}
    response = await http.post("/v1/runs", json={**order, "definition": other})
    assert (response.status_code, response.json()["differences"]) == (409, ["definition"])


async def test_a_key_of_the_newest_version_stays_one_run_when_a_newer_one_is_published(http: httpx.AsyncClient) -> None:
    definition = {**HELLO, "id": "renewed"}
    await http.post("/v1/definitions", json={"definition": definition})
    order = {"definition": "renewed", "key": new_key()}
    first = await http.post("/v1/runs", json=order)
    await http.post("/v1/definitions", json={"definition": {**definition, "title": "newer"}})
    again = await http.post("/v1/runs", json=order)
    assert (again.status_code, again.json()["version"]) == (202, first.json()["version"])


async def test_two_different_keys_are_refused(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", json={"definition": HELLO, "key": "a"}, headers={"Idempotency-Key": "b"})
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "key")


@pytest.mark.parametrize("key", ["", "a/b", "a b", "ä", "-a", "a" * 129])
async def test_a_key_that_cannot_be_part_of_an_id_is_refused(http: httpx.AsyncClient, key: str) -> None:
    response = await http.post("/v1/runs", json={"definition": HELLO, "key": key})
    assert response.status_code == 422


@pytest.mark.parametrize(
    ("inputs", "path", "suggestion"),
    [
        ({}, "inputs.name", None),
        ({"name": "Ada", "tims": 3}, "inputs.tims", "times"),
        ({"name": 7}, "inputs.name", None),
        ({"name": ""}, "inputs.name", None),
        ({"name": "Ada", "times": "3"}, "inputs.times", None),
        ({"name": "Ada", "times": True}, "inputs.times", None),
        ({"name": None}, "inputs.name", None),
        ({"name": "\x00"}, "inputs.name", None),
    ],
)
async def test_inputs_that_do_not_fit_are_refused_before_anything_starts(
    http: httpx.AsyncClient, inputs: dict[str, object], path: str, suggestion: str | None
) -> None:
    key = new_key()
    response = await http.post("/v1/runs", json={"definition": GREETING, "inputs": inputs, "key": key})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()["problems"][0]
    assert (problem["path"], problem["suggestion"]) == (path, suggestion)
    assert (await http.get(f"/v1/runs/greeting.{key}")).status_code == 404


async def test_all_wrong_inputs_are_reported_at_once(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", json={"definition": GREETING, "inputs": {"a": 1, "b": 2}})
    assert [problem["path"] for problem in response.json()["problems"]] == ["inputs.a", "inputs.b", "inputs.name"]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", '"\\ud800"', "[" * 200 + "]" * 200])
async def test_text_that_only_lenient_parsers_accept_as_json_is_refused(http: httpx.AsyncClient, value: str) -> None:
    await http.post("/v1/definitions", json={"definition": GREETING})
    body = f'{{"definition": "greeting", "inputs": {{"name": {value}}}}}'
    response = await http.post("/v1/runs", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert response.json()["problems"][0]["path"].startswith("inputs.name")


async def test_an_invalid_inline_definition_is_refused_with_all_its_problems(http: httpx.AsyncClient) -> None:
    steps = [{"id": "a", "handler": "eco"}, {"id": "b", "handler": "noop", "depends_on": ["c"]}]
    response = await http.post("/v1/runs", json={"definition": {"id": "wrong", "steps": steps}})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-definition")
    codes = {problem["code"]: problem for problem in response.json()["problems"]}
    assert codes["unknown-handler"]["suggestion"] == "echo"
    assert len(codes) == 2
    assert (await http.get("/v1/definitions/wrong")).status_code == 404


async def test_a_run_of_an_unknown_definition_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", json={"definition": "nowhere"})
    assert (response.status_code, response.json()["detail"]) == (404, "there is no definition 'nowhere'")


async def test_a_run_of_an_unknown_version_is_refused(http: httpx.AsyncClient) -> None:
    await http.post("/v1/definitions", json={"definition": {**HELLO, "id": "published_once"}})
    response = await http.post("/v1/runs", json={"definition": "published_once", "version": 4711})
    there_is_none = "there is no definition 'published_once version 4711' (there is version 1)"
    assert (response.status_code, response.json()["detail"]) == (404, there_is_none)


async def test_a_run_of_a_misspelt_definition_suggests_the_one_that_is_meant(http: httpx.AsyncClient) -> None:
    await http.post("/v1/definitions", json={"definition": HELLO})
    response = await http.post("/v1/runs", json={"definition": "helo"})
    assert response.json()["detail"] == "there is no definition 'helo': did you mean 'hello'?"


async def test_an_answer_to_an_unknown_step_lists_those_that_take_one(http: httpx.AsyncClient) -> None:
    waits = [{"id": name, "wait": {"for": "signal"}} for name in ("customer_reply", "boss_reply")]
    started = await http.post("/v1/runs", json={"definition": {"id": "asking_two", "steps": waits}})
    path = f"/v1/runs/{started.json()['run_id']}/waits"
    refused = await http.post(f"{path}/CustomerReply", json={"answer": 1})
    expected = (
        "there is no waiting step 'CustomerReply': did you mean 'customer_reply'? (there is customer_reply, boss_reply)"
    )
    assert (refused.status_code, refused.json()["detail"]) == (404, expected)


@pytest.mark.parametrize("run_id", ["hello.nothing", "hello", "a b.c", "hello.%00", "hello.a%22b", "x" * 500])
async def test_an_unknown_run_is_not_found(http: httpx.AsyncClient, run_id: str) -> None:
    for response in (await http.get(f"/v1/runs/{run_id}"), await http.post(f"/v1/runs/{run_id}/pause")):
        assert (response.status_code, response.json()["type"]) == (404, "/problems/not-found")


async def test_a_failed_run_shows_its_steps_and_why(service: Service) -> None:
    definition = {
        "id": "broken",
        "steps": [
            {"id": "bad", "handler": "fail", "config": {"times": 9, "error": "ValueError", "message": "no such page"}},
            {"id": "after", "handler": "noop", "depends_on": ["bad"]},
        ],
    }
    run = await service.ended(await start(service.http, definition))
    assert (run["status"], run["failed"], run["skipped"]) == ("failed", 1, 1)
    assert run["steps"]["bad"]["error"] == {"type": "ValueError", "message": "no such page"}
    assert run["steps"]["after"]["reason"] == "upstream_failed"


async def test_a_run_is_paused_resumed_and_aborted(service: Service) -> None:
    http, run_id = service.http, await start(service.http, SLOW)
    for action, status in (("pause", "paused"), ("resume", "running"), ("pause", "paused")):
        response = await http.post(f"/v1/runs/{run_id}/{action}")
        assert (response.status_code, response.json()) == (200, {"run_id": run_id, "status": status})
        assert (await http.get(f"/v1/runs/{run_id}")).json()["status"] == status
    response = await http.post(f"/v1/runs/{run_id}/abort", json={"reason": "wrong customer"})
    assert (response.status_code, response.json()["status"]) == (200, "aborted")
    run = await service.ended(run_id)
    assert (run["status"], run["reason"]) == ("aborted", "wrong customer")
    assert run["steps"]["after"]["status"] == "skipped"


async def test_a_wrong_state_is_refused_with_the_state(service: Service) -> None:
    http, run_id = service.http, await start(service.http, SLOW)
    response = await http.post(f"/v1/runs/{run_id}/resume")
    assert (response.status_code, response.json()["state"]) == (409, "running")
    await http.post(f"/v1/runs/{run_id}/abort")
    await service.ended(run_id)
    for action in ("pause", "resume", "abort"):
        response = await http.post(f"/v1/runs/{run_id}/{action}")
        assert (response.status_code, response.json()["type"]) == (409, "/problems/wrong-state")
        assert response.json()["state"] == "aborted"


async def test_a_completed_run_takes_no_orders(service: Service) -> None:
    run_id = await start(service.http, HELLO)
    await service.ended(run_id)
    response = await service.http.post(f"/v1/runs/{run_id}/abort")
    assert (response.status_code, response.json()["state"]) == (409, "completed")


async def test_a_run_cancelled_through_temporal_is_shown_with_its_steps(service: Service) -> None:
    run_id = await start(service.http, SLOW)
    await service.app.temporal.get_workflow_handle(f"default/{run_id.replace('.', '/')}").cancel()
    run = await service.ended(run_id)
    assert (run["status"], run["steps"]["after"]["status"]) == ("cancelled", "skipped")


async def test_without_a_worker_a_run_starts_but_takes_no_orders(workerless: Service) -> None:
    run_id = await start(workerless.http, HELLO)
    http, path = workerless.http, f"/v1/runs/{run_id}"
    shown, response = await asyncio.gather(http.get(path), http.post(f"{path}/pause"))
    assert (response.status_code, response.json()["service"]) == (503, "worker")
    assert response.headers["retry-after"]
    assert (shown.status_code, shown.json()["status"], shown.json()["why"]) == (200, "running", [NO_WORKER])
    assert shown.json()["steps"]["greet"]["status"] == "pending"


async def test_runs_are_listed_by_definition_and_status(service: Service) -> None:
    http = service.http
    name = f"listed_{uuid.uuid4().hex[:8]}"  # other tests use the same server
    definition, slow = {**HELLO, "id": name}, {**SLOW, "id": name}
    ended = [await start(http, definition) for _ in range(3)]
    for run_id in ended:
        await service.ended(run_id)
    paused, aborted, running = [await start(http, slow) for _ in range(3)]
    await http.post(f"/v1/runs/{paused}/pause")
    await http.post(f"/v1/runs/{aborted}/abort")
    await service.ended(aborted)
    expected = {"completed": set(ended), "paused": {paused}, "aborted": {aborted}, "running": {running}}
    for status, run_ids in (*expected.items(), ("failed", set()), ("cancelled", set())):
        listed = partial(_lists, http, name, run_ids, status=status)
        await eventually(listed, f"exactly the {status} runs")
    await eventually(partial(_lists, http, name, set().union(*expected.values())), "all runs")


async def _lists(http: httpx.AsyncClient, name: str, run_ids: set[str], **filters: str) -> bool:
    found: list[dict[str, str]] = []
    after: dict[str, str] = {}
    while True:
        query = {"definition": name, "limit": "2", **filters, **after}
        page = (await http.get("/v1/runs", params=query)).json()
        found += page["runs"]
        if page["after"] is None:
            break
        after = {"after": page["after"]}
    statuses = {run["status"] for run in found} if filters else set()
    return sorted(run["run_id"] for run in found) == sorted(run_ids) and statuses <= set(filters.values())


@pytest.mark.parametrize(
    "query",
    [
        {"definition": 'x" OR "1" = "1'},
        {"document": "a'b"},
        {"status": "sleeping"},
        {"status": "pending"},
        {"limit": "0"},
        {"limit": "501"},
        {"after": "!"},
        {"after": "bm90IGEgdG9rZW4="},
    ],
)
async def test_a_filter_that_cannot_be_is_refused(http: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await http.get("/v1/runs", params=query)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


async def test_another_tenants_run_does_not_exist(service: Service) -> None:
    http, run_id = service.http, await start(service.http, SLOW)
    other = {"X-Test-Tenant": f"tenant_{uuid.uuid4().hex[:8]}"}  # other tests use the same server
    known = [await http.get(f"/v1/runs/{run_id}", headers=other)]
    known += [await http.post(f"/v1/runs/{run_id}/{action}", headers=other) for action in ("pause", "resume", "abort")]
    unknown = await http.get("/v1/runs/slow.nothing", headers=other)
    for response in known:
        assert response.status_code == 404
        assert response.json()["detail"].replace(run_id, "slow.nothing") == unknown.json()["detail"]
    assert (await http.get("/v1/runs", headers=other)).json()["runs"] == []
    await http.post(f"/v1/runs/{run_id}/abort")
