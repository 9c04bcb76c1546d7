"""`docrail run`: start a definition's file as a run through the API, and follow it to its end."""

import asyncio
import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from commands.client import ENDED, answer, connect, follow
from commands.definitions import File, load
from dag.definition import Definition
from dag.values import Json

EXIT_CODES = {"completed": 0, "failed": 1, "aborted": 3, "cancelled": 4}
"""By the run's end. 2 is what the shell's own usage errors have."""


def run(
    file: File,
    given: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", help="An input, as NAME=VALUE; may be repeated.", metavar="NAME=VALUE"),
    ] = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key is the same run.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Follow the run to its end; the exit code tells how it ended.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the started run, with --wait its report.")
    ] = False,
    api: Annotated[str, typer.Option(help="Address of the API.", envvar="DOCRAIL_API_URL")] = "http://127.0.0.1:8000",
) -> None:
    """Start a run of the definition in FILE and, with --wait, follow it.

    Text inputs are taken as they are, others as JSON. Exit codes with --wait: 0 completed, 1 failed, 3 aborted,
    4 cancelled.

    Example: docrail run definitions/invoice.yaml --input document_id=doc_1 --wait
    """
    definition = load(file)
    order = {
        "definition": definition.model_dump(mode="json"),
        "inputs": parse_inputs(definition, given or []),
        "key": key,
    }
    raise typer.Exit(asyncio.run(_run(api, order, wait=wait, as_json=as_json)))


def parse_inputs(definition: Definition, given: list[str]) -> dict[str, Json]:
    """Return NAME=VALUE arguments as inputs: what the definition calls a string as it is, anything else as JSON."""
    inputs: dict[str, Json] = {}
    for argument in given:
        name, separator, text = argument.partition("=")
        if not separator or not name:
            raise SystemExit(f"--input {argument!r}: expected NAME=VALUE")
        kind = definition.inputs[name].type if name in definition.inputs else "string"
        try:
            inputs[name] = text if kind == "string" else json.loads(text)
        except ValueError:
            raise SystemExit(f"--input {name}: expected JSON ({kind}), found {text!r}") from None
    return inputs


async def _run(api: str, order: dict[str, Json], *, wait: bool, as_json: bool) -> int:
    async with connect(api) as client:
        started = answer(await client.post("/v1/runs", json=order))
        if not wait:
            print(json.dumps(started, indent=2) if as_json else f"started {started['run_id']}")
            return 0
        report: dict[str, Json] = {}
        async for report in follow(client, started["run_id"]):
            if not as_json and report["status"] not in ENDED:
                print(_progress(report), file=sys.stderr, flush=True)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        Console().print(_table(report))
    return EXIT_CODES[report["status"]]


def _progress(report: dict[str, Json]) -> str:
    running = [name for name, step in report["steps"].items() if step["status"] == "running"]
    settled = report["completed"] + report["failed"] + report["skipped"] + report["cancelled"]
    head = f"{report['run_id']} {report['status']}: {settled} of {len(report['steps'])} settled"
    return f"{head}, running: {', '.join(running) or '-'}"


def _table(report: dict[str, Json]) -> Table:
    title = f"{report['run_id']}: {report['status']}" + (f" ({report['reason']})" if report["reason"] else "")
    table = Table(title=title, title_justify="left")
    for heading in ("step", "status", "why", "attempts", "seconds"):
        table.add_column(heading)
    for name, step in report["steps"].items():
        why = (step["error"] or {}).get("message") or step["reason"] or ""
        seconds = "" if step["duration_seconds"] is None else f"{step['duration_seconds']:.2f}"
        table.add_row(name, step["status"], why, str(step["attempts"] or ""), seconds)
    return table
