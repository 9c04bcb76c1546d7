"""Runs as the console draws them: graph, states, steps, one step, allowed actions, many runs at once."""

import time
import uuid
from functools import partial

import httpx
import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import HELLO, SLOW, Service
from tests.api.test_runs import start
from tests.stack import eventually

BROKEN = {
    "id": "fragile",
    "steps": [
        {"id": "read", "handler": "echo", "config": {"value": {"n": 4611686018427387905, "text": "ä"}}},
        {
            "id": "check",
            "handler": "fail",
            "depends_on": ["read"],
            "config": {"times": 9, "error": "ValueError", "message": "no total"},
            "max_retries": 0,
        },
        {"id": "file", "handler": "echo", "depends_on": ["check"], "config": {"value": "{{ read.value }}"}},
    ],
}
ASKING = {
    "id": "asking_all",
    "steps": [{"id": "ask", "human": {"title": "Pay?", "assignees": {"group": "bosses", "not_the_submitter": True}}}],
}
LISTED = {
    "id": "listed",
    "steps": [
        {
            "id": "each",
            "handler": "echo",
            "for_each": {"items": ["k1", "k2", "k3"], "key": "item"},
            "config": {"value": "{{ item }}!"},
        }
    ],
}


async def get(http: httpx.AsyncClient, path: str, **more: object) -> Json:
    response = await http.get(path, **more)  # type: ignore[arg-type]
    assert response.status_code == 200, response.text
    return response.json()


def allowed(actions: list[Json]) -> set[str]:
    return {action["name"] for action in actions if action["allowed"]}


async def has_status(service: Service, run_id: str, step_id: str, status: str) -> bool:
    found = await get(service.http, f"/v1/runs/{run_id}/states")
    return bool(found["states"][step_id]["status"] == status)


async def test_a_running_run_is_drawn_with_its_states(service: Service) -> None:
    run_id = await start(service.http, SLOW)
    await eventually(partial(has_status, service, run_id, "nap", "running"), "the nap")
    drawn = await get(service.http, f"/v1/runs/{run_id}/graph")
    assert [node["id"] for node in drawn["graph"]["nodes"]] == ["nap", "after"]
    assert [(edge["source"], edge["target"]) for edge in drawn["graph"]["edges"]] == [("nap", "after")]
    assert {id_: state["status"] for id_, state in drawn["states"].items()} == {"nap": "running", "after": "pending"}
    assert (drawn["focus"], drawn["unknown"]) == ("nap", "")
    assert (drawn["run"]["status"], drawn["run"]["counts"]) == ("running", {"pending": 1, "running": 1})
    assert allowed(drawn["run"]["actions"]) == {"pause", "cancel", "abort"}
    reasons = {action["name"]: action["reason"] for action in drawn["run"]["actions"]}
    assert reasons["resume"] == reasons["retry"] == "the run is running"


async def test_unchanged_states_cost_no_body(service: Service) -> None:
    run_id = await start(service.http, SLOW)
    await eventually(partial(has_status, service, run_id, "nap", "running"), "the nap")
    path = f"/v1/runs/{run_id}/states"
    first = await service.http.get(path)
    again = await service.http.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    await service.http.post(f"/v1/runs/{run_id}/pause")
    changed = await service.http.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (changed.status_code, changed.json()["run"]["status"]) == (200, "paused")
    assert allowed(changed.json()["run"]["actions"]) == {"resume", "cancel", "abort"}


async def test_an_ended_run_is_drawn_without_a_worker(service: Service, workerless: Service) -> None:
    run_id = await start(service.http, BROKEN)
    await service.closed(run_id)
    drawn = await get(workerless.http, f"/v1/runs/{run_id}/graph")
    assert {id_: state["status"] for id_, state in drawn["states"].items()} == {
        "read": "completed",
        "check": "failed",
        "file": "skipped",
    }
    assert (drawn["focus"], drawn["states"]["check"]["error"]) == ("check", "ValueError")
    assert allowed(drawn["run"]["actions"]) == {"retry", "rerun"}


async def test_without_a_worker_a_running_run_is_drawn_from_what_temporal_has_recorded(workerless: Service) -> None:
    run_id = await start(workerless.http, HELLO)
    drawn = await get(workerless.http, f"/v1/runs/{run_id}/graph")
    assert [node["id"] for node in drawn["graph"]["nodes"]] == ["greet"]
    assert (drawn["run"]["status"], drawn["run"]["counts"]) == ("running", {"pending": 1})
    assert drawn["states"]["greet"]["status"] == "pending"
    assert drawn["unknown"].startswith("worker is not available")
    steps = (await get(workerless.http, f"/v1/runs/{run_id}/steps"))["steps"]
    assert [step["status"] for step in steps] == ["pending"]


