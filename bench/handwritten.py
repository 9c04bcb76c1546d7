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


@dataclass(frozen=True)
class Works:
    """A group's argument."""

    works: list[Work]


@activity.defn(name="handwritten_group")
async def noops(group: Works) -> list[Done]:
    """Do nothing, for each document."""
    return [Done(work.step) for work in group.works]


@workflow.defn(name="HandwrittenChunk")
class HandwrittenChunk:
    """The steps of several documents, hard-coded: first, three side by side, last, each step one activity for all."""

    @workflow.run
    async def run(self, documents: int) -> int:
        """Run the steps of all documents and return how many were made."""
        first = await self._step("first", documents)
        middle = await asyncio.gather(*(self._step(f"s{number}", documents) for number in range(3)))
        return first + sum(middle) + await self._step("last", documents)

    async def _step(self, name: str, documents: int) -> int:
        works = [Work(f"{workflow.info().workflow_id}/{number}", name) for number in range(documents)]
        done = await workflow.execute_activity(
            noops,
            Works(works),
            start_to_close_timeout=timedelta(seconds=300),
            heartbeat_timeout=timedelta(seconds=10),
            retry_policy=RETRY,
            summary=name,
        )
        return len(done)
