"""Time what shows a run of 2,000 steps, open and ended, on the whole stack, against one replay of its history.

Prints one JSON line with the seconds of `GET /v1/runs/{id}` and of all pages of `/explain`, each of an open run and of
an ended one; those of the command `docrail run explain` as seen from the shell; and those of a query that only makes a
worker replay the run. Each is the minimum and the median of some rounds, measured in turn, so that a busy machine slows
all. `first_seconds` is the first explanation after the end, for which a worker replays the run. `ratio` divides the
explanation of the ended run by the replay. `cpu_seconds` is the CPU time of the command by process: these work one
after the other, so the sum is about its time on an idle machine. The target of a request is half a second.

Last results (2 cores, minimum of five, from the same requests before this file measured them): the open run 0.10 s, its
explanation 0.27 s; the ended run 0.04 s, its explanation 0.11 s, the first one 1.7 s.
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
from tests.stack import eventually

TARGET_SECONDS = 0.5
GRAPH = "layered"
HOLD = "hold"


async def open_run(stack: Stack) -> str:
    """Run the graph to a step that waits for an answer, and return the run's id."""
    definition = json.loads(source_of(GRAPH))
    last = definition["steps"][-1]["id"]
    definition["steps"].append({"id": HOLD, "wait": {"for": "signal"}, "depends_on": [last]})
    answer = await stack.http.post("/v1/runs", json={"definition": definition})
    answer.raise_for_status()
    run_id = str(answer.json()["run_id"])

    async def waits() -> bool:
        return str((await stack.http.get(f"/v1/runs/{run_id}/graph")).json()["run"]["status"]) == "waiting"

    await eventually(waits, "the run waits")
    return run_id


async def end(stack: Stack, run_id: str) -> None:
    (await stack.http.post(f"/v1/runs/{run_id}/waits/{HOLD}", json={"answer": {}})).raise_for_status()


async def show(stack: Stack, run_id: str) -> None:
    (await stack.http.get(f"/v1/runs/{run_id}")).raise_for_status()


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
            run_id, ended_id = await open_run(stack), await open_run(stack)
            handle = client.get_workflow_handle(workflow_id("default", ended_id))
            await end(stack, ended_id)
            await handle.result()
            first = await seconds_of(lambda: request(stack, ended_id))
            works: dict[str, Callable[[], Awaitable[None]]] = {
                "open_seconds": lambda: show(stack, run_id),
                "open_explain_seconds": lambda: request(stack, run_id),
                "ended_seconds": lambda: show(stack, ended_id),
                "explain_seconds": lambda: request(stack, ended_id),
                "command_seconds": lambda: command(stack, ended_id),
                "replay_seconds": lambda: replay(handle),
            }
            times: dict[str, list[float]] = {name: [] for name in works}
            used: list[dict[str, float]] = []
            for _ in range(options.rounds):
                for name, work in works.items():
                    before, own = cpu_seconds(), own_seconds()
                    times[name].append(await seconds_of(work))
                    if name == "command_seconds":
                        used.append(since(before) | {"command": own_seconds() - own})
    line: dict[str, object] = {"bench": "explain", "steps": 2_000, "target_seconds": TARGET_SECONDS}
    for name, measured in times.items():
        line |= {name: round(min(measured), 2), f"median_{name}": round(statistics.median(measured), 2)}
    line |= {
        "first_seconds": round(first, 2),
        "cpu_seconds": {role: round(min(each[role] for each in used), 2) for role in used[0]},
        "ratio": round(min(times["explain_seconds"]) / min(times["replay_seconds"]), 2),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
