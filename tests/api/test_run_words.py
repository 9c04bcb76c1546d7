"""`GET /v1/runs/{id}` explains the state of a run and its steps, while it runs and after its end."""

import uuid
from pathlib import Path

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve, work
from tests.stack import eventually

RULE = "runs if no parent failed or was skipped because of a failure, and at least one completed"
NESTED = {"id": "words_inside", "steps": [{"id": "ask", "wait": {"for": "signal"}}]}


def failing(times: int, delay: float, base: float = 2) -> dict[str, Json]:
    retry = {"initial_delay": delay, "exponential_base": base, "jitter": 0}
    return {"handler": "fail", "config": {"times": times, "error": "ConnectionError"}, "retry_config": retry}


async def started(service: Service, *steps: dict[str, Json], **more: Json) -> str:
    definition = {"id": f"words_{uuid.uuid4().hex[:12]}", "steps": list(steps), **more}
    response = await service.http.post("/v1/runs", json={"definition": definition})
    assert response.status_code == 202, response.text
    run_id: str = response.json()["run_id"]
    return run_id


async def shown(service: Service, run_id: str) -> dict[str, Json]:
    run: dict[str, Json] = (await service.http.get(f"/v1/runs/{run_id}")).raise_for_status().json()
    return run


async def abort(service: Service, run_id: str, **order: Json) -> None:
    (await service.http.post(f"/v1/runs/{run_id}/abort", json=order, headers={"X-Test-Name": "ann"})).raise_for_status()


async def test_a_run_that_goes_on_says_what_explain_says_with_attempts_and_nested_runs(service: Service) -> None:
    (await service.http.post("/v1/definitions", json={"definition": NESTED})).raise_for_status()
    run_id = await started(
        service,
        {"id": "count", "handler": "echo", "config": {"value": 5}},
        {"id": "large", "handler": "noop", "depends_on": ["count"], "condition": "count.value > 100"},
        {"id": "shaky", **failing(9, 2, 10)},
        {"id": "inner", "workflow": {"id": NESTED["id"]}},
    )
    found: list[dict[str, Json]] = []

    async def is_there() -> bool:
        found.append((await shown(service, run_id))["steps"])
        return "attempt 3 of" in " ".join(found[-1]["shaky"]["why"]) and "is waiting" in found[-1]["inner"]["why"][-1]

    await eventually(is_there, "the nested run waits, and the third attempt is waited for")
    steps = found[-1]
    assert steps["large"]["why"] == [
        f"none_failed let it run: it {RULE}; count is completed",
        "its condition `count.value > 100` was false, so the step is skipped (count.value = 5)",
    ]
    assert steps["shaky"]["why"][1:] == [
        "attempt 3 of at most 4 begins when the delay before it is over",
        "attempt 1 failed: ConnectionError: failed as configured",
        "the last attempt failed: ConnectionError: failed as configured",
    ]
    assert steps["inner"]["why"][-1] == (
        f"it waits for its nested run {run_id}~inner, which is waiting: that can be explained too"
    )
    explained = (await service.http.get((await shown(service, run_id))["explain_url"])).json()
    assert {name: step["why"] for name, step in steps.items()} == {
        name: step["words"] for name, step in explained["steps"].items()
    }
    await abort(service, run_id)
    await service.ended(run_id)


async def test_a_step_that_failed_in_a_group_says_when_it_goes_on(service: Service) -> None:
    run_id = await started(service, {"id": "one", **failing(1, 600)}, {"id": "other", **failing(2, 600)})
    found: list[dict[str, Json]] = []

    async def is_there() -> bool:
        explained = (await service.http.get(f"/v1/runs/{run_id}/explain")).json()["steps"]
        found.append(explained["one"])
        attempts = found[-1]["attempts"] or {}
        return attempts.get("activity") == "backing_off"

    await eventually(is_there, "the second attempt is waited for")
    attempts = found[-1]["attempts"]
    assert (attempts["made"], attempts["most"], attempts["earlier"][0]["attempt"]) == (1, 4, 1)
    assert attempts["next_at"] > found[-1]["started_at"] + 500
    assert found[-1]["words"][-2:] == [
        "attempt 1 failed: ConnectionError: failed as configured",
        "attempt 2 of at most 4 begins when the delay before it is over",
    ]
    await abort(service, run_id)
    await service.ended(run_id)


async def test_an_ended_run_says_it_without_a_worker_and_with_errors_of_earlier_attempts(
    service: Service, tmp_path: Path
) -> None:
    queue = f"words-{uuid.uuid4().hex}"
    async with serve(service.settings.model_copy(update={"task_queue": queue, "data_dir": tmp_path})) as served:
        async with work(served.settings):
            run_id = await started(served, {"id": "shaky", **failing(2, 0.05)}, outputs={"n": "{{ shaky.attempts }}"})
            assert (await served.closed(run_id))["status"] == "completed"
        run = await shown(served, run_id)
    assert run["why"] == ["1 of 1 steps are settled, the run is completed"]
    assert run["steps"]["shaky"]["why"] == [
        "it has no parents, so it may begin with the run",
        "attempt 1 failed: ConnectionError: failed as configured",
        "attempt 2 failed: ConnectionError: failed as configured",
        "attempts made: 3, of at most 4",
    ]


async def test_a_run_shows_who_aborted_it(service: Service) -> None:
    run_id = await started(service, {"id": "nap", "handler": "sleep", "config": {"seconds": 3600}})
    await abort(service, run_id, reason="wrong file")
    run = await service.ended(run_id)
    assert (run["status"], run["stopped_by"], run["stopped_by_step"]) == ("aborted", "ann", None)
    assert run["why"][1] == "it was aborted by ann: wrong file"


async def test_a_run_that_was_ended_by_force_says_by_whom(service: Service) -> None:
    run_id = await started(service, {"id": "nap", "handler": "sleep", "config": {"seconds": 3600}})

    async def naps() -> bool:
        return bool((await shown(service, run_id))["steps"]["nap"]["status"] == "running")

    await eventually(naps, "the step runs")
    await abort(service, run_id, reason="wrong file", force=True)
    run = await service.ended(run_id)
    explained = (await service.http.get(run["explain_url"])).json()
    assert (run["status"], explained["status"]) == ("failed", "failed")
    assert run["why"] == explained["words"] == ["terminated in Temporal: aborted by force, by ann: wrong file"]


async def test_a_run_shows_which_step_aborted_it(service: Service) -> None:
    run = await service.ended(await started(service, {"id": "refused", "abort": {"reason": "the customer said no"}}))
    assert (run["status"], run["stopped_by"], run["stopped_by_step"]) == ("aborted", "", "refused")
    assert run["why"][1] == "it was aborted by its step refused: the customer said no"


async def test_a_run_shows_who_aborted_it_from_the_dead_letter_inbox(service: Service) -> None:
    run_id = await started(service, {"id": "check", **failing(9, 0.05), "max_retries": 0}, on_failure="park")

    async def is_parked() -> bool:
        return (await service.http.get(f"/v1/dead-letters/{run_id}/check")).status_code == 200

    await eventually(is_parked, "the step is in the inbox")
    order = {"action": "abort", "reason": "no payment"}
    path = f"/v1/dead-letters/{run_id}/check/resolve"
    (await service.http.post(path, json=order, headers={"X-Test-Name": "bob"})).raise_for_status()
    assert (await service.ended(run_id))["why"][1] == "it was aborted by bob: no payment"
