"""`docrail runs`: which runs there are, newest first, and which of them did not end within their deadline."""

import datetime as dt
from typing import Annotated

import typer
from rich.table import Table

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.speaking import console, table
from commands.unmatched import tell_unmatched
from dag.values import Json


def runs(
    overdue: Annotated[
        bool,
        typer.Option("--overdue", help="Only runs whose deadline has passed; without --status, those that go on."),
    ] = False,
    definition: Annotated[str | None, typer.Option(help="Only runs of this definition.", metavar="ID")] = None,
    document: Annotated[str | None, typer.Option(help="Only runs of this document.", metavar="ID")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="running, waiting, paused, completed, failed, aborted or cancelled.", metavar="STATUS"),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Most lines.", metavar="N")] = 100,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """List runs, those that were started last first.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail runs --overdue
    """
    asked: dict[str, Json] = {"definition": definition, "document": document, "status": status, "limit": limit}
    wanted = {name: value for name, value in asked.items() if value is not None}
    page = ask_api(api, "GET", "/v1/runs", params={**wanted, **({"overdue": True} if overdue else {})})
    tell_unmatched(page, "run")
    if as_json:
        print_json(page["runs"])
        return
    console().print(_table(page["runs"]))
    if page["after"] is not None:
        print("… and older ones")


def _table(found: list[dict[str, Json]]) -> Table:
    shown = table()
    for heading in ("started", "run", "version", "status", "ended", "overdue"):
        shown.add_column(heading, overflow="fold")
    for run in found:
        ended = "" if run["ended_at"] is None else _moment(run["ended_at"])
        late = "yes" if run["overdue"] else ""
        shown.add_row(_moment(run["started_at"]), run["run_id"], str(run["version"]), run["status"], ended, late)
    return shown


def _moment(text: str) -> str:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
