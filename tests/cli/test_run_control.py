"""`docrail run pause`, `resume`, `abort`, and where a run that is paused or cannot go on names them."""

import json
from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import SLOW, Service, serve_with_worker, settings_for
from tests.api.test_stuck_runs import start_broken
from tests.cli.process import Ended, docrail
from tests.loopback import loopback, reply_json
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

UNDOES_FOR_LONG: dict[str, Json] = {
    "id": "undoes_for_long",
    "steps": [
        {"id": "pay", "handler": "noop", "compensate": {"handler": "sleep", "config": {"seconds": 3600}}},
        {"id": "ask", "wait": {"for": "signal"}, "depends_on": ["pay"]},
    ],
}
ASKS: dict[str, Json] = {"id": "asks", "steps": [{"id": "reply", "wait": {"for": "signal"}}]}


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("run_control"))
        async with serve_with_worker(settings) as served:
            yield served


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail(*arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def started(service: Service, definition: dict[str, Json], step: str, status: str) -> str:
    """Return a run of the definition, of which that step has that status."""
    run_id: str = (await service.http.post("/v1/runs", json={"definition": definition})).json()["run_id"]

    async def is_there() -> bool:
        steps = (await service.http.get(f"/v1/runs/{run_id}")).json()["steps"]
        return bool(steps[step]["status"] == status)

    await eventually(is_there, f"{step} is {status}")
    return run_id


async def actions(service: Service, run_id: str) -> list[tuple[str, dict[str, Json]]]:
    """Return what was done to the run and why, the first one first."""
    printed = (await service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"]
    return [(each["action"], each["details"]) for each in reversed(printed)]


async def test_a_run_is_paused_goes_on_and_is_aborted_and_each_says_what_it_led_to(service: Service) -> None:
    run_id = await started(service, SLOW, "nap", "running")
    assert await typed(service, "run", "pause", run_id, "--reason", "the bank is closed") == Ended(
        0, f"{run_id} is paused: running steps go on, and `docrail run resume {run_id}` starts the rest\n", ""
    )
    explained = (await typed(service, "run", "explain", run_id)).out
    assert f"  nothing begins in it before `docrail run resume {run_id}`\n" in explained
    assert await typed(service, "run", "resume", run_id) == Ended(0, f"{run_id} continues, and is running\n", "")
    assert "docrail run resume" not in (await typed(service, "run", "explain", run_id)).out
    assert await typed(service, "run", "abort", run_id, "--reason", "wrong customer") == Ended(
        0,
        f"{run_id} is aborted: running steps are stopped, then those with a `compensate` are undone; "
        f"`docrail run explain {run_id}` shows how far that is\n",
        "",
    )
    run = await service.ended(run_id)
    assert (run["status"], run["reason"]) == ("aborted", "wrong customer")
    assert await actions(service, run_id) == [
        ("pause", {"reason": "the bank is closed"}),
        ("resume", {"reason": ""}),
        ("abort", {"reason": "wrong customer"}),
    ]


async def test_a_resumed_run_that_waits_names_the_command_that_lists_its_waits(
    service: Service,
) -> None:
    run_id = await started(service, ASKS, "reply", "waiting")
    paused = await typed(service, "run", "pause", run_id, "--json")
    assert (paused.code, json.loads(paused.out)) == (0, {"run_id": run_id, "status": "paused"})
    printed = f"{run_id} continues, and is waiting: `docrail run waits {run_id}` shows for what\n"
    assert await typed(service, "run", "resume", run_id) == Ended(0, printed, "")
    aborted = await typed(service, "run", "abort", run_id, "--reason", "enough", "--json")
    assert (aborted.code, json.loads(aborted.out)["run_id"]) == (0, run_id)
    assert (await service.ended(run_id))["status"] == "aborted"


async def test_actions_that_do_not_fit_the_runs_state_are_refused(service: Service) -> None:
    run_id = await started(service, ASKS, "reply", "waiting")
    refused = await typed(service, "run", "resume", run_id)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.endswith("cannot resume: the run is waiting\n")
    await typed(service, "run", "abort", run_id, "--reason", "enough")
    await service.ended(run_id)
    for command in (("pause", run_id), ("abort", run_id, "--reason", "again")):
        refused = await typed(service, "run", *command)
        assert (refused.code, refused.out) == (1, "")
        assert refused.err.endswith(f"cannot {command[0]}: the run is aborted\n")


async def test_a_run_that_is_being_undone_is_not_paused_and_may_be_ended_by_force(service: Service) -> None:
    run_id = await started(service, UNDOES_FOR_LONG, "ask", "waiting")
    await typed(service, "run", "abort", run_id, "--reason", "enough")
    refused = await typed(service, "run", "pause", run_id)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.endswith("cannot pause: the run is aborted\n")
    assert "what it did is being undone" in (await typed(service, "run", "explain", run_id)).out
    assert await typed(service, "run", "abort", run_id, "--reason", "now", "--force") == Ended(
        0, f"{run_id} is failed, ended by force: its steps were not stopped, and nothing is undone\n", ""
    )


async def test_a_run_that_no_worker_can_carry_on_names_the_abort_by_force(service: Service) -> None:
    run_id = await start_broken(service)
    printed = await typed(service, "run", "abort", run_id, "--reason", "a bug")
    assert (printed.code, f"`docrail run abort {run_id} --reason TEXT --force`" in printed.err) == (1, True)
    assert (await typed(service, "run", "abort", run_id, "--reason", "a bug", "--force")).code == 0
    assert (await service.http.get(f"/v1/runs/{run_id}")).json()["status"] == "failed"


async def test_a_run_that_ends_in_the_same_moment_is_not_said_to_be_paused() -> None:
    async with loopback(reply_json({"run_id": "asks.1", "status": "completed"})) as api:
        printed = await docrail("run", "pause", "asks.1", DOCRAIL_API_URL=api.url)
    assert printed == Ended(1, "", "docrail: asks.1 is completed, not paused: it ended in the same moment\n")


async def test_an_abort_records_its_reason_and_an_unknown_run_is_refused(service: Service) -> None:
    silent = await typed(service, "run", "abort", "asks.none")
    assert (silent.code, "--reason" in silent.err) == (2, True)
    for command in ("pause", "resume", "abort"):
        reason = ("--reason", "x") if command == "abort" else ()
        missing = await typed(service, "run", command, "asks.none", *reason)
        assert (missing.code, missing.err) == (1, "docrail: Not found: there is no run 'asks.none'\n")
