"""Items of a list that people give another config, an output or a skip, in runs that wait and in runs that ended."""

import uuid

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.api.test_dead_letters import letter_of
from tests.api.test_dead_letters import start as started
from tests.api.test_retries import failed, retry, started_again

MORE: Json = {
    "k7": {"config": {"times": 0}},
    "k8": {"output": {"attempts": 7}},
    "k9": {"skip": True},
}
DONE = {"key": "k1", "status": "completed", "output": {"attempts": 1}}
GIVEN = [
    DONE,
    {"key": "k7", "status": "completed", "output": {"attempts": 1}},
    {"key": "k8", "status": "completed", "output": {"attempts": 7}},
    {"key": "k9", "status": "skipped"},
]
BY_HAND = "by hand, k7 takes a config, k8 takes an output, k9 is skipped"


def list_of(items: dict[str, Json], **more: Json) -> dict[str, Json]:
    """Return a definition whose step `bad` fails for each item that says how often."""
    each = {"items": [{"key": key, "times": times} for key, times in items.items()], "key": "item.key"}
    bad = {"id": "bad", "handler": "fail", "for_each": each, "config": {"times": "{{ item.times }}"}, "max_retries": 0}
    steps = [
        {"id": "load", "handler": "echo", "config": {"value": 3}},
        {**bad, "depends_on": ["load"]},
        {"id": "sum", "handler": "echo", "depends_on": ["bad"], "config": {"value": "{{ bad.completed }}"}},
    ]
    outputs = {"items": "{{ bad.items }}", "completed": "{{ sum.value }}"}
    return {"id": f"items_{uuid.uuid4().hex}", "steps": steps, "outputs": outputs, **more}


FOUR = {"k1": 0, "k7": 9, "k8": 9, "k9": 9}


async def parked(service: Service, definition: Json) -> str:
    run_id = await started(service, definition)
    await letter_of(service, run_id, status="parked")
    return run_id


async def resolve(service: Service, run_id: str, **order: Json) -> Json:
    return await service.http.post(f"/v1/runs/{run_id}/steps/bad/resolve", json={"action": "retry", **order})


async def test_items_of_a_parked_list_are_given_what_they_need(service: Service) -> None:
    run_id = await parked(service, list_of(FOUR, on_failure="park"))
    previewed = await retry(service.http, run_id, steps={"bad": {"items": MORE}}, preview=True)
    assert previewed.json()["steps"] == {
        "load": {"fate": "reused", "why": "stays as it is: completed"},
        "bad": {"fate": "rerun", "why": f"1 of its 4 items completed, and are kept; {BY_HAND}"},
        "sum": {"fate": "rerun", "why": "has not begun"},
    }
    reported = await resolve(service, run_id, items=MORE, reason="typed wrong")
    assert reported.status_code == 200, reported.text
    run = await service.closed(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"items": GIVEN, "completed": 3})
    assert run["steps"]["bad"]["items"]["skipped"] == 1
    assert run["steps"]["bad"]["attempts"] == 1
    [action] = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"]
    assert (action["action"], action["step_id"], action["acted_by"]) == ("retry", "bad", "tester")
    assert action["details"] == {"items": MORE, "reason": "typed wrong"}
    assert (await letter_of(service, run_id, status="resolved"))["resolution"] == "retry"
    again = await resolve(service, run_id, items=MORE)
    assert (again.status_code, again.json()["state"]) == (409, "completed")


async def test_items_of_a_list_whose_run_failed_are_given_what_they_need(service: Service) -> None:
    run_id = await failed(service, list_of(FOUR))
    order: Json = {"steps": {"bad": {"items": MORE}}}
    previewed = (await retry(service.http, run_id, **order, preview=True)).json()
    assert previewed["steps"]["bad"] == {
        "fate": "rerun",
        "why": f"failed: ItemsFailed; 1 of its 4 items completed, and are kept; {BY_HAND}",
    }
    assert (await retry(service.http, run_id, **order)).status_code == 200
    run = await service.closed(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"items": GIVEN, "completed": 3})
    assert await started_again(service, run_id) == ["bad~k7", "sum"]
    [action] = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"]
    assert action["details"]["steps"] == {"bad": {"action": "items", "value": MORE}}
    assert (await letter_of(service, run_id, status="resolved"))["resolution"] == "retry"


