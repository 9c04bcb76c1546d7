"""What /readyz and /v1/workers report about real worker processes that are frozen, killed and stopped."""

import asyncio
import datetime as dt
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from socket import socket

import httpx
import pytest
from temporalio.api.workflowservice.v1 import ListWorkersRequest

from docrail import __version__
from docrail.dag.values.json_values import Json
from docrail.embedded.claims import claim_port
from docrail.settings import Settings
from tests.api.service import SLOW, Service, serve, settings_for
from tests.cli.process import docrail
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

NOTICED_SECONDS = 15
"""Far below the 90 s after which a poller counts as lost."""


@pytest.fixture
async def alone(embedded: Servers, tmp_path: Path) -> AsyncIterator[Service]:
    """An API on a task queue that no worker ever polled, and on its own database: a worker process claims its store."""
    async with (
        migrated_database(embedded.dsn) as dsn,
        serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as served,
    ):
        yield served


@asynccontextmanager
async def worker_process(service: Service, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a worker of the service's queue, and wait until its heartbeat's interval is known."""
    names = ("temporal_address", "database_url", "data_dir", "task_queue")
    environment = {f"DOCRAIL_{name.upper()}": str(getattr(service.settings, name)) for name in names}
    environment |= {"DOCRAIL_WORKER_HEARTBEAT_SECONDS": "1", **variables}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "worker", env={**os.environ, **environment})
    try:
        has_sent = partial(has_sent_its_interval, service, process.pid)
        await eventually(has_sent, "the worker's second heartbeat", timeout_seconds=60)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def has_sent_its_interval(service: Service, process_id: int) -> bool:
    request = ListWorkersRequest(namespace="default", query=f'TaskQueue = "{service.settings.task_queue}"')
    found = await service.app.temporal.workflow_service.list_workers(request)
    beats = [worker.worker_heartbeat for worker in found.workers_info]
    own = [beat for beat in beats if beat.host_info.process_id == str(process_id)]
    return any(beat.elapsed_since_last_heartbeat.ToTimedelta() for beat in own)


async def ready(port: int) -> tuple[int, str]:
    """Return what a worker's own health check says; 0 if it does not answer."""
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=2) as http:
            answer = await http.get(f"http://127.0.0.1:{port}/readyz")
    except httpx.TransportError:
        return 0, ""
    return answer.status_code, answer.text


async def test_a_worker_says_itself_whether_it_gets_work(alone: Service) -> None:
    port = claim_port(0, "a worker's pages")
    async with worker_process(alone, DOCRAIL_WORKER_METRICS_PORT=str(port)) as worker:

        async def says(status: int, words: str) -> bool:
            found = await ready(port)
            return found[0] == status and words in found[1]

        await eventually(partial(says, 200, "ok"), "the worker to poll", timeout_seconds=60)
        worker.send_signal(signal.SIGSTOP)
        assert await ready(port) == (0, "")
        worker.send_signal(signal.SIGCONT)
        await eventually(partial(says, 200, "ok"), "the worker to be well again", timeout_seconds=60)
        await occupy(alone, worker)
        worker.terminate()
        await eventually(partial(says, 503, "is stopping"), "the worker to drain", timeout_seconds=60)


async def test_two_workers_of_a_machine_cannot_share_a_port(alone: Service) -> None:
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = await docrail(
            *("worker", "start"),
            DOCRAIL_TEMPORAL_ADDRESS=str(alone.settings.temporal_address),
            DOCRAIL_DATABASE_URL=alone.settings.database_url,
            DOCRAIL_DATA_DIR=str(alone.settings.data_dir),
            DOCRAIL_WORKER_METRICS_PORT=str(port),
        )
    assert ended.code == 1
    last = ended.err.splitlines()[-1]
    assert last.startswith(f"docrail: DOCRAIL_WORKER_METRICS_PORT: cannot listen on 127.0.0.1:{port} (Address already")


async def worker_status(service: Service) -> str:
    return str((await service.http.get("/readyz")).json()["worker"])


@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGKILL, "sent its last heartbeat"), (signal.SIGTERM, "is stopping")]
)
async def test_a_lost_worker_is_noticed_soon(alone: Service, number: signal.Signals, expected: str) -> None:
    async with worker_process(alone) as process:
        assert await worker_status(alone) == "ok"
        process.send_signal(number)

        async def missed() -> bool:
            return expected in await worker_status(alone)

        await eventually(missed, f"/readyz to show {expected!r}", timeout_seconds=NOTICED_SECONDS)


async def listed(service: Service) -> dict[str, Json]:
    """Return the listed workers by their process ids."""
    answer = await service.http.get("/v1/workers")
    assert answer.status_code == 200, answer.text
    return {worker["process_id"]: worker for worker in answer.json()["workers"]}


async def states(service: Service) -> dict[str, str]:
    return {process_id: worker["state"] for process_id, worker in (await listed(service)).items()}


