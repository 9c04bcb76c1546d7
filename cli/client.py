"""How commands call the HTTP API, with the public client's transport, and follow a run."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Annotated
from urllib.parse import quote

import typer

from docrail.cli.credentials import KEY_VARIABLE, key_for
from docrail.cli.stop import run_or_exit
from docrail.dag.values.json_values import Json
from docrail.transport import (
    BAD_ADDRESS,
    BAD_KEY,
    ENDED,
    NOT_THE_API,
    UNAUTHENTICATED,
    UNTRUSTED,
    ApiError,
    NoAnswerError,
    Transport,
    changes,
    checked_address,
)

Api = Annotated[str, typer.Option(help="Address of the API.", envvar="DOCRAIL_API_URL", metavar="URL")]
HERE = "http://127.0.0.1:8000"

IS_IT_RUNNING = "is it running? `docrail up` starts it, --api sets its address"
HINTS = {
    UNAUTHENTICATED: f"; give a key with --api-key or {KEY_VARIABLE}",
    UNTRUSTED: "; name the file of its authority in SSL_CERT_FILE",
    NOT_THE_API: "; --api sets the API's address",
}
"""What to do in a command, by the kind of error."""
PREFIXES = {BAD_ADDRESS: "--api ", BAD_KEY: f"{KEY_VARIABLE}: "}


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[Transport]:
    """Return a connection to the API at `address`. Raises: ApiError if that is not an address, or the key is none.

    Its requests carry the key that `key_for` finds. Errors that leave the block say what to do.
    """
    try:
        async with Transport(address, key_for(checked_address(address))) as client:
            yield client
    except NoAnswerError as error:
        raise NoAnswerError(f"{error}: {IS_IT_RUNNING}") from error.__cause__
    except ApiError as error:
        if error.kind not in HINTS | PREFIXES:
            raise
        text = f"{PREFIXES.get(error.kind, '')}{error}{HINTS.get(error.kind, '')}"
        raise ApiError(text, error.kind, error.status) from error.__cause__


def ask_api(api: str, method: str, path: str, **request: Json) -> Json:
    """Return the API's answer. Raises: ApiError with its problem, typer.Exit after a signal."""

    async def once() -> Json:
        async with connect(api) as client:
            return await client.request(method, path, **request)

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


async def follow(
    client: Transport, run_id: str, complain: Callable[[str], None], *, with_waits: bool = False
) -> AsyncIterator[tuple[dict[str, Json], list[dict[str, Json]]]]:
    """Yield the run's report, and if wanted what it waits for, each time one changed; the last is that of its end.

    `complain` is called when the API is unavailable for a while. Raises: ApiError if it stays so.
    """

    async def look() -> tuple[dict[str, Json], list[dict[str, Json]]]:
        report = await client.request("GET", run_path(run_id))
        return report, await _open_waits(client, report) if with_waits else []

    async for seen in changes(look, lambda found: found[0]["status"] in ENDED, complain):
        yield seen


async def _open_waits(client: Transport, report: dict[str, Json]) -> list[dict[str, Json]]:
    """Return the first page of what the run waits for, people's waits with their review `item`."""
    may_wait = [step for step in report["steps"].values() if step["status"] in ("waiting", "parked")]
    may_wait += [step for step in report["steps"].values() if (step["kind"], step["status"]) == ("workflow", "running")]
    if not may_wait or report["status"] in ENDED:
        return []
    try:
        waits: list[dict[str, Json]] = (await client.request("GET", run_path(report["run_id"], "waits")))["waits"]
        queues = {each["waiting"]["queue"] for each in waits if each["waiting"]} - {None}
        lists = [
            await client.request("GET", "/v1/reviews", params={"queue": queue, "limit": 500})
            for queue in sorted(queues)
        ]
    except ApiError:  # no worker answers, or the run has just ended: its report says more
        return []
    items = {(item["run_id"], item["step_id"]): item for page in lists for item in page["reviews"]}
    return [{**each, "review": items.get((each["run_id"], each["step_id"]))} for each in waits]
