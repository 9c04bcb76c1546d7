"""The account at the end of a storm: what must exist once exists once, and nothing is left over."""

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import asyncpg
import httpx
from temporalio.client import Client

from docrail.adapters.store.files import LEFTOVER_SECONDS
from docrail.adapters.store.folders import Folder
from docrail.embedded.stack import Stack
from docrail.services.lake.files import Lake
from docrail.services.lake.query import open_lake
from tests.chaos.customers import Customers
from tests.stack import eventually

AT_ONCE = 8
OPEN_RUNS = 'WorkflowType IN ("Run", "DocumentChunk", "Batch") AND ExecutionStatus = "Running"'


async def check_account(
    stack: Stack, customers: Customers, store: Folder, data_dir: Path, timeout_seconds: float
) -> None:
    """Assert that each document ended well and once, with one of each thing, and that nothing is left over."""
    ids = sorted(customers.documents)
    await _await_runs(stack.http, sorted(customers.documents.values()), timeout_seconds)
    lake = await asyncio.to_thread(_lake_rows, store.sub("lake"))
    assert [lake[document_id] for document_id in ids] == [1] * len(ids), "rows in the lake"
    assert set(ids) <= await asyncio.to_thread(_json_files, store.sub("lake")), "JSON files"
    database = await asyncpg.connect(stack.postgres.dsn)
    try:
        counts = "SELECT document_id, count(*) FROM reviews WHERE document_id = ANY ($1) GROUP BY 1"
        assert await _pairs(database, counts, ids) == dict.fromkeys(ids, 1), "review items"
        decided = "SELECT review_id, count(*) FROM audit_events WHERE act = 'approved' GROUP BY 1"
        decisions = await _pairs(database, decided)
        assert set(decisions.values()) <= {1}, "decisions"
        assert customers.approved <= decisions.keys(), "accepted decisions"

        async def no_lease() -> bool:
            return not await database.fetchval("SELECT count(*) FROM reading_leases WHERE expires_at > now()")

        await eventually(no_lease, "every lease has ended", timeout_seconds=timeout_seconds)
    finally:
        await database.close()
    client = await Client.connect(stack.temporal.address)

    async def none_is_open() -> bool:
        return (await client.count_workflows(OPEN_RUNS)).count == 0

    await eventually(none_is_open, "no workflow is open", timeout_seconds=timeout_seconds)
    await _check_files(stack, data_dir)


async def _pairs(database: asyncpg.Connection, query: str, *arguments: object) -> dict[str, int]:
    return {row[0]: row[1] for row in await database.fetch(query, *arguments)}


async def _await_runs(http: httpx.AsyncClient, run_ids: Sequence[str], timeout_seconds: float) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def status_of(run_id: str) -> str:
        seen = ""

        async def has_ended() -> bool:
            nonlocal seen
            answer = await http.get(f"/v1/runs/{run_id}")
            seen = answer.json()["status"] if answer.is_success else ""
            return seen in {"completed", "failed", "aborted", "cancelled"}

        async with turns:
            await eventually(has_ended, f"{run_id} has ended", timeout_seconds=timeout_seconds)
        return seen

    assert Counter(await asyncio.gather(*map(status_of, run_ids))) == {"completed": len(run_ids)}


def _json_files(lake: Folder) -> set[str]:
    """Return the documents that have one."""
    paths = (PurePosixPath(file.path) for file in lake.files())
    return {path.name.partition(".")[0] for path in paths if path.suffix == ".json"}


def _lake_rows(lake: Folder) -> Counter[str]:
    """Return how many rows each document has."""
    opened = open_lake(Lake(lake))
    try:
        rows = opened.ask("SELECT document_id FROM invoices").read_all().to_pylist()
    finally:
        opened.connection.close()
    return Counter(row["document_id"] for row in rows)


async def _check_files(stack: Stack, data_dir: Path) -> None:
    """Assert that a worker that starts later removes what killed writers left."""

    def leftovers() -> list[Path]:
        return [path for path in data_dir.rglob(".*.tmp") if "postgres" not in path.parts]

    for path in leftovers():
        long_ago = path.stat().st_mtime - LEFTOVER_SECONDS
        os.utime(path, (long_ago, long_ago))
    if leftovers():
        await stack.workers[0].restart()
        await eventually(lambda: leftovers() == [], "a worker removes what killed writers left")
