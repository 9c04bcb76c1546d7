"""Worker of bench/interpreter.py, bench/shapes.py and bench/codec.py, with the payload keys of the environment.

It has the interpreter and hand-written workflows, with the same settings.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any, cast

from bench.answering import HEAVY, LIGHT
from bench.graphs import HandwrittenGraph
from bench.handwritten import Handwritten, HandwrittenChunk, answer, answers, noop
from docrail.activities.internal.groups import group_activity
from docrail.activities.registry import load_catalogue
from docrail.activities.wrapper import Attempts
from docrail.adapters.memory import settle
from docrail.adapters.temporal.connection import Connection, connect
from docrail.services.tools import Tools
from docrail.settings import Settings
from docrail.worker import assemble_worker
from docrail.workflows.document_chunk import DocumentChunk
from docrail.workflows.run import Run


async def main(address: str, task_queue: str) -> None:
    client = await connect(Connection(address, keys=Settings().encryption))
    tools = cast(Tools, None)  # these handlers use none
    own = {handler.name: Attempts(handler, tools) for handler in (load_catalogue()["noop"], LIGHT, HEAVY)}
    activities: list[Callable[..., Any]] = [each.as_activity() for each in own.values()]
    activities += [group_activity(own), noop, answer, answers]
    workflows = [Run, DocumentChunk, Handwritten, HandwrittenChunk, HandwrittenGraph]
    async with assemble_worker(client, task_queue, workflows, activities, sandboxed=False):
        settle()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    os._exit(0)
