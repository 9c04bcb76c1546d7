"""How commands call the HTTP API, follow a run, and report what went wrong."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

import httpx
import typer

from docrail.cli.credentials import KEY_VARIABLE, key_for
from docrail.cli.stop import run_or_exit
from docrail.dag.values.json_values import Json

Api = Annotated[str, typer.Option(help="Address of the API.", envvar="DOCRAIL_API_URL", metavar="URL")]
HERE = "http://127.0.0.1:8000"

TIMEOUT_SECONDS = 30.0
"""The API answers in milliseconds, or after at most ten seconds that no worker answered."""
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.1, 2.0
"""Pause between two requests for a run: at first, and when nothing has changed for a while."""
PATIENCE_SECONDS = 60.0
"""How long the API may be unavailable while a run is followed: enough to restart any of the servers."""
ENDED = frozenset({"completed", "failed", "aborted", "cancelled"})

GIVE_A_KEY = f"give a key with --api-key or {KEY_VARIABLE}"
TRUST_IT = "name the file of its authority in SSL_CERT_FILE"
IS_IT_RUNNING = "is it running? `docrail up` starts it, --api sets its address"


class ApiError(Exception):
    """The API refused; the message is its problem, in words, and `kind` the last word of the problem's type."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class NoAnswerError(ApiError):
    """The API, or a server that it needs, is unavailable: trying again may help."""


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client of the API at `address`. Raises: ApiError if that is no address, or the key is none.

    Its requests carry the key that `key_for` finds. A NoAnswerError that leaves the block says what to do.
    """
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ApiError(f"--api {address!r}: expected an address such as http://127.0.0.1:8000")
    key = key_for(url)
    if not (key.isascii() and key.isprintable()):
        raise ApiError(f"{KEY_VARIABLE}: expected a key like docrail_0123456789abcdef_..., in ASCII characters")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # the system's authorities, and those of SSL_CERT_FILE
    verify = ssl.create_default_context() if url.scheme == "https" else True
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False, verify=verify
    ) as client:
        try:
            yield client
        except NoAnswerError as error:
            raise NoAnswerError(f"{error}: {IS_IT_RUNNING}") from error.__cause__


def ask_api(api: str, method: str, path: str, **request: Json) -> Json:
    """Return the API's answer. Raises: ApiError with its problem, typer.Exit after a signal."""

    async def once() -> Json:
        async with connect(api) as client:
            return await ask(client, method, path, **request)

    return run_or_exit(once)


def ask_all(api: str, path: str, field: str, **wanted: Json) -> list[dict[str, Json]]:
    """Return `field` of all pages of a list. Raises as `ask_api` does."""
    return [each for page in ask_pages(api, path, **wanted) for each in page[field]]


def ask_pages(api: str, path: str, **wanted: Json) -> Iterator[dict[str, Json]]:
    """Yield the pages of a list. Raises as `ask_api` does."""
    after: Json = None
    while True:
        page = ask_api(api, "GET", path, params={**wanted, "after": after})
        yield page
        after = page["after"]
        if after is None:
            return


def given(**fields: Json) -> dict[str, Json]:
    """Return the fields that are not None: the options that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def run_path(run_id: str, *more: str) -> str:
    """Return the path of a run, or of a part of it."""
    return "/".join(("/v1/runs", *(quote(part, safe="") for part in (run_id, *more))))


async def ask(client: httpx.AsyncClient, method: str, path: str, **request: Json) -> Json:
    """Return the API's answer; parameters that are None are not sent.

    Raises: ApiError with its problem, NoAnswerError if trying again may help.
    """
    response = await _answer(client, method, path, **request)
    return {} if response.status_code == HTTPStatus.NO_CONTENT else _body_of(response)


async def fetch(client: httpx.AsyncClient, path: str) -> bytes:
    """Return a file's bytes. Raises: as `ask` does."""
    response = await _answer(client, "GET", path)
    if not response.is_success:
        _body_of(response)
    return response.content


async def _answer(client: httpx.AsyncClient, method: str, path: str, **request: Json) -> httpx.Response:
    request["params"] = given(**request.get("params", {}))
    try:
        return await client.request(method, path, **request)
    except httpx.TransportError as error:
        address = str(client.base_url).rstrip("/")
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise ApiError(f"the certificate of {address} is not trusted: {error}; {TRUST_IT}") from error
        raise NoAnswerError(f"no answer from the API at {address} ({error or type(error).__name__})") from error


