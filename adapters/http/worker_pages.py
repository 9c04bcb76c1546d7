"""Serve a worker's pages, `/metrics` for Prometheus and `/readyz` for health checks, to small requests.

Under this server's own names only, so that no web page reads them by DNS rebinding.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import h11
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from docrail.adapters.http.browsers import Hosts, refusal
from docrail.adapters.http.heads import UNREADABLE, Heads, headers_of

READY = "/readyz"
REFUSED = b"this page is not known by this name: if it should be, name the host in DOCRAIL_API_HOSTS\n"
NO_REQUEST = b"a worker's page does not answer this request\n"
PLAIN = "text/plain; charset=utf-8"
SEND_SECONDS = 10.0

Answer = tuple[str, str, bytes]
"""Status, type and body."""


async def _nothing() -> Sequence[Metric]:
    return ()


@dataclass(frozen=True, slots=True)
class _Page(Collector):
    """What one scrape shows."""

    registry: CollectorRegistry
    others: Sequence[Metric]

    def collect(self) -> Iterator[Metric]:
        yield from self.registry.collect()
        yield from self.others


@dataclass(frozen=True, slots=True)
class WorkerPages:
    """What the pages show, and under which names.

    `find_fault` returns why the worker gets no work, or None: it does. It is asked for each request of `/readyz`.
    `load_others` returns metrics that are not in the registry. It is asked for each request of `/metrics`.
    """

    registry: CollectorRegistry
    find_fault: Callable[[], Awaitable[str | None]]
    hosts: Hosts
    heads: Heads = field(default_factory=Heads)
    load_others: Callable[[], Awaitable[Sequence[Metric]]] = _nothing

    async def serve(self, host: str, port: int) -> asyncio.Server:
        """Answer requests, one on each connection, and return the server."""
        return await asyncio.start_server(self._serve, host, port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*UNREADABLE):
            request = await self.heads.read(reader, writer)
            status, type_, body = await self._answer(request)
            head = f"HTTP/1.1 {status}\r\nContent-Type: {type_}\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
            async with asyncio.timeout(SEND_SECONDS):
                await writer.drain()
        writer.close()

    async def _answer(self, request: h11.Request | None) -> Answer:
        if request is None:
            return "400 Bad Request", PLAIN, NO_REQUEST
        headers = headers_of(request)
        if refusal(request.method.decode(), headers, self.hosts) is not None:
            return "421 Misdirected Request", PLAIN, REFUSED
        if request.target.partition(b"?")[0] == READY.encode():
            fault = await self.find_fault()
            status = "200 OK" if fault is None else "503 Service Unavailable"
            return status, PLAIN, f"{fault or 'ok'}\n".encode()
        encode, type_ = choose_encoder(",".join(headers.get("accept", ())))
        return "200 OK", type_, encode(_Page(self.registry, await self.load_others()))
