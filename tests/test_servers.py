"""The servers of a test session: one pair for all workers of pytest-xdist, gone when the last one is."""

import fcntl
import json
from pathlib import Path

import asyncpg
import pytest

from tests.servers import ADDRESSES, GATE, TEMPLATE, USE, Servers, database_at
from tests.stack import eventually, start_servers


@pytest.mark.slow
async def test_they_run_for_as_long_as_anyone_uses_them(tmp_path: Path) -> None:
    with (tmp_path / USE).open("w") as use:
        with (tmp_path / GATE).open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            await start_servers(tmp_path)
            fcntl.flock(use, fcntl.LOCK_SH)
        servers = Servers(**json.loads((tmp_path / ADDRESSES).read_text()))
        connection = await asyncpg.connect(database_at(servers.dsn, TEMPLATE))
        assert await connection.fetchval("SELECT count(*) FROM documents") == 0
        await connection.close()
    await eventually(lambda: not list(tmp_path.glob("servers-*")), "the servers to end and to remove their data")
    assert not (tmp_path / ADDRESSES).exists()
