"""The dead-letter inbox through a real worker: what gets in, how it is sorted, and what people do about it."""

import asyncio
import datetime as dt
import uuid

import httpx
import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.loopback import Reply, loopback, reply_json
from tests.stack import eventually

INBOX = "/v1/dead-letters"
QUICK = {"initial_delay": 0.02, "jitter": 0}


def broken(definition_id: str, error: str = "ValueError", **more: Json) -> dict[str, Json]:
    config = {"times": 9, "error": error, "message": "no such page"}
    step = {"id": "bad", "handler": "fail", "config": config, "max_retries": 1, "retry_config": QUICK}
    return {"id": definition_id, "steps": [step, {"id": "after", "handler": "noop", "depends_on": ["bad"]}], **more}


def new_id() -> str:
    return f"letters_{uuid.uuid4().hex}"


async def start(service: Service, definition: Json) -> str:
    response = await service.http.post("/v1/runs", json={"definition": definition})
    assert response.status_code == 202, response.text
    run_id: str = response.json()["run_id"]
    return run_id


async def letter_of(service: Service, run_id: str, step_id: str = "bad", status: str = "") -> Json:
    """Wait for the letter of a step, in that status, and return it."""
    answers: list[httpx.Response] = []

    async def is_there() -> bool:
        answers.append(await service.http.get(f"{INBOX}/{run_id}/{step_id}"))
        return answers[-1].status_code == 200 and (not status or answers[-1].json()["status"] == status)

    await eventually(is_there, f"the letter of {run_id} {step_id} {status}")
    return answers[-1].json()


async def listed(http: httpx.AsyncClient, **query: str) -> list[str]:
    """Return the run ids of all pages of the list."""
    found: list[str] = []
    after: dict[str, str] = {}
    while True:
        response = await http.get(INBOX, params={"limit": "2", **query, **after})
        assert response.status_code == 200, response.text
        page = response.json()
        found += [letter["run_id"] for letter in page["letters"]]
        if page["after"] is None:
            return found
        after = {"after": page["after"]}


async def act(http: httpx.AsyncClient, run_id: str, action: str, **more: Json) -> httpx.Response:
    return await http.post(f"{INBOX}/{run_id}/bad/resolve", json={"action": action, **more})


async def test_a_failed_step_is_in_the_inbox_with_all_that_is_known(service: Service) -> None:
    run_id = await start(service, broken(new_id()))
    letter = await letter_of(service, run_id)
    assert letter.pop("failed_at")
    assert letter == {
        "run_id": run_id,
        "step_id": "bad",
        "definition_id": run_id.partition(".")[0],
        "version": 1,
        "handler": "fail",
        "document_id": None,
        "file_name": None,
        "status": "failed",
        "error_type": "ValueError",
        "error_message": "no such page",
        "retryable": False,
        "attempts": 1,
        "failed_again": 0,
        "resolution": None,
        "resolved_by": None,
        "resolved_at": None,
        "actions": [],
    }
    passing = await letter_of(service, await start(service, broken(new_id(), "ConnectionError")))
    assert (passing["retryable"], passing["attempts"]) == (True, 2)


async def test_by_default_the_inbox_shows_what_needs_a_person(service: Service) -> None:
    name = new_id()
    hopeless = [await start(service, broken(name)) for _ in range(3)]
    passing = await start(service, broken(name, "ConnectionError"))
    parked = await start(service, broken(name, "TimeoutError", on_failure="park"))
    for run_id in (*hopeless, passing, parked):
        await letter_of(service, run_id)
    http = service.http
    assert sorted(await listed(http, definition=name)) == sorted([*hopeless, parked])
    assert await listed(http, definition=name, view="retryable") == [passing]
    assert len(await listed(http, definition=name, view="all")) == 5
    assert await listed(http, definition=name, view="all", **{"class": "ConnectionError"}) == [passing]
    assert await listed(http, definition=name, handler="echo") == []
    assert await listed(http, definition=name, status="resolved") == []
    counts = (await http.get(f"{INBOX}/counts", params={"definition": name})).json()["classes"]
    assert {count["error_type"]: (count["letters"], count["parked"], count["retryable"]) for count in counts} == {
        "ValueError": (3, 0, 0),
        "ConnectionError": (1, 0, 1),
        "TimeoutError": (1, 1, 1),
    }
    assert counts[0]["error_type"] == "ValueError"


