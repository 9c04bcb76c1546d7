"""`make chaos`: documents arrive, alone and in batches, while a seeded sequence of faults hits every part of a stack.

Processes are killed and frozen, the disk is full for a while, requests are repeated, and the fake Gemini refuses and
hangs up. The workers are of two builds; when half of the documents have been sent, new runs go to the other one. At the
end every document must have ended once, with one review item, one row and one file. Prints the figures as one JSON
line; the seed draws the same faults and documents again.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg
from temporalio.client import Client

from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.adapters.store.folders import Folder
from docrail.adapters.store.open_store import open_store
from docrail.adapters.temporal.connection import Connection
from docrail.embedded.fake_gemini.scenarios import parse_mix
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.fleet.namespace import prepare_namespace
from docrail.services.maintenance.service import apply_background_schedule
from docrail.settings import Settings
from tests.builds import make_current
from tests.chaos.accounts import check_account
from tests.chaos.customers import Customers, draw_files
from tests.chaos.faults import Faults, command_of, storm
from tests.disks import SmallDisk
from tests.gemini import KEY, gemini
from tests.s3 import KEYS, s3_process
from tests.stack import descendants, eventually

WORKERS = 3
BUILDS = ("before", "after")
FLAPPING = "429:1=0.1,503=0.05,hangs-up=0.05,slow:0.5=0.05,not-json=0.02"
BUCKET = "docrail-chaos"
DISK_BYTES = 4 * 2**30
MOST = 0.9
"""The share of documents after which the storm ends: the rest must end by itself."""
LEAST_FAULTS = 5
STORM_SECONDS = 1800.0
CALM_SECONDS = 600.0
"""How long after the last fault the last document may take: steps repeat with growing delays."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a storm keeps its files. Files of S3 are in a server that can be frozen."""

    data_dir: Path
    disk: SmallDisk | None
    store: Folder
    store_pid: int | None


async def weather(
    documents: int, seed: int, pause_seconds: tuple[float, float], folder: Path, *, s3: bool = False
) -> dict[str, Any]:
    """Send the documents through a stack during a storm, check the account, and return the figures."""
    before = descendants(os.getpid())
    async with AsyncExitStack() as cleanup:
        place = await _prepare(folder, cleanup, s3=s3)
        fake = await cleanup.enter_async_context(gemini(parse_mix(FLAPPING, seed)))
        os.environ |= {"DOCRAIL_GEMINI_API_KEY": KEY, "DOCRAIL_GEMINI_BASE_URL": fake.url}
        options = StackOptions(place.data_dir, api_port=0, temporal_port=0, ui_port=0, workers=WORKERS)
        async with run_stack(options, report=_report) as stack:
            connection = Connection(stack.temporal.address)
            await prepare_namespace(connection)
            await apply_background_schedule(connection, Settings().task_queue)  # as `docrail up` does
            await _become_builds(stack)
            figures = await _brave(stack, place, documents, seed, pause_seconds)
        # The stack's processes have groups of their own; the fake's reader and the S3 server are in this one's.
        others = [pid for pid in descendants(os.getpid()) - before if os.getpgid(pid) != os.getpgrp()]
        left = [command_of(pid) for pid in others]
        assert left == [], "processes that are left over"
    figures["chaos"] = {"documents": documents, "seed": seed, "workers": WORKERS, "s3": s3}
    figures["gemini_requests"] = len(fake.asked)
    return figures


