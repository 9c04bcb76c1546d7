"""The servers that tests run against, started once for a session, and how tests wait for something to become true."""

import asyncio
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.servers import ADDRESSES, GATE, LOG, USE, Servers

__all__ = ["Servers", "descendants", "embedded", "eventually", "frozen", "survivors"]

ROOT = Path(__file__).parent.parent
START_SECONDS = 100


@pytest.fixture(scope="session")
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Servers]:
    """Give the session's servers, which all workers of pytest-xdist share; the first to need them starts them."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (folder / USE).open("w") as use:
        with (folder / GATE).open("w") as gate:
            await asyncio.to_thread(fcntl.flock, gate, fcntl.LOCK_EX)
            if not (folder / ADDRESSES).exists():
                await start_servers(folder)
            fcntl.flock(use, fcntl.LOCK_SH)  # held until this session or worker ends, however it ends
        yield Servers(**json.loads((folder / ADDRESSES).read_text()))


async def start_servers(folder: Path) -> None:
    """Start the servers in a process of their own. Not a Popen, which complains of a child that outlives it."""
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    pid = os.posix_spawn(  # noqa: ASYNC221 - it returns at once
        sys.executable,
        [sys.executable, "-m", "tests.servers", str(folder)],
        {**os.environ, "PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)],
        setsid=True,
    )
    os.close(log)

    def has_started() -> bool:
        ended, _ = os.waitpid(pid, os.WNOHANG)
        assert ended == 0, f"the test servers did not start:\n{(folder / LOG).read_text()}"
        return (folder / ADDRESSES).exists()

    await eventually(has_started, "the test servers to start", timeout_seconds=START_SECONDS)


def descendants(pid: int) -> set[int]:
    """Return the process ids of the children of `pid`, their children, and so on."""
    children = {child for child, parent in _living().items() if parent == pid}
    return children.union(*map(descendants, children))


@contextmanager
def frozen(pids: Collection[int]) -> Iterator[None]:
    """Stop processes as a hanging disk or host would, and let those that are left go on at the end."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def survivors(pids: set[int]) -> set[int]:
    """Return those of `pids` that still run."""
    return pids & _living().keys()


def _living() -> dict[int, int]:
    """Return every running process's parent. A zombie does not run: it waits for its parent to notice."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it ended while we looked
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    return parents


async def eventually(claim: Callable[[], Awaitable[bool] | bool], what: str, *, timeout_seconds: float = 60) -> None:
    """Return when `claim` holds; fail the test, saying `what` was waited for, when it does not in time."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        found = claim()
        if found if isinstance(found, bool) else await found:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"not within {timeout_seconds:g} s: {what}")
        await asyncio.sleep(0.02)
