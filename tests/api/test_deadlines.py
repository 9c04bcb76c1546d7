"""Overdue runs are marked in lists, reports and explanations; a retry has its own deadline."""

import uuid

import httpx

from docrail.dag.values.json_values import Json
from tests.api.service import Service
from tests.stack import eventually

SECONDS = 2.0


def late(**more: Json) -> dict[str, Json]:
    """Return a definition that waits for an answer and then fails."""
    return {
        "id": f"late_{uuid.uuid4().hex}",
        "deadline_seconds": SECONDS,
        "steps": [
            {"id": "reply", "wait": {"for": "signal"}},
            {"id": "check", "handler": "fail", "depends_on": ["reply"], "config": {"times": 9}, "max_retries": 0},
        ],
        **more,
    }


async def start(http: httpx.AsyncClient, definition: Json) -> str:
    response = await http.post("/v1/runs", json={"definition": definition})
    assert response.status_code == 202, response.text
    run_id: str = response.json()["run_id"]
    return run_id


async def listed(http: httpx.AsyncClient, **asked: str) -> list[dict[str, Json]]:
    response = await http.get("/v1/runs", params=asked)
    assert response.status_code == 200, response.text
    runs: list[dict[str, Json]] = response.json()["runs"]
    return runs


async def test_an_overdue_run_is_found_until_it_ends_and_its_retry_begins_anew(service: Service) -> None:
    http, definition = service.http, late()
    run_id = await start(http, definition)
    of: dict[str, str] = {"definition": definition["id"]}

    async def is_overdue() -> bool:
        return bool(await listed(http, **of, overdue="true"))

    assert not await is_overdue()
    await eventually(is_overdue, "the run is in the list of overdue ones")
    [line] = await listed(http, **of, overdue="true")
    assert (line["run_id"], line["overdue"], line["ended_at"]) == (run_id, True, None)
    assert await listed(http, **of, overdue="false") == []
    assert (await http.get(f"/v1/runs/{run_id}")).json()["overdue"] is True
    explained = (await http.get(f"/v1/runs/{run_id}/explain")).json()
    assert explained["overdue"] is True
    assert "it is overdue, and goes on: it had not ended 2 s after its start" in explained["words"]
    rows = await service.app.db.fetch("SELECT * FROM overdue_runs WHERE run_id = $1", run_id)
    assert [(row["tenant_id"], row["definition_id"], row["version"]) for row in rows] == [
        ("default", definition["id"], 1)
    ]

    assert (await http.post(f"/v1/runs/{run_id}/waits/reply", json={"answer": {}})).status_code == 200
    assert (await service.closed(run_id))["status"] == "failed"
    await eventually(lambda: _none(http, of), "it has left the list of open ones")
    [ended] = await listed(http, **of, overdue="true", status="failed")
    assert (ended["run_id"], ended["overdue"]) == (run_id, True)

    again = await http.post(f"/v1/runs/{run_id}/retry", json={"steps": {"check": {"config": {"times": 0}}}})
    assert again.status_code == 200, again.text
    done = await service.closed(run_id)
    assert (done["status"], done["overdue"]) == ("completed", False)


async def _none(http: httpx.AsyncClient, of: dict[str, str]) -> bool:
    return await listed(http, **of, overdue="true") == []


async def test_a_value_that_is_not_boolean_is_refused(service: Service) -> None:
    refused = await service.http.get("/v1/runs", params={"overdue": "soon"})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["path"] == "query.overdue"


async def test_a_cached_step_is_marked_as_cached(service: Service) -> None:
    config = {"value": uuid.uuid4().hex}
    steps = [{"id": "ask", "handler": "echo", "config": config, "cache": {"ttl_seconds": 60}}]
    first, second = [
        await service.ended(await start(service.http, {"id": f"cached_{uuid.uuid4().hex}", "steps": steps}))
        for _ in range(2)
    ]
    assert (first["steps"]["ask"]["cached"], second["steps"]["ask"]["cached"]) == (False, True)
    assert second["steps"]["ask"]["output"] == config, "though another definition asked for it"


async def test_a_run_whose_definition_says_so_is_aborted_by_its_deadline(service: Service) -> None:
    run_id = await start(service.http, late(on_deadline="abort", deadline_seconds=0.2))
    run = await service.ended(run_id)
    assert (run["status"], run["overdue"]) == ("aborted", True)
    assert run["reason"] == "it had not ended 0.2 s after its start"


async def test_a_step_that_waits_at_the_deadline_takes_its_branch(service: Service) -> None:
    steps = [
        {"id": "ask", "human": {"queue": "late", "form": {"type": "object"}}},
        {"id": "pay", "handler": "noop", "depends_on": ["ask"], "condition": "not ask.timed_out"},
        {"id": "escalate", "handler": "echo", "depends_on": ["ask.late"], "config": {"value": "late"}},
    ]
    definition = late(on_deadline={"branch": "late"}, deadline_seconds=0.2, steps=steps)
    run = await service.ended(await start(service.http, definition))
    statuses = {name: step["status"] for name, step in run["steps"].items()}
    assert (run["status"], statuses) == (
        "completed",
        {"ask": "completed", "pay": "skipped", "escalate": "completed"},
    )

    async def is_closed() -> bool:
        return not (await service.http.get("/v1/reviews", params={"run_id": run["run_id"]})).json()["reviews"]

    await eventually(is_closed, "the question is closed")
