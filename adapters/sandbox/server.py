"""Run the server process that forks a restricted child for each document, with all modules preloaded.

reader.py starts it as a separate program, so that neither the worker's threads nor its `__main__` are forked or
imported again (multiprocessing's forkserver would import the worker in every child). A child ends when its work is
done, when a limit is reached, when the reader closes its socket, or when the server ends; the server ends with the
worker.
"""

import ctypes
import datetime as dt
import gc
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time
from base64 import b64encode
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

HEADER = struct.Struct("!cI")
"""Frame header: the kind, then the length of the payload."""
RESULT, STATUS = b"R", b"S"
"""From the child: a JSON answer. From the server, after the child's end: its exit status as decimal text."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""Maximum answer size: a compromised child must not fill the worker's memory."""
PR_SET_PDEATHSIG = 1
CHILDREN_IMPORT = (
    "docrail.invoices.llm.page_check",
    "docrail.invoices.readers.page_image",
    "docrail.invoices.document_text",
    "docrail.invoices.readers.pdf.from_pictures",
    "docrail.invoices.readers.read",
)
"""Modules used by `_answer`: loading one in a child would cost more than a millisecond."""
TOO_MUCH = (
    f"What is read of the document takes more than {MAX_ANSWER_BYTES >> 20} MB: its lines are too many and too long. "
    "Ask the sender to split it."
)
SAW_A_PICTURE = 3
"""Exit code of a child with the OCR's models loaded: the server then loads them too, for all later children."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for opening one document. A 1.2 kB PDF can drive a parser to 600 MB."""

    memory_bytes: int = 1_500_000_000
    cpu_seconds: int = 60
    wall_seconds: float = 90.0
    max_bytes: int = 25 * 1024 * 1024
    max_pages: int = 50


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """One document to open."""

    path: str
    limits: ReadingLimits
    claims: dict[str, Any] | None = None
    """A model's values (claims_of in invoices/llm/page_check.py) to look up on the pages; None: read the document.

    Must be short: the line is written before the server reads it.
    """
    page: int | None = None
    """Only render this page, counted from 1."""
    as_pdf: bool = False
    """Only convert the pages to PDF."""
    as_text: bool = False
    """Only return the text of the pages."""

    def to_line(self) -> bytes:
        """Return the request as the line that the server reads."""
        return json.dumps(asdict(self)).encode() + b"\n"  # ASCII also works for file names that are not UTF-8

    @classmethod
    def of_line(cls, line: bytes) -> "ReadingRequest":
        """Return the request written by `to_line`."""
        request = json.loads(line)
        return cls(**request | {"limits": ReadingLimits(**request["limits"])})


@dataclass(slots=True)
class _Children:
    """The running children: the server's end of each socket, by pid."""

    sockets: dict[int, socket.socket] = field(default_factory=dict)

    def pid_of(self, wanted: object) -> int:
        return next(pid for pid, sock in self.sockets.items() if sock is wanted)


def serve(control_fd: int) -> None:
    """Fork a child for each request until the worker closes the control socket; then kill the remaining children."""
    control = socket.socket(fileno=control_fd)
    control.setblocking(True)
    _preload()
    children = _Children()
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    wakeup = _wake_on_child_end()
    selector.register(wakeup, selectors.EVENT_READ)
    try:
        while True:
            for key, _ in selector.select():
                if key.fileobj is control:
                    if not _start(control, children, selector):
                        return
                elif key.fileobj is wakeup:
                    wakeup.recv(4096)
                    _reap(children, selector)
                elif key.fileobj in children.sockets.values():
                    # Only the end of the connection can arrive here: the reader has given up waiting.
                    selector.unregister(key.fileobj)
                    os.kill(children.pid_of(key.fileobj), signal.SIGKILL)
    finally:
        for pid in children.sockets:
            os.kill(pid, signal.SIGKILL)


def _preload() -> None:
    """Load the modules for the children, once. The imports are local because the worker imports this module too."""
    from docrail.invoices.readers.warm_up import warm_up  # noqa: PLC0415  # heavy: see above

    for name in CHILDREN_IMPORT:
        import_module(name)
    warm_up()
    gc.collect()
    gc.freeze()  # keeps shared pages shared: a child's collector does not touch them


def _wake_on_child_end() -> socket.socket:
    reading, writing = socket.socketpair()
    reading.setblocking(False)
    writing.setblocking(False)
    signal.set_wakeup_fd(os.dup(writing.fileno()), warn_on_full_buffer=False)
    writing.close()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C and a supervisor's SIGTERM reach the whole group; the worker drains first, then closes the control socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return reading


def _start(control: socket.socket, children: _Children, selector: selectors.BaseSelector) -> bool:
    """Fork a child for the next request; False when the worker is gone."""
    _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    if not descriptors:
        return False
    request_socket = socket.socket(fileno=descriptors[0])
    request_socket.setblocking(True)
    with request_socket.makefile("rb") as lines:
        line = lines.readline()
    if not line.endswith(b"\n"):  # the reader hung up before sending its request
        request_socket.close()
        return True
    server_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        inherited = [control, *children.sockets.values()]
        _run_child(request_socket, ReadingRequest.of_line(line), inherited, server_pid)
    children.sockets[pid] = request_socket
    selector.register(request_socket, selectors.EVENT_READ)
    return True


