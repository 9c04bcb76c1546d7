"""Answer a request within five seconds while a service that it waits for is frozen.

A frozen server accepts connections and never answers. The drivers' own timeouts are made for slow work, not for people,
and one request makes several calls. So a request that takes long checks the services, and is refused if one of them
does not answer. Long work with healthy services goes on.
"""

import asyncio
import logging
import time
from typing import cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docrail.api.errors import refusal
from docrail.services.app import App
from docrail.services.errors import Unavailable
from docrail.services.fleet.health import find_frozen

PATIENCE_SECONDS = 3.2
"""How long a request may take, from the last byte of its body, before the services are checked. A call to a frozen
Temporal fails by itself a little earlier, so that an upload is still accepted."""

log = logging.getLogger(__name__)


class Deadline:
    """ASGI middleware. Checks the services once for all requests that wait at the same time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._checking: asyncio.Task[Unavailable | None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse it if a service that it may wait for does not answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Request(receive, send)
        handling = asyncio.ensure_future(self._app(scope, request.receive, request.send))
        try:
            await self._wait(scope, request, handling)
        finally:
            handling.cancel()  # without effect once it has ended

    async def _wait(self, scope: Scope, request: "_Request", handling: asyncio.Future[None]) -> None:
        while not handling.done():
            if request.has_begun:
                await asyncio.wait({handling})
                break
            await asyncio.wait({handling}, timeout=max(request.patience(), 0.05))
            if handling.done() or request.has_begun or request.patience() > 0:
                continue
            frozen = await self._find_frozen(cast("App", scope["app"].state.app))
            if frozen is not None and not handling.done() and request.refuse():
                log.warning("%s %s is refused: %s", scope["method"], getattr(scope.get("route"), "path", "-"), frozen)
                handling.add_done_callback(_forget)
                await refusal(frozen)(scope, request.receive, request.send_refusal)
                return
            request.moved()
        handling.result()

    async def _find_frozen(self, app: App) -> Unavailable | None:
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(find_frozen(app))
        return await asyncio.shield(self._checking)


class _Request:
    """One request's traffic: when it last moved, and whether its answer has begun."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._moved_at = time.monotonic()
        self._is_receiving = False
        self._is_refused = False
        self.has_begun = False

    def patience(self) -> float:
        """Return the seconds until the services are to be checked."""
        if self._is_receiving:  # it waits for its caller
            return PATIENCE_SECONDS
        return self._moved_at + PATIENCE_SECONDS - time.monotonic()

    def moved(self) -> None:
        self._moved_at = time.monotonic()

    def refuse(self) -> bool:
        """Let the handler send nothing any more, unless it has begun; return whether it has not."""
        self._is_refused = not self.has_begun
        return self._is_refused

    async def receive(self) -> Message:
        self._is_receiving = True
        try:
            return await self._receive()
        finally:
            self._is_receiving = False
            self.moved()

    async def send(self, message: Message) -> None:
        if not self._is_refused:
            self.has_begun = True
            await self._send(message)

    async def send_refusal(self, message: Message) -> None:
        await self._send(message)


def _forget(handling: asyncio.Future[None]) -> None:
    if not handling.cancelled() and (error := handling.exception()) is not None:
        log.debug("a refused request ended with %r", error)
