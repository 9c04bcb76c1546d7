"""Worker of bench/interpreter.py and bench/shapes.py: interpreter and hand-written workflows with the same settings."""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any, cast

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.graphs import HandwrittenGraph
from bench.handwritten import Handwritten, noop
from docrail.activities.registry import load_catalogue
from docrail.activities.wrapper import activity_for
from docrail.services.tools import Tools
from docrail.worker import assemble_worker, settle_memory
from docrail.workflows.run import Run


async def main(address: str, task_queue: str) -> None:
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    tools = cast(Tools, None)  # `noop` uses none
    activities: list[Callable[..., Any]] = [activity_for(load_catalogue()["noop"], tools), noop]
    async with assemble_worker(client, task_queue, [Run, Handwritten, HandwrittenGraph], activities, sandboxed=False):
        settle_memory()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    os._exit(0)
