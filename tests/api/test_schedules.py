"""The schedules of Docrail's own work: listed, paused, resumed and run, over HTTP and by command."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.services.maintenance.service import apply_background_schedule, apply_schedule, apply_sla_schedule
from tests.api.service import Service, serve, serve_with_worker, settings_for
from tests.cli.process import docrail
from tests.stack import Servers, eventually

NEVER = "0 3 29 2 *"
"""A time that no test meets."""


@pytest.fixture
async def scheduled(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    """An API with a worker, whose maintenance is scheduled."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    await apply_schedule(Connection(embedded.temporal_address), settings.task_queue, NEVER)
    async with serve_with_worker(settings) as served:
        yield served


async def only(service: Service) -> dict[str, Json]:
    [schedule] = (await service.http.get("/v1/schedules")).json()["schedules"]
    return dict(schedule)


async def test_schedules_are_listed_with_their_next_pass(embedded: Servers, dsn: str, tmp_path: Path) -> None:
    settings, connection = settings_for(embedded.temporal_address, dsn, tmp_path), Connection(embedded.temporal_address)
    await apply_schedule(connection, settings.task_queue, NEVER)
    await apply_sla_schedule(connection, settings.task_queue)
    await apply_background_schedule(connection, settings.task_queue)
    async with serve(settings) as service:
        found = (await service.http.get("/v1/schedules")).json()
    assert found["allowed"]
    by_name = {each["name"]: each for each in found["schedules"]}
    assert list(by_name) == ["maintenance", "sla", "background"]
    assert by_name["maintenance"]["every_seconds"] is None
    assert by_name["maintenance"]["next_at"].endswith("-02-29T03:00:00Z")
    assert by_name["maintenance"]["last"] is None
    assert by_name["sla"]["every_seconds"] == 300
    assert not any(each["paused"] for each in found["schedules"])


async def test_a_schedule_that_does_not_exist_is_404(embedded: Servers, dsn: str, tmp_path: Path) -> None:
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as service:
        assert (await service.http.get("/v1/schedules")).json()["schedules"] == []
        for act in ("pause", "resume", "run"):
            answer = await service.http.post(f"/v1/schedules/maintenance/{act}")
            assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found")
            assert answer.json()["detail"] == "there is no schedule 'maintenance'"


async def test_a_paused_schedule_says_who_paused_it_and_why_until_it_is_resumed(scheduled: Service) -> None:
    answer = await scheduled.http.post("/v1/schedules/maintenance/pause", json={"reason": "a new disk"})
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["paused"], shown["next_at"], shown["note"]) == (True, None, "paused by tester: a new disk")
    assert await only(scheduled) == shown
    resumed = (await scheduled.http.post("/v1/schedules/maintenance/resume")).json()
    assert (resumed["paused"], resumed["note"]) == (False, "resumed by tester")
    assert resumed["next_at"]


async def test_a_pass_starts_now_also_of_a_paused_schedule(scheduled: Service) -> None:
    await scheduled.http.post("/v1/schedules/maintenance/pause")
    assert (await scheduled.http.post("/v1/schedules/maintenance/run")).status_code == 200

    async def has_passed() -> bool:
        last = (await only(scheduled))["last"]
        return last is not None and last["state"] == "completed"

    await eventually(has_passed, "the pass to complete")
    assert (await only(scheduled))["paused"]


async def test_who_operates_sees_schedules_and_only_an_administrator_changes_them(scheduled: Service) -> None:
    operator = {"X-Test-Scopes": "operate"}
    listed = await scheduled.http.get("/v1/schedules", headers=operator)
    assert (listed.status_code, listed.json()["allowed"]) == (200, False)
    assert (await scheduled.http.post("/v1/schedules/maintenance/run", headers=operator)).status_code == 403
    stranger = {"X-Test-Tenant": "acme"}
    assert (await scheduled.http.get("/v1/schedules", headers=stranger)).status_code == 403


async def test_the_commands_pause_run_and_resume(scheduled: Service) -> None:
    url = str(scheduled.http.base_url)
    paused = await docrail("schedule", "pause", "maintenance", "--reason", "a new disk", DOCRAIL_API_URL=url)
    assert (paused.code, paused.err) == (0, "")
    assert "paused by tester: a new disk" in paused.out
    assert (await docrail("schedule", "run", "maintenance", DOCRAIL_API_URL=url)).code == 0
    assert " active " in (await docrail("schedule", "resume", "maintenance", DOCRAIL_API_URL=url)).out
    shown = await docrail("schedule", "list", DOCRAIL_API_URL=url)
    assert [line.split()[0] for line in shown.out.splitlines()][2:] == ["maintenance"]
    unknown = await docrail("schedule", "pause", "weekly", DOCRAIL_API_URL=url)
    assert unknown.code == 1
    assert "there is no trigger 'weekly'" in unknown.err
