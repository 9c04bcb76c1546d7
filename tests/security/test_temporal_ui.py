"""What a web page can do to the embedded Temporal: to its web UI, and to every other port that it listens on."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from docrail.adapters.http.heads import MOST_WAITING
from docrail.embedded.claims import HOST, claim_port
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.embedded.ui_guard import guard_ui, hidden_host
from tests.stack import eventually

pytestmark = pytest.mark.server

EVIL = "evil.example"
LISTENING, LOOPBACK = "0A", "0100007F"
RUN = "kept"
TERMINATE = f"/api/v1/namespaces/default/workflows/{RUN}/terminate"


@dataclass(frozen=True, slots=True)
class Guarded:
    """A running Temporal, and where people find its UI."""

    temporal: TemporalServer
    ui_port: int
    run: WorkflowHandle[object, object]

    @property
    def ui(self) -> str:
        return f"http://{HOST}:{self.ui_port}"

    def ports(self) -> set[int]:
        """Return every port that a page can find: those on the loopback address that all machines have."""
        inodes = set()
        for file in Path(f"/proc/{self.temporal.process.pid}/fd").iterdir():
            inodes.add(str(file.readlink()).removeprefix("socket:[").removesuffix("]"))
        sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        addresses = [each[1].split(":") for each in sockets if each[3] == LISTENING and each[9] in inodes]
        return {int(port, 16) for address, port in addresses if address == LOOPBACK} | {self.ui_port}

    async def is_connected(self) -> bool:
        async with httpx.AsyncClient(trust_env=False) as http:
            return (await http.get(f"{self.ui}/api/v1/namespaces")).is_success

    async def is_running(self) -> bool:
        return (await self.run.describe()).status is WorkflowExecutionStatus.RUNNING


@pytest.fixture(scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    port = claim_port(0, "")
    temporal = await start_temporal(tmp_path_factory.mktemp("ui"), 0, port, ui_host=hidden_host(), report=print)
    guard = await guard_ui(temporal.ui_url, port)
    client = await Client.connect(temporal.address)
    found = Guarded(temporal, port, await client.start_workflow("Nothing", id=RUN, task_queue="none"))
    await eventually(found.is_connected, "the UI to be connected to Temporal")
    yield found
    guard.close()
    await temporal.process.kill()


async def attempt(http: httpx.AsyncClient, url: str, **page: str) -> None:
    """Terminate the run as a page can: with a simple form, and with the token if it may read it."""
    simple = {"Content-Type": "text/plain", "Origin": f"http://{EVIL}", "Sec-Fetch-Site": "cross-site", **page}
    try:
        await http.post(url + TERMINATE, content=b'{"reason": "evil"}', headers=simple)
        shown = await http.get(url + "/api/v1/settings", headers=page)
    except httpx.HTTPError:
        return  # speaks no HTTP/1.1
    for origin in ("null", f"http://{EVIL}", ""):
        token = {"X-CSRF-TOKEN": shown.cookies.get("_csrf") or "none", "Content-Type": "application/json"}
        sent = {**page, **token, **({"Origin": origin} if origin else {})}
        await http.post(url + TERMINATE, json={}, headers=sent)


async def test_no_port_lets_a_page_terminate_a_run(guarded: Guarded) -> None:
    ports = guarded.ports()
    assert len(ports) >= 4, "gRPC, HTTP, metrics and the UI"
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
        await asyncio.gather(*(attempt(http, f"http://{HOST}:{port}", Host=f"{EVIL}:{port}") for port in ports))
        for port in ports - {guarded.ui_port}:
            await attempt(http, f"http://{HOST}:{port}", Host=f"localhost:{port}")
    assert await guarded.is_running()


async def test_no_port_shows_a_page_what_runs_hold(guarded: Guarded) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
        for port in guarded.ports():
            for path in ("/api/v1/namespaces/default/workflows", "/namespaces/default/workflows", "/"):
                try:
                    shown = await http.get(f"http://{HOST}:{port}{path}", headers={"Host": f"{EVIL}:{port}"})
                except httpx.HTTPError:
                    continue
                assert shown.status_code in (403, 404), (port, path)
                assert RUN not in shown.text


async def test_the_http_api_is_closed_under_every_name(guarded: Guarded) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
        for port in guarded.ports() - {guarded.ui_port}:
            for host in (f"127.0.0.1:{port}", f"localhost:{port}", "", "closed.invalid"):
                try:
                    shown = await http.get(f"http://{HOST}:{port}/api/v1/namespaces", headers={"Host": host})
                except httpx.HTTPError:
                    continue
                assert shown.status_code in (400, 403, 404)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_the_ui_serves_its_own_pages(guarded: Guarded, host: str) -> None:
    own = f"http://{host}:{guarded.ui_port}"
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        page = await http.get(
            f"{guarded.ui}/namespaces/default/workflows", headers={"Host": f"{host}:{guarded.ui_port}"}
        )
        assert page.status_code == 200
        assert "<!doctype html>" in page.text.lower()
        listed = await http.get(f"{own}/api/v1/namespaces", headers={"Sec-Fetch-Site": "same-origin"})
        assert listed.json()["namespaces"]


async def test_a_person_terminates_a_run_in_the_ui(guarded: Guarded) -> None:
    client = await Client.connect(guarded.temporal.address)
    run = await client.start_workflow("Nothing", id="ended", task_queue="none")
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        await http.get(f"{guarded.ui}/api/v1/settings")
        token = {"X-CSRF-TOKEN": http.cookies["_csrf"], "Origin": guarded.ui, "Sec-Fetch-Site": "same-origin"}
        ended = await http.post(guarded.ui + TERMINATE.replace(RUN, "ended"), json={"reason": "by hand"}, headers=token)
    assert ended.status_code == 200, ended.text
    assert (await run.describe()).status is WorkflowExecutionStatus.TERMINATED


async def test_every_request_of_a_connection_is_judged(guarded: Guarded) -> None:
    own = f"GET /healthz HTTP/1.1\r\nHost: localhost:{guarded.ui_port}\r\n\r\n".encode()
    foreign = f"GET /api/v1/namespaces HTTP/1.1\r\nHost: {EVIL}\r\n\r\n".encode()
    for requests in (own + foreign, foreign + own):
        reader, writer = await asyncio.open_connection(HOST, guarded.ui_port)
        writer.write(requests)
        answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        assert b"namespaceInfo" not in answer
        assert answer.count(b"HTTP/1.1 ") == 1


async def test_half_sent_requests_keep_a_person_out_of_the_ui_for_no_time(guarded: Guarded) -> None:
    halves = [await asyncio.open_connection(HOST, guarded.ui_port) for _ in range(3 * MOST_WAITING)]
    for _, writer in halves:
        writer.write(b"GET / HTTP/1.1\r\nHost: ")
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        assert (await http.get(f"{guarded.ui}/api/v1/namespaces")).status_code == 200
    assert await asyncio.wait_for(halves[0][0].read(), 10) == b""
    for _, writer in halves:
        writer.close()