async def test_a_parked_step_is_retried_in_its_run_after_the_outage(calling: Service) -> None:
    async with loopback(Reply(503), Reply(503), reply_json({"total": 12})) as server:
        step: dict[str, Json] = {"id": "bad", "handler": "call_external_service", "config": {"url": server.url}}
        step |= {"max_retries": 1, "retry_config": QUICK}
        steps = [{"id": "before", "handler": "noop"}, step | {"depends_on": ["before"]}]
        outputs = {"total": "{{ bad.result.total }}"}
        definition = {"id": new_id(), "steps": steps, "outputs": outputs, "on_failure": "park"}
        run_id = await start(calling, definition)
        assert (await letter_of(calling, run_id, status="parked"))["retryable"] is True
        reported = await act(calling.http, run_id, "retry", reason="the service is back")
        assert reported.status_code == 200, reported.text
        assert (reported.json()["status"], reported.json()["resolution"]) == ("resolved", "retry")
        run = await calling.closed(run_id)
    assert (run["status"], run["outputs"]) == ("completed", {"total": 12})
    handle = calling.app.temporal.get_workflow_handle(f"default/{run_id.replace('.', '/', 1)}")
    history = (await handle.fetch_history()).to_json()
    assert history.count('"activityId": "before"') == 1
    [action] = (await letter_of(calling, run_id))["actions"]
    assert (action["action"], action["acted_by"]) == ("retry", "tester")
    assert action["details"]["reason"] == "the service is back"


@pytest.mark.parametrize(
    ("order", "status"),
    [
        ({"action": "skip"}, "completed"),
        ({"action": "output", "output": {"attempts": 1}}, "completed"),
        ({"action": "retry", "config": {"times": 0}}, "completed"),
        ({"action": "abort", "reason": "wrong customer"}, "aborted"),
    ],
    ids=["skip", "output", "retry", "abort"],
)
async def test_a_parked_step_is_dealt_with(service: Service, order: dict[str, Json], status: str) -> None:
    run_id = await start(service, broken(new_id(), on_failure="park"))
    await letter_of(service, run_id, status="parked")
    reported = await act(service.http, run_id, **order)
    assert reported.status_code == 200, reported.text
    assert (reported.json()["status"], reported.json()["resolved_by"]) == ("resolved", "tester")
    assert (await service.closed(run_id))["status"] == status
    letter = await letter_of(service, run_id)
    assert (letter["status"], letter["resolution"]) == ("resolved", order["action"])
    refused = await act(service.http, run_id, "retry")
    assert (refused.status_code, refused.json()["state"]) == (409, "resolved")


@pytest.mark.parametrize("action", ["retry", "skip", "output"])
async def test_a_step_of_a_run_that_failed_is_dealt_with_by_a_retry_of_the_run(service: Service, action: str) -> None:
    run_id = await start(service, broken(new_id()))
    await service.closed(run_id)
    await letter_of(service, run_id)
    output = {"output": {"attempts": 1}}
    values: dict[str, dict[str, Json]] = {"retry": {"config": {"times": 0}}, "skip": {}, "output": output}
    reported = await act(service.http, run_id, action, **values[action])
    assert reported.status_code == 200, reported.text
    assert (await service.closed(run_id))["status"] == "completed"
    letter = await letter_of(service, run_id)
    assert (letter["status"], letter["resolution"]) == ("resolved", action)


async def test_a_retry_that_fails_again_is_open_again(service: Service) -> None:
    run_id = await start(service, broken(new_id(), on_failure="park"))
    first = await letter_of(service, run_id, status="parked")
    assert (await act(service.http, run_id, "retry")).status_code == 200

    async def is_open_again() -> bool:
        now = await letter_of(service, run_id)
        return bool(now["status"] == "parked" and now["failed_at"] > first["failed_at"])

    await eventually(is_open_again, "the letter is open again")
    assert (await letter_of(service, run_id))["resolution"] is None
    await act(service.http, run_id, "abort")


async def test_an_answer_to_a_parked_step_is_refused_with_the_command_to_use(service: Service) -> None:
    run_id = await start(service, broken(new_id(), on_failure="park"))
    await letter_of(service, run_id, status="parked")
    refused = await service.http.post(f"/v1/runs/{run_id}/waits/bad", json={"answer": 1})
    assert (refused.status_code, refused.json()["state"]) == (409, "parked")
    assert f"the step is parked; use `docrail failure retry {run_id} bad`" in refused.json()["detail"]
    for step in ("after", "none"):
        refused = await service.http.post(f"/v1/runs/{run_id}/waits/{step}", json={"answer": 1})
        assert (refused.status_code, refused.json()["detail"]) == (404, f"there is no waiting step '{step}'")
    await act(service.http, run_id, "abort")


async def test_a_wait_that_is_parked_is_dealt_with_as_any_parked_step(service: Service) -> None:
    wait = {"for": "signal", "timeout_seconds": 0.05, "on_timeout": "fail"}
    run_id = await start(service, {"id": new_id(), "on_failure": "park", "steps": [{"id": "bad", "wait": wait}]})
    await letter_of(service, run_id, status="parked")
    refused = await service.http.post(f"/v1/runs/{run_id}/waits/bad", json={"answer": 1})
    assert (refused.status_code, refused.json()["state"]) == (409, "parked")
    assert "docrail failure" in refused.json()["detail"]
    await act(service.http, run_id, "abort")


