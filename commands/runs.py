"""`docrail run`: start a run of a file's or a published definition through the API, and follow it to its end."""

import asyncio
import json
from collections.abc import Iterator
from typing import Annotated

import httpx
import typer
from rich.table import Table

from commands.client import ENDED, IS_IT_RUNNING, ApiError, NoAnswerError, ask, connect, follow
from commands.orders import order_of
from commands.speaking import complain, console, table
from commands.stopping import INTERRUPTED, run_until_stopped
from dag.state import shown_status
from dag.values import Json

EXIT_CODES = {"completed": 0, "failed": 1, "aborted": 3, "cancelled": 4}
"""By the run's end. 2 is what wrong usage has."""

_WHAT = "A definition's file, as YAML or JSON; or a published definition: ID, ID@VERSION or ID@ALIAS."
What = Annotated[str, typer.Argument(help=_WHAT, metavar="FILE|ID")]


def run(
    what: What,
    given: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", help="An input, as NAME=VALUE; may be repeated.", metavar="NAME=VALUE"),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same key is the same run, also after it ended.")
    ] = None,
    priority: Annotated[
        int | None,
        typer.Option(min=1, max=5, help="1 goes first, 5 last; by default what the definition says.", metavar="N"),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Follow the run to its end; the exit code tells how it ended.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the started run, with --wait its report.")
    ] = False,
    api: Annotated[str, typer.Option(help="Address of the API.", envvar="DOCRAIL_API_URL")] = "http://127.0.0.1:8000",
) -> None:
    """Start a run of a definition and follow it to its end.

    A definition is a file, which is published with the run, or one that is published: an ID alone is the version that
    new runs get, ID@VERSION and ID@ALIAS choose another. If there is a file of that name, the file is meant.

    An input that the definition declares a string is taken as it is, any other is read as JSON: 5, true, [1, 2].
    Results go to stdout, progress to stderr. Ctrl-C stops the waiting, not the run.

    Exit codes: 0 started, with --wait completed; 1 failed, or could not be started or followed; 2 wrong usage;
    3 aborted; 4 cancelled; 130 stopped by Ctrl-C.

    Example: docrail run definitions/invoice.yaml -i document_id=doc_1 --wait
    """
    order = order_of(api, what, given or [], key) | ({} if priority is None else {"priority": priority})
    code = run_until_stopped(lambda: _run(api, order, wait=wait, as_json=as_json))
    raise typer.Exit(INTERRUPTED if code is None else code)


async def _run(api: str, order: dict[str, Json], *, wait: bool, as_json: bool) -> int:
    async with connect(api) as client:
        started = await _start(client, order)
        if wait:
            report = await _end(client, started["run_id"], quiet=as_json)
            _show(report, as_json=as_json)
            return EXIT_CODES[report["status"]]
    if as_json:
        print(json.dumps(started, indent=2))
    else:
        print(f"started {started['run_id']}" if started["created"] else f"{started['run_id']} was started before")
    return 0


async def _start(client: httpx.AsyncClient, order: dict[str, Json]) -> dict[str, Json]:
    again = f"the same command with --key {order['key']}"
    try:
        started: dict[str, Json] = await ask(client, "POST", "/v1/runs", json=order)
    except NoAnswerError as error:
        hint = IS_IT_RUNNING
        if not isinstance(error.__cause__, httpx.ConnectError):  # it may have heard us
            hint += f"; {again} never starts a second run"
        raise ApiError(f"{error}: {hint}") from error
    except asyncio.CancelledError:
        complain(f"stopped before the API answered: whether the run was started, {again} tells")
        raise
    return started


async def _end(client: httpx.AsyncClient, run_id: str, *, quiet: bool) -> dict[str, Json]:
    """Return the run's last report, telling its progress meanwhile."""
    key = run_id.partition(".")[2]
    goes_on = (
        f"the run {run_id} goes on; the same command with --key {key} follows it again, "
        f"`docrail abort {run_id} --reason TEXT` ends it"
    )
    report: dict[str, Json] = {}
    try:
        async for report in follow(client, run_id, complain):
            if not quiet and report["status"] not in ENDED:
                typer.echo(_progress(report), err=True)
    except ApiError as error:
        raise ApiError(f"{error}: {goes_on}") from error
    except asyncio.CancelledError:
        complain(f"stopped waiting: {goes_on}")
        raise
    return report


def _progress(report: dict[str, Json]) -> str:
    running = [name for name, step in report["steps"].items() if step["status"] == "running"]
    settled = report["completed"] + report["failed"] + report["skipped"] + report["cancelled"]
    head = f"{report['run_id']} {report['status']}: {settled} of {len(report['steps'])} settled"
    return f"{head}, running: {', '.join(running) or '-'}"


def _show(report: dict[str, Json], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report, indent=2))
        return
    why = f": {report['reason']}" if report["reason"] else ""
    print(f"{report['run_id']} {report['status']}{why}\n", flush=True)
    console().print(_table(report))
    print("\n".join(["", *_not_undone(report), *_outcome(report)]))


def _not_undone(report: dict[str, Json]) -> Iterator[str]:
    """Say which steps were to be undone and could not be, why, and how that is tried again."""
    stuck = {name: step for name, step in report["steps"].items() if step["compensation"] in ("failed", "cancelled")}
    for name, step in stuck.items():
        error = step["compensation_error"]
        why = f": {error['type']}: {error['message']}" if error else f": undoing it was {step['compensation']}"
        yield f"could not be undone: {name}{why}"
    if stuck and report["status"] in ("failed", "aborted"):  # a cancelled run can only be undone by hand
        yield f"what they did stands; once the cause is mended: docrail retry {report['run_id']} --undo"


def _outcome(report: dict[str, Json]) -> Iterator[str]:
    for name, value in report["outputs"].items():
        yield f"output {name} = {json.dumps(value, ensure_ascii=False)}"
    yield f"history {report['history_url']}"


def _table(report: dict[str, Json]) -> Table:
    shown = table()
    for heading in ("step", "status", "why"):
        shown.add_column(heading, overflow="fold")
    for heading in ("attempts", "seconds"):
        shown.add_column(heading, justify="right")
    for name, step in report["steps"].items():
        why = (step["error"] or {}).get("message") or step["reason"] or ("cached" if step["cached"] else "")
        seconds = "" if step["duration_seconds"] is None else f"{step['duration_seconds']:.2f}"
        shown.add_row(
            name, shown_status(step["status"], step["compensation"]), why, str(step["attempts"] or ""), seconds
        )
    return shown
