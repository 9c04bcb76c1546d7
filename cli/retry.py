"""`docrail run retry`: start an ended run again, with edits or under a newer version; show before what that means."""

from collections.abc import Iterator
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, given, run_path
from docrail.cli.inputs import Inputs, some_inputs
from docrail.cli.listing import ID, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.runs import RunId
from docrail.cli.terminal import Reason, parse_json
from docrail.dag.values.json_values import Json

Item = Annotated[str | None, typer.Option(help="Only for this item of the step's list.", metavar="KEY")]
Items = Annotated[
    str | None,
    typer.Option(
        help='For several items of the step\'s list: {"KEY": {"config": {...}}}, or output, or skip.', metavar="JSON"
    ),
]
_Version = Annotated[
    int | None,
    typer.Option("--definition-version", min=1, help="Go on with this version of the definition.", metavar="N"),
]
_Undo = Annotated[
    bool, typer.Option("--undo", help="Only undo the steps that could not be undone; the only retry of an aborted run.")
]
_From = Annotated[
    list[str] | None,
    typer.Option("--from", help="Run this step again, and all that follows it; may be repeated.", metavar="STEP"),
]
_EDITS = "--config, --output, --skip, --items"


def retry(
    run: RunId,
    *,
    step: Annotated[str | None, typer.Option(help="The step that the options below edit.", metavar="ID")] = None,
    item: Item = None,
    items: Items = None,
    config: Annotated[str | None, typer.Option(help="Run the step with this config.", metavar="JSON")] = None,
    output: Annotated[str | None, typer.Option(help="Do not run the step: this is its output.", metavar="JSON")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Do not run the step.")] = False,
    from_steps: _From = None,
    inputs: Inputs = None,
    version: _Version = None,
    undo: _Undo = False,
    preview: Annotated[bool, typer.Option("--preview", help="Show what would be done, and do nothing.")] = False,
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Start an ended run again where it failed, or from a step.

    Completed steps and items are kept, unless their definition, their config or a step before them changed. The run
    keeps its id. The run of a parked step has not ended: use `docrail failure`; --preview with --step shows what that
    would lead to. --item, or --items for several, limits the edit to items of the step's list that did not complete.

    --from and --input start a completed run again too: --from at a step, --input with other inputs. The named step,
    steps that read a changed input, and all that follows them run again. Nothing is undone before.

    With --undo, a failed or aborted run only undoes what it could not undo, and ends as it did.

    Exit codes: 0 started, or shown with --preview; 1 the API refused or is unavailable; 2 wrong usage.

    Example: docrail run retry invoice.4711 --step save_json --skip --preview
    """
    edit = _edit(config, output, items, skip=skip)
    if (step is None) is not (not edit) or len(edit) > 1:
        raise typer.BadParameter(f"expected --step ID and one of {_EDITS}", param_hint="--step")
    steps = {} if step is None else {step: of_item(item, edit)}
    more = given(undo=undo or None, version=version, from_steps=from_steps) | _inputs(api, run, version, inputs or [])
    order = {"steps": steps, "preview": preview, "reason": reason, **more}
    retried = ask_api(api, "POST", run_path(run, "retry"), json=order)
    return Printout(retried, _parts(retried, preview=preview))


def _inputs(api: str, run: str, version: int | None, texts: list[str]) -> dict[str, Json]:
    """Return the field `inputs`, by the types of the definition that the run follows, or is to follow."""
    if not texts:
        return {}
    shown = ask_api(api, "GET", run_path(run))
    return {"inputs": some_inputs(api, f"{shown['definition_id']}@{version or shown['version']}", texts)}


def _parts(retried: dict[str, Json], *, preview: bool) -> Iterator[str | Listing]:
    version, status = retried["version"], retried["status"]
    what = f"would go on with version {version}; it is {status}" if preview else f"goes on with version {version}"
    yield f"{retried['run_id']} {what}\n"
    rows = [[name, fate["fate"], fate["why"]] for name, fate in retried["steps"].items()]
    yield Listing({"step": ID, "is": ID, "why": TEXT}, rows)
    if retried["end"]:
        yield f"\nthe run then {retried['end']}"


def _edit(config: str | None, output: str | None, items: str | None, *, skip: bool) -> dict[str, Json]:
    return edit_of(config=config, output=output, items=items) | ({"skip": True} if skip else {})


def edit_of(**texts: str | None) -> dict[str, Json]:
    """Return the options that were given, each parsed as JSON."""
    return {name: parse_json(f"--{name}", text) for name, text in given(**texts).items()}


def of_item(item: str | None, edit: dict[str, Json]) -> dict[str, Json]:
    """Return the edit of a step: `edit` itself, or as the edit of one item of its list."""
    if item is None:
        return edit
    if not edit or "items" in edit:
        raise typer.BadParameter("expected with it an edit of the item, and no --items", param_hint="--item")
    return {"items": {item: edit}}
