"""Compare runs whose payloads are encrypted with runs whose payloads are not, each on a worker process of its own.

Prints a JSON line for each shape: runs/s at saturation and CPU milliseconds per run of the worker, encrypted and plain,
and the ratio of the medians over the rounds. The contenders take turns.
"""

import argparse
import asyncio
import base64
import json
import os
import statistics
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

from bench.handwritten import Shape
from bench.interpreter import Measured, cpu_seconds, interpreted, saturate
from docrail.adapters.temporal.connection import Connection, connect
from docrail.adapters.temporal.keys import parse_payload_keys
from docrail.embedded.temporal import start_temporal

KEYS = {"encrypted": f"bench:{base64.b64encode(os.urandom(32)).decode()}", "plain": ""}
SHAPES = (Shape("fan", 3), Shape("chain", 20), Shape("fan", 50))


@dataclass(frozen=True, slots=True)
class Contender:
    """A client and a worker with the same keys; the task queue has the contender's name."""

    name: str
    client: Client
    worker: Process


async def contend(name: str, address: str, stack: AsyncExitStack) -> Contender:
    environment = {**os.environ, "DOCRAIL_PAYLOAD_KEYS": KEYS[name]}
    command = (sys.executable, "-m", "bench.interpreter_worker", address, name)
    worker = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=environment)
    stack.callback(worker.kill)
    assert worker.stdout
    await worker.stdout.readline()
    return Contender(name, await connect(Connection(address, keys=parse_payload_keys(KEYS[name]))), worker)


async def compare(contenders: list[Contender], shape: Shape, rounds: int, count: int) -> None:
    measured = {each.name: Measured() for each in contenders}
    for turn in range(-1, rounds):  # the first warms up
        for each in contenders if turn % 2 else reversed(contenders):
            before = cpu_seconds(each.worker.pid)
            runs_per_second = await saturate(interpreted(each.client, each.name, shape), count)
            if turn >= 0:
                measured[each.name].runs_per_second.append(runs_per_second)
                measured[each.name].cpu_ms.append((cpu_seconds(each.worker.pid) - before) * 1000 / count)
    line: dict[str, object] = {"bench": "codec", "shape": f"{shape.name} of {shape.size}"}
    for figure in ("runs_per_second", "cpu_ms"):
        encrypted, plain = (statistics.median(getattr(measured[name], figure)) for name in KEYS)
        line |= {
            figure: round(encrypted, 1),
            f"plain_{figure}": round(plain, 1),
            f"{figure}_ratio": round(encrypted / plain, 3),
        }
    print(json.dumps(line), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6, help="turns of each contender and shape")
    parser.add_argument("--runs", type=int, default=150, help="runs of five steps a turn; larger shapes take fewer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        temporal = await start_temporal(Path(folder), 0, 0, report=lambda _: None)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(temporal.process.stop)
            contenders = [await contend(name, temporal.address, stack) for name in KEYS]
            for shape in SHAPES:
                await compare(contenders, shape, options.rounds, max(20, options.runs * 5 // (shape.size + 2)))


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
