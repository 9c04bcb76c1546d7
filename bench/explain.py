"""Time `docrail run explain` of a finished run of 2,000 steps on the whole stack, against one replay of its history.

Prints one JSON line: the seconds of the command as seen from the shell, those of its HTTP requests alone, and those of
a query that only makes a worker replay the run. Each is the minimum and the median of some rounds, measured in turn, so
that a busy machine slows all. `ratio` divides the command by the replay. `cpu_seconds` is the CPU time of the command
by process: these work one after the other, so the sum is about its time on an idle machine. The target is two seconds.

Last results (2 cores): the command 1.65 s, median 1.67; its requests 1.25 s; a replay 0.93 s; ratio 1.8.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.cpu import cpu_seconds, since
from bench.shapes import source_of
from docrail.cli.run_views import STEPS_A_PAGE
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.workflows.contract.names import OUTPUT, workflow_id

TARGET_SECONDS = 2.0
GRAPH = "layered"


async def finished_run(stack: Stack) -> str:
    """Run the graph to its end and return the run's id."""
    answer = await stack.http.post("/v1/runs", json={"definition": json.loads(source_of(GRAPH))})
    answer.raise_for_status()
    return str(answer.json()["run_id"])


async def replay(handle: WorkflowHandle[object, object]) -> None:
    """Have a worker replay the run, for the smallest answer: the output of a step that does not exist."""
    await handle.query(OUTPUT, "none")


async def request(stack: Stack, run_id: str) -> None:
    """Request every page of the explanation, as the command does."""
    after: str | None = None
    while True:
        wanted = {"limit": str(STEPS_A_PAGE)} | ({} if after is None else {"after": after})
        answer = await stack.http.get(f"/v1/runs/{run_id}/explain", params=wanted)
        answer.raise_for_status()
        after = answer.json()["after"]
        if after is None:
            return


async def command(stack: Stack, run_id: str) -> None:
    arguments = ("-m", "docrail", "run", "explain", run_id, "--api", str(stack.http.base_url))
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=subprocess.DEVNULL)
    assert await process.wait() == 0


def own_seconds() -> float:
    """Return the CPU seconds of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def seconds_of(work: Callable[[], Awaitable[None]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each measurement")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stack_options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0, workers=1)
        async with run_stack(stack_options, report=lambda _: None) as stack:
            client = await Client.connect(stack.temporal.address, data_converter=pydantic_data_converter)
            run_id = await finished_run(stack)
            handle = client.get_workflow_handle(workflow_id("default", run_id))
            await handle.result()
            works: dict[str, Callable[[], Awaitable[None]]] = {
                "seconds": lambda: command(stack, run_id),
                "request_seconds": lambda: request(stack, run_id),
                "replay_seconds": lambda: replay(handle),
            }
            times: dict[str, list[float]] = {name: [] for name in works}
            used: list[dict[str, float]] = []
            for _ in range(options.rounds):
                for name, work in works.items():
                    before, own = cpu_seconds(), own_seconds()
                    times[name].append(await seconds_of(work))
                    if name == "seconds":
                        used.append(since(before) | {"command": own_seconds() - own})
    line: dict[str, object] = {"bench": "explain", "steps": 2_000, "target_seconds": TARGET_SECONDS}
    for name, measured in times.items():
        line |= {name: round(min(measured), 2), f"median_{name}": round(statistics.median(measured), 2)}
    line |= {
        "cpu_seconds": {role: round(min(each[role] for each in used), 2) for role in used[0]},
        "ratio": round(min(times["seconds"]) / min(times["replay_seconds"]), 2),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
