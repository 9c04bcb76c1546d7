"""Bound what large requests cost before anything looks into them: values of JSON, bytes in memory, and turns.

A body is read completely before the request is handled, so that a slow caller holds no turn.
"""

import asyncio
import re
from collections import Counter
from typing import cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docrail.adapters.memory import return_memory
from docrail.api.body_sizes import BODY_BYTES, upload_setting
from docrail.api.errors import BodyTooLargeError, refusal
from docrail.services.access.models import Principal
from docrail.services.errors import Busy, OperationError, TooLarge, TooManyValues
from docrail.services.turns import Turns

DIRECT_BYTES = 64 * 2**10
"""Bodies of at most this size are handled at once: the worst takes a few milliseconds to parse."""
MAX_VALUES = 50_000
"""JSON values in one body: large definitions have half as many, and parsing more would delay all other requests."""
MAX_HELD_BYTES = 64 * 2**20
"""Bytes of all bodies that are being read, wait or are handled, together; uploads are not among them. Twice as
many if several tenants send: each may have its share."""
AT_ONCE, WAITING = 1, 16
"""Turns of large requests."""

RETURN_SECONDS = 1.0
"""How long after a large request memory is returned once more: until then its answer and its errors still hold some."""

_QUOTED = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXT = re.compile(_QUOTED, re.DOTALL)
_SOME = re.compile(rb'(?:[^"]*+' + _QUOTED + rb"){1,5000}+", re.DOTALL)
"""Some texts, with what is before each."""


class LargeRequests:
    """ASGI middleware. It expects a limit of each body's size around it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held = Counter[str]()
        """Bytes of the bodies of each tenant."""
        self._turns = Turns(AT_ONCE, WAITING)
        self._returning: asyncio.TimerHandle | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse its body."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        if upload_setting(scope["path"]) is not None:
            try:
                await self._app(scope, receive, send)
            finally:
                if scope.get(BODY_BYTES, 0) > DIRECT_BYTES:
                    self._return_soon()
            return
        body, tenant_id = bytearray(), tenant_of(scope)
        try:
            if await self._read(body, tenant_id, receive):
                await self._handle(scope, bytes(body), receive, send)
        except OperationError as error:
            await refusal(error)(scope, receive, send)
        except BodyTooLargeError as error:
            await refusal(TooLarge(error.limit_bytes))(scope, receive, send)
        finally:
            self._held[tenant_id] -= len(body)
            self._held += Counter()  # forgets tenants that hold nothing
            if len(body) > DIRECT_BYTES:
                body.clear()
                return_memory()
                self._return_soon()

    def _return_soon(self) -> None:
        """Return memory a little later, once for all requests until then."""
        if self._returning is None:
            self._returning = asyncio.get_running_loop().call_later(RETURN_SECONDS, self._return)

    def _return(self) -> None:
        self._returning = None
        return_memory()

    async def _read(self, body: bytearray, tenant_id: str, receive: Receive) -> bool:
        """Read the whole body; return False if the caller leaves before its end. Raises: Busy."""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return False
            part = message.get("body", b"")
            body += part
            self._held[tenant_id] += len(part)
            if not message.get("more_body", False):
                return True
            if len(body) > DIRECT_BYTES and self._is_full_for(tenant_id):
                raise Busy

    def _is_full_for(self, tenant_id: str) -> bool:
        """Return whether all bodies together are too large, and the tenant has more than its share of them."""
        return self._held.total() > MAX_HELD_BYTES and self._held[tenant_id] > MAX_HELD_BYTES / len(self._held)

    async def _handle(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        if len(body) <= DIRECT_BYTES:
            await self._app(scope, _replayed(body, receive), send)
            return
        async with self._turns.of(tenant_of(scope)):
            if await has_too_many_values(body):
                raise TooManyValues(MAX_VALUES)
            await self._app(scope, _replayed(body, receive), send)


def tenant_of(scope: Scope) -> str:
    """Return the tenant of an authenticated request; empty for callbacks and sign-ins, which have none."""
    principal = scope.get("state", {}).get("principal")
    return "" if principal is None else cast("Principal", principal).tenant_id


async def has_too_many_values(body: bytes) -> bool:
    """Return whether JSON has more than MAX_VALUES commas and opening brackets outside its texts.

    It lets other requests go on after every few thousand texts.
    """
    if _marks(body) <= MAX_VALUES:
        return False
    found = at = 0
    while at < len(body) and found <= MAX_VALUES:
        part = _SOME.match(body, at)
        end = part.end() if part else len(body)
        found += _marks(_TEXT.sub(b"", body[at:end]))
        at = end
        await asyncio.sleep(0)
    return found > MAX_VALUES


def _marks(body: bytes) -> int:
    return sum(map(body.count, (b",", b"[", b"{")))


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body in one message, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
