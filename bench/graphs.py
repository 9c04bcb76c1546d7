"""Graphs as large as real definitions, each also as a hand-written workflow."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from random import Random

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from bench.handwritten import RETRY, Done, Work, noop

MOST_AT_ONCE = 500
"""Largest `max_concurrency` that a definition may set."""

Parents = tuple[tuple[int, ...], ...]
"""The steps that each step depends on, by number; all are smaller than its own."""


@dataclass(frozen=True)
class Graph:
    """The graph to run."""

    name: str


def layered(layers: int, width: int, edges: int) -> Parents:
    """Return `layers` of `width` steps; each after the first layer depends on random steps of the layer before."""
    random, behind = Random(layers), (layers - 1) * width
    drawn: list[tuple[int, ...]] = [()] * width
    for number in range(behind):
        above = range(number // width * width, (number // width + 1) * width)
        count = edges // behind + (number < edges % behind)
        drawn.append(tuple(sorted(random.sample(above, count))))
    return tuple(drawn)


def wide(roots: int, width: int, fan_in: int, tails: int, edges: int) -> Parents:
    """Return `roots`, `width` steps with two of them as parents, a join of `fan_in` steps, and `tails` for the rest."""
    random, middle = Random(width), range(roots, roots + width)
    drawn: list[tuple[int, ...]] = [()] * roots
    drawn += [tuple(sorted(random.sample(range(roots), 2))) for _ in middle]
    drawn.append(tuple(middle[:fan_in]))
    left = edges - 2 * width - fan_in
    drawn += [tuple(sorted(random.sample(middle, left // tails + (number < left % tails)))) for number in range(tails)]
    return tuple(drawn)


@cache
def parents_of(name: str) -> Parents:
    """Return a graph of 2,000 steps and 6,000 edges, drawn from fixed seeds so that it is the same everywhere."""
    if name == "layered":
        return layered(layers=20, width=100, edges=6_000)
    return wide(roots=50, width=1_900, fan_in=1_100, tails=49, edges=6_000)


@workflow.defn(name="HandwrittenGraph")
class HandwrittenGraph:
    """The same steps, each a task that awaits its parents."""

    @workflow.run
    async def run(self, graph: Graph) -> list[str]:
        """Run the graph's steps and return their names."""
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        tasks: list[asyncio.Task[str]] = []
        for number, parents in enumerate(parents_of(graph.name)):
            tasks.append(asyncio.create_task(self._step(f"s{number}", [tasks[parent] for parent in parents])))
        return [await task for task in tasks]

    async def _step(self, name: str, above: list[asyncio.Task[str]]) -> str:
        for parent in above:
            await parent
        async with self._slots:
            work = Work(workflow.info().workflow_id, name)
            timeout = timedelta(seconds=300)
            done: Done = await workflow.execute_activity(
                noop,
                work,
                start_to_close_timeout=timeout,
                heartbeat_timeout=timedelta(seconds=10),
                retry_policy=RETRY,
                summary=name,
            )
        return done.step
