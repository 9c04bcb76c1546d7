"""Half-sent, slow and too many connections, against `docrail server start` in a process of its own."""

import asyncio
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from docrail.embedded.claims import claim_port
from tests.stack import eventually

pytestmark = pytest.mark.server

FILES = 1024
HALF_SENT = 1100
PATIENCE_SECONDS = 60
"""Far more than the bounds: other tests run at the same time."""
HALF_A_HEAD = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nX-Half: "
HALF_A_BODY = (
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
)


@dataclass(frozen=True, slots=True)
class Api:
    """A running API, and where its log is."""

    url: str
    port: int
    pid: int
    log: Path

    async def health(self) -> int:
        async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
            return (await http.get(f"{self.url}/healthz")).status_code

    async def is_healthy(self) -> bool:
        try:
            return await self.health() == 200
        except httpx.HTTPError:
            return False

    @property
    def open_files(self) -> int:
        return len([*Path(f"/proc/{self.pid}/fd").iterdir()])


@asynccontextmanager
async def running(folder: Path, *options: str, files: int = FILES, **variables: str) -> AsyncIterator[Api]:
    """Start an API whose process may open so many files, and no more."""
    port = claim_port(0, "")
    log = folder / "api.log"
    environment = {"DOCRAIL_API_PORT": str(port), "DOCRAIL_DATA_DIR": str(folder), **variables}
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "docrail", "server", "start", *options),
            env={**os.environ, **environment},
            stdout=output,
            stderr=output,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
    try:
        await eventually(lambda: b"listening on" in log.read_bytes() or process.returncode is not None, "the API")
        assert process.returncode is None, log.read_text()
        scheme = "https" if "DOCRAIL_TLS_CERT" in variables or "--tls-cert" in options else "http"
        yield Api(f"{scheme}://127.0.0.1:{port}", port, process.pid, log)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.fixture(scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    async with running(tmp_path_factory.mktemp("bounded")) as started:
        yield started


@asynccontextmanager
async def half_sent(api: Api, beginning: bytes, count: int) -> AsyncIterator[list[socket.socket]]:
    """Hold connections that have sent the beginning of a request."""
    held = []
    try:
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            held.append(one)
            with suppress(OSError):
                await asyncio.wait_for(asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", api.port)), 5)
                one.send(beginning)
        yield held
    finally:
        for one in held:
            one.close()


def is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(1000) == b"" or is_closed(one)
    except BlockingIOError:
        return False
    except OSError:
        return True


async def test_half_sent_requests_do_not_keep_others_out(api: Api) -> None:
    async with half_sent(api, HALF_A_HEAD, HALF_SENT) as held:
        await eventually(api.is_healthy, "an answer while they are held", timeout_seconds=PATIENCE_SECONDS)
        assert api.open_files < FILES * 0.75
        await eventually(lambda: all(map(is_closed, held)), "their end", timeout_seconds=PATIENCE_SECONDS)
    assert api.log.stat().st_size < 2**20


@pytest.mark.slow
@pytest.mark.parametrize("beginning", [b"", b"G", HALF_A_BODY], ids=["nothing", "a letter", "half a body"])
async def test_other_halves_do_not_keep_others_out_for_long(api: Api, beginning: bytes) -> None:
    async with half_sent(api, beginning, HALF_SENT) as held:
        await eventually(api.is_healthy, "an answer", timeout_seconds=PATIENCE_SECONDS)
        await eventually(lambda: all(map(is_closed, held)), "their end", timeout_seconds=PATIENCE_SECONDS)
    assert api.log.stat().st_size < 2**20


async def test_nonsense_is_refused_without_filling_the_log(api: Api) -> None:
    before = api.log.stat().st_size
    for _ in range(300):
        for nonsense in (
            b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
            writer.write(nonsense)
            await asyncio.wait_for(reader.read(10), PATIENCE_SECONDS)
            writer.close()
    assert api.log.stat().st_size - before < 20_000


async def test_the_file_limit_is_raised_as_far_as_it_may(tmp_path: Path) -> None:
    from docrail.api.server import raise_file_limit

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
        assert raise_file_limit() == min(hard, 65_536)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_clients_give_up_idle_connections_before_the_server_does() -> None:
    """Or else a request may be sent while the server closes its connection; many proxies wait for 60 s."""
    from docrail.api.connections import Bounds, Connections
    from docrail.api.server import config_of

    of_clients = httpx.Limits().keepalive_expiry
    assert of_clients is not None
    assert config_of(FastAPI(), Connections(Bounds(1))).timeout_keep_alive > max(of_clients, 60)
