"""Builds of workers, and how tests send new runs to one of them: by Temporal's own command (upgrade.md)."""

import asyncio
from asyncio.subprocess import DEVNULL

from docrail.embedded.temporal import find_binary
from tests.stack import eventually

PATIENCE_SECONDS = 120.0


async def change_deployment(address: str, name: str, command: str, *options: str) -> None:
    """Enter a command of `temporal worker deployment`, again until Temporal knows the workers that it is about."""
    words = ("worker", "deployment", command, "--deployment-name", name, *options, "--yes")

    async def done() -> bool:
        arguments = (*words, "--address", address)
        process = await asyncio.create_subprocess_exec(find_binary(), *arguments, stdout=DEVNULL, stderr=DEVNULL)
        return await process.wait() == 0

    await eventually(done, " ".join(words), timeout_seconds=PATIENCE_SECONDS)


async def make_current(address: str, name: str, build_id: str) -> None:
    """Send the new runs to a build."""
    await change_deployment(address, name, "set-current-version", "--build-id", build_id)
