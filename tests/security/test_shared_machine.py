"""A machine of several users: with --require-keys the others get at nothing, by port, socket, file or page."""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client

from docrail.adapters.temporal.connection import connect, find_connection
from docrail.embedded import stack as embedded_stack
from docrail.embedded.claims import HOST, read_local_key
from docrail.embedded.stack import OPEN_TEMPORAL, Stack, StackOptions, run_stack
from docrail.embedded.temporal import allows_private_network
from tests.api.service import HELLO
from tests.security.test_at_rest import as_nobody, open_places
from tests.stack import eventually

pytestmark = pytest.mark.server
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
TABLES = tuple(Path(f"/proc/net/{name}") for name in ("tcp", "tcp6"))
LISTENING = "0A"
CONNECT_AS_NOBODY = """
import socket, sys
from docrail.embedded.launch import become
become(65534, 65534, reach=False)
with socket.socket(socket.AF_UNIX) as file:
    try:
        file.connect(sys.argv[1])
        print("connected")
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    if not await allows_private_network():
        pytest.skip("this system gives programs no network of their own")
    data_dir = tmp_path_factory.mktemp("shared") / "data"
    options = StackOptions(data_dir, api_port=0, temporal_port=0, ui_port=0, require_keys=True)
    async with run_stack(options, print) as running:
        yield running


def key_of(stack: Stack) -> dict[str, str]:
    return {"Authorization": f"Bearer {read_local_key(Path(stack.environment['DOCRAIL_DATA_DIR'])).key}"}


def connect_as_nobody(path: str) -> str:
    command = (sys.executable, "-c", CONNECT_AS_NOBODY, path)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


async def client_of(stack: Stack) -> Client:
    return await connect(find_connection(stack.temporal.address, None, envconfig=False, proxy=stack.temporal.proxy))


def listening() -> dict[int, str]:
    """Return the TCP ports on which something of this machine's network listens, with the inodes of their sockets."""
    rows = [line.split() for table in TABLES if table.exists() for line in table.read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16): row[9] for row in rows if row[3] == LISTENING}


def sockets_of(*leaders: int | None) -> set[str]:
    """Return the inodes of the sockets that these processes and their sessions have open."""
    found = set[str]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            session = int((process / "stat").read_text().rpartition(")")[2].split()[3])
            links = [str(each.readlink()) for each in (process / "fd").iterdir()] if session in leaders else []
        except OSError:
            continue
        found.update(link[8:-1] for link in links if link.startswith("socket:["))
    return found


async def test_it_works(stack: Stack) -> None:
    asked = {"definition": HELLO, "key": "shared"}
    started = await stack.http.post("/v1/runs", json=asked, headers=key_of(stack))
    assert started.status_code == 202, started.text

    async def has_ended() -> bool:
        run = await stack.http.get(f"/v1/runs/{started.json()['run_id']}", headers=key_of(stack))
        assert run.json().get("history_url", "") == "", "there is no page to show it"
        return bool(run.json()["status"] == "completed")

    await eventually(has_ended, "the run to end")


async def test_it_works_after_temporal_was_killed(stack: Stack) -> None:
    await stack.temporal.process.restart()
    client = await client_of(stack)

    async def answers() -> bool:
        return (await client.count_workflows()).count >= 0

    await eventually(answers, "Temporal to answer")
    await stack.wait_ready()


async def test_only_the_api_and_metrics_pages_listen_on_this_machine(stack: Stack) -> None:
    """Temporal has four ports, and asks for a key on none of them."""
    leaders = [stack.temporal.process.pid, stack.postgres.process.pid, stack.api.pid, *(w.pid for w in stack.workers)]
    own = sockets_of(*leaders)
    found = {port for port, inode in listening().items() if inode in own}
    pages = {httpx.URL(url).port for url in (stack.api_url, *stack.metrics_urls)}
    assert pages <= found
    for port in found - pages:  # that of Temporal's SDK in a worker
        page = await stack.http.get(f"http://{HOST}:{port}/metrics")
        samples = [line for line in page.text.splitlines() if line and not line.startswith("#")]
        assert samples
        assert all(line.startswith("temporal_") for line in samples)
    with socket.socket() as attempt:
        assert attempt.connect_ex((HOST, int(stack.temporal.address.rpartition(":")[2]))) != 0


async def test_without_a_key_the_api_shows_health_and_its_own_page_only(stack: Stack) -> None:
    for path in ("/v1/me", "/v1/documents", "/v1/runs", "/metrics", "/v1/keys"):
        assert (await stack.http.get(path)).status_code == 401, path
    foreign = await stack.http.get("/v1/me", headers={**key_of(stack), "Host": "evil.example"})
    assert foreign.status_code == 421
    crossed = await stack.http.post("/v1/runs", json={}, headers={**key_of(stack), "Origin": "http://evil.example"})
    assert crossed.status_code == 403


async def test_every_file_of_the_folder_is_closed_to_others(stack: Stack) -> None:
    data_dir = Path(stack.environment["DOCRAIL_DATA_DIR"])
    assert [place for place in open_places(data_dir) if not place.startswith("sockets/")] == []
    assert Path(stack.temporal.proxy.removeprefix("unix:")).parent.stat().st_mode & 0o077 == 0


@only_root
async def test_another_user_reads_no_key_and_connects_to_no_socket(stack: Stack) -> None:
    data_dir = Path(stack.environment["DOCRAIL_DATA_DIR"])
    files = (data_dir / "api-key.json", data_dir / "callback.key", data_dir / "logs" / "api.log")
    assert as_nobody("read", *map(str, files)) == ["PermissionError"] * len(files)
    for path in (stack.temporal.proxy.removeprefix("unix:"), str(stack.postgres.sockets / ".s.PGSQL.5432")):
        assert connect_as_nobody(path) == "PermissionError"


@only_root
async def test_another_user_learns_no_key_from_the_processes(stack: Stack) -> None:
    """What stands in a command line is everyone's to read; an environment is not."""
    key = key_of(stack)["Authorization"].removeprefix("Bearer ")
    secrets = (key, stack.environment["DOCRAIL_CALLBACK_KEY"])
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text(errors="replace")
        except OSError:
            continue
        assert not any(secret in command for secret in secrets)
    environments = [f"/proc/{process.pid}/environ" for process in (stack.api, *stack.workers, stack.temporal.process)]
    assert as_nobody("read", *environments) == ["PermissionError"] * len(environments)


async def test_a_system_without_such_networks_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def none() -> bool:
        return False

    monkeypatch.setattr(embedded_stack, "allows_private_network", none)
    said: list[str] = []
    options = StackOptions(tmp_path / "data", api_port=0, temporal_port=0, ui_port=0, require_keys=True)
    async with run_stack(options, said.append) as running:
        assert OPEN_TEMPORAL in said
        assert running.temporal.proxy == ""
