"""Open documents in restricted child processes, each forked from a preloaded server."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from pydantic import Base64Bytes, BaseModel, ValidationError

from docrail.adapters.sandbox.server import HEADER, MAX_ANSWER_BYTES, RESULT, STATUS, ReadingLimits, ReadingRequest
from docrail.invoices.model import InvoiceData
from docrail.invoices.page_text import PageText
from docrail.invoices.problems import Unreadable, UnreadableDocument

_NEEDED = re.compile(r"PATH|HOME|TZ|LANG|LC_\w+|TMPDIR|TEMP|TMP|(?:LD|MALLOC)_\w+|PYTHON\w*")
"""Environment variables passed to the server: the others contain keys and passwords, and it opens untrusted
documents."""
LOOK_CPU_SECONDS, LOOK_WALL_SECONDS = 20, 30.0
"""Limits for examining pages: a person, or an attempt with a paid answer, waits for the result."""
HANG_UP_GRACE_SECONDS = 5.0
"""Grace period after the child's own timer, for a child that its timer does not end (stopped, or in the kernel)."""
SERVER_EXIT_SECONDS = 5.0
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""Keeps libraries from starting threads in the server: forked children would not have them."""
_LIMIT_SIGNALS = frozenset({signal.SIGALRM, signal.SIGXCPU})
_MEMORY_HINT = "An invoice of a few pages needs a small part of that. Print the document into a new PDF and send that."
_SERVER_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from docrail.adapters.sandbox.server import serve; serve(int(sys.argv[2]))"
)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if _NEEDED.fullmatch(name)} | _ONE_THREAD


Record = Callable[[str, float], None]


class ReaderDiedError(OSError):
    """The reading server was killed twice while working on one document. Says nothing about the document."""


class _Answer(BaseModel, extra="forbid"):
    """A child's answer: exactly one of these."""

    invoice: InvoiceData | None = None
    drawn: Base64Bytes | None = None
    """A page as PNG, empty if there is no such page; or all pages as PDF."""
    pages: list[PageText] | None = None
    """The text of the pages."""
    unreadable: tuple[Unreadable, str] | None = None
    os_error: tuple[int, str] | None = None
    out_of_memory: bool = False
    bug: str | None = None
    cpu_seconds: float = 0.0
    """CPU seconds that the child used until its answer."""


