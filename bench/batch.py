"""Compare documents that share a workflow with a hand-written sketch of the same, on the same worker and server.

Five steps a document, each with a result of 200 bytes: one, three side by side, one. Each layer is made in groups; then
the first step is heavy, as that which reads an invoice, and is made by an activity for each document. Prints
documents/s and CPU milliseconds a document (worker and server) of both, and of documents that run alone.
"""

import argparse
import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable

from temporalio.client import Client

from bench.answering import HEAVY, LIGHT
from bench.handwritten import Chunk, Shape
from bench.interpreter import Contender, compare, definition_of, interpreted, servers
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.values.json_values import digest
from docrail.workflows.contract.names import (
    DOCUMENT_CHUNK_TYPE,
    ChunkedRun,
    DocumentChunkRequest,
    document_chunk_id,
)

DOCUMENTS = 20
SHAPE = Shape("fan", 3)


def chunked(client: Client, task_queue: str, *, is_heavy: bool) -> Callable[[], Awaitable[object]]:
    """Return a function that runs a chunk of documents once."""
    definition = definition_of(SHAPE, LIGHT.name)
    if is_heavy:
        definition["steps"][0]["handler"] = HEAVY.name
    identity = digest(definition)

    async def run() -> object:
        runs = tuple(
            ChunkedRun(run_id=f"bench.{uuid.uuid4().hex}", inputs={}, document={"document_id": str(number)})
            for number in range(DOCUMENTS)
        )
        request = DocumentChunkRequest(
            tenant_id="default",
            definition=definition,
            version=1,
            digest=identity,
            semantics=SEMANTICS,
            light=(LIGHT.name,),
            runs=runs,
        )
        id_ = document_chunk_id("default", uuid.uuid4().hex)
        return await client.execute_workflow(DOCUMENT_CHUNK_TYPE, request, id=id_, task_queue=task_queue)

    return run


def sketched(client: Client, task_queue: str, *, is_heavy: bool) -> Callable[[], Awaitable[object]]:
    """Return a function that runs the sketch of a chunk once."""
    chunk = Chunk(DOCUMENTS, is_heavy)

    async def run() -> object:
        id_ = f"default/hand/{uuid.uuid4().hex}"
        return await client.execute_workflow("HandwrittenChunk", chunk, id=id_, task_queue=task_queue)

    return run


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="turns of each contender")
    parser.add_argument("--chunks", type=int, default=60, help="chunks a turn")
    options = parser.parse_args()
    async with servers() as (client, task_queue, pids):
        for bench, is_heavy in (("batch", False), ("batch, first step heavy", True)):
            contenders = {
                "chunk": Contender(chunked(client, task_queue, is_heavy=is_heavy), pids, DOCUMENTS),
                "sketch": Contender(sketched(client, task_queue, is_heavy=is_heavy), pids, DOCUMENTS),
            }
            await compare(bench, SHAPE, contenders, options.rounds, options.chunks)
        contenders = {
            "chunk": Contender(chunked(client, task_queue, is_heavy=False), pids, DOCUMENTS),
            "alone": Contender(interpreted(client, task_queue, SHAPE, handler=LIGHT.name), pids),
        }
        await compare("batch", SHAPE, contenders, options.rounds, options.chunks)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
