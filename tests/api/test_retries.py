"""Runs that ended and go on: what is kept, what is edited, newer versions, and who is refused."""

import asyncio
import uuid
from functools import partial

import httpx
import pytest

from docrail.dag.values.json_values import Json
from tests.api.invoices import e_invoice
from tests.api.service import SLOW, Service
from tests.stack import eventually

NO_RETRY = {"max_retries": 0}


def failing(definition_id: str = "", **more: Json) -> dict[str, Json]:
    """Return a definition whose second step fails, with a parent, a child and an unrelated step."""
    return {
        "id": definition_id or f"retried_{uuid.uuid4().hex}",
        "steps": [
            {"id": "load", "handler": "echo", "config": {"value": 3}},
            {"id": "sum", "handler": "fail", "depends_on": ["load"], "config": {"times": 9}, **NO_RETRY},
            {"id": "send", "handler": "echo", "depends_on": ["sum"], "config": {"value": "{{ sum.attempts }}"}},
            {"id": "note", "handler": "echo", "depends_on": ["load"], "config": {"value": "{{ load.value }}"}},
        ],
        "outputs": {"sent": "{{ send.value }}", "note": "{{ note.value }}"},
        **more,
    }


async def failed(service: Service, definition: Json, **more: Json) -> str:
    """Run a definition to its failure and return the run's id."""
    response = await service.http.post("/v1/runs", json={"definition": definition, **more})
    assert response.status_code == 202, response.text
    run = await service.closed(response.json()["run_id"])
    assert run["status"] == "failed", run
    run_id: str = run["run_id"]
    return run_id


async def retry(http: httpx.AsyncClient, run_id: str, **order: Json) -> httpx.Response:
    return await http.post(f"/v1/runs/{run_id}/retry", json=order)


async def started_again(service: Service, run_id: str) -> list[str]:
    """Return the steps that the run's last Temporal run gave to a worker."""
    handle = service.app.temporal.get_workflow_handle(f"default/{run_id.replace('.', '/', 1)}")
    history = await handle.fetch_history()
    scheduled = (event.activity_task_scheduled_event_attributes for event in history.events)
    names = [each.activity_id for each in scheduled if each.activity_id]
    return [name for name in names if not name.isdigit()]


async def test_a_retry_keeps_what_completed_and_does_the_rest(service: Service) -> None:
    run_id = await failed(service, failing())
    reported = await retry(service.http, run_id, steps={"sum": {"config": {"times": 0}}})
    assert reported.status_code == 200, reported.text
    assert reported.json()["status"] == "running"
    run = await service.closed(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"sent": 1, "note": 3})
    assert run["steps"]["sum"]["resolved_by"] == "tester"
    assert await started_again(service, run_id) == ["sum", "send"]


async def test_a_preview_shows_everything_and_starts_nothing(service: Service) -> None:
    run_id = await failed(service, failing())
    reported = (await retry(service.http, run_id, steps={"sum": {"output": {"attempts": 5}}}, preview=True)).json()
    assert (reported["run_id"], reported["status"], reported["version"]) == (run_id, "failed", 1)
    assert reported["steps"] == {
        "load": {"fate": "reused", "why": "completed"},
        "sum": {"fate": "new", "why": "takes an output given by hand"},
        "note": {"fate": "reused", "why": "completed"},
        "send": {"fate": "rerun", "why": "skipped: upstream_failed"},
    }
    assert (await service.http.get(f"/v1/runs/{run_id}")).json()["status"] == "failed"
    letters = (await service.http.get(f"/v1/dead-letters/{run_id}/sum")).json()
    assert (letters["status"], letters["actions"]) == ("failed", [])


