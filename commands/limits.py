"""`docrail limits`: show how often limited resources may be used, change that while work runs, give it back."""

import json
from typing import Annotated

import typer
from rich.table import Table

from commands.client import ask, connect
from commands.speaking import console, table
from commands.stopping import run_until_stopped
from dag.rates import parse_rate, rate_text
from dag.values import Json

Api = Annotated[str, typer.Option(help="Address of the API.", envvar="DOCRAIL_API_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tag = Annotated[str, typer.Argument(help="A resource tag.", metavar="TAG")]

HERE = "http://127.0.0.1:8000"
LIMITS = "/v1/limits"

limits = typer.Typer(name="limits", no_args_is_help=False)


@limits.callback(invoke_without_command=True)
def show(context: typer.Context, as_json: AsJson = False, api: Api = HERE) -> None:
    """Show how often the fleet may use each limited resource.

    Waiting are attempts whose turn has not come; workers are processes that take the resource's steps.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail limits
    """
    if context.invoked_subcommand is None:
        found = _ask(api, "GET", LIMITS)["limits"]
        _print(found, found, as_json=as_json)


@limits.command("set")
def change(
    tag: Tag,
    rate: Annotated[
        str, typer.Argument(help="Uses a second, as 5 or 5/s, or a minute, as 300/min; 0 stops it.", metavar="RATE")
    ],
    reason: Annotated[str, typer.Option(help="Why; shown with the limit.")] = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Change a resource's limit while work runs.

    It counts at once, for the whole fleet, and survives restarts: the settings only say where a limit begins.

    Exit codes: 0 changed, 1 the API refused or is away, 2 wrong usage.

    Example: docrail limits set gemini_api 5 --reason "quota was halved"
    """
    try:
        per_second = parse_rate(rate)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="RATE") from None
    changed = _ask(api, "PUT", f"{LIMITS}/{tag}", json={"per_second": per_second, "reason": reason})
    _print([changed], changed, as_json=as_json)


@limits.command()
def reset(tag: Tag, as_json: AsJson = False, api: Api = HERE) -> None:
    """Give a resource the limit of the settings again.

    Exit codes: 0 done, 1 the API refused or is away, 2 wrong usage.

    Example: docrail limits reset gemini_api
    """
    found = _ask(api, "DELETE", f"{LIMITS}/{tag}")
    _print([found], found, as_json=as_json)


def _ask(api: str, method: str, path: str, **request: Json) -> Json:
    async def once() -> Json:
        async with connect(api) as client:
            return await ask(client, method, path, **request)

    return run_until_stopped(once)


def _print(found: list[dict[str, Json]], answer: Json, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        console().print(_table(found))


def _table(found: list[dict[str, Json]]) -> Table:
    shown = table()
    for heading in ("resource", "limit", "settings"):
        shown.add_column(heading)
    for heading in ("waiting", "workers"):
        shown.add_column(heading, justify="right")
    shown.add_column("changed", overflow="fold")
    for limit in found:
        rates = [rate_text(limit[name]) for name in ("per_second", "initial_per_second")]
        shown.add_row(limit["tag"], *rates, str(limit["waiting"]), str(limit["workers"]), _change(limit))
    return shown


def _change(limit: dict[str, Json]) -> str:
    if limit["changed_by"] is None:
        return ""
    why = f": {limit['reason']}" if limit["reason"] else ""
    return f"{limit['changed_at'][:19]}Z by {limit['changed_by']}{why}"
