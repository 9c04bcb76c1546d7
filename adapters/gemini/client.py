"""Open the SDK's client for one question: one request, no redirects, and a limited answer size."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus

import httpx2
from google import genai
from google.genai import types

from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.http.errors import TryAgainLaterError, refusal

REQUEST = "Gemini"
MOST_BYTES = 4 << 20
"""Largest answer: ten times the highest token limit ever allowed, as text with the JSON around it."""


@asynccontextmanager
async def open_client(access: GeminiAccess, timeout_seconds: float) -> AsyncIterator[genai.Client]:
    """Yield a client with its own connection, which is closed after the attempt.

    The HTTP client is created here because the SDK's own follows redirects with the key and the document, reads without
    a limit, and switches to aiohttp, with retries of its own, if that is installed.
    """
    async with httpx2.AsyncClient(event_hooks={"response": [_limit]}, verify=_tls()) as http:
        options = types.HttpOptions(
            base_url=access.base_url,
            timeout=int(timeout_seconds * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            headers={"Accept-Encoding": "identity"},
            client_args={"verify": _tls()},
            httpx_async_client=http,
        )
        client = genai.Client(api_key=access.api_key, enterprise=False, http_options=options)
        try:
            yield client
        finally:
            await client.aio.aclose()
            client.close()


@cache
def _tls() -> ssl.SSLContext:
    """Return the shared TLS context: loading the root certificates takes longer than the rest of a call's overhead."""
    return httpx2.create_ssl_context()


async def _limit(response: httpx2.Response) -> None:
    """Limit the size of the body, and read it without decompression. It was requested uncompressed."""
    response.headers.pop("content-encoding", None)
    assert isinstance(response.stream, httpx2.AsyncByteStream), "an AsyncClient's response has one"
    response.stream = _Limited(response.stream, response.status_code)


class _Limited(httpx2.AsyncByteStream):
    """A body that raises the error of its status once it exceeds the limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, status: int) -> None:
        self._stream, self._status = stream, status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, reason = 0, f"with more than {MOST_BYTES} bytes"
        async for chunk in self._stream:
            size += len(chunk)
            if size > MOST_BYTES and self._status < HTTPStatus.BAD_REQUEST:
                raise TryAgainLaterError(REQUEST, self._status, reason)
            if size > MOST_BYTES:
                raise refusal(REQUEST, self._status, reason)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