async def test_an_item_is_given_a_config_from_the_inbox_and_keeps_it(service: Service) -> None:
    run_id = await failed(service, list_of({"k1": 0, "k7": 9, "k8": 9}))
    resolving = f"/v1/dead-letters/{run_id}/bad/resolve"
    edit = {"action": "retry", "items": {"k7": {"config": {"times": 8, "message": "still wrong"}}}}
    assert (await service.http.post(resolving, json=edit)).status_code == 200
    run = await service.closed(run_id)
    assert run["status"] == "failed"
    assert [item.get("error", {}).get("message") for item in run["steps"]["bad"]["output"]["items"]] == [
        None,
        "still wrong",
        "failed as configured",
    ]
    edit = {"action": "retry", "items": {"k8": {"skip": True}}}
    assert (await service.http.post(resolving, json=edit)).status_code == 200
    run = await service.closed(run_id)
    kept = run["steps"]["bad"]["output"]["items"]
    assert [item["status"] for item in kept] == ["completed", "failed", "skipped"]
    assert kept[1]["error"]["message"] == "still wrong"  # the config that it was given is its own from then on


async def test_items_that_a_completed_run_left_failed_are_edited(service: Service) -> None:
    definition = list_of({"k1": 0, "k7": 9})
    definition["steps"][1]["for_each"]["max_failures"] = 1
    run_id = await started(service, definition)
    assert (await service.closed(run_id))["status"] == "completed"
    given = {"bad": {"items": {"k7": {"output": {"attempts": 3}}}}}
    previewed = (await retry(service.http, run_id, steps=given, preview=True)).json()["steps"]["bad"]
    assert previewed == {
        "fate": "new",
        "why": "completed; 1 of its 2 items completed, and are kept; by hand, k7 takes an output",
    }
    assert (await retry(service.http, run_id, steps=given)).status_code == 200
    run = await service.closed(run_id)
    assert run["outputs"]["items"] == [DONE, {"key": "k7", "status": "completed", "output": {"attempts": 3}}]


async def test_an_items_run_begins_with_the_inputs_that_it_is_given(service: Service) -> None:
    inputs = {"times": {"type": "integer", "required": True}}
    call = {"id": "call", "handler": "fail", "config": {"times": "{{ inputs.times }}"}, "max_retries": 0}
    outputs = {"attempts": "{{ call.attempts }}"}
    inner: Json = {"id": f"inner_{uuid.uuid4().hex}", "inputs": inputs, "steps": [call], "outputs": outputs}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    each = {"items": [{"key": "k0", "times": 0}, {"key": "k9", "times": 9}], "key": "item.key"}
    bad = {"id": "bad", "for_each": each, "workflow": {"id": inner["id"], "inputs": {"times": "{{ item.times }}"}}}
    run_id = await failed(service, {"id": f"items_{uuid.uuid4().hex}", "steps": [bad]})
    wrong = await retry(service.http, run_id, steps={"bad": {"items": {"k9": {"config": {"times": 0, "tims": 1}}}}})
    assert wrong.status_code == 422, wrong.text
    found = {problem["path"]: problem["suggestion"] for problem in wrong.json()["problems"]}
    assert found == {"steps.bad.items.k9.config.tims": "times"}
    given = {"bad": {"items": {"k9": {"config": {"times": 0}}}}}
    assert (await retry(service.http, run_id, steps=given)).status_code == 200
    run = await service.closed(run_id)
    assert run["status"] == "completed", run
    assert (await service.http.get(f"/v1/runs/{run_id}~bad~k9")).json()["outputs"] == {"attempts": 1}


