"""What /readyz reports about real worker processes that are killed and stopped."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import ListWorkersRequest

from tests.api.service import Service, serve, settings_for
from tests.stack import Servers, eventually

NOTICED_SECONDS = 15
"""Far below the 90 s after which a poller counts as lost."""


@pytest.fixture
async def alone(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    """An API on a task queue that no worker ever polled."""
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as served:
        yield served


@asynccontextmanager
async def worker_process(service: Service) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a worker of the service's queue, and wait until its heartbeat's interval is known."""
    names = ("temporal_address", "database_url", "data_dir", "task_queue")
    environment = {f"DOCRAIL_{name.upper()}": str(getattr(service.settings, name)) for name in names}
    environment["DOCRAIL_WORKER_HEARTBEAT_SECONDS"] = "1"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "worker", env={**os.environ, **environment})
    try:
        await eventually(lambda: has_sent_its_interval(service), "the worker's second heartbeat")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def has_sent_its_interval(service: Service) -> bool:
    request = ListWorkersRequest(namespace="default", query=f'TaskQueue = "{service.settings.task_queue}"')
    found = await service.app.temporal.workflow_service.list_workers(request)
    beats = [worker.worker_heartbeat for worker in found.workers_info]
    return any(0 < beat.elapsed_since_last_heartbeat.ToTimedelta().total_seconds() < 5 for beat in beats)


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
