"""Compare the interpreter with a hand-written workflow of the same no-op steps on the same worker and server.

Prints a JSON line for each shape, and one more for fans whose light steps share activities: runs/s at saturation and
CPU milliseconds per run (worker + server, from /proc), each with the value of the hand-written baseline and the ratio
of the medians over the rounds. The contenders take turns.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.handwritten import Shape
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.language.definition import Definition
from docrail.dag.values.json_values import Json, digest
from docrail.embedded.temporal import start_temporal
from docrail.workflows.contract.names import WORKFLOW_TYPE, RunRequest, workflow_id

SHAPES = (Shape("fan", 3), Shape("chain", 20), Shape("fan", 50))
IN_FLIGHT = 40
"""Concurrent runs: enough to saturate two cores, few enough not to measure queueing alone."""
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    """Results of one contender's rounds."""

    runs_per_second: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)


def definition_of(shape: Shape, handler: str = "noop") -> dict[str, Json]:
    """Return the shape as a definition with every default resolved, as it would be stored."""
    names = [f"s{number}" for number in range(shape.size)]
    if shape.name == "chain":
        steps = [{"id": name, "depends_on": names[max(0, place - 1) : place]} for place, name in enumerate(names)]
    else:
        middle = [{"id": name, "depends_on": ["first"]} for name in names]
        steps = [{"id": "first"}, *middle, {"id": "last", "depends_on": names}]
    steps = [step | {"handler": handler} for step in steps]
    limits = {"max_concurrency": max(4, shape.size)}
    return Definition.model_validate({"id": "bench", "steps": steps, "limits": limits}).model_dump(mode="json")


def interpreted(
    client: Client, task_queue: str, shape: Shape, light: Sequence[str] = (), handler: str = "noop"
) -> Callable[[], Awaitable[object]]:
    """Return a function that runs the shape once with the interpreter, where steps of `light` handlers are grouped."""
    definition = definition_of(shape, handler)
    identity = digest(definition)

    async def run() -> object:
        request = RunRequest(
            tenant_id="default",
            run_id=f"bench.{uuid.uuid4().hex}",
            definition=definition,
            version=1,
            digest=identity,
            inputs={},
            semantics=SEMANTICS,
            light=tuple(light),
        )
        id_ = workflow_id(request.tenant_id, request.run_id)
        return await client.execute_workflow(WORKFLOW_TYPE, request, id=id_, task_queue=task_queue)

    return run


def handwritten(client: Client, task_queue: str, shape: Shape) -> Callable[[], Awaitable[object]]:
    """Return a function that runs the hand-written shape once."""

    async def run() -> object:
        id_ = f"default/hand/{uuid.uuid4().hex}"
        return await client.execute_workflow("Handwritten", shape, id=id_, task_queue=task_queue)

    return run


async def saturate(run: Callable[[], Awaitable[object]], count: int) -> float:
    """Run `count` times with IN_FLIGHT concurrent runs, and return the runs per second."""
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one() -> None:
        async with slots:
            await run()

    begun = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return count / (time.perf_counter() - begun)


def cpu_seconds(*pids: int) -> float:
    """Return the CPU time used by the processes so far, user and system."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum((int(fields[11]) + int(fields[12])) * TICK_SECONDS for fields in stats)


@asynccontextmanager
async def servers() -> AsyncIterator[tuple[Client, str, tuple[int, ...]]]:
    """Start the embedded Temporal and a worker process; yield a client, the task queue and both pids."""
    with tempfile.TemporaryDirectory() as folder:
        temporal = await start_temporal(Path(folder), 0, 0, report=lambda _: None)
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bench.interpreter_worker",
            temporal.address,
            "bench",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert worker.stdout
        try:
            await worker.stdout.readline()
            client = await Client.connect(temporal.address, data_converter=pydantic_data_converter)
            assert temporal.process.pid
            yield client, "bench", (worker.pid, temporal.process.pid)
        finally:
            worker.kill()
            await worker.wait()
            await temporal.process.stop()


@dataclass(frozen=True, slots=True)
class Contender:
    """What is run, and the processes whose CPU time it costs."""

    run: Callable[[], Awaitable[object]]
    pids: tuple[int, ...]
    size: int = 1
    """Runs that one call makes."""


async def compare(bench: str, shape: Shape, contenders: Mapping[str, Contender], rounds: int, count: int) -> None:
    """Run two contenders in turn and print the shape's line: the first one's figures, the second one's, their ratio."""
    measured = {name: Measured() for name in contenders}
    for each in contenders.values():
        await saturate(each.run, max(10, count // 5))  # warm up caches, connections, plan
    for turn in range(rounds):
        for name in contenders if turn % 2 else [*contenders][::-1]:
            before = cpu_seconds(*contenders[name].pids)
            size = contenders[name].size
            measured[name].runs_per_second.append(await saturate(contenders[name].run, count) * size)
            measured[name].cpu_ms.append((cpu_seconds(*contenders[name].pids) - before) * 1000 / (count * size))
    line: dict[str, Json] = {"bench": bench, "shape": f"{shape.name} of {shape.size}"}
    _, other = contenders
    for figure in ("runs_per_second", "cpu_ms"):
        ours, theirs = (statistics.median(getattr(measured[name], figure)) for name in contenders)
        line |= {
            figure: round(ours, 1),
            f"{other}_{figure}": round(theirs, 1),
            f"{figure}_ratio": round(ours / theirs, 3),
        }
    print(json.dumps(line), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6, help="turns of each contender and shape")
    parser.add_argument("--runs", type=int, default=150, help="runs of five steps a turn; larger shapes take fewer")
    options = parser.parse_args()
    async with servers() as (client, task_queue, pids):
        for shape in SHAPES:
            count = max(20, options.runs * 5 // (shape.size + 2))
            contenders = {
                "interpreter": Contender(interpreted(client, task_queue, shape), pids),
                "handwritten": Contender(handwritten(client, task_queue, shape), pids),
            }
            await compare("interpreter", shape, contenders, options.rounds, count)
            if shape.name == "fan":
                contenders["interpreter"] = Contender(interpreted(client, task_queue, shape, ["noop"]), pids)
                await compare("interpreter, light steps grouped", shape, contenders, options.rounds, count)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