@pytest.mark.parametrize(
    ("edit", "status", "sent"), [({"output": {"attempts": 5}}, "completed", 5), ({"skip": True}, "skipped", None)]
)
async def test_a_step_is_given_an_output_or_skipped(service: Service, edit: Json, status: str, sent: Json) -> None:
    run_id = await failed(service, failing(outputs={}))
    assert (await retry(service.http, run_id, steps={"sum": edit})).status_code == 200
    run = await service.closed(run_id)
    assert (run["status"], run["steps"]["sum"]["status"]) == ("completed", status)
    assert (run["steps"]["send"]["output"] or {}).get("value") == sent
    letter = (await service.http.get(f"/v1/dead-letters/{run_id}/sum")).json()
    action = next(iter(edit))
    assert (letter["status"], letter["resolution"], letter["resolved_by"]) == ("resolved", action, "tester")
    assert letter["actions"][0]["action"] == "retry_run"


async def test_a_retried_run_is_listed_once_as_it_is_now(service: Service) -> None:
    http, definition = service.http, failing()
    done, once, twice = [await failed(service, definition) for _ in range(3)]
    await retry(http, done, steps={"sum": {"config": {"times": 0}}})
    await retry(http, twice)
    assert [(await service.closed(run_id))["status"] for run_id in (done, twice)] == ["completed", "failed"]

    async def lists(expected: set[tuple[str, str, int]], **filters: str) -> bool:
        found: list[Json] = []
        after: dict[str, str] = {}
        while not found or after:
            page = (await http.get("/v1/runs", params={"definition": definition["id"], **filters, **after})).json()
            found += page["runs"]
            if page["after"] is None:
                break
            after = {"after": page["after"]}
        lines = [(line["run_id"], line["status"], line["attempts"]) for line in found]
        return len(lines) == len(expected) and set(lines) == expected

    still = {(once, "failed", 1), (twice, "failed", 2)}
    for limit in ("1", "2", "100"):
        await eventually(partial(lists, still, status="failed", limit=limit), "the runs that are failed now")
        await eventually(partial(lists, {*still, (done, "completed", 2)}, limit=limit), "each run once")


async def test_a_run_goes_on_with_a_newer_version(service: Service) -> None:
    definition = failing()
    run_id = await failed(service, definition)
    definition["steps"][1] = {"id": "sum", "handler": "echo", "depends_on": ["load"], "config": {"value": 8}}
    definition["steps"][2] |= {"config": {"value": "{{ sum.value + inputs.plus }}"}}
    definition["inputs"] = {"plus": {"type": "integer", "default": 2}}
    published = await service.http.post("/v1/definitions", json={"definition": definition})
    assert published.json()["version"] == 2
    preview = (await retry(service.http, run_id, version=2, preview=True)).json()
    assert {name: step["fate"] for name, step in preview["steps"].items()} == {
        "load": "reused",
        "sum": "rerun",
        "note": "reused",
        "send": "rerun",
    }
    assert (await retry(service.http, run_id, version=2)).json()["version"] == 2
    run = await service.closed(run_id)
    assert (run["status"], run["version"], run["outputs"]["sent"]) == ("completed", 2, 10)


async def test_the_key_still_finds_a_run_that_went_on_with_a_newer_version(service: Service) -> None:
    definition, key = failing(), uuid.uuid4().hex
    run_id = await failed(service, definition, key=key)
    newer = definition | {"title": "fixed", "steps": [definition["steps"][0]], "outputs": {}}
    await service.http.post("/v1/definitions", json={"definition": newer})
    assert (await retry(service.http, run_id, version=2)).json()["steps"]["sum"]["fate"] == "dropped"
    assert (await service.closed(run_id))["status"] == "completed"
    again = await service.http.post("/v1/runs", json={"definition": definition, "key": key})
    assert (again.status_code, again.json()["created"], again.json()["version"]) == (202, False, 2)
    letter = (await service.http.get(f"/v1/dead-letters/{run_id}/sum")).json()
    assert letter["status"] == "resolved"


async def test_a_version_that_needs_a_missing_input_is_refused(service: Service) -> None:
    definition = failing()
    run_id = await failed(service, definition)
    newer = definition | {"inputs": {"iban": {"type": "string", "required": True}}}
    await service.http.post("/v1/definitions", json={"definition": newer})
    refused = await retry(service.http, run_id, version=2)
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "inputs.iban")


