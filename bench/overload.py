"""Send a running Docrail twice the uploads that it can take, and measure what its callers get.

First 64 callers upload invoices as fast as they are answered: the rate of accepted uploads is the saturation. Then
uploads arrive at twice this rate, whether or not earlier ones were answered. Prints a JSON line for both: accepted
uploads a second, how many answers had which status, how many of the refusals had no `Retry-After`, and the median and
the 99th percentile of the answers' seconds, accepted and refused. At the end every accepted document is read.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from bench.outages import count_lost
from bench.pipeline import documents
from docrail.dag.values.json_values import Json
from docrail.embedded.stack import Stack, StackOptions, run_stack

CALLERS = 64
ANSWER_SECONDS = 30.0


@dataclass
class Load:
    """Uploads, and how they were answered."""

    http: httpx.AsyncClient
    files: Iterator[bytes]
    seconds: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})
    """Of accepted and of refused uploads."""
    answers: Counter[str] = field(default_factory=Counter)
    without_retry_after: int = 0
    accepted: list[str] = field(default_factory=list)

    async def upload(self) -> None:
        """Upload an invoice that no one has sent before."""
        begun = time.perf_counter()
        try:
            answer = await self.http.post("/v1/documents", files={"file": ("invoice.pdf", next(self.files))})
        except httpx.HTTPError as error:
            self.answers[type(error).__name__] += 1
            return
        self.answers[str(answer.status_code)] += 1
        self.seconds[answer.is_success].append(time.perf_counter() - begun)
        if answer.is_success:
            self.accepted.append(answer.json()["document_id"])
        else:
            self.without_retry_after += "retry-after" not in answer.headers

    def summary(self, what: str, took: float) -> dict[str, Json]:
        """Return the line to print."""
        line: dict[str, Json] = {"bench": "overload", "what": what, "accepted_per_second": len(self.accepted) / took}
        line |= {"answers": dict(self.answers), "refused_without_retry_after": self.without_retry_after}
        for name, seconds in (("accepted", self.seconds[True]), ("refused", self.seconds[False])):
            if len(seconds) > 1:
                line[f"{name}_p50_seconds"] = statistics.median(seconds)
                line[f"{name}_p99_seconds"] = statistics.quantiles(seconds, n=100)[98]
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in line.items()}


async def saturate(load: Load, seconds: float) -> None:
    """Upload as fast as the API answers."""
    until = time.perf_counter() + seconds

    async def caller() -> None:
        while time.perf_counter() < until:
            await load.upload()

    await asyncio.gather(*(caller() for _ in range(CALLERS)))


async def arrive(load: Load, seconds: float, per_second: float) -> None:
    """Upload at a rate that the answers do not change."""
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as calls:
        for number in range(int(seconds * per_second)):
            await asyncio.sleep(begun + number / per_second - time.perf_counter())
            calls.create_task(load.upload())


async def measure(folder: Path, seconds: float) -> None:
    options = StackOptions(folder, api_port=0, temporal_port=0, ui_port=0, workers=2)
    async with run_stack(options, report=lambda _: None) as stack, _caller(stack) as http:
        files = iter(documents(int(seconds * 1000)))
        first, second = Load(http, files), Load(http, files)
        await saturate(first, seconds)
        print(json.dumps(first.summary("saturation", seconds)), flush=True)
        await arrive(second, seconds, 2 * len(first.accepted) / seconds)
        line = second.summary("twice saturation", seconds)
        line["lost"] = await count_lost(stack, first.accepted + second.accepted)
        print(json.dumps(line), flush=True)


def _caller(stack: Stack) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=CALLERS)
    return httpx.AsyncClient(base_url=stack.api_url, trust_env=False, timeout=ANSWER_SECONDS, limits=limits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of each part")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), given.seconds))


if __name__ == "__main__":
    main()
