"""`docrail` as a process of its own, as a person starts it, and what it says."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.commands import PATIENCE_SECONDS, Ended, docrail
from tests.stack import descendants, eventually, survivors

__all__ = ["Ended", "docrail", "running"]

COMMAND = (sys.executable, "-P", "-m", "docrail")


@dataclass
class Running:
    """A command that runs, and what it has said so far on stdout and stderr together."""

    process: Process
    said: str = ""
    children: set[int] = field(default_factory=set)

    async def read(self) -> None:
        assert self.process.stdout is not None
        while chunk := await self.process.stdout.read(4096):
            self.said += chunk.decode()

    async def wait_for(self, text: str) -> None:
        """Return when it has said `text`; fail when it does not in time. Notes its children."""
        await eventually(lambda: text in self.said, f"{text!r} is said", timeout_seconds=PATIENCE_SECONDS)
        self.children |= descendants(self.process.pid)

    async def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and return the code with which it ends."""
        self.process.send_signal(number)
        return await self.ended()

    async def ended(self) -> int:
        """Return the code with which it ends by itself."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.process.wait()

    async def check_nothing_left(self) -> None:
        assert self.children
        await eventually(lambda: not survivors(self.children), "its children have ended")


@asynccontextmanager
async def running(*arguments: str, **environment: str) -> AsyncIterator[Running]:
    """Start a command; kill it at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, stdout=PIPE, stderr=asyncio.subprocess.STDOUT, env={**os.environ, **environment}
    )
    command = Running(process)
    reader = asyncio.create_task(command.read())
    try:
        yield command
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await reader
