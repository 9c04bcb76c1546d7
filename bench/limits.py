"""Measure resource limits on the whole stack: real worker processes, limits of 10 and 50 per second, and no limit.

Prints a JSON line for each number of workers and limit: the most starts in any 10 s by the server's clock, divided by
the number the limit allows, and the same for steps without a limit. Exits with code 1 if any window had more than 1.1
times the limit plus the burst that a token bucket of one second allows.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.limits.service import apply_limits
from docrail.settings import Settings
from docrail.workflows.contract.names import workflow_id

LIMITS = {"slow": 10.0, "fast": 50.0}
"""Uses per second by tag: typical limits of an LLM API and of a database."""
WINDOW_SECONDS = 10.0
TOLERANCE = 1.1
BURST_SECONDS = 1.0
"""Temporal's token bucket holds the tokens of one second, and is full after a second without work."""
STEPS_A_RUN = 250
STARTED = EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED


def definition(tag: str | None, steps: int) -> dict[str, Json]:
    fields = {"handler": "noop", **({"resource_tag": tag} if tag else {})}
    listed = [{"id": f"s{number}", **fields} for number in range(steps)]
    return {"id": tag or "unlimited", "limits": {"max_concurrency": STEPS_A_RUN}, "steps": listed}


async def starts_of(stack: Stack, client: Client, tag: str | None, count: int) -> list[float]:
    """Run `count` steps and return the start times of their attempts in seconds by the server's clock, ascending."""
    sizes = [STEPS_A_RUN] * (count // STEPS_A_RUN) + [count % STEPS_A_RUN]
    runs = [await start(stack, tag, size) for size in sizes if size]
    starts: list[float] = []
    for run in runs:
        handle = client.get_workflow_handle(workflow_id("default", run))
        await handle.result()
        events = [event async for event in handle.fetch_history_events() if event.event_type == STARTED]
        starts += [event.event_time.ToNanoseconds() / 1e9 for event in events]
    return sorted(starts)


async def start(stack: Stack, tag: str | None, steps: int) -> str:
    answer = await stack.http.post("/v1/runs", json={"definition": definition(tag, steps)})
    answer.raise_for_status()
    return str(answer.json()["run_id"])


def most_within(starts: Sequence[float], seconds: float) -> int:
    """Return the most starts in any window of that length."""
    most, first = 0, 0
    for last, at in enumerate(starts):
        while at - starts[first] > seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


@contextmanager
def limits_in_environment() -> Iterator[None]:
    """Set the limits as an operator does, in the environment that the stack's processes inherit."""
    os.environ["DOCRAIL_RESOURCE_LIMITS"] = ",".join(f"{tag}={rate:g}/s" for tag, rate in LIMITS.items())
    try:
        yield
    finally:
        del os.environ["DOCRAIL_RESOURCE_LIMITS"]


async def measure(workers: int, seconds: int) -> bool:
    """Print the lines for this number of workers; return whether every limit held."""
    held = True
    with tempfile.TemporaryDirectory() as folder, limits_in_environment():
        options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0, workers=workers)
        async with run_stack(options, report=lambda _: None) as stack:
            await apply_limits(
                Connection(stack.temporal.address), Settings().task_queue, LIMITS
            )  # as `docrail up` does
            client = await Client.connect(stack.temporal.address, data_converter=pydantic_data_converter)
            free = await starts_of(stack, client, None, int(max(LIMITS.values()) * seconds))
            for tag, limit in LIMITS.items():
                starts = await starts_of(stack, client, tag, int(limit * seconds))
                line = line_of(workers, limit, starts, free)
                print(json.dumps(line), flush=True)
                held = held and bool(line["held"])
    return held


def line_of(workers: int, limit: float, starts: Sequence[float], free: Sequence[float]) -> dict[str, Json]:
    allowed = limit * WINDOW_SECONDS
    most, without = most_within(starts, WINDOW_SECONDS), most_within(free, WINDOW_SECONDS)
    return {
        "bench": "limits",
        "workers": workers,
        "limit_per_second": limit,
        "starts": len(starts),
        "seconds": round(starts[-1] - starts[0], 1),
        "most_in_10_s": most,
        "ratio": round(most / allowed, 3),
        "most_in_1_s": most_within(starts, 1.0),
        "without_limit_most_in_10_s": without,
        "without_limit_ratio": round(without / allowed, 1),
        "held": most <= allowed * TOLERANCE + limit * BURST_SECONDS,
    }


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4], help="worker processes, one stack for each")
    parser.add_argument("--seconds", type=int, default=25, help="how long each limit is kept busy")
    options = parser.parse_args()
    held = [await measure(workers, options.seconds) for workers in options.workers]
    return 0 if all(held) else 1


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    os._exit(code)