async def test_a_parked_step_is_resolved_through_its_run(service: Service) -> None:
    run_id = await start(service, broken(new_id(), on_failure="park"))
    await letter_of(service, run_id, status="parked")
    path = f"/v1/runs/{run_id}/steps"
    wrong = [
        ("after", {"action": "skip"}, 409),
        ("nobody", {"action": "skip"}, 404),
        ("nobody", {"action": "output", "output": 1}, 404),
        ("bad", {"action": "retry", "config": {"times": "x"}}, 422),
        ("bad", {"action": "retry", "output": 1}, 422),
        ("bad", {"action": "output"}, 422),
        ("bad", {"action": "skip", "config": {}}, 422),
        ("bad", {"action": "forget"}, 422),
    ]
    for step, order, status in wrong:
        refused = await service.http.post(f"{path}/{step}/resolve", json=order)
        assert (refused.status_code, step) == (status, step), refused.text
        assert status != 409 or refused.json()["state"] == "pending"
    done = await service.http.post(f"{path}/bad/resolve", json={"action": "skip"})
    assert (done.status_code, done.json()["run_id"]) == (200, run_id)
    assert (await service.closed(run_id))["status"] == "completed"
    letter = await letter_of(service, run_id, status="resolved")
    assert (letter["resolution"], len(letter["actions"])) == ("skip", 1)
    refused = await service.http.post(f"{path}/bad/resolve", json={"action": "skip"})
    assert (refused.status_code, refused.json()["state"]) == (409, "completed")


async def test_all_of_a_class_are_retried_a_bounded_number_at_a_time(service: Service) -> None:
    name = new_id()
    ended = [await start(service, broken(name, "ConnectionError")) for _ in range(3)]
    parked = [await start(service, broken(name, "ConnectionError", on_failure="park")) for _ in range(2)]
    other = await start(service, broken(name, "ValueError"))
    for run_id in (*ended, *parked, other):
        await letter_of(service, run_id)
    for run_id in ended:
        await service.closed(run_id)
    order = {"class": "ConnectionError", "definition": name, "limit": 3}
    first = await service.http.post(f"{INBOX}/retry", json=order)
    assert first.status_code == 200, first.text
    assert [outcome["retried"] for outcome in first.json()["outcomes"]] == [True] * 3
    assert {outcome["run_id"] for outcome in first.json()["outcomes"]} <= {*ended, *parked}

    async def all_fell_again() -> bool:
        counts = (await service.http.get(f"{INBOX}/counts", params={"definition": name})).json()["classes"]
        return {count["error_type"]: count["letters"] for count in counts} == {"ConnectionError": 5, "ValueError": 1}

    await eventually(all_fell_again, "all have failed again")
    for run_id in ended:
        await service.closed(run_id)
    again = await service.http.post(f"{INBOX}/retry", json={**order, "limit": 100})
    assert sorted(outcome["run_id"] for outcome in again.json()["outcomes"]) == sorted([*ended, *parked])
    assert all(outcome["retried"] for outcome in again.json()["outcomes"])
    for run_id in parked:
        await service.http.post(f"/v1/runs/{run_id}/abort")
    assert (await letter_of(service, other))["status"] == "failed"


async def test_a_repeated_failure_does_not_stop_the_other_retries(service: Service) -> None:
    name = new_id()
    runs = [await start(service, broken(name, on_failure="park")) for _ in range(5)]
    failed = [(await letter_of(service, run_id))["failed_at"] for run_id in runs]
    oldest = [run_id for _, run_id in sorted(zip(failed, runs, strict=True))]
    order = {"definition": name, "limit": 3}
    sweep = {**order, "failed_before": dt.datetime.now(dt.UTC).isoformat()}

    async def retried(order: Json) -> list[str]:
        reported = (await service.http.post(f"{INBOX}/retry", json=order)).json()
        return [outcome["run_id"] for outcome in reported["outcomes"] if outcome["retried"]]

    async def failed_again(run_ids: list[str]) -> bool:
        now = [await letter_of(service, run_id, status="parked") for run_id in run_ids]
        return all(letter["failed_at"] > max(failed) for letter in now)

    assert await retried(sweep) == oldest[:3]
    await eventually(lambda: failed_again(oldest[:3]), "the first three have failed again")
    assert await retried(sweep) == oldest[3:]
    await eventually(lambda: failed_again(oldest[3:]), "the others have failed again")
    assert await retried(sweep) == []
    again = sorted([((await letter_of(service, run_id))["failed_at"], run_id) for run_id in runs])
    assert await retried(order) == [run_id for _, run_id in again[:3]]
    for run_id in runs:
        await service.http.post(f"/v1/runs/{run_id}/abort")


