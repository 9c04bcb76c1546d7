"""`docrail run list` against a running API: which runs there are, and which of them are overdue."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.api.service import HELLO, Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

WAITING = {"id": "waiting", "deadline_seconds": 0.1, "steps": [{"id": "reply", "wait": {"for": "signal"}}]}


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """An API with one run that has ended and one that is overdue."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("runs"))
        async with serve_with_worker(settings) as served:
            for definition in (HELLO, WAITING):
                order = {"definition": definition, "key": settings.task_queue}
                assert (await served.http.post("/v1/runs", json=order)).status_code == 202
            await served.ended(f"hello.{settings.task_queue}")

            async def is_overdue() -> bool:
                page = await served.http.get("/v1/runs", params={"definition": "waiting", "overdue": "true"})
                return bool(page.json()["runs"])

            await eventually(is_overdue, "the second run is overdue")
            yield served
            await served.http.post(f"/v1/runs/waiting.{settings.task_queue}/abort")


async def runs(service: Service, *arguments: str) -> Ended:
    return await docrail("run", "list", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def test_overdue_runs_are_listed(service: Service) -> None:
    listed = await runs(service, "--overdue")
    assert (listed.code, listed.err) == (0, "")
    [line] = [line for line in listed.out.splitlines() if service.settings.task_queue in line]
    assert line.split()[:4] == [f"waiting.{service.settings.task_queue}", "1", "waiting,", "overdue"]


async def test_the_attempts_of_a_run_that_was_retried_are_listed(service: Service) -> None:
    fails = {"id": "bad", "handler": "fail", "config": {"times": 1, "error": "ValueError"}, "max_retries": 0}
    order = {"definition": {"id": "retried", "steps": [fails]}, "key": service.settings.task_queue}
    run_id = (await service.http.post("/v1/runs", json=order)).json()["run_id"]
    assert (await service.ended(run_id))["status"] == "failed"
    assert (await service.http.post(f"/v1/runs/{run_id}/retry", json={})).is_success

    async def is_listed() -> bool:
        listed = await runs(service, "--definition", "retried")
        heading, _, *lines = listed.out.splitlines()
        assert heading.split() == ["run", "v", "status", "attempts", "started", "took"]
        return [line.split()[:4:3] for line in lines] == [[run_id, "2"]]

    await eventually(is_listed, "the second attempt is listed")


async def test_runs_are_listed_by_what_is_asked(service: Service) -> None:
    found = json.loads((await runs(service, "--definition", "hello", "--status", "completed", "--json")).out)
    assert f"hello.{service.settings.task_queue}" in [run["run_id"] for run in found]
    assert {run["overdue"] for run in found} == {False}


async def test_a_page_that_is_not_all_says_so(service: Service) -> None:
    assert "… and older ones" in (await runs(service, "--limit", "1")).out


async def test_a_refusal_of_the_api_is_reported(service: Service) -> None:
    refused = await runs(service, "--status", "late")
    assert refused.code == 1
    assert "status" in refused.err
