"""`docrail run explain` and `GET /v1/runs/{id}/explain`: a run that waits, retries and ended, with a real worker."""

import json
from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

STEPS: list[dict[str, Json]] = [
    {"id": "count", "handler": "echo", "config": {"value": 5}},
    {"id": "reply", "depends_on": ["count"], "wait": {"for": "signal", "timeout_seconds": 600, "on_timeout": "fail"}},
    {"id": "large", "handler": "noop", "depends_on": ["count"], "condition": "count.value > 100"},
    {"id": "shaky", "handler": "fail", "config": {"times": 5}, "retry_config": {"initial_delay": 600}},
    {"id": "nap", "handler": "sleep", "config": {"seconds": 3600}},
    {"id": "inner", "workflow": {"id": "explained_inside"}},
]
INNER: dict[str, Json] = {"id": "explained_inside", "steps": [{"id": "ask", "wait": {"for": "signal"}}]}


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("explain"))
        async with serve_with_worker(settings) as served:
            yield served


@pytest.fixture(scope="module")
async def run_id(service: Service) -> AsyncIterator[str]:
    """Give a run that has come as far as it comes by itself: one step asleep, one between two attempts."""
    await service.http.post("/v1/definitions", json={"definition": INNER})
    started = await service.http.post("/v1/runs", json={"definition": {"id": "explained", "steps": STEPS}})
    run_id: str = started.json()["run_id"]

    async def is_there() -> bool:
        steps = (await explanation(service, run_id))["steps"]
        activities = {name: (step["attempts"] or {}).get("activity") for name, step in steps.items()}
        waits = steps["reply"]["status"] == "waiting" and steps["inner"]["status"] == "running"
        return waits and (activities["shaky"], activities["nap"]) == ("backing_off", "running")

    await eventually(is_there, "the run waits, sleeps and backs off")
    yield run_id
    await service.http.post(f"/v1/runs/{run_id}/abort")
    assert (await service.ended(run_id))["status"] == "aborted"


async def explanation(service: Service, run_id: str, **wanted: str | int) -> dict[str, Json]:
    response = await service.http.get(f"/v1/runs/{run_id}/explain", params=wanted)
    assert response.status_code == 200, response.text
    printed: dict[str, Json] = response.json()
    return printed


async def explain(service: Service, *arguments: str) -> Ended:
    return await docrail("run", "explain", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def test_a_step_is_explained_as_data(service: Service, run_id: str) -> None:
    steps = (await explanation(service, run_id, step="large"))["steps"]
    assert list(steps) == ["large"]
    assert steps["large"]["condition"] == {
        "expression": "count.value > 100",
        "branch": None,
        "verdict": "no",
        "reads": [{"path": "count.value", "value": "5"}],
    }


async def test_attempts_in_progress_are_reported_by_the_server(service: Service, run_id: str) -> None:
    steps = (await explanation(service, run_id))["steps"]
    shaky, nap = steps["shaky"]["attempts"], steps["nap"]["attempts"]
    assert (shaky["made"], shaky["most"], shaky["activity"]) == (1, 4, "backing_off")
    assert shaky["next_at"] > steps["shaky"]["started_at"] + 500
    assert shaky["last_error"]["type"] in steps["shaky"]["words"][-1]
    assert (nap["made"], nap["activity"], nap["next_at"]) == (1, "running", None)


async def test_a_nested_run_is_named_and_can_be_explained(service: Service, run_id: str) -> None:
    inner = (await explanation(service, run_id, step="inner"))["steps"]["inner"]
    assert inner["nested_run_id"] == f"{run_id}~inner"

    async def waits() -> bool:
        response = await service.http.get(f"/v1/runs/{run_id}~inner/explain")
        return response.status_code == 200 and response.json()["steps"]["ask"]["status"] == "waiting"

    await eventually(waits, "the nested run waits, and is explained")


async def test_pages_are_followed_by_their_last_step(service: Service, run_id: str) -> None:
    first = await explanation(service, run_id, limit=2)
    second = await explanation(service, run_id, limit=500, after=first["after"])
    assert [*first["steps"], *second["steps"]] == ["count", "shaky", "nap", "inner", "reply", "large"]
    assert second["after"] is None


async def test_the_command_says_it_in_words(service: Service, run_id: str) -> None:
    printed = await explain(service, run_id)
    assert (printed.code, printed.err) == (0, "")
    lines = printed.out.splitlines()
    assert lines[0] == f"{run_id}: running"
    assert [line for line in lines if line and not line.startswith(" ")][1:] == [
        "count: completed",
        "shaky: running",
        "nap: running",
        "inner: running",
        "reply: waiting",
        "large: skipped",
    ]
    assert "  its condition `count.value > 100` was false, so the step is skipped (count.value = 5)" in lines
    assert any(line.startswith("  the next attempt begins at 20") for line in lines)


async def test_the_command_explains_one_step(service: Service, run_id: str) -> None:
    lines = (await explain(service, run_id, "reply")).out.splitlines()
    assert lines[2] == "reply: waiting"
    assert lines[-2] == "  it waits for an answer, 10 minutes in all; then the step fails"
    assert lines[-1].startswith("  its time is up at 20")


async def test_the_command_prints_json(service: Service, run_id: str) -> None:
    printed = json.loads((await explain(service, run_id, "--json")).out)
    assert (printed["run_id"], len(printed["steps"]), printed["after"]) == (run_id, len(STEPS), None)


@pytest.mark.parametrize(("run", "step"), [("explained.none", "large"), (None, "largest")])
async def test_an_unknown_run_or_step_is_reported(service: Service, run_id: str, run: str | None, step: str) -> None:
    refused = await explain(service, run or run_id, step)
    assert refused.code == 1
    missing = f"there is no run '{run}'" if run else f"there is no step '{step}': did you mean 'large'? (there is "
    assert refused.err.startswith(f"docrail: Not found: {missing}")


async def test_a_single_step_has_no_pages(service: Service, run_id: str) -> None:
    response = await service.http.get(f"/v1/runs/{run_id}/explain", params={"step": "large", "after": "count"})
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "after")
