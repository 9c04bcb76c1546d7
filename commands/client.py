"""How commands speak to the HTTP API: what goes wrong becomes words a person understands."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import httpx

from dag.values import Json

TIMEOUT_SECONDS = 30.0
"""The API answers in milliseconds, or after at most ten seconds that no worker answered."""
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.1, 2.0
"""How long a run is left alone before it is asked for again: first, and when nothing has changed for a while."""
PATIENCE_SECONDS = 60.0
"""How long a followed run may go unheard of: time enough to start any of the servers again."""
NAME_VARIABLE, NAME_HEADER = "DOCRAIL_AS", "X-Docrail-As"
"""Who the caller says to be, to an API that trusts names: one person at one machine can play several."""
ENDED = frozenset({"completed", "failed", "aborted", "cancelled"})

IS_IT_RUNNING = "is it running? `docrail up` starts it, --api says where it is"


class ApiError(Exception):
    """The API refused; the message is its problem, in words."""


class NoAnswerError(ApiError):
    """The API, or what it needs, is away: asking again may help."""


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of the API at `address`. Raises ApiError if that is no address, or DOCRAIL_AS no name.

    Its requests are made in the name of DOCRAIL_AS, if that is set. A NoAnswerError that leaves the block says what to
    do about it.
    """
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ApiError(f"--api {address!r}: expected an address such as http://127.0.0.1:8000")
    name = " ".join(os.environ.get(NAME_VARIABLE, "").split())
    if not (name.isascii() and name.isprintable()):
        raise ApiError(
            f"{NAME_VARIABLE}={name!r}: expected a name of letters without accents, digits, spaces and . _ @ -"
        )
    headers = {NAME_HEADER: name} if name else {}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        try:
            yield client
        except NoAnswerError as error:
            raise NoAnswerError(f"{error}: {IS_IT_RUNNING}") from error.__cause__


async def ask(client: httpx.AsyncClient, method: str, path: str, **request: Json) -> Json:
    """Return the API's answer. Raises ApiError with its problem, NoAnswerError if asking again may help."""
    try:
        response = await client.request(method, path, **request)
    except httpx.TransportError as error:
        address = str(client.base_url).rstrip("/")
        raise NoAnswerError(f"no answer from the API at {address} ({error or type(error).__name__})") from error
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or (response.is_error and "title" not in body):
        raise ApiError(
            f"{response.url} is not Docrail's API: it answered {response.status_code} without a reason; "
            f"--api says where the API is"
        )
    if response.is_success:
        return body
    away = response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    raise (NoAnswerError if away else ApiError)("\n".join(_lines(response, body)))


async def follow(
    client: httpx.AsyncClient, run_id: str, complain: Callable[[str], None]
) -> AsyncIterator[dict[str, Json]]:
    """Yield the run's report each time it changed, the last one being that of its end.

    `complain` hears of an API that is away for a while. Raises ApiError when it stays away.
    """
    shown, pause = None, POLL_SECONDS
    while True:
        report = await _insist(client, f"/v1/runs/{run_id}", complain)
        if report != shown:
            shown, pause = report, POLL_SECONDS
            yield report
        if report["status"] in ENDED:
            return
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LONGEST_POLL_SECONDS)


async def _insist(client: httpx.AsyncClient, path: str, complain: Callable[[str], None]) -> dict[str, Json]:
    clock, deadline = asyncio.get_running_loop().time, 0.0
    while True:
        try:
            answer: dict[str, Json] = await ask(client, "GET", path)
        except NoAnswerError as error:
            if not deadline:
                deadline = clock() + PATIENCE_SECONDS
                complain(f"{error}; asking again for {PATIENCE_SECONDS:g} s")
            elif clock() > deadline:
                raise
        else:
            return answer
        await asyncio.sleep(POLL_SECONDS)


def _lines(response: httpx.Response, problem: dict[str, Json]) -> Iterator[str]:
    """Yield a problem's title and, on one line if it is one thing, what is wrong."""
    title, detail, parts = problem["title"], problem.get("detail"), problem.get("problems") or []
    if len(parts) > 1:
        yield f"{title}:"
        yield from (f"  {_part(part)}" for part in parts)
    elif parts:
        yield f"{title}: {_part(parts[0])}"
    else:  # the framework's own "Not Found" says nothing more in its detail
        what = f"{response.request.method} {response.url}"
        yield f"{title}: {what if detail in (None, '', title) else detail}"


def _part(part: dict[str, Json]) -> str:
    hint = f" (did you mean '{part['suggestion']}'?)" if part.get("suggestion") else ""
    return f"{part['path']}: {part['message']}{hint}" if part.get("path") else f"{part['message']}{hint}"
