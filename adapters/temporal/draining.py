"""Run workers during a block, and drain them at its end: all at once, within a time limit."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from temporalio.worker import Worker

log = logging.getLogger(__name__)

DRAIN_MARGIN_SECONDS = 5.0
"""Extra time after a worker's grace period. All its work has then ended or been cancelled, but in about one stop of 600
Temporal's core never reports the end (temporalio 1.35; its issue tracker has several causes)."""


@asynccontextmanager
async def working(workers: Sequence[Worker], *, margin_seconds: float = DRAIN_MARGIN_SECONDS) -> AsyncIterator[None]:
    """Run the workers during the body; at its end all of them drain together, within one grace period.

    A worker that fails permanently cancels the body, and its error is raised.
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
        log.warning("a worker has not ended after its stop; the process ends without it")
        task.cancel()
    for task in stopping:
        task.cancel()
