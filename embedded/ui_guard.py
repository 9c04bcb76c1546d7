"""Stand between browsers and Temporal's web UI, which answers under any name (ADR 35).

The UI has a token against cross-site requests, but nothing against DNS rebinding: under a foreign name that resolves to
this machine, a page may read histories and the token, and terminate runs. The guard listens where people expect the UI,
and the UI at an address that no page can guess.
"""

import asyncio
import secrets
import socket
from contextlib import suppress
from functools import partial
from urllib.parse import SplitResult, urlsplit

import h11

from docrail.adapters.http.browsers import Hosts, refusal
from docrail.adapters.http.heads import UNREADABLE, Heads, headers_of
from docrail.embedded.claims import HOST

WHOLE_SECONDS = 60.0
"""How long a request and its answer may take: the UI has no streams."""
MOST_AT_ONCE = 100
CHUNK_BYTES = 2**16
REFUSED = (
    b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    b"Refused: Temporal's UI is only for pages of its own, at http://localhost and http://127.0.0.1\n"
)
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n"
HOP_HEADERS = (b"connection", b"keep-alive", b"upgrade")


def hidden_host() -> str:
    """Return a loopback address that a page would have to guess; loopback's usual one if the system has no other."""
    host = ".".join(("127", *(str(secrets.randbelow(254) + 1) for _ in range(3))))
    with socket.socket() as probe:
        try:
            probe.bind((host, 0))
        except OSError:  # macOS has one
            return HOST
    return host


async def guard_ui(ui_url: str, port: int) -> asyncio.Server:
    """Listen on `port` of this machine and pass on to the UI what its own pages send."""
    ui, slots = urlsplit(ui_url), asyncio.Semaphore(MOST_AT_ONCE)
    return await asyncio.start_server(partial(_serve, ui, Heads(), slots), HOST, port)


async def _serve(
    ui: SplitResult,
    heads: Heads,
    slots: asyncio.Semaphore,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Pass on one request. Each has a connection of its own, so that none is passed on unseen."""
    with suppress(*UNREADABLE):
        request = await heads.read(reader, writer)
        if request is None or _is_refused(request):
            writer.write(REFUSED)
        elif slots.locked():
            writer.write(UNAVAILABLE)
        else:
            async with slots, asyncio.timeout(WHOLE_SECONDS):
                await _pass_on(_written(request), ui, reader, writer)
        async with asyncio.timeout(WHOLE_SECONDS):
            await writer.drain()
    writer.close()


def _is_refused(request: h11.Request) -> bool:
    return refusal(request.method.decode(), headers_of(request), Hosts()) is not None


def _written(request: h11.Request) -> bytes:
    headers = [(name, value) for name, value in request.headers if name not in HOP_HEADERS]
    lines = (b": ".join(header) for header in [*headers, (b"connection", b"close")])
    return b"\r\n".join([b" ".join((request.method, request.target, b"HTTP/1.1")), *lines, b"", b""])


async def _pass_on(head: bytes, ui: SplitResult, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        ui_reader, ui_writer = await asyncio.open_connection(ui.hostname, ui.port)
    except OSError:
        writer.write(UNAVAILABLE)
        return
    ui_writer.write(head)
    sending = asyncio.create_task(_copy(reader, ui_writer))
    try:
        await _copy(ui_reader, writer)
    finally:
        sending.cancel()
        ui_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
