"""Freeze and kill each part of a running Docrail, and measure what its callers notice.

The files are in an S3 server, so that the store can fail by itself. While callers upload invoices and read lists, each
part is frozen for `--seconds`, then killed and started again. Prints a JSON line for each: the seconds until `/readyz`
reports it and until it reports that all is well again (null: it never had to, as the rest goes on), how many requests
had which status, the slowest answer, and how many of the accepted documents were lost at the end.
"""

import argparse
import asyncio
import json
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from bench.pipeline import documents
from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.embedded.processes import Supervised
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.fleet.namespace import prepare_namespace
from docrail.services.maintenance.service import apply_background_schedule
from docrail.settings import Settings
from tests.s3 import KEYS, s3_process
from tests.stack import descendants, eventually, frozen

BUCKET = "docrail-outages"
PARTS = ("postgresql", "temporal", "store", "workers", "api")
READY_EVERY, CALL_EVERY = 0.05, 0.25
WELL_SECONDS, ENDED_SECONDS = 120.0, 200.0


@dataclass
class Watch:
    """Calls the API as its users do, and keeps what they see."""

    http: httpx.AsyncClient
    files: Iterator[bytes] = field(default_factory=lambda: iter(documents(1_000)))
    answers: Counter[str] = field(default_factory=Counter)
    """By status; `refused` and `no answer` if there was none."""
    slowest: float = 0.0
    accepted: list[str] = field(default_factory=list)
    """Ids of uploaded documents."""
    readiness: list[tuple[float, bool]] = field(default_factory=list)
    """When `/readyz` answered, and whether all was well."""

    def first(self, *, ready: bool, since: float) -> float | None:
        """Return the seconds from a moment to the first answer of this kind after it; None: there was none."""
        return next((round(at - since, 1) for at, was in self.readiness if at >= since and was is ready), None)

    async def upload(self) -> None:
        """Upload another invoice."""
        answer = await self._call("POST", "/v1/documents", files={"file": ("invoice.pdf", next(self.files))})
        if answer is not None and answer.is_success:
            self.accepted.append(answer.json()["document_id"])

    async def read(self) -> None:
        """Read what the console's pages read."""
        for path in ("/v1/documents", "/v1/reviews", "/v1/runs", "/v1/definitions"):
            await self._call("GET", path)

    async def look(self) -> None:
        """Ask whether all is well."""
        try:
            was = (await self.http.get("/readyz")).is_success
        except httpx.HTTPError:
            was = False
        self.readiness.append((time.perf_counter(), was))

    async def _call(self, method: str, path: str, **request: Any) -> httpx.Response | None:
        begun = time.perf_counter()
        answer = None
        try:
            answer = await self.http.request(method, path, **request)
        except httpx.HTTPError as error:
            self.answers["refused" if isinstance(error, httpx.ConnectError) else "no answer"] += 1
        else:
            self.answers[str(answer.status_code)] += 1
        self.slowest = max(self.slowest, time.perf_counter() - begun)
        return answer


@asynccontextmanager
async def watched(stack: Stack) -> AsyncGenerator[Watch]:
    """Call the API, each call by another caller, until the block ends."""
    over = asyncio.Event()
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=stack.api_url, trust_env=False, timeout=30, limits=limits) as http:
        watch = Watch(http)

        async def repeat(what: Callable[[], Awaitable[None]], every: float) -> None:
            while not over.is_set():
                await what()
                await asyncio.sleep(every)

        calls = {watch.upload: CALL_EVERY, watch.read: CALL_EVERY, watch.look: READY_EVERY}
        running = asyncio.gather(*(repeat(what, every) for what, every in calls.items()))
        try:
            yield watch
        finally:
            over.set()
            await running


def _pids(part: str, stack: Stack, store: int) -> list[int]:
    roots: dict[str, list[int | None]] = {
        "postgresql": [stack.postgres.process.pid],
        "temporal": [stack.temporal.process.pid],
        "store": [store],
        "workers": [worker.pid for worker in stack.workers],
        "api": [stack.api.pid],
    }
    return [pid for root in roots[part] if root is not None for pid in (root, *descendants(root))]


async def _kill(part: str, stack: Stack) -> None:
    processes: dict[str, tuple[Supervised, ...]] = {
        "postgresql": (stack.postgres.process,),
        "temporal": (stack.temporal.process,),
        "workers": stack.workers,
        "api": (stack.api,),
    }
    for process in processes[part]:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)


async def measure(stack: Stack, part: str, how: str, store: int, seconds: float) -> None:
    """Let one part fail, and print what its callers noticed."""
    async with watched(stack) as watch:
        await eventually(lambda: len(watch.readiness) > 5 and watch.readiness[-1][1], "all is well")
        begun = over = time.perf_counter()
        if how == "freeze":
            with frozen(_pids(part, stack, store)):
                await asyncio.sleep(seconds)
            over = time.perf_counter()
        else:
            await _kill(part, stack)
            await asyncio.sleep(1)
        noticed = watch.first(ready=False, since=begun)
        await eventually(
            lambda: watch.first(ready=True, since=over + 1) is not None,
            "it is well again",
            timeout_seconds=WELL_SECONDS,
        )
        noticed = watch.first(ready=False, since=begun)
        well = None if noticed is None else _well_again(watch, over)
    lost = await count_lost(stack, watch.accepted)
    line: dict[str, Json] = {"bench": "outages", "what": f"{how} {part}"}
    line |= {"noticed_seconds": noticed, "well_again_seconds": well, "answers": dict(watch.answers)}
    line |= {"slowest_seconds": round(watch.slowest, 1), "accepted": len(watch.accepted), "lost": lost}
    print(json.dumps(line), flush=True)


def _well_again(watch: Watch, over: float) -> float:
    """Return the seconds from the end of the outage to the last answer that reported it."""
    last = max((at for at, was in watch.readiness if not was), default=over)
    return round(max(last - over, 0.0), 1)


async def count_lost(stack: Stack, accepted: list[str]) -> int:
    """Wait until the accepted documents have a review item; count those for which nothing more comes for a while."""
    connection = await asyncpg.connect(stack.postgres.dsn)
    found, last = 0, time.perf_counter()
    try:
        while found < len(accepted) and time.perf_counter() < last + ENDED_SECONDS:
            before = found
            found = await connection.fetchval(
                "SELECT count(*) FROM reviews WHERE document_id = ANY ($1::text[])", accepted
            )
            last = time.perf_counter() if found > before else last
            await asyncio.sleep(0.2)
        return len(accepted) - found
    finally:
        await connection.close()


async def measure_all(folder: Path, seconds: float, parts: list[str]) -> None:
    os.environ.update(KEYS)
    async with s3_process(folder, BUCKET) as (port, store):
        os.environ |= {"DOCRAIL_STORE": f"s3://{BUCKET}/docrail", "DOCRAIL_STORE_ENDPOINT": f"http://127.0.0.1:{port}"}
        options = StackOptions(folder / "data", api_port=0, temporal_port=0, ui_port=0, workers=2)
        async with run_stack(options, report=lambda _: None) as stack:
            connection = Connection(stack.temporal.address)  # `docrail up` does so too, once the stack is ready
            await prepare_namespace(connection)
            await apply_background_schedule(connection, Settings().task_queue)
            for part in parts:
                await measure(stack, part, "freeze", store, seconds)
                if part != "store":  # the S3 server keeps its objects in memory
                    await measure(stack, part, "kill", store, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long a part is frozen")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given several times")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure_all(Path(folder), given.seconds, given.part or list(PARTS)))


if __name__ == "__main__":
    main()
