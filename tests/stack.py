"""The servers that tests run against, started once for a session, and how tests wait for something to become true."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from embedded.postgres import PostgresServer, start_postgres
from embedded.temporal import TemporalServer, start_temporal


@dataclass(frozen=True, slots=True)
class Servers:
    """A running Temporal and PostgreSQL, shared by the session: a test that kills one starts its own instead."""

    temporal: TemporalServer
    postgres: PostgresServer

    @property
    def temporal_address(self) -> str:
        return self.temporal.address

    @property
    def dsn(self) -> str:
        return self.postgres.dsn


@pytest.fixture(scope="session")
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Servers]:
    data_dir = tmp_path_factory.mktemp("embedded")
    async with AsyncExitStack() as stack:
        postgres = await start_postgres(data_dir, report=print)
        stack.push_async_callback(postgres.process.stop)
        temporal = await start_temporal(data_dir, 0, 0, report=print)
        stack.push_async_callback(temporal.process.kill)  # its own way of ending takes a second
        yield Servers(temporal, postgres)


def descendants(pid: int) -> set[int]:
    """Return the process ids of the children of `pid`, their children, and so on."""
    children = {child for child, parent in _living().items() if parent == pid}
    return children.union(*map(descendants, children))


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


async def eventually(claim: Callable[[], Awaitable[bool] | bool], what: str, *, timeout_seconds: float = 20) -> None:
    """Return when `claim` holds; fail the test, saying `what` was waited for, when it does not in time."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        found = claim()
        if found if isinstance(found, bool) else await found:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"not within {timeout_seconds:g} s: {what}")
        await asyncio.sleep(0.02)
