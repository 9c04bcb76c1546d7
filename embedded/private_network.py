"""Run a program in a network of its own: python -I -S private_network.py PARENT SOCKET PORT PROGRAM ARGUMENT...

Temporal's dev server authenticates no one, and every user of a machine reaches its loopback ports. In a network
namespace no other process has those ports; connections come through SOCKET, a file that the folder around it closes to
other users. It takes HTTP's CONNECT, as Temporal's clients speak to a proxy, and plain gRPC, as `temporal --address
unix://SOCKET` does. With PARENT `check` it only tries whether the system allows such a network.
"""

import asyncio
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000  # linux/sched.h
PR_SET_PDEATHSIG = 1
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1  # linux/sockios.h, linux/if.h
LOOPBACK = "127.0.0.1"
CHUNK_BYTES = 2**16
HEAD_SECONDS = 10.0
MOST_CONNECTIONS = 500


def main() -> None:
    """Separate this process from the machine's network and replace it by the program."""
    separate()
    if sys.argv[1] == "check":
        return
    parent, path, port, *program = sys.argv[1:]
    Path(path).unlink(missing_ok=True)  # of a server that was killed
    leader = os.getpid()
    if os.fork() == 0:
        die_with(leader)
        asyncio.run(forward(path, int(port)))
    die_with(int(parent))  # a new user namespace has cleared it
    os.execv(program[0], program)  # noqa: S606 - no shell is wanted


def separate() -> None:
    """Leave the machine's network for one with a loopback only. Raises: OSError if the system does not allow it."""
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:  # only root may, except in a user namespace
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent died first")


async def forward(path: str, port: int) -> None:
    """Pass connections to the socket on to the port, until this process is killed."""
    slots = asyncio.Semaphore(MOST_CONNECTIONS)
    server = await asyncio.start_unix_server(partial(_serve, port, slots), path)
    await server.serve_forever()


async def _serve(
    port: int, slots: asyncio.Semaphore, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    async with slots:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)  # HTTP/2 begins with such lines
            server_reader, server_writer = await asyncio.open_connection(LOOPBACK, port)
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                server_writer.write(head)
            sending = asyncio.create_task(_copy(reader, server_writer))
            await _copy(server_reader, writer)
            sending.cancel()
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    writer.close()


if __name__ == "__main__":
    main()
