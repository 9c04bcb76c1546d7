"""What a run waits for, itself and inside it: `docrail run waits`, GET /v1/runs/{id}/waits, and explain."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

TAG = "slow_service"
KEYS = ["a", "b c", "d", "e", "f", "g", "h"]
DEEPEST: dict[str, Json] = {
    "id": "waits_deepest",
    "steps": [
        {"id": "nap", "title": "Rest", "wait": {"for": "timer", "seconds": 3600}},
        {"id": "count", "handler": "sleep", "config": {"seconds": 3600}, "title": "Not idle"},
    ],
}
INNER: dict[str, Json] = {
    "id": "waits_inside",
    "inputs": {"n": {"type": "string"}},
    "steps": [
        {
            "id": "ask",
            "title": "Ask the customer",
            "wait": {"for": "signal", "timeout_seconds": 3600, "on_timeout": "fail"},
        }
    ],
}
STEPS: list[dict[str, Json]] = [
    {
        "id": "approve",
        "title": "Approve it",
        "human": {"queue": "finance", "title": "Go on with {{ inputs.n }}?", "form": {}},
    },
    {
        "id": "each",
        "workflow": {"id": "waits_inside", "inputs": {"n": "{{ item }}"}},
        "for_each": {"items": KEYS, "key": "item", "max_concurrency": 6},
    },
    {"id": "one", "workflow": {"id": "waits_deepest"}},
    {
        "id": "slow",
        "handler": "sleep",
        "resource_tag": TAG,
        "config": {"seconds": 3600},
        "for_each": {"items": [f"n {n}" for n in range(9)], "key": "item", "max_concurrency": 9},
    },
]


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("waits"))
        slow = settings.model_copy(update={"resource_limits": {**settings.resource_limits, TAG: 0.01}})
        async with serve_with_worker(slow) as served:
            yield served


@pytest.fixture(scope="module")
async def run_id(service: Service) -> AsyncIterator[str]:
    """Give a run that has come as far as it comes by itself."""
    for inner in (INNER, DEEPEST):
        await service.http.post("/v1/definitions", json={"definition": inner})
    inputs = {"n": {"type": "integer", "default": len(KEYS)}}
    order = {"definition": {"id": "waits", "inputs": inputs, "limits": {"max_concurrency": 20}, "steps": STEPS}}
    started = await service.http.post("/v1/runs", json=order)
    assert started.status_code == 202, started.text
    run_id: str = started.json()["run_id"]

    async def is_there() -> bool:
        steps = (await explained(service, run_id))["steps"]
        queued = (steps["slow"]["at_work"] or {}).get("queued", 0)
        return steps["each"]["inner_waiting"] == 6 and queued > 4 and len((await waits(service, run_id))["waits"]) == 8

    await eventually(is_there, "everything waits")
    yield run_id
    await service.http.post(f"/v1/runs/{run_id}/abort")
    assert (await service.ended(run_id))["status"] == "aborted"


async def explained(service: Service, run_id: str) -> dict[str, Json]:
    response = await service.http.get(f"/v1/runs/{run_id}/explain")
    assert response.status_code == 200, response.text
    printed: dict[str, Json] = response.json()
    return printed


async def waits(service: Service, run_id: str, **wanted: Json) -> dict[str, Json]:
    response = await service.http.get(f"/v1/runs/{run_id}/waits", params=wanted)
    assert response.status_code == 200, response.text
    printed: dict[str, Json] = response.json()
    return printed


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail("run", "waits", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def test_all_that_is_waited_for_is_listed_with_where_it_is_answered(service: Service, run_id: str) -> None:
    printed = await waits(service, run_id)
    found = {(each["outer_step_id"], each["item"]): each for each in printed["waits"]}
    assert (printed["unanswered"], printed["paused"], printed["after"]) == ([], [], None)
    assert found.keys() == {(None, None), ("one", None), *(("each", key) for key in KEYS[:6])}
    own, inner, timer = found[None, None], found["each", "b c"], found["one", None]
    assert (own["run_id"], own["step_id"], own["title"]) == (run_id, "approve", "Approve it")
    assert (own["waiting"]["waits_for"], own["waiting"]["queue"]) == ("human", "finance")
    assert (own["waiting"]["asks"], inner["waiting"]["asks"]) == (f"Go on with {len(KEYS)}?", None)
    assert inner["run_id"].startswith(f"{run_id}~each~")
    assert (inner["step_id"], inner["waiting"]["waits_for"]) == ("ask", "signal")
    assert inner["waiting"]["until"] == inner["waiting"]["since"] + 3600
    assert (timer["run_id"], timer["step_id"], timer["waiting"]["waits_for"]) == (f"{run_id}~one", "nap", "timer")


async def test_pages_are_of_runs_inside_and_the_first_has_the_runs_own_waits(service: Service, run_id: str) -> None:
    found: list[Json] = []
    after: dict[str, Json] = {}
    sizes: list[int] = []
    while True:
        page = await waits(service, run_id, limit=3, **after)
        found += page["waits"]
        sizes.append(len(page["waits"]))
        if page["after"] is None:
            break
        after = {"after": page["after"]}
    assert sizes[:2] == [4, 3]
    assert len({(each["run_id"], each["step_id"]) for each in found}) == len(found) == 8
    response = await service.http.get(f"/v1/runs/{run_id}/waits", params={"after": "nonsense"})
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "after")


async def test_a_list_is_explained_by_some_of_its_waiting_runs(service: Service, run_id: str) -> None:
    each = (await explained(service, run_id))["steps"]["each"]
    assert each["inner_waiting"] == 6
    assert len(each["inner_waits"]) == 5
    assert f"6 runs inside it wait; `docrail run waits {run_id}` lists all waits" in each["words"]
    first = each["inner_waits"][0]
    said = f"item {first['item']}: ask of {first['run_id']}: it waits for an answer, 1 hour in all; then the step fails"
    assert said in each["words"]
    assert first["item"] in KEYS


async def test_a_list_is_explained_by_its_items_that_wait_for_their_turn(service: Service, run_id: str) -> None:
    slow = (await explained(service, run_id))["steps"]["slow"]
    at_work = slow["at_work"]
    assert at_work["running"] + at_work["queued"] == 9
    assert len(at_work["queued_items"]) == 5
    assert set(at_work["queued_items"]) < {f"n {n}" for n in range(9)}
    said = f"{at_work['queued']} waiting for a worker or their turn of {TAG} ({', '.join(at_work['queued_items'])}"
    assert any(said in line for line in slow["words"])


async def test_the_command_lists_them(service: Service, run_id: str) -> None:
    printed = await typed(service, run_id)
    assert (printed.code, printed.err) == (0, "")
    lines = printed.out.splitlines()
    [human] = [line for line in lines if "a person in queue finance" in line]
    assert human.split()[:2] == [run_id, "approve"]
    assert human.rstrip().endswith(f"Go on with {len(KEYS)}?")
    assert sum("an answer" in line and "Ask the customer" in line for line in lines) == 6
    assert len(json.loads((await typed(service, run_id, "--json")).out)) == 8


async def test_runs_that_are_paused_are_named_and_a_pause_is_what_a_run_waits_for(service: Service) -> None:
    await service.http.post("/v1/definitions", json={"definition": INNER})
    steps: list[dict[str, Json]] = [
        {"id": "inside", "workflow": {"id": "waits_inside", "inputs": {"n": "1"}}},
        {"id": "reply", "wait": {"for": "signal"}},
        {"id": "then", "handler": "noop", "depends_on": ["reply", "inside"]},
    ]
    order = {"definition": {"id": "waits_paused", "steps": steps}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]

    async def waits_for(*expected: str) -> bool:
        return [each["run_id"] for each in (await waits(service, run_id))["waits"]] == [*expected]

    await eventually(lambda: waits_for(run_id, f"{run_id}~inside"), "both wait")
    for paused in (run_id, f"{run_id}~inside"):
        assert (await service.http.post(f"/v1/runs/{paused}/pause")).status_code == 200
    assert (await waits(service, run_id))["paused"] == [run_id, f"{run_id}~inside"]
    for answered in (f"{run_id}~inside/waits/ask", f"{run_id}/waits/reply"):
        assert (await service.http.post(f"/v1/runs/{answered}", json={"answer": {}})).status_code == 200
    await service.http.post(f"/v1/runs/{run_id}~inside/resume")
    await eventually(waits_for, "only a pause keeps it")
    printed = f"{run_id} is paused: it takes answers, but no step starts before `docrail run resume {run_id}`\n"
    assert (await typed(service, run_id)).out == printed
    as_json = await typed(service, run_id, "--json")
    assert (json.loads(as_json.out), as_json.err) == ([], f"docrail: {printed}")
    await service.http.post(f"/v1/runs/{run_id}/resume")
    assert (await service.ended(run_id))["status"] == "completed"


async def test_a_parked_step_inside_waits_for_a_person(service: Service) -> None:
    parked = {
        "id": "waits_parked",
        "on_failure": "park",
        "steps": [{"id": "bad", "handler": "fail", "config": {"times": 9}, "max_retries": 0}],
    }
    await service.http.post("/v1/definitions", json={"definition": parked})
    outer = {"id": "waits_around", "steps": [{"id": "inner", "workflow": {"id": "waits_parked"}}]}
    run_id = (await service.http.post("/v1/runs", json={"definition": outer})).json()["run_id"]

    async def is_there() -> bool:
        found = (await waits(service, run_id))["waits"]
        return [(each["run_id"], each["step_id"], each["waiting"]) for each in found] == [
            (f"{run_id}~inner", "bad", None)
        ]

    await eventually(is_there, "the parked step")
    assert "a decision on its failure" in (await typed(service, run_id)).out
    await service.http.post(f"/v1/runs/{run_id}/abort")
    await service.ended(run_id)
    assert (await typed(service, run_id)).out == f"{run_id} waits for nothing\n"


async def test_waiting_items_of_a_long_list_are_reported_although_they_are_in_chunks(service: Service) -> None:
    each = {"items": "{{ inputs.keys }}", "key": "item", "max_concurrency": 8}
    slow = {"id": "slow", "handler": "sleep", "resource_tag": TAG, "config": {"seconds": 3600}, "for_each": each}
    asks = {"id": "asks", "workflow": {"id": "waits_inside", "inputs": {"n": "{{ item }}"}}, "for_each": each}
    definition = {
        "id": "waits_long",
        "inputs": {"keys": {"type": "array"}},
        "limits": {"max_concurrency": 8},
        "steps": [asks, slow],
    }
    await service.http.post("/v1/definitions", json={"definition": INNER})
    keys = [f"key {n}" for n in range(260)]
    order = {"definition": definition, "inputs": {"keys": keys}}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    printed: list[dict[str, Json]] = []

    async def is_there() -> bool:
        printed.append((await explained(service, run_id))["steps"])
        at_work = printed[-1]["slow"]["at_work"] or {"running": 0, "queued": 0}
        return bool(at_work["running"] + at_work["queued"] == 8 and printed[-1]["asks"]["inner_waiting"] == 8)

    await eventually(is_there, "the chunks' items")
    assert set(printed[-1]["slow"]["at_work"]["queued_items"]) < set(keys)
    assert {wait["item"] for wait in printed[-1]["asks"]["inner_waits"]} < set(keys)
    assert len({wait["item"] for wait in (await waits(service, run_id))["waits"]} & set(keys)) == 8
    await service.http.post(f"/v1/runs/{run_id}/abort")
    await service.ended(run_id)


async def test_another_tenant_learns_of_nothing(service: Service, run_id: str) -> None:
    headers = {"X-Test-Tenant": "other"}
    assert (await service.http.get(f"/v1/runs/{run_id}/waits", headers=headers)).status_code == 404
    missing = await asyncio.gather(*(typed(service, name) for name in ("waits.none", "nothing at all")))
    assert [each.code for each in missing] == [1, 1]
