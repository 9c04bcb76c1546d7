"""`docrail explain`: tell why a run, or one step of it, is as it is, in words."""

import datetime as dt
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from dag.values import Json

PAGE = 5_000
"""Steps asked for at once: the most that the API gives."""


def explain(
    run: Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")],
    step: Annotated[str | None, typer.Argument(help="One step of it.", metavar="[STEP]")] = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Tell why a run is as it is.

    Of each step: what decided, on which values, and what it waits for.

    Also after the run's end. Needs a worker, for only the run itself knows.

    Exit codes: 0 told, 1 the API refused or is away, 2 wrong usage, 130 stopped by Ctrl-C.

    Example: docrail explain invoice.order-4711 create_review
    """
    explanation = _load(api, run, step)
    if as_json:
        print_json(explanation)
        return
    print(f"{explanation['run_id']}: {explanation['status']}")
    if step is None:
        print("\n".join(f"  {line}" for line in explanation["words"]))
    for name, told in explanation["steps"].items():
        print("\n".join(["", f"{name}: {told['status']}", *(f"  {line}" for line in _lines(told))]))


def _load(api: str, run: str, step: str | None) -> dict[str, Json]:
    """Return the explanation of one step, or of all: as long as there is a page behind, that too."""
    path = f"/v1/runs/{quote(run, safe='')}/explain"
    wanted: dict[str, Json] = {"limit": PAGE} if step is None else {"step": step}
    explanation: dict[str, Json] = ask_api(api, "GET", path, params=wanted)
    while explanation["after"] is not None:
        page = ask_api(api, "GET", path, params=wanted | {"after": explanation["after"]})
        explanation["steps"] |= page["steps"]
        explanation["after"] = page["after"]
    return explanation


def _lines(step: dict[str, Json]) -> Iterator[str]:
    yield from step["words"]
    waiting, attempts = step["waiting"] or {}, step["attempts"] or {}
    if waiting.get("until") is not None:
        yield f"its time is up at {_time(waiting['until'])}"
    if attempts.get("next_at") is not None:
        yield f"the next attempt begins at {_time(attempts['next_at'])}"


def _time(at: float) -> str:
    return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
