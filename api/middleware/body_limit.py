"""Reject request bodies that are too large, with or without Content-Length, without reading beyond the limit."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docrail.api.body_sizes import BODY_BYTES, most_bytes, upload_setting
from docrail.api.errors import BodyTooLargeError, refusal
from docrail.services.errors import TooLarge

FORM_BYTES = 64 * 2**10
"""Overhead of a multipart form around the file: boundaries, headers, the other fields."""


MOST_DISCARDED, MOST_UNANNOUNCED, LINGER_SECONDS = 64 * 2**20, 8 * 2**20, 2.0
"""Bytes of a body that are discarded after its refusal, those of one without a length, and for how long.

Nothing of a longer body is.
"""


class BodyLimit:
    """ASGI middleware. It replaces the framework's own limit, which answers in plain text."""

    def __init__(self, app: ASGIApp, uploads: Mapping[str, int]) -> None:
        """`uploads`: the value of each setting that limits files."""
        self._app = app
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse its body before or while it is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, allowance = self._limit(scope["path"])
        if _announced(scope) > limit + allowance:
            await refusal(TooLarge(limit))(scope, receive, send)
            return
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            scope[BODY_BYTES] = seen = seen + len(message.get("body", b""))
            if seen > limit + allowance:
                raise BodyTooLargeError(limit)
            return message

        await self._app(scope, limited, send)

    def _limit(self, path: str) -> tuple[int, int]:
        setting = upload_setting(path)
        return (most_bytes(path), 0) if setting is None else (self._uploads[setting], FORM_BYTES)


def has_body(scope: Scope) -> bool:
    """Return whether the request's headers announce a body."""
    return "transfer-encoding" in Headers(scope=scope) or _announced(scope) > 0


def _has_two_lengths(scope: Scope) -> bool:
    return {"transfer-encoding", "content-length"} <= {*Headers(scope=scope).keys()}


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else 0


class CloseUnread:
    """ASGI middleware. It closes a connection whose request is answered before its body has been read.

    The server would otherwise read the rest to find the next request, however long it is. A small rest is read and
    discarded: many clients take an answer only once they have sent everything, and lose it if the connection closes.

    A connection whose request has two lengths is closed as well: a proxy may have seen another end (RFC 9112, 6.1).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        unread, has_two_lengths = has_body(scope), _has_two_lengths(scope)

        async def watched() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and message.get("more_body", False)
            return message

        async def closing(message: Message) -> None:
            if (unread or has_two_lengths) and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            elif unread and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await discard()
                message = {"type": "http.response.body"}
            await send(message)

        async def discard() -> None:
            rest = _announced(scope) or MOST_UNANNOUNCED
            left = rest if rest <= MOST_DISCARDED else 0
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    while unread and left > 0:
                        left -= len((await watched()).get("body", b""))

        await self._app(scope, watched, closing)
