"""Back up a running Docrail, destroy it, bring it back, and measure how long each takes.

`--documents` e-invoices are read, half of them while the backup is made, and `--waiting` runs wait for an answer.
Prints one JSON line: the backup's seconds and megabytes, the seconds from an empty folder to `/readyz`, those until the
open runs have finished, and how many did.
"""

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from docrail.embedded.backup import back_up, restore
from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.activities.ubl import ubl_invoice
from tests.stack import eventually

WAITING = {"id": "patient", "steps": [{"id": "reply", "wait": {"for": "signal"}}]}
UPLOADS_AT_ONCE = 4
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 600.0


async def upload(stack: Stack, names: list[str], run_ids: list[str]) -> None:
    """Upload a document for each name, and add the ids of their runs as they are accepted."""
    slots = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def one(name: str) -> None:
        async with slots:
            answer = await stack.http.post("/v1/documents", files={"file": (f"{name}.xml", ubl_invoice(name))})
            run_ids.append(str(answer.raise_for_status().json()["run_id"]))

    await asyncio.gather(*(one(name) for name in names))


async def statuses(stack: Stack, run_ids: list[str]) -> list[str]:
    """Return the status of each run; `unknown` of one that began after the backup."""
    answers = [await stack.http.get(f"/v1/runs/{run_id}") for run_id in run_ids]
    return [str(answer.json()["status"]) if answer.is_success else "unknown" for answer in answers]


async def until(stack: Stack, run_ids: list[str], wanted: set[str]) -> None:
    """Return when each run has one of the statuses."""
    deadline = time.perf_counter() + PATIENCE_SECONDS
    while not wanted.issuperset(found := await statuses(stack, run_ids)):
        if time.perf_counter() > deadline:
            raise SystemExit(f"not ended: {sorted(set(found) - wanted)}")
        await asyncio.sleep(POLL_SECONDS)


async def start_waiting(stack: Stack, count: int) -> list[str]:
    """Start runs that wait for an answer."""
    made = [await stack.http.post("/v1/runs", json={"definition": WAITING, "inputs": {}}) for _ in range(count)]
    run_ids = [str(answer.raise_for_status().json()["run_id"]) for answer in made]
    await until(stack, run_ids, {"waiting"})
    return run_ids


async def measure(folder: Path, documents: int, waiting: int) -> dict[str, Any]:
    data_dir, archive = folder / "data", folder / "backup.tar"
    options = StackOptions(data_dir, api_port=0, temporal_port=0, ui_port=0)
    names = [f"document-{number}" for number in range(documents)]
    async with run_stack(options, report=lambda _: None) as stack:
        stack.http.timeout = httpx.Timeout(60)
        before: list[str] = []
        during: list[str] = []
        await upload(stack, names[: documents // 2], before)
        await until(stack, before, {"completed"})
        waits = await start_waiting(stack, waiting)
        uploading = asyncio.create_task(upload(stack, names[documents // 2 :], during))
        await eventually(lambda: len(during) > documents // 8, "uploads are accepted")
        begun = time.perf_counter()
        await back_up(data_dir, archive, report=lambda _: None)
        backed_up = time.perf_counter() - begun
        await uploading
        for process in (stack.api, *stack.workers, stack.temporal.process, stack.postgres.process):
            await process.kill()
    shutil.rmtree(data_dir)

    begun = time.perf_counter()
    await restore(archive, data_dir, report=lambda _: None)
    restored = time.perf_counter() - begun
    async with run_stack(options, report=lambda _: None) as stack:
        ready = time.perf_counter() - begun
        stack.http.timeout = httpx.Timeout(60)
        for run_id in waits:
            answer = await stack.http.post(f"/v1/runs/{run_id}/waits/reply", json={"answer": {"said": "yes"}})
            answer.raise_for_status()
        await until(stack, [*waits, *during], {"completed", "unknown"})
        ended = await statuses(stack, [*waits, *during])
    return {
        "bench": "restore",
        "documents": documents,
        "backup_seconds": round(backed_up, 1),
        "backup_megabytes": round(archive.stat().st_size / 1e6, 1),
        "restore_seconds": round(restored, 1),
        "ready_after_seconds": round(ready, 1),
        "open_runs_finished_after_seconds": round(time.perf_counter() - begun, 1),
        "open_runs_finished": ended.count("completed"),
        "uploaded_after_the_backup": ended.count("unknown"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--waiting", type=int, default=50, help="runs that wait for an answer")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(Path(folder), given.documents, given.waiting))), flush=True)


if __name__ == "__main__":
    main()
