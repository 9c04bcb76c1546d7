"""Bound what connections may cost: how many there are, and how long a request's head and body may take (ADR 35).

uvicorn limits neither: a client that sends half a request holds a file handle for as long as it likes.
"""

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from docrail.api.errors import MALFORMED, MEDIA_TYPE, TOO_SLOW, Kind, plain_body

SWEEP_SECONDS = 1.0
"""How often connections are compared with their bounds."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a server. Seconds; bytes a second."""

    connections: int
    head_seconds: float = 10.0
    """From the connection, or a later request's first byte, to the end of the request's headers."""
    body_seconds: float = 20.0
    body_rate: float = 10_000.0
    """A body may take `body_seconds`, and longer if it arrives at this rate. Time in which we do not read is free."""
    write_seconds: float = 30.0
    """How long a client may take nothing of an answer."""
    untaken_bytes: int = 128 * 2**20
    """Answers that wait for their clients, all together."""


class Connections:
    """The open connections of one server."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._open: set[Connection] = set()
        self._sweep: asyncio.TimerHandle | None = None

    def protocol(self, **given: Any) -> "Connection":
        """Return the protocol of a new connection; uvicorn calls this as its HTTP protocol class."""
        return Connection(H11Protocol(**given), self)

    def admit(self, new: "Connection") -> bool:
        """Return whether there is room. If there is none, the client that has kept us waiting longest is dropped."""
        if len(self._open) >= self.bounds.connections:
            slowest = self._slowest()
            if slowest is None:
                log.warning("refused a connection: all %d are busy", self.bounds.connections)
                return False
            slowest.drop()
        self._open.add(new)
        if self._sweep is None:
            self._schedule()
        return True

    def forget(self, closed: "Connection") -> None:
        """Take a closed connection off the list."""
        self._open.discard(closed)

    def _slowest(self) -> "Connection | None":
        waiting = [each for each in self._open if each.waits_for_a_request]
        slow = waiting or [each for each in self._open if each.is_slower_than(self.bounds.body_rate)]
        return min(slow, key=_since, default=None)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweep = loop.call_later(SWEEP_SECONDS, self._compare) if self._open else None

    def _compare(self) -> None:
        for connection in tuple(self._open):
            connection.compare(self.bounds)
        self._drop_untaken()
        self._schedule()

    def _drop_untaken(self) -> None:
        """Drop the clients for which most waits, until the answers of the others fit into memory."""
        left = sorted(self._open, key=_untaken)
        while left and sum(map(_untaken, left)) > self.bounds.untaken_bytes:
            left.pop().drop()


class Connection(asyncio.Protocol):
    """One connection: everything is passed on to uvicorn's protocol, and its progress is watched."""

    def __init__(self, inner: H11Protocol, among: Connections) -> None:
        self._inner = inner
        inner.send_400_response = self._refuse_malformed  # type: ignore[method-assign]  # its own is not problem+json
        self._among = among
        self._transport: asyncio.Transport
        self._state: object = None
        """What the client was sending when it was last heard."""
        self.since = 0.0
        """When it began to send that."""
        self._received = 0
        self.untaken = 0
        """Bytes of an answer that its client had a whole look's time to take."""
        self._unsent = 0
        self._unsent_since = 0.0

    @property
    def waits_for_a_request(self) -> bool:
        """Return whether no complete head of a request has arrived since the last answer."""
        return self._inner.conn.their_state is h11.IDLE

    def is_slower_than(self, rate: float) -> bool:
        """Return whether a request's body arrives at less than so many bytes a second."""
        seconds = self._now() - self.since
        is_ours = self._inner.flow.read_paused or self._inner.conn.their_state is not h11.SEND_BODY
        return not is_ours and seconds > SWEEP_SECONDS and self._received < rate * seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or close the connection if there are too many."""
        self._transport = cast("asyncio.Transport", transport)
        self._state, self.since = h11.IDLE, self._now()
        if self._among.admit(self):
            self._inner.connection_made(self._transport)
        else:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Pass on what arrived."""
        self._inner.data_received(data)
        self._received += len(data)
        self._has_changed()

    def eof_received(self) -> None:
        """Pass on the end of what the client sends."""
        self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass on the end."""
        self._among.forget(self)
        if self._inner.transport is not None:
            self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass on that the client takes the answer slower than it is written."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that there is room again."""
        self._inner.resume_writing()

    def compare(self, bounds: Bounds) -> None:
        """End the connection if it is over one of its bounds."""
        if self._is_stuck(bounds):
            self.drop()
        elif self._is_slow(bounds):
            self._refuse(TOO_SLOW)

    def _refuse_malformed(self, msg: str) -> None:  # noqa: ARG002 - as uvicorn names it
        self._refuse(MALFORMED)

    def _refuse(self, kind: Kind) -> None:
        """Answer with a problem, unless another answer has begun, and close the connection."""
        if self._inner.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._transport.write(_written(kind))
        self._transport.close()

    def drop(self) -> None:
        """Close the connection at once."""
        self._among.forget(self)
        self._transport.abort()

    def _is_stuck(self, bounds: Bounds) -> bool:
        unsent = self._transport.get_write_buffer_size()
        self.untaken = min(unsent, self._unsent)
        if not unsent or unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, self._now()
        return self._now() - self._unsent_since > bounds.write_seconds

    def _is_slow(self, bounds: Bounds) -> bool:
        if self._unsent:  # has a bound of its own
            self.since = self._now()
        if self._has_changed() or self._transport.is_closing():
            return False
        seconds = self._now() - self.since
        if self._state is h11.IDLE:
            return seconds > bounds.head_seconds
        if self._state is not h11.SEND_BODY:
            return False
        if self._inner.flow.read_paused:
            self.since, self._received = self._now(), 0
            return False
        return seconds > bounds.body_seconds + self._received / bounds.body_rate

    def _has_changed(self) -> bool:
        """Return whether the client now sends something else than when it was last looked at."""
        state = self._inner.conn.their_state
        if state is self._state:
            return False
        self._state, self.since, self._received = state, self._now(), 0
        return True

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _written(kind: Kind) -> bytes:
    """Return a problem as it is sent."""
    body = json.dumps(plain_body(kind)).encode()
    lines = f"HTTP/1.1 {kind.status} {kind.status.phrase}", "Connection: close", f"Content-Type: {MEDIA_TYPE}"
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def _untaken(connection: Connection) -> int:
    return connection.untaken


def _since(connection: Connection) -> float:
    return connection.since