async def _brave(
    stack: Stack, place: Place, documents: int, seed: int, pause_seconds: tuple[float, float]
) -> dict[str, Any]:
    begun = time.monotonic()
    faults = Faults(stack, random.Random(seed), place.disk, place.store_pid)
    customers = Customers(stack.http, random.Random(seed))
    over = asyncio.Event()
    deciding = asyncio.create_task(customers.decide(over))
    files = draw_files(documents, random.Random(seed))
    async with storm(faults, pause_seconds):
        await customers.send(files[: documents // 2])
        await _make_current(stack, BUILDS[1])
        await customers.send(files[documents // 2 :])
        await _until_most_are_read(stack, documents)
        await eventually(lambda: faults.counts.total() >= LEAST_FAULTS, "faults", timeout_seconds=STORM_SECONDS)
        over.set()
        await deciding
    calm = time.monotonic()
    await customers.wait_for_batches(CALM_SECONDS)
    assert len(customers.documents) == documents, "every document was accepted once"
    await check_account(stack, customers, place.store, place.data_dir, CALM_SECONDS)
    assert "500" not in customers.answers, _errors_in(place.data_dir / "logs" / "api.log")
    return {
        "faults": dict(sorted(faults.counts.items())),
        "answers": dict(sorted(customers.answers.items())),
        "approved": len(customers.approved),
        "workflows": await _workflows_of_builds(stack),
        "storm_seconds": round(calm - begun, 1),
        "calm_seconds": round(time.monotonic() - calm, 1),
    }


async def _become_builds(stack: Stack) -> None:
    """Restart the workers as those of two builds, and send new runs to the first one."""
    for number, worker in enumerate(stack.workers):
        build = {"DOCRAIL_BUILD_ID": BUILDS[number % len(BUILDS)]}
        worker.program = replace(worker.program, environment={**worker.program.environment, **build})
        await worker.restart()
    await _make_current(stack, BUILDS[0])
    await stack.wait_ready()


async def _make_current(stack: Stack, build: str) -> None:
    await make_current(stack.temporal.address, Settings().deployment, build)


async def _workflows_of_builds(stack: Stack) -> dict[str, int]:
    """Return how many workflows of documents each build has run. Each ran on one, and both had some."""
    client = await Client.connect(stack.temporal.address)
    kinds, deployment = 'WorkflowType IN ("Run", "DocumentChunk")', Settings().deployment

    async def count(condition: str) -> int:
        return (await client.count_workflows(f"{kinds} AND {condition}")).count

    ran = {build: await count(f'TemporalWorkerDeploymentVersion = "{deployment}:{build}"') for build in BUILDS}
    assert all(ran.values()), ran
    assert await count("TemporalWorkerDeploymentVersion IS NULL") == 0, "workflows of no build"
    return ran


def _errors_in(log: Path) -> str:
    """Return the ends of the tracebacks of the API's errors that it has no answer for."""
    _, *errors = log.read_text().split(" ERROR ")
    return "\n\n".join(error[-2000:] for error in errors)


async def _prepare(folder: Path, cleanup: AsyncExitStack, *, s3: bool) -> Place:
    disk = cleanup.enter_context(small_disk(folder))
    data_dir = (folder if disk is None else disk.root) / "data"
    if not s3:
        return Place(data_dir, disk, open_store(None, data_dir, endpoint=None), None)
    os.environ |= KEYS
    port, pid = await cleanup.enter_async_context(s3_process(folder, BUCKET))
    location, endpoint = f"s3://{BUCKET}/docrail", f"http://127.0.0.1:{port}"
    os.environ |= {"DOCRAIL_STORE": location, "DOCRAIL_STORE_ENDPOINT": endpoint}
    return Place(data_dir, disk, open_store(location, data_dir, endpoint=endpoint), pid)


def _report(line: str) -> None:
    sys.stderr.write(f"{line}\n")


async def _until_most_are_read(stack: Stack, documents: int) -> None:
    async def most_are_read() -> bool:
        try:
            database = await asyncpg.connect(stack.postgres.dsn, timeout=2)
        except (OSError, TimeoutError, *DATABASE_ERRORS):  # it was killed or frozen
            return False
        try:
            read = await database.fetchval("SELECT count(*) FROM reviews", timeout=2)
        except (OSError, TimeoutError, *DATABASE_ERRORS):
            return False
        finally:
            database.terminate()
        return bool(read >= MOST * documents)

    await eventually(most_are_read, "most documents are read", timeout_seconds=STORM_SECONDS)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk | None]:
    """Mount a disk that can be filled; None where this user may not mount one."""
    disk = SmallDisk(folder / "disk")
    disk.root.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", "tmpfs", str(disk.root)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk.root)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--documents", type=int, default=2000, help="how many documents are sent")
    parser.add_argument("--seed", type=int, default=1, help="draws the documents, the faults and their times")
    parser.add_argument("--pause", type=float, default=6.0, help="most seconds between two faults")
    parser.add_argument("--s3", action="store_true", help="keep the files in an S3 server, which freezes too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="docrail-chaos-") as folder:
        Path(folder).chmod(0o755)
        figures = asyncio.run(
            weather(given.documents, given.seed, (given.pause / 3, given.pause), Path(folder), s3=given.s3)
        )
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
