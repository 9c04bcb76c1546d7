"""`docrail deploy` as a process: what it shows of builds, what it waits for, and what it refuses."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from settings import Settings
from tests.api.service import settings_for, work
from tests.commands.process import Ended, docrail, running
from tests.postgres import migrated_database
from tests.stack import Servers


@pytest.fixture
async def settings(embedded: Servers, tmp_path: Path) -> AsyncIterator[Settings]:
    async with migrated_database(embedded.dsn) as dsn:
        yield settings_for(embedded.temporal_address, dsn, tmp_path)


def environment_of(settings: Settings) -> dict[str, str]:
    assert settings.temporal_address is not None
    return {"DOCRAIL_TEMPORAL_ADDRESS": settings.temporal_address, "DOCRAIL_TASK_QUEUE": settings.task_queue}


async def deploy(settings: Settings, *arguments: str) -> Ended:
    return await docrail("deploy", *arguments, cwd=None, **environment_of(settings))


def rows(out: str) -> list[list[str]]:
    return [line.split()[:-2] for line in out.splitlines() if line.endswith("Z")]


async def test_builds_are_shown_with_what_they_have_to_do(settings: Settings) -> None:
    asked = await deploy(settings)
    expected = f"no worker of {settings.task_queue!r} has ever said its build: start one with DOCRAIL_BUILD_ID\n"
    assert (asked.code, asked.out, asked.err) == (0, expected, "")
    async with work(settings.model_copy(update={"build_id": "b1"})):
        first = await deploy(settings, "b1")
        assert first.code == 0, first.err
        assert rows(first.out) == [["b1", "current", "100", "%", "0"]]
        assert first.out.splitlines()[-1] == "new runs go to b1"
        async with work(settings.model_copy(update={"build_id": "b2"})):
            tried = await deploy(settings, "b2", "--percentage", "10")
            assert rows(tried.out) == [["b2", "ramping", "10", "%", "0"], ["b1", "current", "90", "%", "0"]]
            found = json.loads((await deploy(settings, "b2", "--json")).out)
    assert (found["current"], [build["build_id"] for build in found["builds"]]) == ("b2", ["b2", "b1"])
    assert (await deploy(settings, "--unversioned")).out.splitlines()[-1].startswith("no build is current: new runs go")


async def test_it_waits_for_the_builds_workers_and_says_so(settings: Settings) -> None:
    async with running("deploy", "b1", **environment_of(settings)) as command:
        await command.wait_for(f"waiting for a worker of build b1 that polls {settings.task_queue}")
        async with work(settings.model_copy(update={"build_id": "b1"})):
            assert await command.ended() == 0
    assert "new runs go to b1" in command.said


async def test_a_build_without_workers_is_refused(settings: Settings) -> None:
    refused = await deploy(settings, "b1", "--wait", "0")
    assert refused.code == 1
    queues = ", ".join(f"{settings.task_queue}{tag}" for tag in ("", ".gemini_api", ".database"))
    assert refused.err == (
        f"docrail: new runs do not go to the build 'b1' yet: none of its workers polls {queues}. "
        "Start one with DOCRAIL_BUILD_ID=b1\n"
    )


@pytest.mark.parametrize("arguments", [("b1", "--unversioned"), ("--percentage", "5"), ("b1", "--percentage", "101")])
async def test_what_makes_no_sense_is_wrong_usage(settings: Settings, arguments: tuple[str, ...]) -> None:
    assert (await deploy(settings, *arguments)).code == 2


async def test_without_temporal_it_says_so() -> None:
    refused = await docrail("deploy", DOCRAIL_TEMPORAL_ADDRESS="127.0.0.1:1")
    assert refused.code == 1
    assert refused.err.startswith(
        "docrail: Temporal is not available: it cannot be reached (its address is 127.0.0.1:1)"
    )