WRONG: list[tuple[Json, str, str]] = [
    ({"items": {"k77": {"skip": True}}}, "items.k77", "the list has no such item, but 4 others"),
    ({"items": {"k1": {"skip": True}}}, "items.k1", "has completed, and is kept as it is"),
    ({"items": {"k7": {"config": {"times": "many"}}}}, "items.k7.config.times", "valid integer"),
    ({"items": {"k7": {"output": {"attempts": "many"}}}}, "items.k7.output.attempts", "must be a whole number"),
    ({"config": {"times": 0}}, "config", "give one to each item that needs another"),
]


STRANGE: list[Json] = [
    {"k\0": {"skip": True}},
    {"k7": {"output": "\0"}},
    {"k7": {"config": {"message": "x" * 300_000}}},
]


@pytest.mark.parametrize("on_failure", ["park", "continue"])
async def test_outputs_that_cannot_be_stored_are_refused(service: Service, on_failure: str) -> None:
    run_id = await (parked if on_failure == "park" else failed)(service, list_of(FOUR, on_failure=on_failure))
    for items in STRANGE:
        for is_preview in (True, False):
            if on_failure == "park" and not is_preview:
                reported = await resolve(service, run_id, items=items)
            else:
                reported = await retry(service.http, run_id, steps={"bad": {"items": items}}, preview=is_preview)
            assert reported.status_code == 422, reported.text
            assert "items" in reported.json()["problems"][0]["path"]


@pytest.mark.parametrize("on_failure", ["park", "continue"])
async def test_invalid_edits_of_items_are_refused(service: Service, on_failure: str) -> None:
    is_parked = on_failure == "park"
    run_id = await (parked if is_parked else failed)(service, list_of(FOUR, on_failure=on_failure))
    for edit, path, message in WRONG:
        for is_preview in (True, False):
            if is_parked and not is_preview:
                reported, prefix = await resolve(service, run_id, **edit), ""
            else:
                reported = await retry(service.http, run_id, steps={"bad": edit}, preview=is_preview)
                prefix = "steps.bad."
            assert reported.status_code == 422, reported.text
            [problem] = reported.json()["problems"]
            assert problem["path"] == f"{prefix}{path}"
            assert message in problem["message"]
            assert problem.get("suggestion") == ("k7" if "k77" in path else None)
    assert (await service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"] == []


@pytest.mark.parametrize(
    "order",
    [
        {"action": "skip", "items": {"k7": {"skip": True}}},
        {"action": "retry", "items": {}},
        {"action": "retry", "items": {"k7": {}}},
        {"action": "retry", "items": {"k7": {"config": None}}},
        {"action": "retry", "items": {"k7": {"skip": True, "output": 1}}},
        {"action": "retry", "items": {"k7": {"skip": True}}, "config": {}},
        {"action": "items", "items": {"k7": {"skip": True}}},
    ],
)
@pytest.mark.parametrize("path", ["/v1/dead-letters/a.b/bad/resolve", "/v1/runs/a.b/steps/bad/resolve"])
async def test_orders_that_say_too_little_or_too_much_are_refused(service: Service, path: str, order: Json) -> None:
    assert (await service.http.post(path, json=order)).status_code == 422


async def test_a_list_that_is_made_anew_takes_nothing_for_its_items(service: Service) -> None:
    run_id = await failed(service, list_of(FOUR))
    edits: Json = {"load": {"output": {"value": 4}}, "bad": {"items": MORE}}
    reported = await retry(service.http, run_id, steps=edits)
    assert reported.status_code == 422, reported.text
    [problem] = reported.json()["problems"]
    assert problem["path"] == "steps.bad.items"
    assert "its list is computed again, because it follows load, which is not reused" in problem["message"]
    given = await retry(service.http, run_id, steps={"load": {"items": MORE}})
    [problem] = given.json()["problems"]
    assert (problem["path"], problem["message"]) == ("steps.load.items", "only a step over a list has items")
