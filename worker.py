"""Root: connects, registers, runs, drains on SIGTERM. No logic."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from prometheus_client import start_http_server
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.execute import activity_for
from activities.metrics import Metrics
from activities.reading import DocumentReader
from activities.registry import load_catalogue
from activities.tools import Tools
from settings import Settings
from storage.blobs import BlobStore
from storage.db import open_pool
from storage.files import remove_leftovers
from storage.lake import Lake
from workflows.run import Run

PASSED_THROUGH = (
    "dag",
    "workflows.contract",
    "workflows.driver",
    "workflows.failures",
    "jinja2",
    "markupsafe",
    "pydantic",
)
"""Modules the workflow sandbox does not import anew for each run: they are pure, and checked to be."""


ACTIVITY_SLOTS = 100
"""Activities that one worker runs at a time."""


def build_worker(client: Client, settings: Settings, tools: Tools) -> Worker:
    """Return a worker for every workflow and handler."""
    return assemble_worker(
        client,
        settings.task_queue,
        workflows=[Run],
        activities=[activity_for(handler, tools) for handler in load_catalogue().values()],
        sandboxed=settings.sandboxed,
        graceful_shutdown_seconds=settings.graceful_shutdown_seconds,
    )


def assemble_worker(
    client: Client,
    task_queue: str,
    workflows: Sequence[type],
    activities: Sequence[Callable[..., Any]],
    *,
    sandboxed: bool,
    graceful_shutdown_seconds: float = 0,
) -> Worker:
    """Return a worker with the settings measured best on two cores (ADR 4)."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=workflows,
        activities=activities,
        workflow_runner=workflow_runner(sandboxed=sandboxed),
        max_concurrent_workflow_tasks=100,
        max_concurrent_activities=ACTIVITY_SLOTS,
        max_concurrent_local_activities=200,
        # Sound on this queue because nothing on it is rate limited: eager activities pass a queue's limit by.
        max_eager_activity_reservations_per_workflow_task=50,
        # After a crash, the dead worker's runs wait this long before another worker gets them.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=5),
        graceful_shutdown_timeout=timedelta(seconds=graceful_shutdown_seconds),
    )


def workflow_runner(*, sandboxed: bool) -> WorkflowRunner:
    """Return what workflow code runs in: Temporal's sandbox catches forbidden calls, and costs a third of the speed."""
    if not sandboxed:
        return UnsandboxedWorkflowRunner()
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


@asynccontextmanager
async def open_tools(settings: Settings) -> AsyncIterator[Tools]:
    """Open what handlers work with; closed, in order, at the end."""
    blobs, lake = settings.data_dir / "blobs", settings.data_dir / "lake"
    for root in (blobs, lake):
        await asyncio.to_thread(remove_leftovers, root)  # of workers that were killed while they wrote
    pool = await open_pool(settings.database_url)
    reader = DocumentReader()
    try:
        await reader.start()
        yield Tools(pool, BlobStore(blobs), Lake(lake), reader, Metrics())
    finally:
        await reader.close()
        await pool.close()


async def serve(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then take nothing new and let what runs end, within the grace time."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    heartbeat = timedelta(seconds=settings.worker_heartbeat_seconds)
    client = await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        data_converter=pydantic_data_converter,
        runtime=Runtime(telemetry=TelemetryConfig(), worker_heartbeat_interval=heartbeat),
    )
    async with open_tools(settings) as tools:
        if settings.worker_metrics_port:
            registry = tools.metrics.registry
            start_http_server(settings.worker_metrics_port, settings.worker_metrics_host, registry)
        async with build_worker(client, settings, tools):
            await stop.wait()


def main() -> None:
    """Run a worker with the settings of the environment."""
    asyncio.run(serve(Settings()))
    sys.stdout.flush()
    # Temporal's core may abort the interpreter's own exit (sdk-python issue 300); everything is closed by now.
    os._exit(0)


if __name__ == "__main__":
    main()
