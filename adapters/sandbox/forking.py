"""Run the server process that forks a limited child for each request, with all modules preloaded.

forker.py starts it as a separate program, so that neither the caller's threads nor its `__main__` are forked or
imported again (multiprocessing's forkserver would import the worker in every child). A child ends when its work is
done, when a limit is reached, when the caller closes its socket, or when the server ends; the server ends with the
process that started it.
"""

import ctypes
import os
import resource
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import NoReturn

from docrail.adapters.memory import settle

HEADER = struct.Struct("!cI")
"""Header of an answer: the kind, then the length of the payload."""
RESULT, STATUS = b"R", b"S"
"""From the child: its answer. From the server, after the child's end: its exit status as decimal text."""
LIMITS = struct.Struct("!QId")
"""Header of a request's file: limits of memory in bytes, of CPU and elapsed time in seconds. The payload follows."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""Maximum answer size: a compromised child must not fill the caller's memory."""
PR_SET_PDEATHSIG = 1
PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
"""Looked up here, once: that takes long in a child."""


@dataclass(frozen=True, slots=True)
class Program:
    """The work of a server's children. A module defines it by its function `program`."""

    preload: Callable[[], None]
    """Load, once, what the children use: loading it in a child would cost more than a millisecond."""
    answer: Callable[[bytes], bytes]
    exit_code: Callable[[], int] = lambda: 0
    """Called in a child that has answered."""
    child_ended: Callable[[int], None] = lambda _: None
    """Called in the server with a child's exit code."""
    niceness: int = 0
    """How much less of a busy machine the server and its children get than whoever asks them, as nice(1)."""


@dataclass(slots=True)
class _Children:
    """The running children: the server's end of each socket, by pid."""

    sockets: dict[int, socket.socket] = field(default_factory=dict)

    def pid_of(self, wanted: object) -> int:
        return next(pid for pid, sock in self.sockets.items() if sock is wanted)


def serve(control_fd: int, module: str, *arguments: str) -> None:
    """Fork a child for each request until the caller closes the control socket; then kill the remaining children."""
    control = socket.socket(fileno=control_fd)
    control.setblocking(True)
    program: Program = import_module(module).program(*arguments)
    os.nice(program.niceness)
    program.preload()
    settle()
    children = _Children()
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    wakeup = _handle_signals()
    selector.register(wakeup, selectors.EVENT_READ)
    try:
        while True:
            for key, _ in selector.select():
                if key.fileobj is control:
                    if not _start(control, program, children, selector):
                        return
                elif key.fileobj is wakeup:
                    wakeup.recv(4096)
                    _reap(program, children, selector)
                elif key.fileobj in children.sockets.values():
                    # Only the end of the connection can arrive here: the caller has given up waiting.
                    selector.unregister(key.fileobj)
                    os.kill(children.pid_of(key.fileobj), signal.SIGKILL)
    finally:
        for pid in children.sockets:
            os.kill(pid, signal.SIGKILL)


def _handle_signals() -> socket.socket:
    reading, writing = socket.socketpair()
    reading.setblocking(False)
    writing.setblocking(False)
    signal.set_wakeup_fd(os.dup(writing.fileno()), warn_on_full_buffer=False)
    writing.close()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C and a supervisor's SIGTERM reach the whole group; the caller drains first, then closes the control socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # The limits' signals end a child, whatever the server was started with.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    return reading


def _start(control: socket.socket, program: Program, children: _Children, selector: selectors.BaseSelector) -> bool:
    """Fork a child for the next request; False when the caller is gone."""
    _, descriptors, _, _ = socket.recv_fds(control, 1, 2)
    if not descriptors:
        return False
    request_socket, request_file = socket.socket(fileno=descriptors[0]), descriptors[1]
    request_socket.setblocking(True)
    server_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        _run_child(request_socket, request_file, program, [control, *children.sockets.values()], server_pid)
    os.close(request_file)
    children.sockets[pid] = request_socket
    selector.register(request_socket, selectors.EVENT_READ)
    return True


def _reap(program: Program, children: _Children, selector: selectors.BaseSelector) -> None:
    """Send each ended child's status to its caller."""
    while children.sockets:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        request_socket = children.sockets.pop(pid)
        if request_socket in (key.fileobj for key in selector.get_map().values()):
            selector.unregister(request_socket)
        code = os.waitstatus_to_exitcode(status)
        try:
            payload = str(code).encode()
            request_socket.send(HEADER.pack(STATUS, len(payload)) + payload, socket.MSG_DONTWAIT)
        except OSError:
            pass  # the caller stopped listening: nothing is lost
        finally:
            request_socket.close()
        program.child_ended(code)


def _run_child(
    request_socket: socket.socket,
    request_file: int,
    program: Program,
    inherited: list[socket.socket],
    server_pid: int,
) -> NoReturn:
    code = 1
    try:
        for other in inherited:
            other.close()
        memory_bytes, cpu_seconds, wall_seconds = LIMITS.unpack(os.pread(request_file, LIMITS.size, 0))
        _limit(memory_bytes, cpu_seconds, wall_seconds, server_pid)
        payload = os.pread(request_file, os.fstat(request_file).st_size, LIMITS.size)
        os.close(request_file)
        answer = program.answer(payload)
        request_socket.sendall(HEADER.pack(RESULT, len(answer)) + answer)
        code = program.exit_code()
    finally:
        os._exit(code)


def _limit(memory_bytes: int, cpu_seconds: int, wall_seconds: float, server_pid: int) -> None:
    """Apply the limits to the child. Each of them ends it with a signal, even inside C code."""
    signal.set_wakeup_fd(-1)
    if PRCTL is not None:
        PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server_pid:  # the server ended before the previous line
            os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    signal.setitimer(signal.ITIMER_REAL, wall_seconds)
