"""A whole stack with two workers, whose processes these tests kill, and a count of what must not be lost or doubled."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
import pytest
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.client import Client

from docrail.adapters.store.files import LEFTOVER_SECONDS
from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.fleet.health import describe_queue
from docrail.services.fleet.namespace import prepare_namespace
from docrail.services.lake.files import Lake
from docrail.services.lake.query import open_lake
from docrail.services.maintenance.service import apply_background_schedule
from docrail.settings import Settings
from tests.activities.ubl import ubl_invoice
from tests.stack import eventually

ENDED = frozenset({"completed", "failed", "aborted", "cancelled"})
PATIENCE_SECONDS = 110.0
"""A step that met a dead database waits 10 to 15 s, then 20 to 25 s, for its next attempts."""


@dataclass
class Rig:
    """A running stack, and what tests ask of it."""

    stack: Stack
    data_dir: Path

    async def upload(self, name: str) -> dict[str, Json]:
        """Upload a document of its own bytes; while a server is down, try again as a client would."""
        files = {"file": (f"{name}.xml", ubl_invoice(name))}
        uploaded: dict[str, Json] = {}

        async def accepted() -> bool:
            try:
                response = await self.stack.http.post("/v1/documents", files=files, headers={"Idempotency-Key": name})
            except httpx.TransportError:
                return False
            if response.is_success:
                uploaded.update(response.json())
            return response.is_success

        await eventually(accepted, f"the upload of {name} is accepted", timeout_seconds=PATIENCE_SECONDS)
        return uploaded

    async def run_of(self, run_id: str) -> dict[str, Json]:
        """Return a run's report; an empty one while it is unavailable."""
        try:
            response = await self.stack.http.get(f"/v1/runs/{run_id}")
        except httpx.TransportError:
            return {"status": "unknown", "steps": {}}
        report: dict[str, Json] = response.json() if response.is_success else {"status": "unknown", "steps": {}}
        return report

    async def wait_for_step(self, run_id: str, step: str, status: str) -> None:
        async def reached() -> bool:
            report = await self.run_of(run_id)
            return step in report["steps"] and report["steps"][step]["status"] == status

        await eventually(reached, f"step {step} of {run_id} is {status}", timeout_seconds=PATIENCE_SECONDS)

    async def wait_for_end(self, documents: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
        """Return the documents' reports once every run has ended."""
        reports: dict[str, dict[str, Json]] = {}

        async def all_ended() -> bool:
            for document in documents:
                if document["run_id"] not in reports:
                    report = await self.run_of(document["run_id"])
                    if report["status"] not in ENDED:
                        return False
                    reports[document["run_id"]] = report
            return True

        await eventually(all_ended, "every run has ended", timeout_seconds=PATIENCE_SECONDS)
        return [reports[document["run_id"]] for document in documents]

    async def check_kept_once(self, documents: Sequence[dict[str, Json]]) -> None:
        """Assert that every document ended well, with one Parquet, one JSON, one review item and one run."""
        reports = await self.wait_for_end(documents)
        assert {report["status"] for report in reports} == {"completed"}, [report["reason"] for report in reports]
        ids = sorted(document["document_id"] for document in documents)
        lake = Lake(self.data_dir / "lake")
        opened = open_lake(lake)
        rows = opened.ask("SELECT document_id FROM invoices").read_all().to_pylist()
        opened.connection.close()
        assert sorted(row["document_id"] for row in rows if row["document_id"] in ids) == ids
        written = {path.stem.partition(".")[0] for path in (self.data_dir / "lake").rglob("*.json")}
        assert written >= set(ids)
        assert self._leftovers() == []
        assert await self._reviews(ids) == dict.fromkeys(ids, 1)

    async def clean_up_after_killed_writers(self, documents: Sequence[dict[str, Json]]) -> None:
        """Let a worker that starts later remove what writers left that were killed in the middle of a write."""
        await self.wait_for_end(documents)
        for path in self._leftovers():
            long_ago = path.stat().st_mtime - LEFTOVER_SECONDS
            os.utime(path, (long_ago, long_ago))
        if self._leftovers():
            await self.stack.workers[0].restart()
            await eventually(lambda: self._leftovers() == [], "a worker removes what killed writers left")

    def _leftovers(self) -> list[Path]:
        return list((self.data_dir / "lake").rglob("*.tmp*"))

    async def _reviews(self, ids: Sequence[str]) -> dict[str, int]:
        connection = await asyncpg.connect(self.stack.postgres.dsn)
        try:
            counts = "SELECT document_id, count(*) AS items FROM reviews WHERE document_id = ANY($1) GROUP BY 1"
            return {row["document_id"]: row["items"] for row in await connection.fetch(counts, list(ids))}
        finally:
            await connection.close()

    async def wait_for_file(self) -> None:
        """Return as soon as one more Parquet file stands in the lake: saves are going on."""
        before = self._parquet_files()
        await eventually(lambda: self._parquet_files() > before, "a Parquet file appears")

    def _parquet_files(self) -> int:
        return len(list((self.data_dir / "lake").rglob("*.parquet")))

    async def wait_for_workers(self) -> None:
        """Return once every worker has started its readers and polls; /readyz is content with one of them."""
        client = await self.temporal()

        async def all_poll() -> bool:
            queue = await describe_queue(client, "docrail", TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY)
            polling = {poller.identity.partition("@")[0] for poller in queue.pollers}
            return all(str(worker.pid) in polling for worker in self.stack.workers)

        await eventually(all_poll, "every worker polls", timeout_seconds=PATIENCE_SECONDS)

    async def temporal(self) -> Client:
        return await Client.connect(self.stack.temporal.address)


@pytest.fixture(scope="module")
async def rig(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    data_dir = tmp_path_factory.mktemp("chaos")
    options = StackOptions(data_dir, api_port=0, temporal_port=0, ui_port=0, workers=2, graceful_shutdown_seconds=20)
    async with run_stack(options, report=print) as stack:
        connection = Connection(stack.temporal.address)
        await prepare_namespace(connection)
        await apply_background_schedule(connection, Settings().task_queue)  # as `docrail up` does
        yield Rig(stack, data_dir)


@pytest.fixture(autouse=True)
async def ready(rig: Rig) -> None:
    """Begin with everything up and both workers at work, whatever the test before has killed."""
    for process in (rig.stack.postgres.process, rig.stack.temporal.process, *rig.stack.workers, rig.stack.api):
        if process.pid is None:
            await process.restart()
    await rig.stack.wait_ready()
    await rig.wait_for_workers()


async def upload_all(rig: Rig, prefix: str, count: int) -> list[dict[str, Json]]:
    return list(await asyncio.gather(*(rig.upload(f"{prefix}-{number}") for number in range(count))))