async def occupy(service: Service, process: asyncio.subprocess.Process) -> None:
    """Have the worker run a step that goes on."""
    started = await service.http.post("/v1/runs", json={"definition": SLOW})
    assert started.status_code == 202, started.text

    async def is_busy() -> bool:
        return bool((await listed(service))[str(process.pid)]["queues"][0]["steps"]["used"])

    await eventually(is_busy, "the step to occupy a slot", timeout_seconds=60)


async def become(service: Service, process: asyncio.subprocess.Process, state: str | None, seconds: float) -> None:
    async def has_become() -> bool:
        return (await states(service)).get(str(process.pid)) == state

    await eventually(has_become, f"the worker to be shown as {state}", timeout_seconds=seconds)


async def test_a_worker_is_listed_with_its_queues_slots_version_and_build(alone: Service) -> None:
    async with worker_process(alone, DOCRAIL_BUILD_ID="2026-11-23") as process:
        worker = (await listed(alone))[str(process.pid)]
    queue = alone.settings.task_queue
    assert (worker["state"], worker["silent_seconds"]) == ("working", None)
    assert (worker["version"], worker["build"]) == (__version__, "2026-11-23")
    assert worker["since"] < worker["last_heartbeat"]
    assert [(each["queue"], each["tag"]) for each in worker["queues"]] == [
        (queue, None),
        (f"{queue}.database", "database"),
        (f"{queue}.gemini_api", "gemini_api"),
        (f"{queue}:batches", None),
    ]
    assert worker["queues"][0]["steps"] == {"used": 0, "total": 100}
    assert worker["queues"][0]["runs"]["total"] == 100
    assert worker["queues"][1]["runs"] is None


async def test_a_frozen_worker_is_shown_within_15_seconds_also_as_one_of_two(alone: Service) -> None:
    """With the default interval of heartbeats. Both have the same host, as two in a container."""
    usual = {"DOCRAIL_WORKER_HEARTBEAT_SECONDS": str(Settings.model_fields["worker_heartbeat_seconds"].default)}
    async with worker_process(alone, **usual) as well, worker_process(alone, **usual) as frozen:
        assert await states(alone) == {str(well.pid): "working", str(frozen.pid): "working"}
        frozen.send_signal(signal.SIGSTOP)
        await become(alone, frozen, "silent", NOTICED_SECONDS)
        found = await listed(alone)
        assert found[str(well.pid)]["state"] == "working"
        assert found[str(frozen.pid)]["silent_seconds"] > 10
        assert len({worker["worker_id"] for worker in found.values()}) == 2
        assert await worker_status(alone) == "ok"
        frozen.send_signal(signal.SIGCONT)
        await become(alone, frozen, "working", 60)


async def test_a_killed_worker_is_silent_and_its_successor_works(alone: Service) -> None:
    async with worker_process(alone) as killed:
        killed.kill()
        await become(alone, killed, "silent", NOTICED_SECONDS)
        async with worker_process(alone) as next_one:
            assert await states(alone) == {str(killed.pid): "silent", str(next_one.pid): "working"}


async def test_a_worker_that_drains_is_shown_until_it_has_stopped(alone: Service) -> None:
    async with worker_process(alone, DOCRAIL_GRACEFUL_SHUTDOWN_SECONDS="20") as process:
        await occupy(alone, process)
        process.terminate()
        await become(alone, process, "draining", 60)
        assert "is stopping" in await worker_status(alone)
        signalled = dt.datetime.fromisoformat((await listed(alone))[str(process.pid)]["last_heartbeat"])

        async def still_drains() -> bool:
            worker = (await listed(alone))[str(process.pid)]
            assert worker["state"] == "draining"
            return dt.datetime.fromisoformat(worker["last_heartbeat"]) - signalled > dt.timedelta(seconds=4)

        await eventually(still_drains, "more heartbeats of the draining worker", timeout_seconds=15)
        await process.wait()
        await become(alone, process, None, 60)


async def test_an_idle_worker_that_stops_is_soon_not_listed(alone: Service) -> None:
    async with worker_process(alone) as process:
        process.terminate()
        await process.wait()
        await become(alone, process, None, 60)


async def test_what_waits_for_a_worker_is_counted_with_its_age(alone: Service) -> None:
    await alone.http.post("/v1/runs", json={"definition": SLOW})

    async def waits() -> bool:
        queues = (await alone.http.get("/v1/workers")).json()["queues"]
        [runs] = [each for each in queues if each["tasks"] == "runs"]
        return bool(runs["waiting"] and runs["oldest_wait_seconds"] and not runs["workers"])

    await eventually(waits, "the run to wait for a worker", timeout_seconds=60)


async def test_the_command_lists_workers_and_queues(alone: Service) -> None:
    url = str(alone.http.base_url)
    none = await docrail("worker", "list", DOCRAIL_API_URL=url)
    assert (none.code, none.err) == (0, "")
    assert "no worker" in none.out
    async with worker_process(alone) as process:
        shown = await docrail("worker", "list", DOCRAIL_API_URL=url)
    [row] = [line.split() for line in shown.out.splitlines() if str(process.pid) in line]
    assert row[0] == "working"
    assert "0/100," in row
    assert any(alone.settings.task_queue in line and "steps" in line for line in shown.out.splitlines())
