"""A worker's pages answer to its own names only, and half-sent requests keep no one else out."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter

from docrail.adapters.http.heads import Heads
from docrail.adapters.http.worker_pages import WorkerPages
from docrail.settings import Settings
from tests.stack import eventually

MOST = 20
SECONDS = 0.5


async def no_fault() -> str | None:
    return None


@pytest.fixture
async def page() -> AsyncIterator[httpx.AsyncClient]:
    registry = CollectorRegistry()
    Counter("documents", "Documents", registry=registry).inc(7)
    hosts = Settings(api_hosts="worker", worker_metrics_host="127.0.0.1").worker_hosts
    server = await WorkerPages(registry, no_fault, hosts, Heads(MOST, SECONDS)).serve("127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as http:
        yield http
    server.close()


async def begin(page: httpx.AsyncClient, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection and send this much of a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", page.base_url.port)
    writer.write(sent)
    return reader, writer


@pytest.mark.parametrize("host", ["127.0.0.1:9100", "localhost", "worker:9100"])
async def test_it_answers_to_its_own_names(page: httpx.AsyncClient, host: str) -> None:
    answer = await page.get("/metrics", headers={"Host": host})
    assert (answer.status_code, "documents_total 7.0" in answer.text) == (200, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9100", "127.0.0.1.evil.example", "10.0.0.5"])
@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/"])
async def test_it_shows_nothing_under_another_name(page: httpx.AsyncClient, host: str, path: str) -> None:
    answer = await page.get(path, headers={"Host": host})
    assert (answer.status_code, "documents" in answer.text) == (421, False)


def test_on_all_addresses_every_ip_address_is_its_own() -> None:
    hosts = Settings(worker_metrics_host="0.0.0.0").worker_hosts
    assert hosts.accepts("10.0.0.5:9100")
    assert not hosts.accepts("evil.example:9100")


async def test_it_speaks_the_format_that_is_asked_for(page: httpx.AsyncClient) -> None:
    answer = await page.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


async def test_half_sent_requests_keep_no_one_out(page: httpx.AsyncClient) -> None:
    """Of too many, the one that has waited longest is closed, and not the newest."""
    halves = [await begin(page, b"GET /metrics HTTP/1.1\r\nHost: ") for _ in range(10 * MOST)]
    assert (await page.get("/metrics")).status_code == 200
    assert await asyncio.wait_for(halves[0][0].read(), 10) == b""
    for _, writer in halves:
        writer.close()


@pytest.mark.parametrize("beginning", [b"", b"GET", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"])
async def test_a_request_that_does_not_come_is_not_waited_for(page: httpx.AsyncClient, beginning: bytes) -> None:
    reader, writer = await begin(page, beginning)
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


async def test_a_request_that_comes_byte_by_byte_is_not_waited_for_either(page: httpx.AsyncClient) -> None:
    _, writer = await begin(page, b"GET /metrics HTTP/1.1\r\n")

    async def is_closed() -> bool:
        try:
            writer.write(b"x")
            await writer.drain()
        except OSError:
            return True
        return False

    await eventually(is_closed, "the connection to be closed")


@pytest.mark.parametrize("sent", [b"x" * 2**17, b"nonsense\r\n\r\n", b"\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n"])
async def test_what_is_no_request_gets_no_metrics(page: httpx.AsyncClient, sent: bytes) -> None:
    reader, writer = await begin(page, sent)
    try:
        answer = await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    writer.close()
    assert (await page.get("/metrics")).status_code == 200
