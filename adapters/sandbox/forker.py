"""Start a server process that forks a limited child for each request, and ask it (forking.py is the other side)."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO

from docrail.adapters.sandbox.forking import HEADER, LIMITS, MAX_ANSWER_BYTES, RESULT, STATUS

_NEEDED = re.compile(r"PATH|HOME|TZ|LANG|LC_\w+|TMPDIR|TEMP|TMP|(?:LD|MALLOC)_\w+|PYTHON\w*")
"""Environment variables passed to the server: the others contain keys and passwords, and it handles untrusted data."""
HANG_UP_GRACE_SECONDS = 5.0
"""Grace period after the child's own timer, for a child that its timer does not end (stopped, or in the kernel)."""
SERVER_EXIT_SECONDS = 5.0
LARGE_BYTES = 1 << 16
"""A larger request is written in a thread."""
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""Keeps libraries from starting threads in the server: forked children would not have them."""
_LIMIT_SIGNALS = frozenset({signal.SIGALRM, signal.SIGXCPU})
_SERVER_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from docrail.adapters.sandbox.forking import serve; serve(int(sys.argv[2]), *sys.argv[3:])"
)


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Limits of one child."""

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: float


class ServerDiedError(OSError):
    """The server was killed twice during one request, or is closed. Says nothing about the request."""


class ChildTimedOutError(Exception):
    """The child needed more CPU seconds or more time than its limits allow."""


class ChildDiedError(Exception):
    """The child ended without a valid answer; the text says how."""


@dataclass(frozen=True, slots=True)
class _Server:
    """A running server. Closing `control` ends it and its children."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    @classmethod
    def start(cls, module: str, arguments: tuple[str, ...]) -> "_Server":
        ours, theirs = socket.socketpair()
        with theirs:
            started = [sys.executable, "-c", _SERVER_PROGRAM, json.dumps(sys.path), str(theirs.fileno())]
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and program
                [*started, module, *arguments],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={name: value for name, value in os.environ.items() if _NEEDED.fullmatch(name)} | _ONE_THREAD,
            )
        ours.setblocking(False)
        return cls(process, ours)

    def stop(self) -> None:
        self.control.close()
        try:
            self.process.wait(SERVER_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Forker:
    """Ask limited children, forked from a server that runs the program of `module`. The server starts on first use.

    At most `at_once` children exist at once. Safe to use from many tasks of one event loop.
    """

    def __init__(self, module: str, *arguments: str, at_once: int = 2) -> None:
        self._module, self._arguments = module, arguments
        self._slots = asyncio.Semaphore(at_once)
        self._ending: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._server: _Server | None = None
        self._closed = False

    @property
    def server_pid(self) -> int | None:
        """Return the process id of the server that forks the children; None before it has started."""
        return self._server.process.pid if self._server else None

    async def start(self) -> None:
        """Start the server now, so that the first request does not wait for it."""
        await self._running_server()

    async def ask(self, payload: bytes, limits: ChildLimits) -> bytes:
        """Return a child's answer, while the child still ends. Cancelling kills the child.

        If the server dies, which says nothing about the request, a new one is asked once.
        Raises: ServerDiedError, ChildTimedOutError, ChildDiedError.
        """
        await self._slots.acquire()
        try:
            answer, connection = await self._answer(payload, limits)
        except BaseException:
            self._slots.release()
            raise
        ending = asyncio.create_task(self._end(connection))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        return answer

    async def _end(self, connection: socket.socket) -> None:
        """Wait until a child has exited: until then it uses memory, and so its slot."""
        try:
            with connection, suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(HANG_UP_GRACE_SECONDS):
                    while await asyncio.get_running_loop().sock_recv(connection, HEADER.size):
                        pass
        finally:
            self._slots.release()

    async def _answer(self, payload: bytes, limits: ChildLimits) -> tuple[bytes, socket.socket]:
        server = await self._running_server()
        try:
            return await _converse(server, payload, limits)
        except (BrokenPipeError, ConnectionError, EOFError):
            await self._discard(server)
        server = await self._running_server()
        try:
            return await _converse(server, payload, limits)
        except (BrokenPipeError, ConnectionError, EOFError) as error:
            await self._discard(server)
            raise ServerDiedError("the server of limited processes was killed twice during one request") from error

    async def close(self) -> None:
        """Stop the server and all children. Requests in progress fail."""
        self._closed = True
        async with self._starting:
            server, self._server = self._server, None
        if server:
            await asyncio.to_thread(server.stop)
        await asyncio.gather(*self._ending)

    async def _running_server(self) -> _Server:
        async with self._starting:
            if self._closed:
                raise ServerDiedError("the server of limited processes is closed: this process is stopping")
            if self._server is None:
                self._server = await asyncio.to_thread(_Server.start, self._module, self._arguments)
            return self._server

    async def _discard(self, server: _Server) -> None:
        async with self._starting:
            if self._server is server:
                self._server = None
                await asyncio.to_thread(server.stop)


async def _converse(server: _Server, payload: bytes, limits: ChildLimits) -> tuple[bytes, socket.socket]:
    """Request one child from `server` and return its answer, with the connection.

    The server closes that when the child has exited. Closing it here, also on errors, kills the child.
    """
    ours, theirs = socket.socketpair()
    with ExitStack() as open_on_success:
        open_on_success.enter_context(ours)
        ours.setblocking(False)
        with theirs, _request_file() as file:
            if len(payload) > LARGE_BYTES:
                await asyncio.to_thread(_write, file, payload, limits)
            else:
                _write(file, payload, limits)
            socket.send_fds(server.control, [b"\0"], [theirs.fileno(), file.fileno()])
        try:
            async with asyncio.timeout(limits.wall_seconds + HANG_UP_GRACE_SECONDS):
                kind, answer = await _receive_frame(ours)
        except TimeoutError:
            raise ChildTimedOutError from None
        if kind == STATUS:
            raise _death(int(answer))
        open_on_success.pop_all()
    return answer, ours


def _request_file() -> IO[bytes]:
    """Return a file without a name, on Linux in memory: creating one on a disk took 2 ms of CPU while others write."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("request"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _write(file: IO[bytes], payload: bytes, limits: ChildLimits) -> None:
    file.write(LIMITS.pack(limits.memory_bytes, limits.cpu_seconds, limits.wall_seconds))
    file.write(payload)


def _death(exit_code: int) -> ChildTimedOutError | ChildDiedError:
    if -exit_code in _LIMIT_SIGNALS:
        return ChildTimedOutError()
    how = signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"
    return ChildDiedError(f"ended without an answer ({how})")


async def _receive_frame(sock: socket.socket) -> tuple[bytes, bytes]:
    kind, length = HEADER.unpack(await _receive(sock, HEADER.size))
    if length > MAX_ANSWER_BYTES or kind not in (RESULT, STATUS):
        raise ChildDiedError("gave an answer that makes no sense")
    return kind, await _receive(sock, length)


async def _receive(sock: socket.socket, size: int) -> bytes:
    """Return exactly `size` bytes. Raises: EOFError if the other end closes first."""
    loop = asyncio.get_running_loop()
    received = bytearray()
    while len(received) < size:
        part = await loop.sock_recv(sock, min(size - len(received), 1 << 18))
        if not part:
            raise EOFError
        received += part
    return bytes(received)
