"""How the client calls the API: one request, its answer or its problem, and looking again until something has ended."""

import asyncio
import functools
import inspect
import json
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, TypeVar, cast
from urllib.parse import quote

import httpx

from docrail.dag.values.json_values import Json

TIMEOUT_SECONDS = 30.0
"""The API answers in milliseconds, or after at most ten seconds that no worker answered."""
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.1, 2.0
"""Pause between two requests for a run: at first, and when nothing has changed for a while."""
PATIENCE_SECONDS = 60.0
"""How long the API may be unavailable while something is followed: enough to restart any of the servers."""
ENDED = frozenset({"completed", "failed", "aborted", "cancelled"})
"""Statuses of runs that have ended."""

BAD_ADDRESS, BAD_KEY, UNTRUSTED, NOT_THE_API = "bad-address", "bad-key", "untrusted", "not-the-api"
"""Kinds of errors that are not problems of the API."""
UNAUTHENTICATED = "unauthenticated"

HEADERS = {"idempotency_key": "Idempotency-Key"}
"""Parameters of the client's methods that are sent as headers."""

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
File = tuple[str, Any]
"""A file to send: its name, and its bytes or an open file."""


class ApiError(Exception):
    """The API refused. The message is its problem, in words.

    `kind` is the last word of the problem's type, such as `not-found`; `status` the HTTP status, 0 without an answer.
    """

    def __init__(self, message: str, kind: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


class NoAnswerError(ApiError):
    """The API, or a server that it needs, is unavailable: trying again may help."""


class Transport:
    """Sends requests to the API at an address, with a key."""

    def __init__(self, address: str, key: str = "", *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Prepare a connection. Raises: ApiError if that is not an address, or the key is none."""
        url = checked_address(address)
        if not (key.isascii() and key.isprintable()):
            raise ApiError("expected a key like docrail_0123456789abcdef_..., in ASCII characters", BAD_KEY)
        self.http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=timeout_seconds,
            trust_env=False,
            follow_redirects=False,  # the API has none: whatever answers so must not choose where the key goes
            # the system's authorities, and those of SSL_CERT_FILE
            verify=ssl.create_default_context() if url.scheme == "https" else True,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def request(self, method: str, path: str, **request: Any) -> Any:
        """Return the API's answer, {} if it has no content; parameters that are None are not sent.

        Raises: ApiError with its problem, NoAnswerError if trying again may help.
        """
        response = await self._answer(method, path, request)
        return {} if response.status_code == HTTPStatus.NO_CONTENT else body_of(response)

    async def fetch(self, path: str, params: Mapping[str, Any] | None = None) -> bytes:
        """Return a file's bytes. Raises: as `request` does."""
        response = await self._answer("GET", path, {"params": params or {}})
        if not response.is_success:
            body_of(response)
        return response.content

    async def _answer(self, method: str, path: str, request: dict[str, Any]) -> httpx.Response:
        request["params"] = without_none(request.get("params", {}))
        try:
            return await self.http.request(method, path, **request)
        except httpx.TransportError as error:
            address = str(self.http.base_url).rstrip("/")
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise ApiError(f"the certificate of {address} is not trusted: {error}", UNTRUSTED) from error
            raise NoAnswerError(f"no answer from the API at {address} ({error or type(error).__name__})") from error


def sends(verb: str, path: str, *, is_file: bool = False) -> Callable[[Method], Method]:
    """Give a method of AsyncClient its body: it sends its arguments, and returns the answer, or the bytes of a file.

    An argument is sent where `path` has its name, as a header (HEADERS), or as JSON (`body`); others with a `file` as a
    form, without one as the query. The last `_` of a name is Python's.
    """

    def made(method: Method) -> Method:
        signature = inspect.signature(method)

        @functools.wraps(method)
        async def call(client: Any, /, *given: Any, **named: Any) -> Any:
            arguments = signature.bind(client, *given, **named).arguments
            del arguments["self"]
            target = re.sub(r"{(\w+)}", lambda name: path_part(arguments.pop(name[1])), path)
            request = _request_of(without_none(arguments))
            if is_file:
                return await client.transport.fetch(target, request["params"])
            answer = await client.transport.request(verb, target, **request)
            return None if signature.return_annotation is None else answer

        return cast("Method", call)

    return made


def _request_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a request, as httpx takes them."""
    headers = {header: arguments.pop(name) for name, header in HEADERS.items() if name in arguments}
    request = {"headers": headers, "json": arguments.pop("body", None)}
    fields = {name.removesuffix("_"): value for name, value in arguments.items()}
    if "file" not in fields:
        return request | {"params": fields}
    return request | {"files": {"file": fields.pop("file")}, "data": _form(fields)}


def path_part(value: object) -> str:
    """Return a value as one part of a path, also `..`, which would lead to another route."""
    part = quote(str(value), safe="")
    return part.replace(".", "%2E") if part in (".", "..") else part


def _form(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a form as texts: true and false in lowercase, objects as JSON."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}


def checked_address(address: str) -> httpx.URL:
    """Return an address of the API. Raises: ApiError."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ApiError(f"{address!r}: expected an address such as http://127.0.0.1:8000", BAD_ADDRESS)
    return url


def without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def body_of(response: httpx.Response) -> Any:
    """Return the JSON of an answer. Raises: ApiError with its problem."""
    try:
        body = response.json()
    except ValueError:
        body = None
    status = response.status_code
    if not isinstance(body, dict) or not (response.is_success or "title" in body):
        raise ApiError(
            f"{response.url} is not Docrail's API: it answered {status} without a reason", NOT_THE_API, status
        )
    if response.is_success:
        return body
    kind = str(body.get("type", "")).rpartition("/")[2]
    if status == HTTPStatus.UNAUTHORIZED:
        raise ApiError(f"{body['title']}: {body['detail']}", UNAUTHENTICATED, status)
    error = NoAnswerError if status == HTTPStatus.SERVICE_UNAVAILABLE else ApiError
    raise error("\n".join(_lines(response, body)), kind, status)


def _lines(response: httpx.Response, problem: dict[str, Json]) -> list[str]:
    """Return a problem's title and its parts, on one line if it has one part."""
    title, detail, parts = problem["title"], problem.get("detail"), problem.get("problems") or []
    if len(parts) > 1:
        return [f"{title}:", *(f"  {_part(part)}" for part in parts)]
    if parts:
        return [f"{title}: {_part(parts[0])}"]
    # the framework's own "Not Found" has no more in its detail
    what = f"{response.request.method} {response.url}"
    return [f"{title}: {what if detail in (None, '', title) else detail}"]


def _part(part: dict[str, Json]) -> str:
    hint = f" (did you mean '{part['suggestion']}'?)" if part.get("suggestion") else ""
    return f"{part['path']}: {part['message']}{hint}" if part.get("path") else f"{part['message']}{hint}"


async def end_of_run(transport: Transport, path: str) -> Any:
    """Return the report of the run at `path` once it has ended. Raises: as `changes`."""
    last: Any = None
    async for report in changes(lambda: transport.request("GET", path), lambda found: found["status"] in ENDED):
        last = report
    return last


async def changes(
    look: Callable[[], Awaitable[T]],
    has_ended: Callable[[T], bool],
    complain: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[T]:
    """Yield what `look` returns each time it has changed, until it has ended.

    `complain` is called when the API is unavailable for a while. Raises: NoAnswerError if it stays so.
    """
    shown, pause = None, POLL_SECONDS
    while True:
        seen = await insisting(look, complain)
        if seen != shown:
            shown, pause = seen, POLL_SECONDS
            yield seen
        if has_ended(seen):
            return
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LONGEST_POLL_SECONDS)


async def insisting(look: Callable[[], Awaitable[T]], complain: Callable[[str], None]) -> T:
    """Return what `look` returns, asking again while the API is unavailable. Raises: NoAnswerError if it stays so."""
    clock, deadline = asyncio.get_running_loop().time, 0.0
    while True:
        try:
            return await look()
        except NoAnswerError as error:
            if not deadline:
                deadline = clock() + PATIENCE_SECONDS
                complain(f"{error}; trying again for {PATIENCE_SECONDS:g} s")
            elif clock() > deadline:
                raise
        await asyncio.sleep(POLL_SECONDS)
