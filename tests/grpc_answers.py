"""A server that answers gRPC calls with the statuses a test chose: what a Temporal of ours never says, as it has no
permissions. HTTP/2 (RFC 9113) by hand, as far as one client with small requests needs it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from temporalio.service import RPCStatusCode

DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
END_STREAM, END_HEADERS, ACK = 1, 4, 1
STATUS_200 = b"\x88"  # HPACK: entry 8 of its static table
EMPTY_MESSAGE = bytes(5)
PREFACE_BYTES = 24


@asynccontextmanager
async def grpc_server(*statuses: RPCStatusCode | None) -> AsyncIterator[str]:
    """Give the address of a server that answers its calls in this order; None is success with an empty message."""
    left = list(statuses)
    connections: dict[asyncio.Task[None] | None, asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections[asyncio.current_task()] = writer
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readexactly(PREFACE_BYTES)
            writer.write(_frame(SETTINGS))
            while True:
                head = await reader.readexactly(9)
                body = await reader.readexactly(int.from_bytes(head[:3]))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:])
                if kind in (SETTINGS, PING) and not flags & ACK:
                    writer.write(_frame(kind, ACK, 0, body if kind == PING else b""))
                elif kind in (DATA, HEADERS) and flags & END_STREAM:
                    writer.write(b"".join(_answer(stream, left.pop(0))))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for writer in connections.values():
        writer.close()
    await asyncio.gather(*filter(None, connections))
    assert left == []


def _answer(stream: int, status: RPCStatusCode | None) -> Sequence[bytes]:
    begin = STATUS_200 + _header("content-type", "application/grpc")
    if status is not None:
        end = _header("grpc-status", str(int(status))) + _header("grpc-message", f"configured: {status.name}")
        return [_frame(HEADERS, END_HEADERS | END_STREAM, stream, begin + end)]
    return [
        _frame(HEADERS, END_HEADERS, stream, begin),
        _frame(DATA, 0, stream, EMPTY_MESSAGE),
        _frame(HEADERS, END_HEADERS | END_STREAM, stream, _header("grpc-status", "0")),
    ]


def _frame(kind: int, flags: int = 0, stream: int = 0, body: bytes = b"") -> bytes:
    return len(body).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + body


def _header(name: str, value: str) -> bytes:
    """Return an HPACK literal without indexing; both parts are shorter than 127 bytes."""
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
