"""The process that holds the servers of a test session: `python -m tests.servers FOLDER`.

The session's first test that needs them starts it (tests/stack.py). It runs for as long as a worker of pytest-xdist
holds its lock, so no worker has to outlive the others, and a killed session leaves nothing running.
"""

import asyncio
import fcntl
import json
import shutil
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import asyncpg

from docrail.adapters.postgres.migrate import migrate
from docrail.embedded.postgres import PostgresServer, start_postgres
from docrail.embedded.temporal import start_temporal

ADDRESSES, GATE, USE, LOG = "servers.json", "servers.gate", "servers.use", "servers.log"
"""Files in the session's folder: where the servers are; a lock to start and stop them; one that their users share."""
TEMPLATE = "template_migrated"
POLL_SECONDS = 0.2
UNSYNCED = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_connections = 400")


@dataclass(frozen=True, slots=True)
class Servers:
    """A running Temporal and PostgreSQL, shared by the session: a test that kills one starts its own instead."""

    temporal_address: str
    temporal_ui_url: str
    dsn: str


async def hold(folder: Path) -> None:
    """Start both servers, publish their addresses, and stop them when no one uses them any more."""
    data_dir = Path(tempfile.mkdtemp(dir=folder, prefix="servers-"))
    data_dir.chmod(0o755)  # PostgreSQL runs as another user if we are root
    async with AsyncExitStack() as stack:
        stack.callback(shutil.rmtree, data_dir, ignore_errors=True)
        postgres = await start_postgres(data_dir, report=print)
        stack.push_async_callback(postgres.stop)
        await _prepare(postgres)
        temporal = await start_temporal(data_dir, 0, 0, report=print)
        stack.push_async_callback(temporal.process.kill)  # its own way of ending takes a second
        _publish(folder, Servers(temporal.address, temporal.ui_url, postgres.dsn))
        await _until_unused(folder)


async def _prepare(postgres: PostgresServer) -> None:
    """Make PostgreSQL fast rather than safe, and a migrated database that tests clone."""
    connection = await asyncpg.connect(postgres.dsn)
    for setting in UNSYNCED:
        await connection.execute(f"ALTER SYSTEM SET {setting}")
    await connection.execute(f"CREATE DATABASE {TEMPLATE}")
    await connection.close()
    await postgres.process.stop()
    await postgres.process.start()
    await migrate(database_at(postgres.dsn, TEMPLATE))


def database_at(dsn: str, name: str) -> str:
    """Return the DSN of another database of the same server."""
    address, _, options = dsn.partition("?")
    return f"{address.rpartition('/')[0]}/{name}?{options}"


def _publish(folder: Path, servers: Servers) -> None:
    unfinished = folder / f"{ADDRESSES}.unfinished"
    unfinished.write_text(json.dumps(asdict(servers)))
    unfinished.rename(folder / ADDRESSES)


async def _until_unused(folder: Path) -> None:
    with (folder / GATE).open("w") as gate, (folder / USE).open("w") as use:
        while True:
            await asyncio.sleep(POLL_SECONDS)  # waiting inside flock would block the loop
            if not _try_lock(gate):
                continue
            if _try_lock(use):
                (folder / ADDRESSES).unlink(missing_ok=True)
                return
            fcntl.flock(gate, fcntl.LOCK_UN)


def _try_lock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    asyncio.run(hold(Path(sys.argv[1])))
