"""The baseline: the same shapes of no-op steps as workflows written by hand, without Docrail."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy


@dataclass(frozen=True)
class Shape:
    """The workflow to run, and its number of steps."""

    name: str
    size: int


@dataclass(frozen=True)
class Work:
    """An activity's argument."""

    run_id: str
    step: str


@dataclass(frozen=True)
class Done:
    """An activity's result."""

    step: str


@activity.defn(name="handwritten_noop")
async def noop(work: Work) -> Done:
    """Do nothing."""
    return Done(work.step)


RETRY = RetryPolicy(initial_interval=timedelta(seconds=10), backoff_coefficient=2, maximum_attempts=4)


@workflow.defn(name="Handwritten")
class Handwritten:
    """A document's steps, hard-coded."""

    @workflow.run
    async def run(self, shape: Shape) -> list[str]:
        """Run the shape's steps and return their names."""
        if shape.name == "chain":
            return [await self._step(f"s{number}") for number in range(shape.size)]
        first = await self._step("first")
        middle = await asyncio.gather(*(self._step(f"s{number}") for number in range(shape.size)))
        return [first, *middle, await self._step("last")]

    async def _step(self, name: str) -> str:
        work = Work(workflow.info().workflow_id, name)
        timeout = timedelta(seconds=300)
        done = await workflow.execute_activity(
            noop,
            work,
            start_to_close_timeout=timeout,
            heartbeat_timeout=timedelta(seconds=10),
            retry_policy=RETRY,
            summary=name,  # Temporal's UI shows it; without it the steps of a workflow look alike
        )
        return done.step
