"""The list of actions on a run and on its failed steps, including steps that never were in the inbox."""

import asyncio
import uuid

import pytest

from docrail.dag.values.json_values import Json
from docrail.services.runs.control import UNANSWERED
from docrail.services.runs.repository import record_action
from tests.api.service import SLOW, Service
from tests.api.test_retries import failed, failing, retry
from tests.stack import eventually


async def actions_of(service: Service, run_id: str, query: dict[str, str]) -> list[tuple[str, str | None]]:
    listed = (await service.http.get(f"/v1/runs/{run_id}/actions", params=query)).json()["actions"]
    return [(action["action"], action["step_id"]) for action in listed]


async def test_a_retry_is_listed_with_its_edits(service: Service) -> None:
    run_id = await failed(service, failing())
    edits = {"sum": {"output": {"attempts": 7}}, "note": {"skip": True}}
    await retry(service.http, run_id, steps=edits, reason="phoned them")
    await service.closed(run_id)
    listed = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()
    assert listed["after"] is None
    [action] = listed["actions"]
    assert (action["action"], action["step_id"], action["acted_by"]) == ("retry_run", None, "tester")
    assert action["details"]["reason"] == "phoned them"
    assert action["details"]["steps"] == {
        "sum": {"action": "output", "value": {"attempts": 7}},
        "note": {"action": "skip", "value": None},
    }


async def test_actions_come_in_pages_the_latest_first(service: Service) -> None:
    run_id = await failed(service, failing())
    for reason in ("first", "second", "third"):
        await retry(service.http, run_id, reason=reason)
        await service.closed(run_id)
    seen: list[str] = []
    after: str | None = None
    while not seen or after is not None:
        query = {"limit": "1"} | ({} if after is None else {"after": after})
        page = (await service.http.get(f"/v1/runs/{run_id}/actions", params=query)).json()
        seen += [action["details"]["reason"] for action in page["actions"]]
        after = page["after"]
    assert seen == ["third", "second", "first"]


async def test_an_untouched_run_has_no_actions_and_an_unknown_one_is_not_found(service: Service) -> None:
    run_id = await failed(service, failing())
    assert (await service.http.get(f"/v1/runs/{run_id}/actions")).json() == {"actions": [], "after": None}
    missing = await service.http.get("/v1/runs/no.such/actions")
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/not-found")


async def test_a_step_lists_its_own_actions_and_those_on_the_whole_run(service: Service) -> None:
    run_id = await failed(service, failing())
    await retry(service.http, run_id)
    await service.closed(run_id)
    path = f"/v1/dead-letters/{run_id}/sum/resolve"
    dismissed = await service.http.post(path, json={"action": "dismiss", "reason": "known"})
    assert dismissed.status_code == 200, dismissed.text
    listed = {step: await actions_of(service, run_id, {"step": step}) for step in ("sum", "load")}
    assert listed == {"sum": [("dismiss", "sum"), ("retry_run", None)], "load": [("retry_run", None)]}


async def test_actions_outlive_the_run_in_temporal(service: Service) -> None:
    run_id = f"forgotten.{uuid.uuid4().hex}"
    await record_action(service.app.db, "default", run_id, "sum", "skip", details={"reason": "known"}, by="ann")
    listed = {step: await actions_of(service, run_id, {"step": step}) for step in ("sum", "load")}
    assert listed == {"sum": [("skip", "sum")], "load": []}


async def test_another_tenant_sees_nothing(service: Service) -> None:
    run_id = await failed(service, failing())
    await retry(service.http, run_id)
    refused = await service.http.get(f"/v1/runs/{run_id}/actions", headers={"X-Test-Tenant": "globex"})
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")


@pytest.mark.parametrize("query", [{"after": "x"}, {"after": "9" * 30}, {"after": "-1"}, {"step": "\0"}, {"step": ""}])
async def test_a_wrong_request_is_refused(service: Service, query: dict[str, str]) -> None:
    refused = await service.http.get("/v1/runs/some.run/actions", params=query)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    assert [problem["path"].removeprefix("query.") for problem in refused.json()["problems"]] == list(query)