async def test_retries_at_the_same_moment_start_one_run(service: Service) -> None:
    run_id = await failed(service, failing())
    edit = {"sum": {"config": {"times": 0}}}
    answers = await asyncio.gather(*(retry(service.http, run_id, steps=edit) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    assert {answer.json()["state"] for answer in answers if answer.status_code == 409} <= {"running", "completed"}
    assert (await service.closed(run_id))["status"] == "completed"
    actions = (await service.http.get(f"/v1/dead-letters/{run_id}/sum")).json()["actions"]
    assert [action["action"] for action in actions] == ["retry_run"]


async def test_a_run_that_runs_completed_or_was_aborted_is_not_retried(service: Service) -> None:
    started = await service.http.post("/v1/runs", json={"definition": SLOW})
    run_id = started.json()["run_id"]
    refused = await retry(service.http, run_id)
    assert (refused.status_code, refused.json()["state"]) == (409, "running")
    await service.http.post(f"/v1/runs/{run_id}/abort")
    await service.closed(run_id)
    refused = await retry(service.http, run_id)
    assert (refused.status_code, refused.json()["state"]) == (409, "aborted")


async def test_a_cancelled_run_goes_on_where_it_stood(service: Service) -> None:
    started = await service.http.post("/v1/runs", json={"definition": SLOW})
    run_id = started.json()["run_id"]
    await service.app.temporal.get_workflow_handle(f"default/{run_id.replace('.', '/')}").cancel()
    assert (await service.closed(run_id))["status"] == "cancelled"
    assert (await retry(service.http, run_id, steps={"nap": {"config": {"seconds": 0}}})).status_code == 200
    assert (await service.closed(run_id))["status"] == "completed"


async def test_a_run_that_failed_again_is_retried_again(service: Service) -> None:
    run_id = await failed(service, failing())
    for _ in range(2):
        assert (await retry(service.http, run_id)).status_code == 200
        assert (await service.closed(run_id))["status"] == "failed"
        letter = (await service.http.get(f"/v1/dead-letters/{run_id}/sum")).json()
        assert (letter["status"], letter["resolution"]) == ("failed", None)
    assert len(letter["actions"]) == 2


@pytest.mark.parametrize(
    ("order", "path"),
    [
        ({"steps": {"sun": {"skip": True}}}, "steps.sun"),
        ({"steps": {"sum": {"config": {"times": "nine"}}}}, "steps.sum.config.times"),
        ({"steps": {"sum": {"config": {"tims": 0}}}}, "steps.sum.config.times"),
        ({"steps": {"sum": {"output": "\x00"}}}, "steps.sum.output"),
        ({"steps": {"sum": {}}}, "steps.sum"),
        ({"steps": {"sum": {"skip": True, "output": 1}}}, "steps.sum"),
        ({"steps": {"sum": {"config": None}}}, "steps.sum"),
    ],
)
async def test_edits_that_do_not_fit_are_refused_by_their_place(service: Service, order: Json, path: str) -> None:
    run_id = await failed(service, failing())
    refused = await retry(service.http, run_id, **order)
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, path)


async def test_an_unknown_run_is_not_found(service: Service) -> None:
    assert (await retry(service.http, "nothing.here")).status_code == 404
    run_id = await failed(service, failing())
    assert (await retry(service.http, run_id, version=7)).status_code == 404
    elsewhere = {"X-Test-Tenant": "globex"}
    refused = await service.http.post(f"/v1/runs/{run_id}/retry", json={}, headers=elsewhere)
    assert refused.status_code == 404


async def test_finished_items_are_kept(service: Service) -> None:
    items = {"items": [0, 9, 0], "key": "index", "on_item_error": "collect"}
    steps = [{"id": "all", "handler": "fail", "for_each": items, "config": {"times": "{{ item }}"}, **NO_RETRY}]
    run_id = await failed(service, {"id": f"items_{uuid.uuid4().hex}", "steps": steps})
    assert (await retry(service.http, run_id)).status_code == 200
    await service.closed(run_id)
    assert await started_again(service, run_id) == ["all~1"]


async def test_a_nested_run_is_retried_by_the_run_around_it(service: Service) -> None:
    inner = {"id": f"inner_{uuid.uuid4().hex}", "steps": failing()["steps"][:2]}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    outer = {"id": f"outer_{uuid.uuid4().hex}", "steps": [{"id": "call", "workflow": {"id": inner["id"]}}]}
    run_id = await failed(service, outer)
    refused = await retry(service.http, f"{run_id}~call")
    assert refused.status_code == 422
    assert "retry that one" in refused.json()["problems"][0]["message"]
    letter = f"/v1/dead-letters/{run_id}~call/sum"
    assert (await service.http.get(letter)).json()["status"] == "failed"
    assert (await service.http.post(f"{letter}/resolve", json={"action": "retry"})).status_code == 200
    assert (await service.closed(run_id))["status"] == "failed"
    assert (await retry(service.http, run_id, steps={"call": {"output": {}}})).status_code == 200
    assert (await service.closed(run_id))["status"] == "completed"
    assert (await service.http.get(letter)).json()["status"] == "resolved"


async def test_a_retry_keeps_what_completed_in_the_runs_inside(service: Service) -> None:
    inner = {
        "id": f"inner_{uuid.uuid4().hex}",
        "inputs": {"times": {"type": "integer"}},
        "steps": failing()["steps"][:2],
    }
    inner["steps"][1] |= {"config": {"times": "{{ inputs.times }}"}}
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    middle = {"id": f"middle_{uuid.uuid4().hex}", "inputs": inner["inputs"]}
    middle["steps"] = [{"id": "call", "workflow": {"id": inner["id"], "inputs": {"times": "{{ inputs.times }}"}}}]
    assert (await service.http.post("/v1/definitions", json={"definition": middle})).status_code == 201
    calls = {"items": [0, 9], "key": "item"}
    call = {"id": "all", "for_each": calls, "workflow": {"id": middle["id"], "inputs": {"times": "{{ item }}"}}}
    run_id = await failed(service, {"id": f"outer_{uuid.uuid4().hex}", "steps": [call]})
    assert (await retry(service.http, run_id)).status_code == 200
    assert (await service.closed(run_id))["status"] == "failed"
    assert await started_again(service, f"{run_id}~all~9~call") == ["sum"]
    assert await started_again(service, f"{run_id}~all~0~call") == ["load", "sum"]  # its one and only time


async def test_a_run_inside_is_started_again_with_what_is_kept_of_it_alone(service: Service) -> None:
    """What is kept of all nine together would be too large for each of them."""
    inner: dict[str, Json] = {
        "id": f"inner_{uuid.uuid4().hex}",
        "inputs": {"text": {"type": "string"}, "n": {"type": "integer"}},
    }
    inner["steps"] = [
        {"id": "load", "handler": "echo", "config": {"value": "{{ inputs.text }}"}},
        {"id": "more", "handler": "echo", "depends_on": ["load"], "config": {"value": "{{ inputs.text }}"}},
        {"id": "sum", "handler": "fail", "depends_on": ["more"], "config": {"times": 9}, **NO_RETRY},
    ]
    assert (await service.http.post("/v1/definitions", json={"definition": inner})).status_code == 201
    call: dict[str, Json] = {"id": "all", "for_each": {"items": list(range(9)), "max_concurrency": 9}}
    call["workflow"] = {"id": inner["id"], "inputs": {"n": "{{ item }}", "text": "{{ inputs.text }}"}}
    outer = {"id": f"outer_{uuid.uuid4().hex}", "inputs": {"text": {"type": "string"}}, "steps": [call]}
    run_id = await failed(service, outer, inputs={"text": "q" * 58_000})
    assert (await retry(service.http, run_id)).status_code == 200
    assert (await service.closed(run_id))["status"] == "failed"
    assert [await started_again(service, f"{run_id}~all~{n}") for n in range(9)] == [["sum"]] * 9


async def test_a_retried_document_has_one_review_and_one_parquet(service: Service) -> None:
    uploaded = await service.http.post(
        "/v1/documents", files={"file": ("i.xml", e_invoice(uuid.uuid4().hex[:8]), "application/xml")}
    )
    document_id = uploaded.json()["document_id"]
    await service.closed(uploaded.json()["run_id"])
    shipped = (await service.http.get("/v1/definitions/invoice")).json()["body"]
    steps = [*shipped["steps"], {"id": "book", "handler": "fail", "depends_on": ["create_review"], **NO_RETRY}]
    steps[-1]["config"] = {"times": 9}
    definition = {**shipped, "id": f"booked_{uuid.uuid4().hex}", "steps": steps}
    run_id = await failed(service, definition, inputs={"document_id": document_id})
    before = (await service.http.get(f"/v1/runs/{run_id}")).json()["steps"]
    assert (await retry(service.http, run_id, steps={"book": {"config": {"times": 0}}})).status_code == 200
    run = await service.closed(run_id)
    assert run["status"] == "completed"
    assert await started_again(service, run_id) == ["book"]
    for name in ("extract", "save_parquet", "create_review"):
        assert run["steps"][name]["output"] == before[name]["output"]
    lake = service.settings.data_dir / "lake"
    assert len([file for file in lake.rglob("*.parquet") if document_id in str(file)]) == 1

    page = (await service.http.get("/v1/reviews", params={"limit": 500})).json()
    assert [review["document_id"] for review in page["reviews"]].count(document_id) == 1


async def test_a_completed_run_retries_only_the_items_that_it_tolerated(service: Service) -> None:
    each = {"handler": "fail", "for_each": {"items": [0, 1, 0], "max_failures": 2}, **NO_RETRY}
    steps = [
        {"id": "all", **each, "config": {"times": "{{ item }}"}},
        {"id": "sum", "handler": "echo", "depends_on": ["all"], "config": {"value": "{{ all.failed }}"}},
        {"id": "note", "handler": "echo", "config": {"value": 1}},
    ]
    started = await service.http.post(
        "/v1/runs", json={"definition": {"id": f"tolerant_{uuid.uuid4().hex}", "steps": steps}}
    )
    run_id: str = started.json()["run_id"]
    assert (await service.closed(run_id))["status"] == "completed"
    reported = (await retry(service.http, run_id, preview=True)).json()
    assert (reported["status"], {name: step["fate"] for name, step in reported["steps"].items()}) == (
        "completed",
        {"all": "rerun", "note": "reused", "sum": "rerun"},
    )
    assert reported["steps"]["all"]["why"] == "1 of its 3 items failed, and only these run again"
    assert (await retry(service.http, run_id)).status_code == 200
    assert (await service.closed(run_id))["status"] == "completed"
    assert await started_again(service, run_id) == ["all~1", "sum"]


async def test_the_preview_shows_what_a_skip_skips(service: Service) -> None:
    run_id = await failed(service, failing(outputs={}))
    reported = (await retry(service.http, run_id, steps={"sum": {"skip": True}}, preview=True)).json()
    assert reported["steps"]["send"] == {"fate": "skipped", "why": "upstream_skipped"}


UNDO = {"handler": "fail", "config": {"times": 99, "error": "ValueError", "message": "no refund"}}


async def test_a_failed_compensation_is_shown_and_its_step_does_not_run_twice(service: Service) -> None:
    definition = failing(outputs={})
    definition["steps"][0]["compensate"] = UNDO
    run_id = await failed(service, definition)
    letter = (await service.http.get(f"/v1/dead-letters/{run_id}/load")).json()
    assert (letter["status"], letter["handler"], letter["error_type"]) == ("failed", "fail", "ValueError")
    assert letter["error_message"] == "what it did could not be undone: no refund"
    reported = await retry(service.http, run_id, steps={"sum": {"config": {"times": 0}}})
    why = "completed, and its effects remain: its compensation failed"
    assert reported.json()["steps"]["load"] == {"fate": "reused", "why": why}
    assert (await service.closed(run_id))["status"] == "completed"
    assert "load" not in await started_again(service, run_id)
    assert (await service.http.get(f"/v1/dead-letters/{run_id}/load")).json()["status"] == "resolved"


PARKED: dict[str, Json] = {"on_failure": "park", "outputs": {}}


async def parked(service: Service, definition: Json) -> str:
    started = await service.http.post("/v1/runs", json={"definition": definition["id"]})
    run_id: str = started.json()["run_id"]

    async def is_parked() -> bool:
        run = (await service.http.get(f"/v1/runs/{run_id}")).json()
        return bool(run["steps"].get("sum", {}).get("status") == "parked" and run["status"] == "waiting")

    await eventually(is_parked, "a step is parked")
    return run_id


@pytest.mark.parametrize(
    ("edit", "outputs", "fates", "end"),
    [
        pytest.param(
            {"skip": True}, {"n": "{{ sum.attempts }}"}, ("new", "skipped"), "ends failed: outputs: ", id="skip"
        ),
        pytest.param({"skip": True}, {}, ("new", "skipped"), "ends completed", id="skip, and nothing reads it"),
        pytest.param({"output": {"attempts": 1}}, {}, ("new", "rerun"), "", id="output"),
        pytest.param({"config": {"times": 0}}, {}, ("rerun", "rerun"), "", id="another config"),
    ],
)
async def test_a_preview_shows_what_resolving_a_parked_step_leads_to(
    service: Service, edit: Json, outputs: Json, fates: tuple[str, str], end: str
) -> None:
    definition = failing() | PARKED | {"outputs": outputs}
    await service.http.post("/v1/definitions", json={"definition": definition})
    run_id = await parked(service, definition)
    reported = (await retry(service.http, run_id, steps={"sum": edit}, preview=True)).json()
    assert tuple(reported["steps"][name]["fate"] for name in ("sum", "send")) == fates
    assert reported["end"].startswith(end)
    assert (await retry(service.http, run_id, steps={"load": {"skip": True}}, preview=True)).status_code == 409
    assert (await service.http.get(f"/v1/runs/{run_id}")).json()["steps"]["sum"]["status"] == "parked"


async def test_a_parked_run_goes_on_under_a_newer_version_with_what_it_has_done(service: Service) -> None:
    definition = failing() | PARKED
    definition["steps"][0]["compensate"] = {"handler": "noop"}
    await service.http.post("/v1/definitions", json={"definition": definition})
    run_id = await parked(service, definition)
    newer = {**definition, "steps": [{**each} for each in definition["steps"]]}
    newer["steps"][1]["config"] = {"times": 0}
    await service.http.post("/v1/definitions", json={"definition": newer})
    assert (await retry(service.http, run_id)).status_code == 409  # it waits for a word about its step
    reported = (await retry(service.http, run_id, version=2, preview=True)).json()
    assert {name: step["fate"] for name, step in reported["steps"].items()} == {
        "load": "reused",
        "note": "reused",
        "sum": "rerun",
        "send": "rerun",
    }
    assert (await service.http.get(f"/v1/runs/{run_id}")).json()["status"] == "waiting"
    went_on = await retry(service.http, run_id, version=2)
    assert went_on.status_code == 200, went_on.text
    run = await service.closed(run_id)
    assert (run["status"], run["version"], run["steps"]["send"]["output"]["value"]) == ("completed", 2, 1)
    assert await started_again(service, run_id) == ["sum", "send"]
    assert (await service.http.get(f"/v1/dead-letters/{run_id}/sum")).json()["status"] == "resolved"


ORDER: dict[str, Json] = {
    "inputs": {"amount": {"type": "integer", "required": True}, "to": {"type": "string", "default": "DE02"}},
    "steps": [
        {"id": "load", "handler": "echo", "config": {"value": "{{ inputs.amount }}"}},
        {"id": "address", "handler": "echo", "config": {"value": "{{ inputs.to }}"}},
        {
            "id": "pay",
            "handler": "echo",
            "depends_on": ["load", "address"],
            "config": {"value": "{{ load.value }} to {{ address.value }}"},
        },
        {"id": "note", "handler": "echo", "depends_on": ["address"], "config": {"value": "{{ address.value }}"}},
    ],
    "outputs": {"paid": "{{ pay.value }}", "note": "{{ note.value }}"},
}


async def completed(service: Service, key: str) -> str:
    """Run ORDER to its end under its own id, and return the run's id."""
    definition = ORDER | {"id": f"order_{uuid.uuid4().hex}"}
    order = {"definition": definition, "inputs": {"amount": 5}, "key": key}
    run_id: str = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    assert (await service.ended(run_id))["outputs"] == {"paid": "5 to DE02", "note": "DE02"}
    return run_id


async def test_a_completed_run_is_run_again_from_a_step(service: Service) -> None:
    run_id = await completed(service, "a")
    preview = await retry(service.http, run_id, from_steps=["pay"], preview=True)
    assert {name: step["fate"] for name, step in preview.json()["steps"].items()} == {
        **dict.fromkeys(("load", "address", "note"), "reused"),
        "pay": "rerun",
    }
    assert (await retry(service.http, run_id, from_steps=["pay"])).status_code == 200
    run = await service.ended(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"paid": "5 to DE02", "note": "DE02"})
    assert await started_again(service, run_id) == ["pay"]


