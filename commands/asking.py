"""What commands that ask the API once have in common: its address, JSON on request, Ctrl-C."""

import json
from typing import Annotated

import typer

from commands.client import ask, connect
from commands.stopping import INTERRUPTED, run_until_stopped
from dag.values import Json

Api = Annotated[str, typer.Option(help="Address of the API.", envvar="DOCRAIL_API_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
HERE = "http://127.0.0.1:8000"


def ask_api(api: str, method: str, path: str, **request: Json) -> Json:
    """Return the API's answer. Raises ApiError with its problem, typer.Exit if a signal stopped the asking."""

    async def once() -> Json:
        async with connect(api) as client:
            return await ask(client, method, path, **request)

    answer = run_until_stopped(once)
    if answer is None:
        raise typer.Exit(INTERRUPTED)
    return answer


def ask_all(api: str, path: str, field: str, **wanted: str) -> list[dict[str, Json]]:
    """Return what all pages of a list, of what is `wanted`, hold in `field`. Raises as `ask_api` does."""

    async def pages() -> list[dict[str, Json]]:
        found: list[dict[str, Json]] = []
        after: Json = None
        async with connect(api) as client:
            while True:
                page = await ask(client, "GET", path, params=wanted if after is None else {**wanted, "after": after})
                found += page[field]
                after = page["after"]
                if after is None:
                    return found

    answer = run_until_stopped(pages)
    if answer is None:
        raise typer.Exit(INTERRUPTED)
    return answer


def print_json(value: Json) -> None:
    """Print JSON for programs and people."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
