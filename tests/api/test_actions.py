"""What people did about a run's failed steps is told, also of steps that never were in the dead-letter inbox."""

import uuid

import pytest

from storage.operator_actions import record_action
from tests.api.service import Service
from tests.api.test_retries import failed, failing, retry


async def actions_of(service: Service, run_id: str, query: dict[str, str]) -> list[tuple[str, str | None]]:
    told = (await service.http.get(f"/v1/runs/{run_id}/actions", params=query)).json()["actions"]
    return [(action["action"], action["step_id"]) for action in told]


async def test_a_retry_is_told_with_what_was_given_by_hand(service: Service) -> None:
    run_id = await failed(service, failing())
    edits = {"sum": {"output": {"attempts": 7}}, "note": {"skip": True}}
    await retry(service.http, run_id, steps=edits, reason="phoned them")
    await service.ended(run_id)
    told = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()
    assert told["after"] is None
    [action] = told["actions"]
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
        await service.ended(run_id)
    seen: list[str] = []
    after: str | None = None
    while not seen or after is not None:
        query = {"limit": "1"} | ({} if after is None else {"after": after})
        page = (await service.http.get(f"/v1/runs/{run_id}/actions", params=query)).json()
        seen += [action["details"]["reason"] for action in page["actions"]]
        after = page["after"]
    assert seen == ["third", "second", "first"]


async def test_a_run_to_which_nobody_did_anything_has_none_and_an_unknown_one_is_not_found(service: Service) -> None:
    run_id = await failed(service, failing())
    assert (await service.http.get(f"/v1/runs/{run_id}/actions")).json() == {"actions": [], "after": None}
    missing = await service.http.get("/v1/runs/no.such/actions")
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/not-found")


async def test_of_a_step_only_what_concerns_it_or_its_whole_run_is_told(service: Service) -> None:
    run_id = await failed(service, failing())
    await retry(service.http, run_id)
    await service.ended(run_id)
    path = f"/v1/dead-letters/{run_id}/sum/resolve"
    dismissed = await service.http.post(path, json={"action": "dismiss", "reason": "known"})
    assert dismissed.status_code == 200, dismissed.text
    told = {step: await actions_of(service, run_id, {"step": step}) for step in ("sum", "load")}
    assert told == {"sum": [("dismiss", "sum"), ("retry_run", None)], "load": [("retry_run", None)]}


async def test_what_was_done_outlives_what_temporal_keeps_of_the_run(service: Service) -> None:
    run_id = f"forgotten.{uuid.uuid4().hex}"
    await record_action(service.app.db, "default", run_id, "sum", "skip", details={"reason": "known"}, by="ann")
    told = {step: await actions_of(service, run_id, {"step": step}) for step in ("sum", "load")}
    assert told == {"sum": [("skip", "sum")], "load": []}


async def test_another_tenant_is_told_nothing(service: Service) -> None:
    run_id = await failed(service, failing())
    await retry(service.http, run_id)
    refused = await service.http.get(f"/v1/runs/{run_id}/actions", headers={"X-Test-Tenant": "globex"})
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")


@pytest.mark.parametrize("query", [{"after": "x"}, {"after": "9" * 30}, {"after": "-1"}, {"step": "\0"}, {"step": ""}])
async def test_what_is_asked_for_wrongly_is_refused(service: Service, query: dict[str, str]) -> None:
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
        await service.ended(run_id)
