"""Read the heads of requests for small servers of our own, from connections that may be slow, half-open or many."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import h11

MOST_WAITING = 100
HEAD_SECONDS = 10.0


@dataclass(slots=True)
class Heads:
    """Reads heads within a time. Of too many connections, the one that has waited longest is closed for a new one."""

    most: int = MOST_WAITING
    seconds: float = HEAD_SECONDS
    _waiting: dict[asyncio.StreamWriter, None] = field(default_factory=dict)

    async def read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> h11.Request | None:
        """Return the head of a request; None if it is none.

        Raises: TimeoutError, IncompleteReadError, LimitOverrunError, OSError.
        """
        if len(self._waiting) >= self.most:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()
        self._waiting[writer] = None
        try:
            async with asyncio.timeout(self.seconds):
                return _parsed(await reader.readuntil(b"\r\n\r\n"))
        finally:
            self._waiting.pop(writer, None)


UNREADABLE = (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError)
"""Errors of a connection that sends no whole head."""


def headers_of(request: h11.Request) -> Mapping[str, Sequence[str]]:
    """Return the values of each header, by its lowercase name."""
    headers = defaultdict[str, list[str]](list)
    for name, value in request.headers:
        headers[name.decode()].append(value.decode("latin-1"))
    return headers


def _parsed(head: bytes) -> h11.Request | None:
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(head)
    try:
        event = parser.next_event()
    except h11.RemoteProtocolError:
        return None
    return event if isinstance(event, h11.Request) else None
