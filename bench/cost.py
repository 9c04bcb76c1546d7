"""Measure what a document costs: Temporal's events, rows and bytes in PostgreSQL, bytes of files, and CPU.

Text PDFs go through the invoice pipeline, first each alone, then as a batch whose documents share workflows. Prints a
JSON line for each: per document the workflows, events and bytes of history, the rows and bytes by table (indexes
included), the bytes of write-ahead log and of files, and the CPU milliseconds by role. docs/scaling.md uses them.
"""

import argparse
import asyncio
import datetime as dt
import json
import os
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
from temporalio.client import Client

from bench.cpu import cpu_seconds, since
from bench.pipeline import Send, documents, process, send_batch, upload
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.embedded.temporal import NAMESPACE

SIZES = "SELECT relname, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables ORDER BY relname"
WRITTEN = "SELECT pg_current_wal_lsn() - '0/0'"


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored at one moment."""

    rows: dict[str, int]
    table_bytes: dict[str, int]
    log_bytes: int
    file_bytes: int


async def stored(stack: Stack, data: Path) -> Stored:
    """Return what is stored now."""
    connection = await asyncpg.connect(stack.postgres.dsn)
    try:
        tables = {row["relname"]: row["bytes"] for row in await connection.fetch(SIZES)}
        rows = {name: await connection.fetchval(f"SELECT count(*) FROM {name}") for name in tables}
        written = await connection.fetchval(WRITTEN)
    finally:
        await connection.close()
    files = await asyncio.to_thread(_bytes_of, data)
    return Stored(rows, tables, int(written), files)


def _bytes_of(data: Path) -> int:
    kept = [path for name in ("blobs", "lake", "records", "store") for path in (data / name).rglob("*")]
    return sum(path.stat().st_size for path in kept if path.is_file())


async def histories(stack: Stack, after: dt.datetime) -> dict[str, float]:
    """Return the number of workflows that began after a moment, and of their events and bytes."""
    client = await Client.connect(stack.temporal.address, namespace=NAMESPACE)
    found = {"workflows": 0.0, "events": 0.0, "history_bytes": 0.0}
    async for each in client.list_workflows(f"StartTime > '{after.isoformat()}'"):
        found["workflows"] += 1
        found["events"] += each.history_length
        found["history_bytes"] += each.raw_info.history_size_bytes
    return found


async def measure(stack: Stack, data: Path, what: str, count: int, send: Send) -> None:
    """Print what each of `count` documents costs."""
    await process(stack, documents(20), send)  # warm up
    began, before, used = dt.datetime.now(dt.UTC), await stored(stack, data), cpu_seconds()
    await process(stack, documents(count), send)
    spent, after = since(used), await stored(stack, data)
    grown = {name: after.table_bytes[name] - before.table_bytes[name] for name in after.table_bytes}
    rows = {name: after.rows[name] - before.rows[name] for name in after.rows}
    line: dict[str, Any] = {"bench": "cost", "what": what, "documents": count}
    line |= {name: round(number / count, 1) for name, number in (await histories(stack, began)).items()}
    line["rows"] = {name: round(number / count, 2) for name, number in rows.items() if number}
    line["table_bytes"] = {name: round(number / count) for name, number in grown.items() if number}
    line["table_bytes_in_all"] = round(sum(grown.values()) / count)
    line["log_bytes"] = round((after.log_bytes - before.log_bytes) / count)
    line["file_bytes"] = round((after.file_bytes - before.file_bytes) / count)
    line["cpu_ms"] = {role: round(1000 * seconds / count, 1) for role, seconds in spent.items()}
    print(json.dumps(line), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        async with run_stack(StackOptions(data, api_port=0, temporal_port=0, ui_port=0), lambda _: None) as stack:
            await measure(stack, data, "alone", given.documents, upload)
            batch: Send = partial(send_batch, grouped=True, max_concurrency=20)
            await measure(stack, data, "batch", given.documents, batch)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
