"""Do every minute, once for the whole fleet, what is not a run's work.

Finish what a failed process has left, copy ended runs, forget old events, and keep the hour's metrics.
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from docrail.workflows.contract.names import (
    ANSWER_RUNS,
    BACKGROUND_TYPE,
    COPY_ENDED_RUNS,
    FILE_REVIEWED,
    FORGET_EVENTS,
    KEEP_METRICS,
    NOTE_ENDS,
    START_BATCHES,
    START_DOCUMENTS,
    START_EXPORTS,
)

LONGEST, HEARTBEAT = timedelta(minutes=3), timedelta(minutes=1)

RETRIES = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=3)
"""The next round finishes what this one did not."""


@workflow.defn(name=BACKGROUND_TYPE)
class BackgroundTasks:
    """One round over unfinished work. A task that fails does not stop the others."""

    @workflow.run
    async def run(self) -> None:
        """Run the tasks concurrently. Raises the first failure once all have ended."""
        names = (
            *(START_DOCUMENTS, NOTE_ENDS, ANSWER_RUNS, START_EXPORTS, START_BATCHES),
            *(COPY_ENDED_RUNS, FORGET_EVENTS, KEEP_METRICS),
        )
        tasks = [*map(_run, names), _run(FILE_REVIEWED, HEARTBEAT)]
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome


async def _run(activity: str, heartbeat: timedelta | None = None) -> None:
    await workflow.execute_activity(
        activity,
        result_type=int,
        start_to_close_timeout=LONGEST,
        heartbeat_timeout=heartbeat,
        retry_policy=RETRIES,
    )
