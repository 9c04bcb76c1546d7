"""The embedded servers: they answer, come back with their data, and never outlive whoever started them."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from socket import socket

import asyncpg
import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from docrail.embedded.claims import (
    FREE_PORTS,
    HOST,
    DataFolderError,
    PortError,
    claim_port,
    claim_ports,
    hold,
)
from docrail.embedded.postgres import PostgresServer, find_programs, start_postgres
from docrail.embedded.temporal import SEARCH_ATTRIBUTES, TemporalServer, start_temporal
from docrail.workflows.contract import names as contract
from tests.stack import Servers, eventually, survivors

pytestmark = pytest.mark.server

START_BOTH = """
import asyncio, pathlib, sys
from embedded.postgres import start_postgres
from embedded.temporal import start_temporal
async def main():
    data_dir = pathlib.Path(sys.argv[1])
    postgres = await start_postgres(data_dir, report=print)
    temporal = await start_temporal(data_dir, 0, 0, report=print)
    print(postgres.process.pid, temporal.process.pid, flush=True)
    await asyncio.get_running_loop().create_future()
asyncio.run(main())
"""


@pytest.fixture(scope="module")
async def postgres(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PostgresServer]:
    server = await start_postgres(tmp_path_factory.mktemp("own"), report=print)
    yield server
    await server.process.stop()


@pytest.fixture(scope="module")
async def temporal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TemporalServer]:
    server = await start_temporal(tmp_path_factory.mktemp("own"), 0, 0, report=print)
    yield server
    await server.process.kill()


async def one(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn, timeout=5)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_postgres_speaks_utc_and_sorts_the_same_everywhere(embedded: Servers) -> None:
    assert await one(embedded.dsn, "SELECT current_database()") == "docrail"
    assert await one(embedded.dsn, "SHOW timezone") == "UTC"
    assert await one(embedded.dsn, "SELECT datlocale FROM pg_database WHERE datname = 'docrail'") == "C.UTF-8"


async def test_temporal_knows_our_search_attributes(embedded: Servers) -> None:
    client = await Client.connect(embedded.temporal_address)
    found = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))
    assert set(SEARCH_ATTRIBUTES) <= set(found.custom_attributes)
    assert [key.name for key in contract.SEARCH_ATTRIBUTES] == list(SEARCH_ATTRIBUTES)


async def test_temporal_keeps_closed_runs_for_30_days(embedded: Servers) -> None:
    client = await Client.connect(embedded.temporal_address)
    found = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
    assert found.config.workflow_execution_retention_ttl.ToTimedelta().days == 30


async def test_a_killed_postgres_stays_dead_until_it_is_restarted_with_its_data(postgres: PostgresServer) -> None:
    await one(postgres.dsn, "CREATE TABLE kept AS SELECT 7 AS seven")
    await postgres.process.kill()
    assert postgres.process.pid is None
    with pytest.raises(OSError, match=r"No such file|refused"):
        await one(postgres.dsn, "SELECT 1")

    await postgres.process.restart()
    assert await one(postgres.dsn, "SELECT seven FROM kept") == 7


async def test_a_crashed_postgres_is_started_again(postgres: PostgresServer) -> None:
    before = postgres.process.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    await eventually(lambda: postgres.process.pid not in {None, before}, "another PostgreSQL process")
    await postgres.process.wait_ready()
    assert await one(postgres.dsn, "SELECT 1") == 1


async def test_a_killed_temporal_comes_back_with_its_runs(temporal: TemporalServer) -> None:
    client = await Client.connect(temporal.address)
    await client.start_workflow("Nothing", id="kept", task_queue="nobody")
    await temporal.process.restart()
    found = await client.get_workflow_handle("kept").describe()
    assert found.workflow_type == "Nothing"


async def test_a_temporal_that_was_killed_during_its_first_start_starts_again(tmp_path: Path) -> None:
    """Its half-made database once kept it from ever starting: "no such table: namespaces"."""
    first = asyncio.create_task(start_temporal(tmp_path, 0, 0, report=print))
    await eventually(lambda: any(tmp_path.rglob("temporal.db")), "the database file")
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert not (tmp_path / "temporal").exists()
    server = await start_temporal(tmp_path, 0, 0, report=print)
    await server.process.kill()


async def test_no_server_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    command = (sys.executable, "-c", START_BOTH, str(tmp_path))
    parent = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pids = {int(pid) for pid in (await asyncio.wait_for(parent.stdout.readline(), 30)).split()}
    assert survivors(pids) == pids
    parent.kill()
    await parent.wait()
    await eventually(lambda: not survivors(pids), "both servers end")


@pytest.mark.parametrize("temporary", ["", "long" * 30])
async def test_a_data_folder_with_a_long_path_works(
    temporary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Unix socket's path has at most 107 bytes; the socket moves, the data stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(Path(tempfile.gettempdir(), temporary)))
    data_dir = tmp_path / ("long" * 30)
    server = await start_postgres(data_dir, report=print)
    try:
        assert await one(server.dsn, "SELECT 1") == 1
        assert (data_dir / "postgres" / "cluster" / "PG_VERSION").exists()
        assert server.temporary is not None
        assert server.temporary.exists()
    finally:
        await server.stop()
    assert not server.temporary.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's PostgreSQL runs as that user")
async def test_under_root_postgres_runs_as_another_user_and_opens_no_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    server = await start_postgres(tmp_path / "data", report=print)
    try:
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        assert "\nUid:\t0" not in status
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    finally:
        await server.process.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's PostgreSQL runs as that user")
async def test_under_root_the_programs_may_be_in_a_folder_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a checkout in /root."""
    programs, closed = find_programs(), tmp_path / "closed"
    for folder in (programs.parent, programs.parents[1].with_suffix(".libs")):
        shutil.copytree(folder, closed / folder.relative_to(programs.parents[2]))
    closed.chmod(0o700)
    own = closed / programs.relative_to(programs.parents[2])
    monkeypatch.setattr("docrail.embedded.postgres.find_programs", lambda: own)
    server = await start_postgres(tmp_path / "data", report=print)
    try:
        assert await one(server.dsn, "SELECT 1") == 1
        assert Path(f"/proc/{server.process.pid}/exe").readlink().is_relative_to(closed)
        await server.process.restart()
        assert await one(server.dsn, "SELECT 1") == 1
    finally:
        await server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