async def test_a_completed_run_goes_on_with_other_inputs(service: Service) -> None:
    run_id = await completed(service, "b")
    changed = await retry(service.http, run_id, inputs={"amount": 7}, reason="a typing error")
    assert changed.status_code == 200, changed.text
    run = await service.ended(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"paid": "7 to DE02", "note": "DE02"})
    assert await started_again(service, run_id) == ["load", "pay"]
    [action] = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"]
    assert action["details"]["inputs"] == {"amount": 7}
    assert await inputs_of(service, run_id) == {"amount": 7, "to": "DE02"}
    again = await retry(service.http, run_id, inputs={"to": "DE07"})
    assert again.status_code == 200, again.text
    assert (await service.ended(run_id))["outputs"] == {"paid": "7 to DE07", "note": "DE07"}
    assert await inputs_of(service, run_id) == {"amount": 7, "to": "DE07"}


async def inputs_of(service: Service, run_id: str) -> Json:
    shown = await service.http.get(f"/v1/runs/{run_id}/inputs")
    assert shown.status_code == 200, shown.text
    return shown.json()["inputs"]


async def test_a_failed_run_takes_other_inputs_and_a_step_to_begin_at(service: Service) -> None:
    definition = {
        "id": f"retried_{uuid.uuid4().hex}",
        "inputs": {"times": {"type": "integer", "default": 9}},
        "steps": [
            {"id": "load", "handler": "echo", "config": {"value": 3}},
            {"id": "sum", "handler": "fail", "depends_on": ["load"], "config": {"times": "{{ inputs.times }}"}}
            | NO_RETRY,
        ],
    }
    run_id = await failed(service, definition)
    assert (await retry(service.http, run_id, inputs={"times": 0}, from_steps=["load"])).status_code == 200
    assert (await service.ended(run_id))["status"] == "completed"
    assert await started_again(service, run_id) == ["load", "sum"]


@pytest.mark.parametrize(
    ("order", "path"),
    [
        ({"from_steps": ["paid"]}, "from_steps.paid"),
        ({"inputs": {"amount": "seven"}}, "inputs.amount"),
        ({"inputs": {"amounts": 7}}, "inputs.amounts"),
        ({"inputs": {"document_id": "doc_1"}}, "inputs.document_id"),
    ],
)
async def test_what_does_not_fit_the_run_is_refused_by_its_place(service: Service, order: Json, path: str) -> None:
    run_id = await completed(service, "c")
    refused = await retry(service.http, run_id, **order)
    assert refused.status_code == 422, refused.text
    assert [each["path"] for each in refused.json()["problems"]] == [path]
    assert (await service.ended(run_id))["status"] == "completed"


async def test_an_aborted_run_is_not_run_again_from_a_step(service: Service) -> None:
    run_id = (await service.http.post("/v1/runs", json={"definition": SLOW})).json()["run_id"]
    assert (await service.http.post(f"/v1/runs/{run_id}/abort")).is_success
    await service.ended(run_id)
    refused = await retry(service.http, run_id, from_steps=["nap"])
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")