async def test_a_failed_step_shows_its_input_its_error_and_what_can_be_done(service: Service) -> None:
    run_id = await start(service.http, BROKEN)
    await service.closed(run_id)
    shown = await get(service.http, f"/v1/runs/{run_id}/steps/check")
    assert shown["step"]["error"] == {"type": "ValueError", "message": "no total"}
    assert '"message": "no total"' in shown["input"]["text"]
    assert (shown["output"], shown["edited"]) == (None, False)
    assert allowed(shown["actions"]) == {"retry", "edit", "skip", "output"}
    assert any("no total" in line for line in shown["explanation"]["words"])
    file = await get(service.http, f"/v1/runs/{run_id}/steps/file")
    assert "4611686018427387905" in file["input"]["text"]  # not rounded


async def test_an_edited_retry_changes_the_input_that_is_shown(service: Service) -> None:
    run_id = await start(service.http, BROKEN)
    await service.closed(run_id)
    edit = {"steps": {"check": {"config": {"times": 0}}}}
    ahead = await service.http.post(f"/v1/runs/{run_id}/retry", json=edit | {"preview": True})
    assert ahead.json()["steps"]["check"]["fate"] == "rerun"
    retried = await service.http.post(f"/v1/runs/{run_id}/retry", json=edit)
    assert retried.status_code == 200, retried.text
    assert (await service.ended(run_id))["status"] == "completed"
    shown = await get(service.http, f"/v1/runs/{run_id}/steps/check")
    assert (shown["edited"], shown["input"]["text"]) == (True, '{\n  "times": 0\n}')
    assert allowed(shown["actions"]) == {"rerun"}


async def test_a_large_output_is_cut_and_can_be_downloaded(service: Service) -> None:
    large = {"id": "large", "steps": [{"id": "greet", "handler": "echo", "config": {"value": "ä" * 50_000}}]}
    run_id = await start(service.http, large)
    await service.closed(run_id)
    shown = (await get(service.http, f"/v1/runs/{run_id}/steps/greet"))["output"]
    assert (shown["cut"], shown["bytes"] > 100_000) == (True, True)
    assert 65_000 < len(shown["text"].encode()) <= 65_536
    whole = await get(service.http, f"/v1/runs/{run_id}/steps/greet/input")
    assert whole["input"] == {"value": "ä" * 50_000}


async def test_who_can_answer_a_waiting_step_is_shown(service: Service) -> None:
    run_id = await start(service.http, ASKING)
    await eventually(partial(has_status, service, run_id, "ask", "waiting"), "the question")
    shown = await get(service.http, f"/v1/runs/{run_id}/steps/ask")
    waiting = shown["explanation"]["waiting"]
    assert (waiting["asks"], waiting["group"], waiting["not_the_submitter"]) == ("Pay?", "bosses", True)
    assert allowed(shown["actions"]) == {"answer"}


async def test_the_items_of_a_list_are_shown_one_by_one(service: Service) -> None:
    run_id = await start(service.http, LISTED)
    await service.closed(run_id)
    path = f"/v1/runs/{run_id}/steps/each"
    first = await get(service.http, f"{path}/items", params={"limit": 2})
    assert [(item["key"], item["status"], item["value"]) for item in first["items"]] == [
        ("k1", "completed", '"k1"'),
        ("k2", "completed", '"k2"'),
    ]
    rest = await get(service.http, f"{path}/items", params={"after": first["after"]})
    assert ([item["key"] for item in rest["items"]], rest["after"]) == (["k3"], None)
    assert (await get(service.http, f"{path}/items", params={"status": "failed"}))["items"] == []
    assert (await get(service.http, f"{path}/input", params={"item": "k2"}))["input"] == {"value": "k2!"}


async def test_an_unknown_step_is_404(service: Service) -> None:
    run_id = await start(service.http, HELLO)
    await service.ended(run_id)
    for path in ("greeet", "greeet/input", "greeet/items"):
        refused = await service.http.get(f"/v1/runs/{run_id}/steps/{path}")
        assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found"), path


