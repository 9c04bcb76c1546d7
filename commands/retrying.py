"""`docrail retry`: start a run that ended again, with edits or under a newer version; tell before what that means."""

from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.given import parse_json
from commands.speaking import console, table
from dag.values import Json


def retry(
    run_id: Annotated[str, typer.Argument(help="The run's id.", metavar="RUN")],
    *,
    step: Annotated[
        str | None, typer.Option(help="The step that --config, --output or --skip is for.", metavar="ID")
    ] = None,
    config: Annotated[str | None, typer.Option(help="Run the step with this config.", metavar="JSON")] = None,
    output: Annotated[str | None, typer.Option(help="Do not run the step: this is its output.", metavar="JSON")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Do not run the step.")] = False,
    definition_version: Annotated[
        int | None, typer.Option(min=1, help="Go on with this version of the definition.", metavar="N")
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Only undo what could not be undone; an aborted run's only retry.")
    ] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Tell what would be done, and do nothing.")] = False,
    reason: Annotated[str, typer.Option(help="Why; recorded with the retry.")] = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Start a failed or cancelled run again where it failed.

    What completed is kept, items of a list too, unless its definition, its config or a step before it changed. The run
    keeps its id. A step that is parked is dealt with by `docrail dead-letters` instead, for its run has not ended;
    what that would lead to is told here, by --preview with --step.

    With --undo, a failed or aborted run only undoes what it could not undo, and ends as it did.

    Exit codes: 0 started, or shown with --preview; 1 the API refused or is away; 2 wrong usage.

    Example: docrail retry invoice.4711 --step save_json --skip --preview
    """
    order: dict[str, Json] = {"steps": _steps(step, config, output, skip=skip), "preview": preview, "reason": reason}
    order |= {"undo": True} if undo else {}
    order |= {} if definition_version is None else {"version": definition_version}
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


def _steps(step: str | None, config: str | None, output: str | None, *, skip: bool) -> dict[str, Json]:
    edits: dict[str, Json] = {}
    if config is not None:
        edits["config"] = parse_json("--config", config)
    if output is not None:
        edits["output"] = parse_json("--output", output)
    if skip:
        edits["skip"] = True
    if (step is None) is not (not edits) or len(edits) > 1:
        raise typer.BadParameter("expected --step ID and one of --config, --output, --skip", param_hint="--step")
    return {} if step is None else {step: edits}