async def test_a_step_that_the_run_has_not_is_refused_also_where_the_whole_run_was_retried(service: Service) -> None:
    run_id = await failed(service, failing())
    for _ in range(2):
        refused = await service.http.get(f"/v1/runs/{run_id}/actions", params={"step": "smu"})
        assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
        assert refused.json()["detail"] == f"there is no step '{run_id} smu'"
        assert await actions_of(service, run_id, {"step": "note"}) == await actions_of(service, run_id, {})
        await retry(service.http, run_id)
        await service.closed(run_id)


async def all_of(service: Service, run_id: str) -> list[dict[str, Json]]:
    """Return the run's actions, oldest first."""
    listed: list[dict[str, Json]] = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"]
    return listed[::-1]


async def slow(service: Service) -> str:
    """Return a run that continues until it is stopped."""
    run_id: str = (await service.http.post("/v1/runs", json={"definition": SLOW})).json()["run_id"]
    return run_id


async def test_pauses_resumes_and_aborts_are_listed_once_and_refused_ones_are_not(
    service: Service,
) -> None:
    run_id = await slow(service)
    path, why = f"/v1/runs/{run_id}", {"reason": "the bank is closed"}
    for action, order, status in (
        ("resume", {}, 409),
        ("pause", why, 200),
        ("pause", why, 409),
        ("resume", None, 200),
        ("abort", {"reason": "enough"}, 200),
        ("abort", {"reason": "too late"}, 409),
        ("pause", {}, 409),
    ):
        assert (await service.http.post(f"{path}/{action}", json=order)).status_code == status, action
    await service.closed(run_id)
    assert (await service.http.post(f"{path}/abort", json={"force": True})).status_code == 409
    listed = await all_of(service, run_id)
    assert [(each["action"], each["details"]) for each in listed] == [
        ("pause", why),
        ("resume", {"reason": ""}),
        ("abort", {"reason": "enough"}),
    ]
    assert {(each["acted_by"], each["step_id"]) for each in listed} == {("tester", None)}
    assert [each["acted_at"] for each in listed] == sorted(each["acted_at"] for each in listed)


async def test_of_concurrent_actions_only_those_that_happened_are_listed(service: Service) -> None:
    run_id = await slow(service)
    for action in ("pause", "resume", "abort"):
        answers = await asyncio.gather(
            *(service.http.post(f"/v1/runs/{run_id}/{action}", headers={"X-Test-Name": who}) for who in "abc")
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409], action
    assert [each["action"] for each in await all_of(service, run_id)] == ["pause", "resume", "abort"]


async def test_an_abort_by_force_is_listed_as_one(service: Service) -> None:
    run_id = await slow(service)
    order = {"force": True, "reason": "it hangs"}
    assert (await service.http.post(f"/v1/runs/{run_id}/abort", json=order)).status_code == 200
    [listed] = await all_of(service, run_id)
    assert (listed["action"], listed["details"]) == ("abort", {"reason": "it hangs", "force": True})


async def test_an_action_that_no_worker_answered_is_listed_as_unanswered(workerless: Service) -> None:
    """A worker that starts later may carry it out, and the record is the only trace of who requested it."""
    run_id = await slow(workerless)
    assert (await workerless.http.post(f"/v1/runs/{run_id}/pause", json={"reason": "why"})).status_code == 503
    [listed] = await all_of(workerless, run_id)
    assert (listed["action"], listed["details"]) == ("pause", {"reason": "why", "outcome": UNANSWERED})


async def test_an_abort_out_of_the_inbox_is_one_action_and_of_its_step(service: Service) -> None:
    definition = failing(on_failure="park")
    run_id: str = (await service.http.post("/v1/runs", json={"definition": definition})).json()["run_id"]
    letter = f"/v1/dead-letters/{run_id}/sum"

    async def is_there() -> bool:
        return (await service.http.get(letter)).status_code == 200

    await eventually(is_there, "the letter")
    done = await service.http.post(f"{letter}/resolve", json={"action": "abort", "reason": "wrong customer"})
    assert done.status_code == 200, done.text
    assert [(each["action"], each["step_id"]) for each in await all_of(service, run_id)] == [("abort", "sum")]


@pytest.mark.parametrize("run_id", ["no.such", "x"])
async def test_an_unknown_run_has_no_actions(service: Service, run_id: str) -> None:
    for order in ({}, {"force": True}):
        refused = await service.http.post(f"/v1/runs/{run_id}/abort", json=order)
        assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
    assert (await service.http.get(f"/v1/runs/{run_id}/actions")).status_code == 404