@dataclass(frozen=True, slots=True)
class _Server:
    """A running reading server. Closing `control` ends it and its children."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    @classmethod
    def start(cls) -> "_Server":
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = [sys.executable, "-c", _SERVER_PROGRAM, json.dumps(sys.path), str(theirs.fileno())]
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and program
                arguments,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_environment(),
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


class DocumentReader:
    """Read documents, at most `workers` at once. Safe to use from many tasks of one event loop.

    `record` is called after each reading with the reader whose values won, or `unreadable`, and the CPU seconds used.
    """

    def __init__(self, workers: int = 2, limits: ReadingLimits | None = None, record: Record | None = None) -> None:
        self.limits = limits or ReadingLimits()
        self._record = record or (lambda _reader, _cpu_seconds: None)
        self._slots = asyncio.Semaphore(workers)
        self._starting = asyncio.Lock()
        self._server: _Server | None = None
        self._closed = False

    @property
    def server_pid(self) -> int | None:
        """Return the process id of the server that forks the children; None before it has started."""
        return self._server.process.pid if self._server else None

    async def start(self) -> None:
        """Start the server now, so that the first document does not wait for it."""
        await self._running_server()

    async def read(self, path: Path) -> InvoiceData:
        """Return the reading of the document at `path`. Cancelling kills the child that reads it.

        Raises: UnreadableDocument (never worth a retry); OSError if the file or the reading server is gone (worth one).
        """
        answer = await self._opened(ReadingRequest(str(path), self.limits))
        if answer.invoice or answer.unreadable:
            self._record(answer.invoice.reader if answer.invoice else "unreadable", answer.cpu_seconds)
        return answer.invoice or self._fail(answer, path)

    async def check(self, path: Path, claims: dict[str, Any]) -> InvoiceData:
        """Return the fields of `claims` (claims_of in invoices/llm/page_check.py), checked against the pages' text.

        Raises: as `read`, also for a document whose pages cannot be searched within the time limit.
        """
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), claims))
        return answer.invoice or self._fail(answer, path)

    async def draw(self, path: Path, page: int) -> bytes | None:
        """Return a page, counted from 1, as PNG; None if it does not exist or cannot be rendered.

        Raises: as `check`.
        """
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), page=page))
        return self._fail(answer, path) if answer.drawn is None else answer.drawn or None

    async def as_pdf(self, path: Path) -> bytes:
        """Return the pages of an image file as PDF. Raises: as `check`."""
        answer = await self._opened(ReadingRequest(str(path), self._for_a_look(), as_pdf=True))
        return answer.drawn or self._fail(answer, path)

    async def pages(self, path: Path) -> list[PageText]:
        """Return the pages of a document with their text. Raises: as `read`."""
        answer = await self._opened(ReadingRequest(str(path), self.limits, as_text=True))
        return self._fail(answer, path) if answer.pages is None else answer.pages

    def _for_a_look(self) -> ReadingLimits:
        cpu_seconds = min(LOOK_CPU_SECONDS, self.limits.cpu_seconds)
        wall_seconds = min(LOOK_WALL_SECONDS, self.limits.wall_seconds)
        return replace(self.limits, cpu_seconds=cpu_seconds, wall_seconds=wall_seconds)

    async def _opened(self, request: ReadingRequest) -> _Answer:
        size = (await asyncio.to_thread(Path(request.path).stat)).st_size
        if size > self.limits.max_bytes:
            raise _too_large(size, self.limits.max_bytes)
        async with self._slots:
            return await self._ask(request)

    async def close(self) -> None:
        """Stop the server and all children. Reads in progress fail."""
        self._closed = True
        async with self._starting:
            server, self._server = self._server, None
        if server:
            await asyncio.to_thread(server.stop)

    async def _ask(self, request: ReadingRequest) -> _Answer:
        """Return the child's answer.

        If the server dies, which says nothing about the document, a new one is asked once.
        """
        server = await self._running_server()
        try:
            return await self._converse(server, request)
        except (BrokenPipeError, ConnectionError, EOFError):
            await self._discard(server)
        server = await self._running_server()
        try:
            return await self._converse(server, request)
        except (BrokenPipeError, ConnectionError, EOFError) as error:
            await self._discard(server)
            raise ReaderDiedError(f"the reading server was killed twice while it read {request.path}") from error

    async def _running_server(self) -> _Server:
        async with self._starting:
            if self._closed:
                raise ReaderDiedError("this DocumentReader is closed: the worker is stopping")
            if self._server is None:
                self._server = await asyncio.to_thread(_Server.start)
            return self._server

    async def _discard(self, server: _Server) -> None:
        async with self._starting:
            if self._server is server:
                self._server = None
                await asyncio.to_thread(server.stop)

    async def _converse(self, server: _Server, request: ReadingRequest) -> _Answer:
        """Request one child from `server` and wait for its answer.

        Closing the connection, also on errors, kills the child.
        """
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                ours.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(ours, request.to_line())
                socket.send_fds(server.control, [b"\0"], [theirs.fileno()])
            try:
                async with asyncio.timeout(request.limits.wall_seconds + HANG_UP_GRACE_SECONDS):
                    kind, payload = await _receive_frame(ours)
                    await _receive_end(ours)
            except TimeoutError:
                raise _timed_out(request.limits) from None
        if kind == STATUS:
            raise _death(int(payload), request.limits)
        try:
            return _Answer.model_validate_json(payload)
        except ValidationError as error:
            raise _crashed("gave an answer that makes no sense") from error

    def _fail(self, answer: _Answer, path: Path) -> NoReturn:
        """Raise the error of an answer without a result."""
        if answer.unreadable:
            raise UnreadableDocument(*answer.unreadable)
        if answer.os_error:
            raise OSError(*answer.os_error, os.fspath(path))
        if answer.out_of_memory:
            limit = self.limits.memory_bytes // 1_000_000
            raise UnreadableDocument(
                Unreadable.UNSAFE, f"Opening this document takes more than {limit} MB of memory. " + _MEMORY_HINT
            )
        raise _crashed(f"failed ({answer.bug})")


def _death(exit_code: int, limits: ReadingLimits) -> UnreadableDocument:
    if -exit_code in _LIMIT_SIGNALS:
        return _timed_out(limits)
    how = signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"
    return _crashed(f"ended without an answer ({how})")


async def _receive_frame(sock: socket.socket) -> tuple[bytes, bytes]:
    kind, length = HEADER.unpack(await _receive(sock, HEADER.size))
    if length > MAX_ANSWER_BYTES or kind not in (RESULT, STATUS):
        raise _crashed("gave an answer that makes no sense")
    return kind, await _receive(sock, length)


async def _receive_end(sock: socket.socket) -> None:
    """Wait until the child has exited: until then it uses memory, and so its slot."""
    with suppress(ConnectionError):
        while await asyncio.get_running_loop().sock_recv(sock, HEADER.size):
            pass


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


def _too_large(size: int, limit: int) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.TOO_LARGE,
        f"The file has {size / 1e6:.1f} MB; at most {limit / 1e6:.1f} MB are read. "
        "Send the invoice alone, without attachments, or scan it with a lower resolution.",
    )


def _timed_out(limits: ReadingLimits) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.TIMED_OUT,
        f"Reading was stopped after {limits.cpu_seconds} seconds of work or {limits.wall_seconds:.0f} seconds in all; "
        "a page takes at most two. Print the document into a new PDF and send that.",
    )


def _crashed(how: str) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.CRASHED,
        f"The program that opens documents {how}, so the file is probably damaged or malicious. "
        "Open it yourself only if you trust the sender; if it is fine, print it into a new PDF and send that.",
    )
