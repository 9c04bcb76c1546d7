"""Serve Prometheus metrics under this server's own names only, so that no web page reads them by DNS rebinding."""

import asyncio
from contextlib import suppress
from functools import partial

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from docrail.adapters.http.browsers import Hosts, refusal
from docrail.adapters.http.heads import UNREADABLE, Heads, headers_of

REFUSED = b"this page is not known by this name: if it should be, name the host in DOCRAIL_API_HOSTS\n"
NO_REQUEST = b"this is no request that a metrics page answers\n"
PLAIN = "text/plain; charset=utf-8"
SEND_SECONDS = 10.0


async def serve_metrics(
    registry: CollectorRegistry, host: str, port: int, hosts: Hosts, heads: Heads | None = None
) -> asyncio.Server:
    """Serve `registry` to requests for one of `hosts`, one on each connection, and return the server."""
    return await asyncio.start_server(partial(_serve, registry, hosts, heads or Heads()), host, port)


async def _serve(
    registry: CollectorRegistry, hosts: Hosts, heads: Heads, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    with suppress(*UNREADABLE):
        request = await heads.read(reader, writer)
        status, type_, body = "400 Bad Request", PLAIN, NO_REQUEST
        if request is not None:
            headers, method = headers_of(request), request.method.decode()
            status, type_, body = "421 Misdirected Request", PLAIN, REFUSED
            if refusal(method, headers, hosts) is None:
                encode, type_ = choose_encoder(",".join(headers.get("accept", ())))
                status, body = "200 OK", encode(registry)
        head = f"HTTP/1.1 {status}\r\nContent-Type: {type_}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        async with asyncio.timeout(SEND_SECONDS):
            await writer.drain()
    writer.close()