async def test_steps_are_listed_searched_and_paged(service: Service) -> None:
    run_id = await start(service.http, BROKEN)
    await service.closed(run_id)
    path = f"/v1/runs/{run_id}/steps"
    page = await get(service.http, path, params={"limit": 2})
    assert ([step["step_id"] for step in page["steps"]], page["found"], page["after"]) == (
        ["read", "check"],
        3,
        "check",
    )
    rest = await get(service.http, path, params={"limit": 2, "after": "check"})
    assert ([step["step_id"] for step in rest["steps"]], rest["after"]) == (["file"], None)
    found = await get(service.http, path, params={"search": "CHE"})
    assert [step["step_id"] for step in found["steps"]] == ["check"]
    failed = await get(service.http, path, params={"status": "failed"})
    assert [step["step_id"] for step in failed["steps"]] == ["check"]


async def test_a_run_of_two_thousand_steps_is_drawn_and_followed_well_below_a_second(service: Service) -> None:
    steps: list[Json] = [{"id": "first", "wait": {"for": "signal"}}]
    steps += [{"id": f"s{n}", "handler": "noop", "depends_on": ["first"]} for n in range(1, 2_000)]
    run_id = await start(service.http, {"id": "huge", "steps": steps})
    await eventually(partial(has_status, service, run_id, "first", "waiting"), "the wait")
    drawn = await get(service.http, f"/v1/runs/{run_id}/graph")
    assert 2 <= len(drawn["graph"]["nodes"]) <= 300
    group = drawn["graph"]["nodes"][1]["id"]
    opened = await get(service.http, f"/v1/runs/{run_id}/graph", params={"open": group})
    assert len(drawn["graph"]["nodes"]) < len(opened["graph"]["nodes"]) <= 300
    for path in (f"graph?open={group}", f"states?open={group}", "steps?limit=2000"):
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            await get(service.http, f"/v1/runs/{run_id}/{path}")
            times.append(time.perf_counter() - begun)
        assert min(times) < 1, path
    await service.http.post(f"/v1/runs/{run_id}/abort")


async def test_a_cancelled_run_can_be_retried(service: Service) -> None:
    run_id = await start(service.http, SLOW)
    await eventually(partial(has_status, service, run_id, "nap", "running"), "the nap")
    cancelled = await service.http.post(f"/v1/runs/{run_id}/cancel", json={"reason": "wrong version"})
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert (await service.closed(run_id))["status"] == "cancelled"
    drawn = await get(service.http, f"/v1/runs/{run_id}/graph")
    assert allowed(drawn["run"]["actions"]) == {"retry", "rerun"}
    again = await service.http.post(f"/v1/runs/{run_id}/cancel")
    assert (again.status_code, again.json()["type"]) == (409, "/problems/wrong-state")
    actions = await get(service.http, f"/v1/runs/{run_id}/actions")
    assert [(each["action"], each["details"]) for each in actions["actions"]] == [
        ("cancel", {"reason": "wrong version"})
    ]


async def test_many_runs_are_not_run_again_from_a_step_at_once(service: Service) -> None:
    refused = await service.http.post("/v1/runs/bulk", json={"action": "rerun", "run_ids": ["hello.x"]})
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "action")


async def test_without_the_scope_no_action_is_allowed(service: Service) -> None:
    run_id = await start(service.http, SLOW)
    reader = {"X-Test-Scopes": "read"}
    drawn = await get(service.http, f"/v1/runs/{run_id}/graph", headers=reader)
    assert allowed(drawn["run"]["actions"]) == set()
    reasons = {(action["reason_code"], action["reason"]) for action in drawn["run"]["actions"]}
    assert reasons == {("needs_scope", "this needs the scope 'operate'")}
    await service.http.post(f"/v1/runs/{run_id}/abort")


async def test_many_runs_are_aborted_at_once_and_each_has_a_result(service: Service) -> None:
    slow = [await start(service.http, SLOW) for _ in range(2)]
    done = await start(service.http, HELLO)
    await service.closed(done)
    order = {"action": "abort", "run_ids": [*slow, done, "hello.none"], "reason": "sent twice"}
    outcomes = (await service.http.post("/v1/runs/bulk", json=order)).json()["outcomes"]
    assert [(each["run_id"], each["done"]) for each in outcomes] == [
        *((run_id, True) for run_id in slow),
        (done, False),
        ("hello.none", False),
    ]
    assert outcomes[2]["why"] == "cannot abort: the run is completed"
    assert outcomes[3]["why"].startswith("there is no run")


