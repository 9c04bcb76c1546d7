"""`docrail run FILE|ID`: start a run of a file's or a published definition, and follow it to its end."""

import asyncio
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import httpx
import typer

from docrail.cli.client import HERE, IS_IT_RUNNING, Api, ask_api, connect, follow, given
from docrail.cli.definitions import load
from docrail.cli.inputs import Inputs, parse_inputs
from docrail.cli.main import NOUNS
from docrail.cli.printout import print_parts
from docrail.cli.published import DEFINITIONS
from docrail.cli.run_report import progress_lines, report_parts
from docrail.cli.stop import run_or_exit
from docrail.cli.terminal import complain, print_json, say, say_unfolded
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.version_refs import Ref, Target, parse_ref, version_for
from docrail.dag.values.json_values import Json
from docrail.dag.values.suggestions import closest
from docrail.transport import ENDED, ApiError, NoAnswerError, Transport

EXIT_CODES = {"completed": 0, "failed": 1, "aborted": 3, "cancelled": 4}
"""By the run's end. 2 is that of wrong usage."""

_WHAT = "A definition's file, as YAML or JSON; or a published definition: ID, ID@VERSION or ID@ALIAS."
What = Annotated[str, typer.Argument(help=_WHAT, metavar="FILE|ID")]


def start(
    what: What,
    inputs: Inputs = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: repeating it returns the same run, also an ended one.")
    ] = None,
    priority: Annotated[
        int | None,
        typer.Option(min=1, max=5, help="1 goes first, 5 last; by default the definition's.", metavar="N"),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Follow the run to its end; the exit code shows how it ended.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the started run, with --wait its report.")
    ] = False,
    api: Api = HERE,
) -> None:
    """Start a run of a definition.

    A definition is a file, which is published with the run, or one that is published: an ID alone is the version that
    new runs get, ID@VERSION and ID@ALIAS choose another. If there is a file of that name, the file is meant.

    An input that the definition declares a string is taken as it is, any other is read as JSON: 5, true, [1, 2].
    With --wait it shows how far the run is, and what it waits for. Results go to stdout, progress to stderr. Ctrl-C
    stops the waiting, not the run.

    `docrail run FILE` is short for `docrail run start FILE`.

    Exit codes: 0 started, with --wait completed; 1 failed, or could not be started or followed; 2 wrong usage;
    3 aborted; 4 cancelled; 130 stopped by Ctrl-C.

    Example: docrail run start definitions/invoice.yaml -i document_id=doc_1 --wait
    """
    order = {**_order(api, what, inputs or [], key), **given(priority=priority)}
    raise typer.Exit(run_or_exit(lambda: _run(api, order, wait=wait, as_json=as_json)))


def _order(api: str, what: str, inputs: Sequence[str], key: str | None) -> dict[str, Json]:
    """Return the body of `POST /v1/runs` for `what`: a file if there is one, else `ID`, `ID@VERSION` or `ID@ALIAS`.

    Raises: SystemExit with what is wrong with the file or the inputs, ApiError if there is no such definition.
    """
    # A key of our own: if the answer gets lost, the same request again finds the run instead of starting another.
    key = uuid.uuid4().hex if key is None else key
    ref = None if Path(what).is_file() else parse_ref(what)
    if ref is None:
        definition = load(Path(what))
        return {"definition": to_json(definition), "inputs": parse_inputs(definition, inputs), "key": key}
    definition = _published(api, ref, key)
    return {"definition": str(ref), "inputs": parse_inputs(definition, inputs), "key": key}


def _published(api: str, ref: Ref, key: str) -> Definition:
    """Return the definition that the run `key` of `ref` will follow: an id alone may mean the canary."""
    try:
        found = ask_api(api, "GET", f"{DEFINITIONS}/{ref}")
    except ApiError as error:
        if error.kind != "not-found":
            raise
        verb = closest(str(ref), NOUNS["run"][1])
        hint = f"; did you mean `docrail run {verb}`?" if verb else ""
        raise ApiError(f"{error} (nor is there a file {str(ref)!r} here){hint}") from error
    if ref.version is None and ref.alias is None:
        named: dict[str, Json] = ask_api(api, "GET", f"{DEFINITIONS}/{ref}/aliases")["aliases"]
        aliases = {name: Target(target["version"], target["percent"]) for name, target in named.items()}
        version = version_for(ref.definition_id, aliases, key)
        if version != found["version"]:
            found = ask_api(api, "GET", f"{DEFINITIONS}/{Ref(ref.definition_id, version)}")
    return Definition.model_validate(found["body"])


async def _run(api: str, order: dict[str, Json], *, wait: bool, as_json: bool) -> int:
    async with connect(api) as client:
        started = await _start(client, order)
        if wait:
            report = await _end(client, started["run_id"], quiet=as_json)
            print_json(report) if as_json else print_parts(report_parts(report))
            return EXIT_CODES[report["status"]]
    if as_json:
        print_json(started)
    else:
        say(f"started {started['run_id']}" if started["created"] else f"{started['run_id']} was started before")
    return 0


async def _start(client: Transport, order: dict[str, Json]) -> dict[str, Json]:
    again = f"the same command with --key {order['key']}"
    try:
        started: dict[str, Json] = await client.request("POST", "/v1/runs", json=order)
    except NoAnswerError as error:
        hint = IS_IT_RUNNING
        if not isinstance(error.__cause__, httpx.ConnectError):  # it may have got the request
            hint += f"; {again} never starts a second run"
        raise ApiError(f"{error}: {hint}") from error
    except asyncio.CancelledError:
        complain(f"stopped before the API answered: whether the run was started, {again} shows")
        raise
    return started


async def _end(client: Transport, run_id: str, *, quiet: bool) -> dict[str, Json]:
    """Return the run's last report, and print its progress until then."""
    key = run_id.partition(".")[2]
    goes_on = (
        f"the run {run_id} goes on; the same command with --key {key} follows it again, "
        f"`docrail run abort {run_id} --reason TEXT` ends it"
    )
    report: dict[str, Json] = {}
    printed: list[str] = []
    try:
        async for report, waits in follow(client, run_id, complain, with_waits=not quiet):
            lines = [] if quiet or report["status"] in ENDED else list(progress_lines(report, waits))
            if lines and lines != printed:
                say_unfolded("\n".join(lines), sys.stderr)
                printed = lines
    except ApiError as error:
        raise ApiError(f"{error}: {goes_on}") from error
    except asyncio.CancelledError:
        complain(f"stopped waiting: {goes_on}")
        raise
    return report
