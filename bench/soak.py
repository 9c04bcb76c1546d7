"""`make soak`: run many documents through one stack, and print what grows: memory by role, and tables by their bytes.

First documents of five no-op steps, then text PDFs through the whole invoice pipeline, both as batches. Memory is
measured after each tenth of a phase; `second_half` is its growth from the middle of a phase to its end.
"""

import argparse
import asyncio
import io
import json
import os
import tempfile
import time
import uuid
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg

from bench.cpu import roles
from bench.pipeline import documents as text_pdfs
from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.activities.ubl import ubl_invoice

FILES_OF_ZIP = 1000
PARTS = 10
"""In how many batches the documents of a phase are sent."""
POLL_SECONDS = 0.5
NOOP = {
    "id": "soak",
    "inputs": {"document_id": {"type": "string"}},
    "steps": [
        {"id": "begin", "handler": "noop"},
        *({"id": name, "handler": "noop", "depends_on": ["begin"]} for name in ("left", "middle", "right")),
        {"id": "end", "handler": "noop", "depends_on": ["left", "middle", "right"]},
    ],
}
"""Five steps, three of them side by side."""


async def phase(stack: Stack, definition: str, count: int, made: Callable[[int], Iterator[bytes]]) -> dict[str, Any]:
    """Run so many documents in ten batches, one after the other, and return the figures."""
    begun, memory = time.perf_counter(), []
    for _ in range(PARTS):
        await batch(stack, definition, made(count // PARTS))
        memory.append(megabytes())
    seconds = time.perf_counter() - begun
    middle, end = memory[PARTS // 2 - 1], memory[-1]
    return {
        "soak": definition,
        "documents": count,
        "seconds": round(seconds),
        "documents_per_second": round(count / seconds, 1),
        "megabytes": {role: [each[role] for each in memory] for role in end},
        "second_half": {role: round(end[role] / middle[role] - 1, 3) for role in end if middle.get(role)},
        "table_megabytes": await tables(stack),
    }


async def batch(stack: Stack, definition: str, files: Iterator[bytes]) -> None:
    """Send the documents as one batch, and return once all have ended well."""
    order = {"definition": definition, "grouped": True, "max_concurrency": 100}
    path = f"/v1/batches/{(await post(stack, '/v1/batches', json=order))['batch_id']}"
    sent = 0
    while part := [data for _, data in zip(range(FILES_OF_ZIP), files, strict=False)]:
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for data in part:
                archive.writestr(f"{sent}.{'pdf' if data.startswith(b'%PDF') else 'xml'}", data)
                sent += 1
        await post(stack, f"{path}/zip", files={"file": ("all.zip", written.getvalue(), "application/zip")})
    await post(stack, f"{path}/close")
    while True:
        seen = (await stack.http.get(path)).raise_for_status().json()
        if seen["completed_at"] is not None:
            break
        await asyncio.sleep(POLL_SECONDS)
    if seen["counts"]["done"] != sent:
        raise SystemExit(f"of {sent} documents of {path} ended well: {seen['counts']}")


async def post(stack: Stack, path: str, **request: Any) -> Any:
    answer = await stack.http.post(path, timeout=300, **request)
    return answer.raise_for_status().json()


def megabytes() -> dict[str, int]:
    """Return the memory of the stack's processes by role, in MB. What processes share is divided among them."""
    used: dict[str, int] = defaultdict(int)
    for pid, role in roles(os.getpid()).items():
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended meanwhile
            continue
        used[role] += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return {role: round(kibibytes * 1024 / 1e6) for role, kibibytes in sorted(used.items())}


async def tables(stack: Stack) -> dict[str, float]:
    """Return the sizes of the tables with their indexes, in MB; those below 1 MB are left out."""
    database = await asyncpg.connect(stack.postgres.dsn)
    sizes = "SELECT relname, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables ORDER BY bytes DESC"
    found = {row["relname"]: round(row["bytes"] / 1e6, 1) for row in await database.fetch(sizes)}
    await database.close()
    return {name: size for name, size in found.items() if size >= 1}


def invoices(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield ubl_invoice(uuid.uuid4().hex)


def pdfs(count: int) -> Iterator[bytes]:
    yield from text_pdfs(count)


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--noop", type=int, default=100_000, help="documents of five no-op steps")
    parser.add_argument("--real", type=int, default=5_000, help="text PDFs through the invoice pipeline")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stack_options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0)
        async with run_stack(stack_options, report=lambda _: None) as stack:
            await post(stack, "/v1/definitions", json={"definition": NOOP})
            await batch(stack, "soak", invoices(100))  # warm up
            print(json.dumps(await phase(stack, "soak", options.noop, invoices)), flush=True)
            print(json.dumps(await phase(stack, "invoice", options.real, pdfs)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