async def test_runs_are_listed_by_when_they_started_and_ended(service: Service) -> None:
    definition = HELLO | {"id": f"timed_{uuid.uuid4().hex[:8]}"}
    first = await start(service.http, definition)
    ended = (await service.closed(first))["ended_at"]
    open_ = await start(service.http, SLOW | {"id": definition["id"]})

    async def listed(**filters: str) -> set[str]:
        page = await get(service.http, "/v1/runs", params={"definition": definition["id"], **filters})
        return {run["run_id"] for run in page["runs"]}

    async def both_are_listed() -> bool:
        return await listed() == {first, open_}

    await eventually(both_are_listed, "both runs in the list")
    run = (await get(service.http, "/v1/runs", params={"definition": definition["id"], "status": "completed"}))["runs"][
        0
    ]
    assert run["allowed"] == ["rerun"]
    assert await listed(ended_since="2000-01-01T00:00:00Z") == {first}
    assert await listed(ended_before="2000-01-01T00:00:00Z") == set()
    assert await listed(started_since=run["started_at"]) == {first, open_}
    assert await listed(started_before=run["started_at"]) == set()
    assert ended is not None
    await service.http.post(f"/v1/runs/{open_}/abort")


async def test_a_definition_is_drawn_without_a_run(service: Service) -> None:
    published = await service.http.post("/v1/definitions", json={"definition": BROKEN})
    assert published.status_code == 201
    graph = await get(service.http, "/v1/definitions/fragile/graph")
    assert [node["id"] for node in graph["nodes"]] == ["read", "check", "file"]


@pytest.mark.parametrize("group", ["x", "1-", "1-2,", "1-2;3-4"])
async def test_a_malformed_group_is_refused(service: Service, group: str) -> None:
    refused = await service.http.get("/v1/runs/hello.x/graph", params={"open": group})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")


async def test_failures_are_grouped_by_class_and_step_and_those_that_fail_again_are_counted(service: Service) -> None:
    definition = BROKEN | {"id": f"grouped_{uuid.uuid4().hex[:8]}"}
    runs = [await start(service.http, definition) for _ in range(2)]
    for run_id in runs:
        await service.closed(run_id)

    async def group() -> Json:
        found = await get(service.http, "/v1/dead-letters/groups", params={"definition": definition["id"]})
        return found["groups"][0] if found["groups"] else {}

    async def has(field: str, number: int) -> bool:
        return bool((await group()).get(field) == number)

    await eventually(partial(has, "letters", 2), "both failures")
    found = await group()
    assert (found["error_type"], found["step_id"], found["failed_again"], found["runs"]) == (
        "ValueError",
        "check",
        0,
        2,
    )
    assert found["message"] == "no total"
    order = {"class": "ValueError", "definition": definition["id"], "step": "check"}
    retried = (await service.http.post("/v1/dead-letters/retry", json=order)).json()
    assert [outcome["retried"] for outcome in retried["outcomes"]] == [True, True]
    await eventually(partial(has, "failed_again", 2), "both to fail again")
    letters = await get(service.http, "/v1/dead-letters", params={"definition": definition["id"], "step": "check"})
    assert {letter["failed_again"] for letter in letters["letters"]} == {1}


async def test_open_and_failed_runs_of_definitions_are_counted(service: Service) -> None:
    broken, asking = ({**each, "id": f"c_{uuid.uuid4().hex}"} for each in (BROKEN, ASKING))
    await start(service.http, definition=broken)
    await start(service.http, definition=asking)
    ids = f"{broken['id']},{asking['id']},never_published"

    async def counts(since: str) -> Json:
        found = await get(service.http, "/v1/runs/counts", params={"definitions": ids, "failed_since": since})
        return [(each["open"], each["failed"]) for each in found["counts"]]

    async def are_counted() -> bool:
        return bool(await counts("2020-01-01T00:00:00Z") == [(0, 1), (1, 0), (0, 0)])

    await eventually(are_counted, "the runs to be counted")
    assert await counts("2100-01-01T00:00:00Z") == [(0, 0), (1, 0), (0, 0)]
    theirs = await get(
        service.http,
        "/v1/runs/counts",
        params={"definitions": ids, "failed_since": "2020-01-01T00:00:00Z"},
        headers={"X-Test-Tenant": "another"},
    )
    assert {(each["open"], each["failed"]) for each in theirs["counts"]} == {(0, 0)}