async def test_a_folder_that_was_given_to_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    with pytest.raises(DataFolderError, match=r"belongs to another user.*--data"):
        await start_postgres(tmp_path, report=print)


async def test_a_pid_file_that_names_another_program_does_not_keep_postgres_from_starting(tmp_path: Path) -> None:
    """After a reboot, a killed server's pid may belong to any program; PostgreSQL would take that one for itself."""
    server = await start_postgres(tmp_path, report=print)
    pid_file = tmp_path / "postgres" / "cluster" / "postmaster.pid"
    old = pid_file.read_text()
    await server.process.kill()
    pid_file.write_text(old.replace(old.split("\n", 1)[0], str(os.getppid()), 1))
    server = await start_postgres(tmp_path, report=print)
    assert await one(server.dsn, "SELECT 1") == 1
    await server.process.stop()


def test_free_ports_are_never_the_same_nor_one_that_is_asked_for() -> None:
    claimed = claim_ports({f"--{number}": (0, HOST) for number in range(200)} | {"--one": (FREE_PORTS[7], HOST)})
    assert len(set(claimed.values())) == 201


def test_a_taken_port_is_named_with_the_option_that_changes_it() -> None:
    with closing(socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortError, match=f"port {port} is taken by another program.*--temporal-port"):
            claim_port(port, "--temporal-port")


def test_a_free_port_is_not_one_that_clients_are_given() -> None:
    """A client that reconnects to a dead server's port in the ephemeral range may connect to itself."""
    first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert claim_port(0, "--port") < first_ephemeral


def test_a_folder_has_one_stack_at_a_time(tmp_path: Path) -> None:
    with (
        hold(tmp_path),
        pytest.raises(DataFolderError, match=rf"in use by another docrail \(pid {os.getpid()}\).*--data"),
        hold(tmp_path),
    ):
        pass
    with hold(tmp_path):
        pass


@pytest.mark.parametrize("server", ["postgres", "temporal"])
def test_a_folder_of_an_earlier_build_is_refused_and_left_as_it_is(tmp_path: Path, server: str) -> None:
    (tmp_path / server).mkdir()
    (tmp_path / "lock").write_text("4711")
    before = {path: path.stat() for path in (tmp_path, *tmp_path.iterdir())}
    with pytest.raises(DataFolderError, match=r"made by an earlier build.*Nothing in it was changed: move it"):
        hold(tmp_path).__enter__()
    assert {path: path.stat() for path in (tmp_path, *tmp_path.iterdir())} == before


def test_a_folder_of_this_build_is_opened_again_and_one_of_another_format_is_not(tmp_path: Path) -> None:
    for _ in range(2):
        with hold(tmp_path):
            (tmp_path / "postgres").mkdir(exist_ok=True)
    (tmp_path / "format").write_text("0\n")
    with pytest.raises(DataFolderError), hold(tmp_path):
        pass
