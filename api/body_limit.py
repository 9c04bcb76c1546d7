"""Reject request bodies that are too large, with or without Content-Length, without reading beyond the limit."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docrail.api.body_sizes import UPLOAD_PATH, most_bytes
from docrail.api.errors import BodyTooLargeError, refusal
from docrail.services.errors import TooLarge

FORM_BYTES = 64 * 2**10
"""Overhead of a multipart form around the file: boundaries, headers, the other fields."""


class BodyLimit:
    """ASGI middleware. It replaces the framework's own limit, which answers in plain text."""

    def __init__(self, app: ASGIApp, max_upload_bytes: int) -> None:
        self._app = app
        self._max_upload_bytes = max_upload_bytes

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
            seen += len(message.get("body", b""))
            if seen > limit + allowance:
                raise BodyTooLargeError(limit)
            return message

        await self._app(scope, limited, send)

    def _limit(self, path: str) -> tuple[int, int]:
        if path == UPLOAD_PATH:
            return self._max_upload_bytes, FORM_BYTES
        return most_bytes(path), 0


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else 0
