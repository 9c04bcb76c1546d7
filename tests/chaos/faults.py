"""Faults that hit a running stack: processes that are killed or frozen, and a full disk."""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from docrail.embedded.processes import Supervised, wait_until
from docrail.embedded.stack import Stack
from tests.disks import SmallDisk
from tests.stack import descendants, frozen

FROZEN_SECONDS = (0.5, 8.0)
"""How long a process hangs: some heartbeats and timeouts are missed, some are not."""
FULL_SECONDS = (1.0, 5.0)
BACK_SECONDS = 90.0
"""Timeout for a killed process to be started again; a supervisor waits up to 30 s after several crashes."""

_READER = "sandbox.server"
"""Part of the command line of the processes that read documents."""


@dataclass
class Faults:
    """Draws faults from a seed and applies them, one at a time."""

    stack: Stack
    chance: random.Random
    disk: SmallDisk | None = None
    """The disk that has the data folder; None: it cannot be filled."""
    store_pid: int | None = None
    """The process of the S3 server that keeps the files; None: they are in the data folder."""
    counts: Counter[str] = field(default_factory=Counter)
    """How often each fault was applied, by its name."""

    async def apply_one(self) -> None:
        """Apply one drawn fault, and return when the processes that it hit run again."""
        name = self.chance.choice(sorted(self._known()))
        self.counts[name] += 1
        await self._known()[name]()

    def _known(self) -> dict[str, Callable[[], Awaitable[None]]]:
        one_worker = self.chance.choice(self.stack.workers)
        servers = {
            "worker": one_worker,
            "api": self.stack.api,
            "postgresql": self.stack.postgres.process,
            "temporal": self.stack.temporal.process,
        }
        known: dict[str, Callable[[], Awaitable[None]]] = {}
        for name, process in servers.items():
            known[f"kill {name}"] = partial(kill, process)
            known[f"freeze {name}"] = partial(self._freeze, process.pid)
        known["kill reader"] = self._kill_reader
        known["freeze reader"] = self._freeze_reader
        if self.disk is not None:
            known["full disk"] = self._fill_disk
        if self.store_pid is not None:
            known["freeze store"] = partial(self._freeze, self.store_pid)
        return known

    async def _freeze(self, pid: int | None) -> None:
        with frozen(_all_of(pid)):
            await asyncio.sleep(self.chance.uniform(*FROZEN_SECONDS))  # the fault is that nothing happens for so long

    async def _freeze_reader(self) -> None:
        for pid in self._readers()[:1]:
            await self._freeze(pid)

    async def _kill_reader(self) -> None:
        for pid in self._readers()[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _readers(self) -> list[int]:
        """Return the processes that read documents, in a drawn order."""
        children = {pid for worker in self.stack.workers for pid in _all_of(worker.pid)}
        readers = sorted(pid for pid in children if _READER in command_of(pid))
        self.chance.shuffle(readers)
        return readers

    async def _fill_disk(self) -> None:
        assert self.disk is not None
        await asyncio.to_thread(self.disk.fill)
        try:
            await asyncio.sleep(self.chance.uniform(*FULL_SECONDS))  # so does a full disk last
        finally:
            self.disk.free()


async def kill(process: Supervised) -> None:
    """Kill a program as a crash would, and return when its supervisor has started it again and it answers."""
    killed = process.pid
    if killed is None:  # it ended by itself, because of an earlier fault
        await process.wait_ready(timeout_seconds=BACK_SECONDS)
        return
    os.kill(killed, signal.SIGKILL)
    await wait_until(lambda: _is_another(process, killed), timeout_seconds=BACK_SECONDS)
    await process.wait_ready(timeout_seconds=BACK_SECONDS)


async def _is_another(process: Supervised, killed: int) -> bool:
    return process.pid not in (None, killed)


@asynccontextmanager
async def storm(faults: Faults, pause_seconds: tuple[float, float]) -> AsyncIterator[None]:
    """Apply one fault after the other, with drawn pauses, until the block ends; the last one is over by then."""
    calm = asyncio.Event()

    async def blow() -> None:
        while not calm.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(calm.wait(), faults.chance.uniform(*pause_seconds))
            if not calm.is_set():
                await faults.apply_one()

    blowing = asyncio.create_task(blow())
    try:
        yield
    finally:
        calm.set()
        await blowing


def _all_of(pid: int | None) -> list[int]:
    return [] if pid is None else [pid, *sorted(descendants(pid))]


def command_of(pid: int) -> str:
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:  # it ended meanwhile
        return ""
