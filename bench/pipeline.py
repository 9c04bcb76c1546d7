"""Measure the whole invoice pipeline on this machine, from upload over HTTP to review item, in documents per hour.

Uses text PDFs of the samples, each made unique so that nothing is cached: each resembles a sixth of the others, and is
compared with them. --different uses the invoices of the tests' sets, each of some 450 once before one is used again.
Prints one JSON line with the target of 5,000 documents per hour and the CPU milliseconds per document of each role.
--batch sends them as a batch of zip files. --alone sends each after the review item of the one before, and prints the
median of the times from upload to review item.
"""

import argparse
import asyncio
import io
import json
import os
import random
import statistics
import tempfile
import time
import uuid
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from bench.cpu import cpu_seconds, since
from docrail.embedded.stack import Stack, StackOptions, run_stack

ROOT = Path(__file__).resolve().parent.parent
TEXT_PDFS = ("i2d_*.pdf", "smartap_*.pdf")
SETS = ("tests/invoices/unseen", "tests/invoices/invented")
TARGET_PER_HOUR = 5_000
"""Target in documents per hour with two workers."""
UPLOADS_AT_ONCE = 8
FILES_OF_ZIP = 100
WARM_UP = 20
POLL_SECONDS, OFTEN_SECONDS = 0.1, 0.002

Send = Callable[[Stack, list[bytes]], Awaitable[None]]


def samples() -> list[Path]:
    return [path for pattern in TEXT_PDFS for path in sorted((ROOT / "samples").glob(pattern))]


def different() -> list[Path]:
    """Return text PDFs of different invoices, in an order that mixes their sets."""
    found = [path for folder in SETS for path in sorted((ROOT / folder).rglob("*.pdf"))]
    random.Random(len(found)).shuffle(found)
    return found


def documents(count: int, originals: Sequence[Path] = ()) -> list[bytes]:
    """Return `count` text PDFs with distinct bytes: PDF readers ignore a comment after the end of the file."""
    read = [path.read_bytes() for path in (originals or samples())[:count]]
    return [read[number % len(read)] + f"\n%{uuid.uuid4()}\n".encode() for number in range(count)]


async def upload(stack: Stack, files: list[bytes]) -> None:
    slots = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def one(number: int, data: bytes) -> None:
        async with slots:
            answer = await stack.http.post("/v1/documents", files={"file": (f"{number}.pdf", data)})
            answer.raise_for_status()

    await asyncio.gather(*(one(number, data) for number, data in enumerate(files)))


async def send_batch(stack: Stack, files: list[bytes], *, grouped: bool, max_concurrency: int) -> None:
    """Send the documents as one batch."""
    order = {"definition": "invoice", "grouped": grouped, "max_concurrency": max_concurrency}
    path = f"/v1/batches/{(await _post(stack, '/v1/batches', json=order))['batch_id']}"
    for first in range(0, len(files), FILES_OF_ZIP):
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for number, data in enumerate(files[first : first + FILES_OF_ZIP], start=first):
                archive.writestr(f"{number}.pdf", data)
        await _post(stack, f"{path}/zip", files={"file": ("all.zip", written.getvalue(), "application/zip")})
    await _post(stack, f"{path}/close")


async def _post(stack: Stack, path: str, **request: Any) -> Any:
    answer = await stack.http.post(path, timeout=120, **request)
    return answer.raise_for_status().json()


async def one_by_one(stack: Stack, files: list[bytes]) -> float:
    """Return the median of the seconds from each document's upload to its review item."""
    connection, seconds = await asyncpg.connect(stack.postgres.dsn), []
    for data in files:
        begun = time.perf_counter()
        answer = await stack.http.post("/v1/documents", files={"file": ("alone.pdf", data)})
        its_review = ("SELECT FROM reviews WHERE document_id = $1", answer.raise_for_status().json()["document_id"])
        while await connection.fetchrow(*its_review) is None:  # noqa: ASYNC110 - a database
            await asyncio.sleep(OFTEN_SECONDS)
        seconds.append(time.perf_counter() - begun)
    await connection.close()
    return statistics.median(seconds)


async def process(stack: Stack, files: list[bytes], send: Send) -> tuple[float, float]:
    """Return the seconds until all uploads were accepted, and until all documents were in the review queue."""
    connection, count = await asyncpg.connect(stack.postgres.dsn), len(files)
    before = await connection.fetchval("SELECT count(*) FROM reviews")
    begun = time.perf_counter()
    await send(stack, files)
    uploaded = time.perf_counter() - begun
    while await connection.fetchval("SELECT count(*) FROM reviews") < before + count:  # noqa: ASYNC110 - a database
        await asyncio.sleep(POLL_SECONDS)
    await connection.close()
    return uploaded, time.perf_counter() - begun


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300, help="how many documents are counted")
    parser.add_argument("--workers", type=int, default=1, help="worker processes")
    parser.add_argument("--batch", action="store_true", help="send them as a batch")
    parser.add_argument("--no-group", action="store_true", help="of a batch whose documents run alone")
    parser.add_argument("--max-concurrency", type=int, default=10, help="of the batch")
    parser.add_argument("--different", action="store_true", help="another invoice each time")
    parser.add_argument("--alone", action="store_true", help="one document after the other")
    options = parser.parse_args()
    batch = partial(send_batch, grouped=not options.no_group, max_concurrency=options.max_concurrency)
    send: Send = batch if options.batch else upload
    files = documents(WARM_UP + options.documents, different() if options.different else samples())
    with tempfile.TemporaryDirectory() as folder:
        stack_options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0, workers=options.workers)
        async with run_stack(stack_options, report=lambda _: None) as stack:
            await process(stack, files[:WARM_UP], send)  # the readers' server, connections, compiled plan
            if options.alone:
                median = await one_by_one(stack, files[WARM_UP:])
                print(json.dumps({"bench": "pipeline", "alone": options.documents, "p50_ms": round(1000 * median)}))
                return
            before = cpu_seconds()
            uploaded, seconds = await process(stack, files[WARM_UP:], send)
            used = since(before)
    per_hour = options.documents / seconds * 3600
    line: dict[str, Any] = {
        "bench": "pipeline",
        "documents": options.documents,
        "different": options.different,
        "workers": options.workers,
        "batch": options.batch and {"grouped": not options.no_group, "max_concurrency": options.max_concurrency},
        "cores": os.cpu_count(),
        "upload_seconds": round(uploaded, 1),
        "seconds": round(seconds, 1),
        "documents_per_hour": round(per_hour),
        "target_per_hour": TARGET_PER_HOUR,
        "ratio": round(per_hour / TARGET_PER_HOUR, 1),
        "cpu_ms_per_document": {role: round(1000 * spent / options.documents, 1) for role, spent in used.items()},
        "cpu_ms_per_document_in_all": round(1000 * sum(used.values()) / options.documents, 1),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