def _reap(children: _Children, selector: selectors.BaseSelector) -> None:
    """Send each ended child's status to its reader."""
    while children.sockets:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        request_socket = children.sockets.pop(pid)
        if request_socket in (key.fileobj for key in selector.get_map().values()):
            selector.unregister(request_socket)
        try:
            payload = str(os.waitstatus_to_exitcode(status)).encode()
            request_socket.send(HEADER.pack(STATUS, len(payload)) + payload, socket.MSG_DONTWAIT)
        except OSError:
            pass  # the reader stopped listening: nothing is lost
        finally:
            request_socket.close()
        if os.waitstatus_to_exitcode(status) == SAW_A_PICTURE:
            _load_models()


def _load_models() -> None:
    """Load the OCR's models once a document has needed them: most workers see images soon, some never (ADR 0017)."""
    from docrail.invoices.readers.ocr import read as ocr  # noqa: PLC0415  # see _preload

    if not ocr.loaded():
        ocr.warm_up()
        gc.collect()
        gc.freeze()


def _run_child(
    request_socket: socket.socket, request: ReadingRequest, inherited: list[socket.socket], server_pid: int
) -> NoReturn:
    from docrail.invoices.readers.ocr import read as ocr  # noqa: PLC0415  # loaded by _preload

    code = 1
    try:
        for other in inherited:
            other.close()
        _limit(request.limits, server_pid)
        answer = _answer(request)
        request_socket.sendall(HEADER.pack(RESULT, len(answer)) + answer)
        code = SAW_A_PICTURE if ocr.loaded() else 0
    finally:
        os._exit(code)


def _limit(limits: ReadingLimits, server_pid: int) -> None:
    """Apply the limits to the child. Each of them ends it with a signal, even inside C code."""
    signal.set_wakeup_fd(-1)
    for name in (signal.SIGCHLD, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(name, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server_pid:  # the server ended before the previous line
            os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 1))
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)


def _answer(request: ReadingRequest) -> bytes:
    """Return the reading, or the reason for none, as JSON bytes with one of the keys that reader.py expects."""
    from docrail.invoices.problems import UnreadableDocument  # noqa: PLC0415  # loaded by _preload

    try:
        data = Path(request.path).read_bytes()
    except OSError as error:
        return json.dumps({"os_error": [error.errno, error.strerror]}).encode()
    try:
        return _opened(request, data)
    except UnreadableDocument as error:
        return json.dumps({"unreadable": [error.code, error.message], "cpu_seconds": time.process_time()}).encode()
    except MemoryError:
        return json.dumps({"out_of_memory": True}).encode()
    except Exception as error:  # noqa: BLE001  # a parser's bug must not look like a dead child
        return json.dumps({"bug": f"{type(error).__name__}: {error}"[:500]}).encode()


def _opened(request: ReadingRequest, data: bytes) -> bytes:
    """Perform the request. Raises: UnreadableDocument, MemoryError, and any error of a faulty parser."""
    from docrail.invoices.document_text import printed_pages, text_pages  # noqa: PLC0415
    from docrail.invoices.llm.page_check import check_claims  # noqa: PLC0415  # loaded by _preload, as all here
    from docrail.invoices.readers.page_image import draw_page  # noqa: PLC0415
    from docrail.invoices.readers.pdf.from_pictures import pictures_as_pdf  # noqa: PLC0415
    from docrail.invoices.readers.read import read_document  # noqa: PLC0415

    most = request.limits.max_pages
    if request.page is not None:
        return _drawn(draw_page(data, request.page, most) or b"")
    if request.as_pdf:
        return _drawn(pictures_as_pdf(data, most))
    if request.as_text:
        return _sendable(json.dumps({"pages": [asdict(page) for page in text_pages(data, max_pages=most)]}).encode())
    if request.claims is not None:
        invoice = check_claims(request.claims, printed_pages(data, max_pages=most))
    else:
        invoice = read_document(data, today=dt.datetime.now(dt.UTC).date(), max_pages=most)
    answer = b'{"cpu_seconds":%.4f,"invoice":%s}' % (time.process_time(), invoice.model_dump_json().encode())
    return _sendable(answer)


def _sendable(answer: bytes) -> bytes:
    """Return the answer. Raises: UnreadableDocument if it is too large."""
    from docrail.invoices.problems import Unreadable, UnreadableDocument  # noqa: PLC0415  # loaded by _preload

    if len(answer) > MAX_ANSWER_BYTES:
        raise UnreadableDocument(Unreadable.TOO_LARGE, TOO_MUCH)
    return answer


def _drawn(written: bytes) -> bytes:
    return json.dumps({"drawn": b64encode(written).decode()}).encode()
