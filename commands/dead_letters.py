"""`docrail dead-letters`: the steps that failed for good, and what is to be done about them."""

import datetime as dt
from collections.abc import Iterator
from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from commands.given import parse_json
from commands.letters import moment, print_letter, print_retried, state_of
from commands.retrying import Item, Items, of_item
from commands.speaking import console, table
from commands.unmatched import tell_unmatched
from dag.values import Json

INBOX = "/v1/dead-letters"

RunId = Annotated[str, typer.Argument(help="The run's id.", metavar="RUN")]
StepId = Annotated[str, typer.Argument(help="The step's id.", metavar="STEP")]
ErrorClass = Annotated[str | None, typer.Option("--class", help="Only this class of error.", metavar="NAME")]
DefinitionId = Annotated[str | None, typer.Option("--definition", help="Only runs of this definition.", metavar="ID")]
HandlerName = Annotated[str | None, typer.Option("--handler", help="Only steps of this handler.", metavar="NAME")]
Config = Annotated[str | None, typer.Option(help="Instead of the step's own config; for one step.", metavar="JSON")]
Status = Annotated[str, typer.Option(help="open, resolved or all.", metavar="STATUS")]
Reason = Annotated[str, typer.Option(help="Why; recorded with the action.")]

dead_letters = typer.Typer(name="dead-letters", no_args_is_help=True)


@dead_letters.callback()
def about() -> None:
    """Deal with steps that failed for good.

    A parked step's run waits for that (`on_failure: park`) and goes on at once; a run that has failed is started again,
    with all that completed kept. Every action is recorded with who, when and why.

    Example: docrail dead-letters list
    """


