"""Measure the whole invoice pipeline on this machine, from upload over HTTP to review item, in documents per hour.

Uses text PDFs of the samples, each made unique so that nothing is cached. Prints one JSON line with the target of 5,000
documents per hour and the CPU milliseconds per document of each role. --batch sends them as a batch of zip files.
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
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from bench.cpu import cpu_seconds, since
from docrail.embedded.stack import Stack, StackOptions, run_stack

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
TEXT_PDFS = ("i2d_*.pdf", "smartap_*.pdf")
TARGET_PER_HOUR = 5_000
"""Target in documents per hour with two workers."""
UPLOADS_AT_ONCE = 8
FILES_OF_ZIP = 100
POLL_SECONDS = 0.1

Send = Callable[[Stack, list[bytes]], Awaitable[None]]


def documents(count: int) -> list[bytes]:
    """Return `count` text PDFs with distinct bytes: PDF readers ignore a comment after the end of the file."""
    originals = [path.read_bytes() for pattern in TEXT_PDFS for path in sorted(SAMPLES.glob(pattern))]
    return [originals[number % len(originals)] + f"\n%{uuid.uuid4()}\n".encode() for number in range(count)]


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


async def process(stack: Stack, count: int, send: Send) -> tuple[float, float]:
    """Return the seconds until all uploads were accepted, and until all documents were in the review queue."""
    connection = await asyncpg.connect(stack.postgres.dsn)
    before = await connection.fetchval("SELECT count(*) FROM reviews")
    files = documents(count)
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
    options = parser.parse_args()
    batch = partial(send_batch, grouped=not options.no_group, max_concurrency=options.max_concurrency)
    send: Send = batch if options.batch else upload
    with tempfile.TemporaryDirectory() as folder:
        stack_options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0, workers=options.workers)
        async with run_stack(stack_options, report=lambda _: None) as stack:
            await process(stack, 20, send)  # warm up: the readers' server, connections, compiled plan
            before = cpu_seconds()
            uploaded, seconds = await process(stack, options.documents, send)
            used = since(before)
    per_hour = options.documents / seconds * 3600
    line = {
        "bench": "pipeline",
        "documents": options.documents,
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
