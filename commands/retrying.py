"""`docrail retry`: start a run that ended again, with edits or under a newer version; tell before what that means."""

from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.given import parse_json
from commands.speaking import console, table
from dag.values import Json

Item = Annotated[str | None, typer.Option(help="The item of its list that it is for, by its key.", metavar="KEY")]
Items = Annotated[
    str | None,
    typer.Option(
        help='What items of its list are given: {"KEY": {"config": {...}}}, or output, or skip.', metavar="JSON"
    ),
]
_Version = Annotated[
    int | None,
    typer.Option("--definition-version", min=1, help="Go on with this version of the definition.", metavar="N"),
]
_Undo = Annotated[bool, typer.Option("--undo", help="Only undo what could not be undone; an aborted run's only retry.")]
_EDITS = "--config, --output, --skip, --items"


def retry(
    run_id: Annotated[str, typer.Argument(help="The run's id.", metavar="RUN")],
    *,
    step: Annotated[str | None, typer.Option(help="The step that the options below are for.", metavar="ID")] = None,
    item: Item = None,
    items: Items = None,
    config: Annotated[str | None, typer.Option(help="Run the step with this config.", metavar="JSON")] = None,
    output: Annotated[str | None, typer.Option(help="Do not run the step: this is its output.", metavar="JSON")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Do not run the step.")] = False,
    version: _Version = None,
    undo: _Undo = False,
    preview: Annotated[bool, typer.Option("--preview", help="Tell what would be done, and do nothing.")] = False,
    reason: Annotated[str, typer.Option(help="Why; recorded with the retry.")] = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Start a failed or cancelled run again where it failed.

    What completed is kept, items of a list too, unless its definition, its config or a step before it changed. The run
    keeps its id. A step that is parked is dealt with by `docrail dead-letters` instead, for its run has not ended;
    what that would lead to is told here, by --preview with --step. With --item, or --items for several, what is
    given is for items of the step's list that did not complete; those that are given nothing run again as they were.

    With --undo, a failed or aborted run only undoes what it could not undo, and ends as it did.

    Exit codes: 0 started, or shown with --preview; 1 the API refused or is away; 2 wrong usage.

    Example: docrail retry invoice.4711 --step save_json --skip --preview
    """
    edit = _edit(config, output, items, skip=skip)
    if (step is None) is not (not edit) or len(edit) > 1:
        raise typer.BadParameter(f"expected --step ID and one of {_EDITS}", param_hint="--step")
    steps = {} if step is None else {step: of_item(item, edit)}
    order: dict[str, Json] = {"steps": steps, "preview": preview, "reason": reason}
    order |= ({"undo": True} if undo else {}) | ({} if version is None else {"version": version})
    told = ask_api(api, "POST", f"/v1/runs/{run_id}/retry", json=order)
    if as_json:
        print_json(told)
    else:
        _print(told, preview=preview)


def _print(told: dict[str, Json], *, preview: bool) -> None:
    version, status = told["version"], told["status"]
    what = f"would go on with version {version}; it is {status}" if preview else f"goes on with version {version}"
    print(f"{told['run_id']} {what}\n", flush=True)
    shown = table()
    for heading in ("step", "is", "why"):
        shown.add_column(heading, overflow="fold")
    for name, fate in told["steps"].items():
        shown.add_row(name, fate["fate"], fate["why"])
    console().print(shown)
    if told["end"]:
        print(f"\nthe run then {told['end']}")


def _edit(config: str | None, output: str | None, items: str | None, *, skip: bool) -> dict[str, Json]:
    given = {"config": config, "output": output, "items": items}
    edit = {name: parse_json(f"--{name}", text) for name, text in given.items() if text is not None}
    return edit | ({"skip": True} if skip else {})


def of_item(item: str | None, edit: dict[str, Json]) -> dict[str, Json]:
    """Return what a step is given if `edit` is for that item of its list, or for the step (None)."""
    if item is None:
        return edit
    if not edit or "items" in edit:
        raise typer.BadParameter("expected with it what the item is given, and no --items", param_hint="--item")
    return {"items": {item: edit}}
