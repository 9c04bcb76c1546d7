"""Measure how long one tenant's backlog delays another tenant's single document.

One tenant starts 10,000 runs of five no-op steps; meanwhile the default tenant uploads invoices one at a time, each
measured from its upload over HTTP to its review item. With fairness the backlog has its own tenant's fairness key, as
every run that the API starts; without it, the backlog shares the documents' key and goes first. Prints a JSON line for
each: the median, compared with the same machine without a backlog. The target is a delay of at most 3 s.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
import uuid
from pathlib import Path

import asyncpg
from temporalio.client import Client
from temporalio.common import Priority
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.handwritten import Shape
from bench.interpreter import definition_of
from bench.pipeline import documents
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.values.json_values import Json, digest
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.access.models import DEFAULT_TENANT
from docrail.settings import Settings
from docrail.workflows.contract.names import WORKFLOW_TYPE, RunRequest, workflow_id

OTHER_TENANT = "flood"
TARGET_SECONDS = 3.0
MOST_SECONDS = 60.0
"""A document that takes longer counts as this long: without fairness it waits for the whole backlog, several times."""
STARTS_AT_ONCE = 50
POLL_SECONDS = 0.02


async def start_backlog(client: Client, task_queue: str, runs: int, fairness_key: str) -> None:
    """Start the other tenant's runs."""
    definition = definition_of(Shape("fan", 3))
    slots = asyncio.Semaphore(STARTS_AT_ONCE)

    async def start() -> None:
        request = RunRequest(
            tenant_id=OTHER_TENANT,
            run_id=f"bench.{uuid.uuid4().hex}",
            definition=definition,
            version=1,
            digest=digest(definition),
            inputs={},
            semantics=SEMANTICS,
        )
        id_ = workflow_id(OTHER_TENANT, request.run_id)
        priority = Priority(fairness_key=fairness_key)
        async with slots:
            await client.start_workflow(WORKFLOW_TYPE, request, id=id_, task_queue=task_queue, priority=priority)

    await asyncio.gather(*(start() for _ in range(runs)))


async def seconds_of_document(stack: Stack, connection: asyncpg.Connection, data: bytes) -> float:
    """Upload a document and return the seconds until its review item exists, at most MOST_SECONDS."""
    begun = time.perf_counter()
    answer = await stack.http.post("/v1/documents", files={"file": ("invoice.pdf", data)})
    document_id = answer.raise_for_status().json()["document_id"]
    while time.perf_counter() < begun + MOST_SECONDS:
        if await connection.fetchval("SELECT true FROM reviews WHERE document_id = $1", document_id):
            return time.perf_counter() - begun
        await asyncio.sleep(POLL_SECONDS)
    return MOST_SECONDS


async def measure(runs: int, count: int, fairness_key: str) -> dict[str, Json]:
    """Measure documents on a stack of their own, first alone, then during the backlog."""
    with tempfile.TemporaryDirectory() as folder:
        options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0)
        async with run_stack(options, report=lambda _: None) as stack:
            connection = await asyncpg.connect(stack.postgres.dsn)
            warm, *files = documents(2 * count + 1)
            await seconds_of_document(stack, connection, warm)
            alone = [await seconds_of_document(stack, connection, data) for data in files[:count]]
            client = await Client.connect(stack.temporal.address, data_converter=pydantic_data_converter)
            await start_backlog(client, Settings().task_queue, runs, fairness_key)
            busy = [await seconds_of_document(stack, connection, data) for data in files[count:]]
            left = (await client.count_workflows("ExecutionStatus = 'Running'")).count
            await connection.close()
    delay = statistics.median(busy) - statistics.median(alone)
    return {
        "alone_seconds": round(statistics.median(alone), 2),
        "busy_seconds": round(statistics.median(busy), 2),
        "worst_seconds": round(max(busy), 2),
        "delay_seconds": round(delay, 2),
        "backlog_left": left,
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="runs of the other tenant")
    parser.add_argument("--documents", type=int, default=7, help="documents measured, one at a time")
    options = parser.parse_args()
    for name, key in (("with fairness", OTHER_TENANT), ("without", DEFAULT_TENANT)):
        found = await measure(options.runs, options.documents, key)
        line = {"bench": "fairness", "mode": name, "runs": options.runs, **found, "target_seconds": TARGET_SECONDS}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
