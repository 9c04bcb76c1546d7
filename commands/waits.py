"""`docrail waits`: what a run waits for, itself and in the runs inside it, and where each is answered."""

import datetime as dt
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.speaking import complain, console, say, table
from dag.values import Json

_FOR = {"timer": "time", "human": "a person", "webhook": "its callback", "signal": "an answer"}


def waits(
    run: Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")],
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Tell what a run waits for.

    Itself and in the runs inside it, at any depth: for people, answers, callbacks and times.

    `docrail answer RUN STEP` answers, with the run and the step that are shown. A moment may pass before a run inside
    another is seen. Needs a worker, for only the runs themselves know.

    Exit codes: 0 told, 1 the API refused or is away, 2 wrong usage, 130 stopped by Ctrl-C.

    Example: docrail waits payout.monday
    """
    found, others = _load(api, run)
    if as_json:
        print_json(found)
    elif found:
        console().print(_table(found))
    elif not others["paused"]:
        print(f"{run} waits for nothing")
    for paused in others["paused"]:
        told = f"{paused} is paused: it takes answers, but nothing begins in it before `docrail resume {paused}`"
        complain(told) if as_json else say(told)
    for inner in others["unanswered"]:
        complain(f"{inner} did not tell what it waits for")


def _load(api: str, run: str) -> tuple[list[dict[str, Json]], dict[str, list[str]]]:
    """Return all that is waited for, and which runs are paused, or did not tell, as long as there is a page behind."""
    found: list[dict[str, Json]] = []
    others: dict[str, list[str]] = {"paused": [], "unanswered": []}
    after: Json = None
    while True:
        wanted = {} if after is None else {"after": after}
        page = ask_api(api, "GET", f"/v1/runs/{quote(run, safe='')}/waits", params=wanted)
        found += page["waits"]
        for name in others:
            others[name] += page[name]
        after = page["after"]
        if after is None:
            return found, others


def _table(found: list[dict[str, Json]]) -> Table:
    shown = table()
    for heading in ("run", "step", "item", "waits for", "until", "question or title"):
        shown.add_column(heading, overflow="fold")
    for each in found:
        waiting = each["waiting"] or {}
        until = _moment(waiting["until"]) if waiting.get("until") is not None else ""
        about = waiting.get("asks") or each["title"]
        shown.add_row(each["run_id"], each["step_id"], each["item"] or "", _for(waiting), until, about)
    return shown


def _for(waiting: dict[str, Json]) -> str:
    if not waiting:
        return "a word on its failure"
    queue = f" in queue {waiting['queue']}" if waiting["queue"] else ""
    return f"{_FOR[waiting['waits_for']]}{queue}"


def _moment(at: float) -> str:
    return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
