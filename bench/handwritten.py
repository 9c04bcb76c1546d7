"""The baseline: the same shapes of no-op steps as workflows written by hand, without Docrail."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

T = TypeVar("T")
R = TypeVar("R")


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


@dataclass(frozen=True)
class Answer:
    """A document's result of a step."""

    text: str


ANSWER = "x" * 188
"""Makes a result of 200 bytes as JSON."""


@activity.defn(name="handwritten_answer")
async def answer(_: Work) -> Answer:
    """Return a result."""
    return Answer(ANSWER)


@activity.defn(name="handwritten_answers")
async def answers(group: Works) -> list[Answer]:
    """Return a result for each document."""
    return [Answer(ANSWER) for _ in group.works]


@dataclass(frozen=True)
class Chunk:
    """Documents that share a workflow."""

    documents: int
    is_heavy: bool
    """Whether the first step is one activity a document."""


@workflow.defn(name="HandwrittenChunk")
class HandwrittenChunk:
    """The steps of several documents, hard-coded: first, three side by side, last, each step one activity for all."""

    @workflow.run
    async def run(self, chunk: Chunk) -> int:
        """Run the steps of all documents and return how many were made."""
        works = [f"{workflow.info().workflow_id}/{number}" for number in range(chunk.documents)]
        first = await (self._heavy(works) if chunk.is_heavy else self._step("first", works))
        middle = await asyncio.gather(*(self._step(f"s{number}", works) for number in range(3)))
        return first + sum(middle) + await self._step("last", works)

    async def _heavy(self, runs: list[str]) -> int:
        calls = (self._activity(answer, Work(run, "first"), "first") for run in runs)
        return len(await asyncio.gather(*calls))

    async def _step(self, name: str, runs: list[str]) -> int:
        return len(await self._activity(answers, Works([Work(run, name) for run in runs]), name))

    async def _activity(self, made: Callable[[T], Awaitable[R]], argument: T, name: str) -> R:
        return await workflow.execute_activity(
            made,
            argument,
            start_to_close_timeout=timedelta(seconds=300),
            heartbeat_timeout=timedelta(seconds=10),
            retry_policy=RETRY,
            summary=name,
        )