async def test_a_bulk_retry_says_why_each_letter_was_not_retried(service: Service) -> None:
    running = broken(new_id())
    running["steps"].append({"id": "nap", "handler": "sleep", "config": {"seconds": 3600}})
    runs = [await start(service, broken(new_id())), await start(service, running)]
    for run_id in runs:
        await letter_of(service, run_id)
    await service.closed(runs[0])
    letters = [{"run_id": run_id, "step_id": "bad"} for run_id in runs]
    reported = (await service.http.post(f"{INBOX}/retry", json={"letters": letters})).json()
    assert [(outcome["run_id"], outcome["retried"]) for outcome in reported["outcomes"]] == [
        (runs[0], True),
        (runs[1], False),
    ]
    assert reported["outcomes"][1]["why"] == "cannot retry: the step 'bad' is failed"
    assert reported["left"] == 1
    await service.http.post(f"/v1/runs/{runs[1]}/abort")


async def test_one_retry_of_a_run_is_that_of_all_its_failed_steps(service: Service) -> None:
    definition = broken(new_id())
    definition["steps"].append({**definition["steps"][0], "id": "bad2"})
    run_id = await start(service, definition)
    for step in ("bad", "bad2"):
        await letter_of(service, run_id, step)
    await service.closed(run_id)
    letters = [{"run_id": run_id, "step_id": step} for step in ("bad", "bad2")]
    reported = (await service.http.post(f"{INBOX}/retry", json={"letters": letters})).json()
    assert [outcome["retried"] for outcome in reported["outcomes"]] == [True, True]


async def test_retrying_a_step_twice_at_once_is_done_once(service: Service) -> None:
    run_id = await start(service, broken(new_id(), on_failure="park"))
    await letter_of(service, run_id, status="parked")
    orders = [act(service.http, run_id, "output", output={"attempts": 1}) for _ in range(4)]
    answers = [answer.status_code for answer in await asyncio.gather(*orders)]
    assert sorted(answers) == [200, 409, 409, 409]
    assert (await service.closed(run_id))["status"] == "completed"
    assert len((await letter_of(service, run_id))["actions"]) == 1


async def test_a_letter_that_will_not_be_retried_is_dismissed(service: Service) -> None:
    definition = broken(new_id())
    definition["steps"][0]["optional"] = True
    run_id = await start(service, definition)
    await letter_of(service, run_id)
    await service.closed(run_id)
    refused = await act(service.http, run_id, "retry")
    assert (refused.status_code, refused.json()["state"]) == (409, "completed")
    reported = await act(service.http, run_id, "dismiss", reason="known")
    assert (reported.json()["status"], reported.json()["resolution"]) == ("resolved", "dismiss")
    parked = await start(service, broken(new_id(), on_failure="park"))
    await letter_of(service, parked, status="parked")
    refused = await act(service.http, parked, "dismiss")
    assert (refused.status_code, refused.json()["state"]) == (409, "parked")
    await act(service.http, parked, "abort")


async def test_an_aborted_run_leaves_no_parked_letter(service: Service) -> None:
    run_id = await start(service, broken(new_id(), on_failure="park"))
    await letter_of(service, run_id, status="parked")
    await service.http.post(f"/v1/runs/{run_id}/abort")
    assert (await letter_of(service, run_id, status="resolved"))["resolution"] == "abort"


async def test_another_tenant_sees_nothing(service: Service) -> None:
    run_id = await start(service, broken(new_id()))
    await letter_of(service, run_id)
    other = {"X-Test-Tenant": "globex"}
    assert (await service.http.get(f"{INBOX}/{run_id}/bad", headers=other)).status_code == 404
    assert (await service.http.get(INBOX, params={"view": "all"}, headers=other)).json()["letters"] == []
    order = {"letters": [{"run_id": run_id, "step_id": "bad"}]}
    assert (await service.http.post(f"{INBOX}/retry", json=order, headers=other)).status_code == 404


@pytest.mark.parametrize(
    "query", [{"status": "closed"}, {"view": "mine"}, {"class": "\x00"}, {"after": "x"}, {"limit": "0"}]
)
async def test_a_filter_that_cannot_be_is_refused(http: httpx.AsyncClient, query: dict[str, str]) -> None:
    assert (await http.get(INBOX, params=query)).status_code == 422


@pytest.mark.parametrize("order", [{"letters": []}, {"limit": 101}, {"letters": [{}]}, {"clas": "x"}])
async def test_a_bulk_order_that_cannot_be_is_refused(http: httpx.AsyncClient, order: Json) -> None:
    assert (await http.post(f"{INBOX}/retry", json=order)).status_code == 422
