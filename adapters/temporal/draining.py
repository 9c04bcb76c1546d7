"""Runs workers while a body runs, and lets them drain at its end: all at once, and never for ever."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from temporalio.worker import Worker

log = logging.getLogger(__name__)

DRAIN_MARGIN_SECONDS = 5.0
"""How much longer than its grace time a worker may take. By then all it ran has ended or was cancelled, but in about
one stop of 600 Temporal's core never says so (temporalio 1.35; its own tracker knows several ways)."""


@asynccontextmanager
async def working(workers: Sequence[Worker], *, margin_seconds: float = DRAIN_MARGIN_SECONDS) -> AsyncIterator[None]:
    """Run the workers while the body runs; at its end all of them drain at once, in one grace time.

    A worker that fails for good cancels the body, and its error is raised.
    """
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(worker.run()) for worker in workers]
            try:
                yield
            finally:
                await _drain(workers, running, margin_seconds)
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__


async def _drain(workers: Sequence[Worker], running: Sequence[asyncio.Task[None]], margin_seconds: float) -> None:
    stopping = [asyncio.create_task(worker.shutdown()) for worker in workers]
    graces = [worker.config()["graceful_shutdown_timeout"].total_seconds() for worker in workers]
    _, late = await asyncio.wait(running, timeout=max(graces) + margin_seconds)
    for task in late:
        log.warning("a worker was told to stop, and does not end: it is left behind")
        task.cancel()
    for task in stopping:
        task.cancel()
