"""The bounds of connections, each made small, on real sockets."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from docrail.api.connections import SWEEP_SECONDS, Bounds, Connections
from tests.security.test_connections import HALF_A_BODY, HALF_A_HEAD
from tests.stack import eventually

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
HELD: list[asyncio.Event] = []
"""One for each request for `/held` that is being answered."""
LARGE = 30_000_000
"""More bytes than the system's buffers hold."""
SHORT = Bounds(connections=10, head_seconds=0.5, body_seconds=1, body_rate=10_000, write_seconds=1)
PATIENCE_SECONDS = 30


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Read the body, and answer with its length; `/large` with many bytes, `/held` when the test says so."""
    assert scope["type"] == "http"
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message["body"]), message["more_body"]
    if scope["path"] == "/held":
        HELD.append(asyncio.Event())
        await HELD[-1].wait()
    body = b"x" * LARGE if scope["path"] == "/large" else str(length).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def bounded(bounds: Bounds) -> AsyncIterator[int]:
    """Serve on a free port, and yield it."""
    http = Connections(bounds).protocol
    config = uvicorn.Config(app, port=0, http=http, log_level="warning", lifespan="off")  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await eventually(lambda: server.started, "the server to listen")
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with bounded(SHORT) as listening:
        yield listening


async def answer_to(port: int, sent: bytes) -> bytes:
    """Send, and return everything that comes until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    finally:
        writer.close()


@pytest.mark.parametrize("beginning", [b"", b"G", HALF_A_HEAD, HALF_A_BODY, WHOLE + HALF_A_HEAD, WHOLE + HALF_A_BODY])
async def test_a_request_that_does_not_arrive_is_ended(port: int, beginning: bytes) -> None:
    answer = await answer_to(port, beginning)
    head, _, body = answer[answer.index(b"HTTP/1.1 408 ") :].partition(b"\r\n\r\n")
    assert json.loads(body)["type"] == "/problems/request-timeout"
    assert f"Content-Length: {len(body)}".encode() in head
    assert answer.startswith(b"HTTP/1.1 200 " if beginning.startswith(WHOLE) else b"HTTP/1.1 408 ")


CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        HALF_A_BODY.replace(b"1000", b"-1"),
        HALF_A_BODY.replace(b"1000", b"9" * 30),
        CHUNKED + b"xyz\r\n",
        WHOLE + b"\x00\r\n\r\n",
    ],
    ids=["TLS", "version", "no host", "path", "length", "long length", "chunk", "second"],
)
async def test_what_is_not_http_is_refused_with_a_problem(port: int, nonsense: bytes) -> None:
    answer = await answer_to(port, nonsense)
    head, _, body = answer[answer.index(b"HTTP/1.1 400 ") :].partition(b"\r\n\r\n")
    assert json.loads(body)["type"] == "/problems/malformed-request"
    assert b"Content-Type: application/problem+json" in head


@pytest.mark.parametrize("beginning", [HALF_A_HEAD, HALF_A_BODY, WHOLE + HALF_A_HEAD], ids=["head", "body", "second"])
async def test_a_byte_now_and_then_does_not_prolong_a_request(port: int, beginning: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(beginning)

    async def drip() -> None:
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.02)  # the drip is the attack; the answer that ends it is awaited below

    dripping = asyncio.create_task(drip())
    with suppress(ConnectionError):
        await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    dripping.cancel()
    writer.close()


async def test_a_body_at_a_steady_rate_may_take_longer(port: int) -> None:
    pieces, size = 60, 2_000
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (pieces * size))
    began = asyncio.get_running_loop().time()
    for _ in range(pieces):
        writer.write(b"x" * size)
        await asyncio.sleep(0.05)
    assert asyncio.get_running_loop().time() - began > 2 * SHORT.body_seconds + SWEEP_SECONDS / 2
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n120000"), PATIENCE_SECONDS)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    writer.close()


async def test_a_client_that_takes_nothing_of_an_answer_is_dropped(port: int) -> None:
    client = await idle_reader(port)
    await eventually(lambda: is_ended(client), "the end of the connection", timeout_seconds=PATIENCE_SECONDS)
    client.close()


async def test_answers_that_are_not_taken_do_not_fill_the_memory() -> None:
    """No client is over a bound of its own."""
    async with bounded(Bounds(connections=20, write_seconds=60, untaken_bytes=3 * LARGE)) as port:
        clients = [await idle_reader(port) for _ in range(6)]
        await eventually(lambda: sum(map(is_ended, clients)) > 1, "the end of some", timeout_seconds=PATIENCE_SECONDS)
        assert sum(map(is_ended, clients)) <= 3
        for client in clients:
            client.close()


async def idle_reader(port: int) -> socket.socket:
    """Return a client that asks for a large answer, and takes nothing of it."""
    client = socket.socket()
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", port))
    await loop.sock_sendall(client, WHOLE.replace(b"/ ", b"/large ", 1))
    return client


def is_ended(client: socket.socket) -> bool:
    try:
        client.send(b"x")
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


async def test_a_client_that_takes_an_answer_slowly_gets_all_of_it(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(WHOLE.replace(b"/ ", b"/large ", 1))
    taken = 0
    while taken < LARGE:
        piece = await asyncio.wait_for(reader.read(1_000_000), PATIENCE_SECONDS)
        assert piece, f"dropped after {taken} bytes"
        taken += len(piece)
        await asyncio.sleep(0.02)
    writer.close()


@pytest.mark.parametrize("beginning", [b"", HALF_A_HEAD, HALF_A_BODY], ids=["nothing", "head", "body"])
async def test_a_new_request_takes_the_place_of_the_one_that_waited_longest(beginning: bytes) -> None:
    async with bounded(Bounds(connections=3, head_seconds=60, body_seconds=60)) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for _, writer in held:
            writer.write(beginning)
        await eventually(lambda: is_answered(port), "an answer")
        with suppress(ConnectionResetError):
            assert await asyncio.wait_for(held[0][0].read(), PATIENCE_SECONDS) == b""
        assert not held[2][0].at_eof()
        for _, writer in held:
            writer.close()


async def test_requests_that_are_being_answered_are_not_dropped_for_new_ones() -> None:
    async with bounded(Bounds(connections=2, write_seconds=60)) as port:
        busy = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for _, writer in busy:
            writer.write(LAST.replace(b"/ ", b"/held ", 1))
        await eventually(lambda: len(HELD) == 2, "both requests")
        assert not await is_answered(port)
        for event in HELD:
            event.set()
        HELD.clear()
        for reader, writer in busy:
            assert b"200 OK" in await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
            writer.close()


async def is_answered(port: int) -> bool:
    with suppress(ConnectionResetError):
        return b"200 OK" in await answer_to(port, LAST)
    return False