def _body_of(response: httpx.Response) -> Json:
    """Return the JSON of an answer. Raises: ApiError with its problem."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or (response.is_error and "title" not in body):
        raise ApiError(
            f"{response.url} is not Docrail's API: it answered {response.status_code} without a reason; "
            f"--api sets the API's address"
        )
    if response.is_success:
        return body
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        raise ApiError(f"{body['title']}: {body['detail']}; {GIVE_A_KEY}", "unauthenticated")
    unavailable = response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    kind = str(body.get("type", "")).rpartition("/")[2]
    raise (NoAnswerError if unavailable else ApiError)("\n".join(_lines(response, body)), kind)


async def follow(
    client: httpx.AsyncClient, run_id: str, complain: Callable[[str], None], *, with_waits: bool = False
) -> AsyncIterator[tuple[dict[str, Json], list[dict[str, Json]]]]:
    """Yield the run's report, and if wanted what it waits for, each time one changed; the last is that of its end.

    `complain` is called when the API is unavailable for a while. Raises: ApiError if it stays so.
    """
    shown, pause = None, POLL_SECONDS
    while True:
        report = await _insist(client, run_path(run_id), complain)
        seen = (report, await _open_waits(client, report) if with_waits else [])
        if seen != shown:
            shown, pause = seen, POLL_SECONDS
            yield seen
        if report["status"] in ENDED:
            return
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LONGEST_POLL_SECONDS)


async def _open_waits(client: httpx.AsyncClient, report: dict[str, Json]) -> list[dict[str, Json]]:
    """Return the first page of what the run waits for, people's waits with their review `item`."""
    may_wait = [step for step in report["steps"].values() if step["status"] in ("waiting", "parked")]
    may_wait += [step for step in report["steps"].values() if (step["kind"], step["status"]) == ("workflow", "running")]
    if not may_wait or report["status"] in ENDED:
        return []
    try:
        waits: list[dict[str, Json]] = (await ask(client, "GET", run_path(report["run_id"], "waits")))["waits"]
        queues = {each["waiting"]["queue"] for each in waits if each["waiting"]} - {None}
        lists = [
            await ask(client, "GET", "/v1/reviews", params={"queue": queue, "limit": 500}) for queue in sorted(queues)
        ]
    except ApiError:  # no worker answers, or the run has just ended: its report says more
        return []
    items = {(item["run_id"], item["step_id"]): item for page in lists for item in page["reviews"]}
    return [{**each, "review": items.get((each["run_id"], each["step_id"]))} for each in waits]


async def _insist(client: httpx.AsyncClient, path: str, complain: Callable[[str], None]) -> dict[str, Json]:
    clock, deadline = asyncio.get_running_loop().time, 0.0
    while True:
        try:
            answer: dict[str, Json] = await ask(client, "GET", path)
        except NoAnswerError as error:
            if not deadline:
                deadline = clock() + PATIENCE_SECONDS
                complain(f"{error}; trying again for {PATIENCE_SECONDS:g} s")
            elif clock() > deadline:
                raise
        else:
            return answer
        await asyncio.sleep(POLL_SECONDS)


def _lines(response: httpx.Response, problem: dict[str, Json]) -> Iterator[str]:
    """Yield a problem's title and its parts, on one line if it has one part."""
    title, detail, parts = problem["title"], problem.get("detail"), problem.get("problems") or []
    if len(parts) > 1:
        yield f"{title}:"
        yield from (f"  {_part(part)}" for part in parts)
    elif parts:
        yield f"{title}: {_part(parts[0])}"
    else:  # the framework's own "Not Found" has no more in its detail
        what = f"{response.request.method} {response.url}"
        yield f"{title}: {what if detail in (None, '', title) else detail}"


def _part(part: dict[str, Json]) -> str:
    hint = f" (did you mean '{part['suggestion']}'?)" if part.get("suggestion") else ""
    return f"{part['path']}: {part['message']}{hint}" if part.get("path") else f"{part['message']}{hint}"