@dead_letters.command("list")
def show_all(
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: Status = "open",
    view: Annotated[
        str | None,
        typer.Option(
            help="actionable: parked, or of an error that comes again if nothing changes; retryable; or all. "
            "By default actionable for open ones.",
            metavar="VIEW",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Most lines.", metavar="N")] = 100,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """List failed steps, those that failed last first. What the view leaves out is counted.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters list --class ConnectionError --view all
    """
    asked = {**_filters(error_class, definition, handler), "status": status, "view": view, "limit": limit}
    page = ask_api(api, "GET", INBOX, params={name: value for name, value in asked.items() if value is not None})
    tell_unmatched(page, "failed step")
    if as_json:
        print_json(page["letters"])
        return
    shown = table()
    for heading in ("failed", "run", "step", "status", "class", "attempts", "message"):
        shown.add_column(heading, overflow="fold")
    for letter in page["letters"]:
        shown.add_row(
            *(moment(letter["failed_at"]), letter["run_id"], letter["step_id"], state_of(letter)),
            *(letter["error_type"], str(letter["attempts"]), letter["error_message"]),
        )
    console().print(shown)
    for line in (*(["… and older ones"] if page["after"] else []), *_left_out(api, asked)):
        print(line)


@dead_letters.command()
def counts(
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: Status = "open",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Count failed steps by the class of their error.

    Exit codes: 0 shown, 1 the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters counts --definition invoice
    """
    asked = {**_filters(None, definition, handler), "status": status}
    told = ask_api(api, "GET", f"{INBOX}/counts", params=asked)
    found = told["classes"]
    tell_unmatched(told, "failed step")
    if as_json:
        print_json(found)
        return
    shown = table()
    shown.add_column("class", overflow="fold")
    for heading in ("steps", "parked", "retryable"):
        shown.add_column(heading, justify="right")
    for heading in ("oldest", "newest"):
        shown.add_column(heading)
    for line in found:
        numbers = [str(line[name]) for name in ("letters", "parked", "retryable")]
        shown.add_row(line["error_type"], *numbers, moment(line["oldest"]), moment(line["newest"]))
    console().print(shown)


@dead_letters.command()
def show(run_id: RunId, step_id: StepId, as_json: AsJson = False, api: Api = HERE) -> None:
    """Show a failed step, and what was done about it.

    Exit codes: 0 shown, 1 there is none, or the API is away, 2 wrong usage.

    Example: docrail dead-letters show invoice.4711 save_json
    """
    print_letter(ask_api(api, "GET", f"{INBOX}/{run_id}/{step_id}"), as_json=as_json)


@dead_letters.command()
def retry(
    run_id: Annotated[str | None, typer.Argument(help="The run's id; without it, many.", metavar="RUN")] = None,
    step_id: Annotated[str | None, typer.Argument(help="The step's id.", metavar="STEP")] = None,
    *,
    config: Config = None,
    item: Item = None,
    items: Items = None,
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most that are retried at once.", metavar="N")] = 20,
    is_all: Annotated[bool, typer.Option("--all", help="All that match now, --limit at a time, each once.")] = False,
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Try a failed step again, or many.

    Without RUN those that match, the first that failed first, up to --limit: what fails again comes last.

    Exit codes: 0 retried, 1 one of them was not, or the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters retry --class ConnectionError --all
    """
    asked = _filters(error_class, definition, handler)
    if run_id is not None and step_id is not None and not asked:
        given = {"config": config, "items": items}
        edit = {name: parse_json(f"--{name}", text) for name, text in given.items() if text is not None}
        _act(api, run_id, step_id, {"action": "retry", "reason": reason, **of_item(item, edit)}, as_json=as_json)
        return
    if run_id is not None or (config, item, items) != (None, None, None) or not asked:
        raise typer.BadParameter("expected RUN STEP for one, or --class or another filter", param_hint="RUN STEP")
    order: dict[str, Json] = {**asked, "limit": limit, "reason": reason}
    told = _retry_all(api, order) if is_all else ask_api(api, "POST", f"{INBOX}/retry", json=order)
    print_retried(told, as_json=as_json)
    if not all(outcome["retried"] for outcome in told["outcomes"]):
        raise typer.Exit(1)


def _retry_all(api: str, order: dict[str, Json]) -> dict[str, Json]:
    """Retry what matches and has failed before now, until nothing new is retried: what fails again is left alone.

    Also where this machine's clock is ahead of the workers', so that what fails again seems to have failed before.
    """
    order = {**order, "failed_before": dt.datetime.now(dt.UTC).isoformat()}
    outcomes: dict[tuple[str, str], Json] = {}
    while True:
        told = ask_api(api, "POST", f"{INBOX}/retry", json=order)
        found = {(outcome["run_id"], outcome["step_id"]): outcome for outcome in told["outcomes"]}
        is_over = not any(found[key]["retried"] for key in found.keys() - outcomes.keys())
        outcomes |= found
        if is_over or not told["left"]:
            return {**told, "outcomes": [*outcomes.values()]}


@dead_letters.command()
def skip(run_id: RunId, step_id: StepId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Go on without a failed step: it counts as skipped by choice.

    Exit codes: 0 done, 1 the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters skip invoice.4711 save_json
    """
    _act(api, run_id, step_id, {"action": "skip", "reason": reason}, as_json=as_json)


@dead_letters.command()
def output(
    run_id: RunId,
    step_id: StepId,
    value: Annotated[str, typer.Argument(help="What the step gives.", metavar="JSON")],
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Go on as if a failed step had completed with this output.

    Exit codes: 0 done, 1 the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters output invoice.4711 extract '{"total": 119}'
    """
    order = {"action": "output", "output": parse_json("JSON", value), "reason": reason}
    _act(api, run_id, step_id, order, as_json=as_json)


@dead_letters.command()
def abort(run_id: RunId, step_id: StepId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """End the run of a failed step.

    With that, all its failed steps are dealt with.

    Exit codes: 0 done, 1 the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters abort invoice.4711 extract --reason "wrong customer"
    """
    _act(api, run_id, step_id, {"action": "abort", "reason": reason}, as_json=as_json)


@dead_letters.command()
def dismiss(run_id: RunId, step_id: StepId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Take a failed step out of the inbox and leave its run alone.

    Exit codes: 0 done, 1 the API refused or is away, 2 wrong usage.

    Example: docrail dead-letters dismiss invoice.4711 record_metrics
    """
    _act(api, run_id, step_id, {"action": "dismiss", "reason": reason}, as_json=as_json)


def _act(api: str, run_id: str, step_id: str, order: dict[str, Json], *, as_json: bool) -> None:
    print_letter(ask_api(api, "POST", f"{INBOX}/{run_id}/{step_id}/resolve", json=order), as_json=as_json)


def _left_out(api: str, asked: dict[str, Json]) -> Iterator[str]:
    """Say how many steps the listed view leaves out, and where they are, if there are any."""
    views = {"actionable": "retryable", "retryable": "actionable"}
    other = views.get(asked["view"] or ("actionable" if asked["status"] == "open" else "all"))
    if other is None:
        return
    wanted = {name: asked[name] for name in ("class", "definition", "handler", "status") if asked.get(name)}
    found = ask_api(api, "GET", f"{INBOX}/counts", params={**wanted, "view": other})["classes"]
    count = sum(line["letters"] for line in found)
    if count:
        yield f"{count} more in --view {other}"


def _filters(error_class: str | None, definition: str | None, handler: str | None) -> dict[str, str]:
    given = {"class": error_class, "definition": definition, "handler": handler}
    return {name: value for name, value in given.items() if value is not None}
