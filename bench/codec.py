"""Compare runs whose payloads are encrypted with runs whose payloads are not, each on a worker process of its own.

Prints a JSON line for each shape: runs/s at saturation and CPU milliseconds per run of the worker, encrypted and plain,
and the ratio of the medians over the rounds. The contenders take turns.
"""

import argparse
import asyncio
import base64
import os
import sys
import tempfile
from asyncio.subprocess import PIPE
from contextlib import AsyncExitStack
from pathlib import Path

from temporalio.client import Client

from bench.handwritten import Shape
from bench.interpreter import Contender, compare, interpreted
from docrail.adapters.temporal.connection import Connection, connect
from docrail.adapters.temporal.keys import parse_payload_keys
from docrail.embedded.temporal import start_temporal

KEYS = {"encrypted": f"bench:{base64.b64encode(os.urandom(32)).decode()}", "plain": ""}
SHAPES = (Shape("fan", 3), Shape("chain", 20), Shape("fan", 50))


async def start(name: str, address: str, stack: AsyncExitStack) -> tuple[Client, int]:
    """Return a client, and the pid of a worker with the same keys, whose task queue has their name."""
    environment = {**os.environ, "DOCRAIL_PAYLOAD_KEYS": KEYS[name]}
    command = (sys.executable, "-m", "bench.interpreter_worker", address, name)
    worker = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=environment)
    stack.callback(worker.kill)
    assert worker.stdout
    await worker.stdout.readline()
    return await connect(Connection(address, keys=parse_payload_keys(KEYS[name]))), worker.pid


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6, help="turns of each contender and shape")
    parser.add_argument("--runs", type=int, default=150, help="runs of five steps a turn; larger shapes take fewer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        temporal = await start_temporal(Path(folder), 0, 0, report=lambda _: None)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(temporal.process.stop)
            started = {name: await start(name, temporal.address, stack) for name in KEYS}
            for shape in SHAPES:
                contenders = {
                    name: Contender(interpreted(client, name, shape), (pid,)) for name, (client, pid) in started.items()
                }
                await compare("codec", shape, contenders, options.rounds, max(20, options.runs * 5 // (shape.size + 2)))


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
