"""`docrail failure`: deal with steps that failed for good."""

import datetime as dt
from collections.abc import Iterator
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.retry import Item, Items, of_item
from docrail.cli.tables import ID, NUMBER, STATUS, TEXT, print_table
from docrail.cli.terminal import AsJson, Reason, complain_of_unmatched, moment, parse_json, print_json
from docrail.dag.values.json_values import Json

INBOX = "/v1/dead-letters"

RunId = Annotated[str, typer.Argument(help="The run's id.", metavar="RUN")]
StepId = Annotated[str, typer.Argument(help="The step's id.", metavar="STEP")]
ErrorClass = Annotated[str | None, typer.Option("--class", help="Only this class of error.", metavar="NAME")]
DefinitionId = Annotated[str | None, typer.Option("--definition", help="Only runs of this definition.", metavar="ID")]
HandlerName = Annotated[str | None, typer.Option("--handler", help="Only steps of this handler.", metavar="NAME")]
Config = Annotated[str | None, typer.Option(help="Instead of the step's own config; for one step.", metavar="JSON")]
Status = Annotated[str, typer.Option(help="open, resolved or all.", metavar="STATUS")]


def list_failures(
    error_class: ErrorClass = None,
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: Status = "open",
    view: Annotated[
        str | None,
        typer.Option(
            help="actionable: parked, or failed with an error that comes again if nothing changes; retryable; or "
            "all. By default actionable for open ones.",
            metavar="VIEW",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Most lines.", metavar="N")] = 100,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """List failed steps, newest first.

    The last line says how many the view leaves out.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure list --class ConnectionError --view all
    """
    asked = {**_filters(error_class, definition, handler), "status": status, "view": view, "limit": limit}
    page = ask_api(api, "GET", INBOX, params={name: value for name, value in asked.items() if value is not None})
    complain_of_unmatched(page, "failed step")
    if as_json:
        print_json(page["letters"])
        return
    headings = {"run": ID, "step": ID, "status": STATUS, "failed": ID, "class": ID, "attempts": NUMBER, "message": TEXT}
    print_table(headings, [_row(letter) for letter in page["letters"]])
    for line in (*(["… and older ones"] if page["after"] else []), *_left_out(api, asked)):
        print(line)


def count(
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: Status = "open",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Count failed steps by the class of their error.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure count --definition invoice
    """
    asked = {**_filters(None, definition, handler), "status": status}
    page = ask_api(api, "GET", f"{INBOX}/counts", params=asked)
    found = page["classes"]
    complain_of_unmatched(page, "failed step")
    if as_json:
        print_json(found)
        return
    numbers = {"letters": "steps", "parked": "parked", "retryable": "retryable"}
    headings = {"class": ID, **dict.fromkeys(numbers.values(), NUMBER), "oldest": ID, "newest": ID}
    rows = [
        [
            line["error_type"],
            *(str(line[name]) for name in numbers),
            *(moment(line[name], seconds=False) for name in ("oldest", "newest")),
        ]
        for line in found
    ]
    print_table(headings, rows)


def show(run_id: RunId, step_id: StepId, as_json: AsJson = False, api: Api = HERE) -> None:
    """Show a failed step, and what was done about it.

    Exit codes: 0 shown, 1 there is none, or the API is unavailable, 2 wrong usage.

    Example: docrail failure show invoice.4711 save_json
    """
    _print_letter(ask_api(api, "GET", f"{INBOX}/{run_id}/{step_id}"), as_json=as_json)


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

    Without RUN those that match, oldest first, up to --limit: a step that fails again comes last.

    Exit codes: 0 retried, 1 one of them was not, or the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure retry --class ConnectionError --all
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
    answer = _retry_all(api, order) if is_all else ask_api(api, "POST", f"{INBOX}/retry", json=order)
    _print_retried(answer, as_json=as_json)
    if not all(outcome["retried"] for outcome in answer["outcomes"]):
        raise typer.Exit(1)


def _retry_all(api: str, order: dict[str, Json]) -> dict[str, Json]:
    """Retry the matching steps that failed before now, until no new one is retried: each is retried once.

    Also where this machine's clock is ahead of the workers', and a step that fails again seems to have failed before.
    """
    order = {**order, "failed_before": dt.datetime.now(dt.UTC).isoformat()}
    outcomes: dict[tuple[str, str], Json] = {}
    while True:
        answer = ask_api(api, "POST", f"{INBOX}/retry", json=order)
        found = {(outcome["run_id"], outcome["step_id"]): outcome for outcome in answer["outcomes"]}
        is_over = not any(found[key]["retried"] for key in found.keys() - outcomes.keys())
        outcomes |= found
        if is_over or not answer["left"]:
            return {**answer, "outcomes": [*outcomes.values()]}


def skip(run_id: RunId, step_id: StepId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Go on without a failed step.

    It counts as skipped by choice.

    Exit codes: 0 done, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure skip invoice.4711 save_json
    """
    _act(api, run_id, step_id, {"action": "skip", "reason": reason}, as_json=as_json)


def complete(
    run_id: RunId,
    step_id: StepId,
    value: Annotated[str, typer.Argument(help="The output of the step.", metavar="JSON")],
    reason: Reason = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Go on as if a failed step had this output.

    Exit codes: 0 done, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure complete invoice.4711 extract '{"total": 119}'
    """
    order = {"action": "output", "output": parse_json("JSON", value), "reason": reason}
    _act(api, run_id, step_id, order, as_json=as_json)


def abort(run_id: RunId, step_id: StepId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """End the run of a failed step.

    This deals with all its failed steps.

    Exit codes: 0 done, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure abort invoice.4711 extract --reason "wrong customer"
    """
    _act(api, run_id, step_id, {"action": "abort", "reason": reason}, as_json=as_json)


def dismiss(run_id: RunId, step_id: StepId, reason: Reason = "", as_json: AsJson = False, api: Api = HERE) -> None:
    """Take a failed step out of the list; its run stays as it is.

    Exit codes: 0 done, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure dismiss invoice.4711 record_metrics
    """
    _act(api, run_id, step_id, {"action": "dismiss", "reason": reason}, as_json=as_json)


def _act(api: str, run_id: str, step_id: str, order: dict[str, Json], *, as_json: bool) -> None:
    _print_letter(ask_api(api, "POST", f"{INBOX}/{run_id}/{step_id}/resolve", json=order), as_json=as_json)


def _left_out(api: str, asked: dict[str, Json]) -> Iterator[str]:
    """Yield how many steps the listed view leaves out, and which view has them, if there are any."""
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


def _row(letter: dict[str, Json]) -> list[str]:
    error, failed = letter["error_type"], moment(letter["failed_at"])
    place = [letter["run_id"], letter["step_id"], _state(letter), failed]
    return [*place, error, str(letter["attempts"]), letter["error_message"]]


def _print_letter(letter: dict[str, Json], *, as_json: bool) -> None:
    if as_json:
        print_json(letter)
    else:
        print("\n".join(_lines(letter)))


def _lines(letter: dict[str, Json]) -> Iterator[str]:
    handler = f" ({letter['handler']})" if letter["handler"] else ""
    yield f"{letter['run_id']} {letter['step_id']}{handler}: {_state(letter)}"
    yield f"{letter['error_type']}: {letter['error_message']}"
    passing = "it may pass by itself" if letter["retryable"] else "it comes again if nothing changes"
    yield f"failed {moment(letter['failed_at'])} after {letter['attempts']} attempts; {passing}"
    yield f"definition {letter['definition_id']} version {letter['version']}"
    if letter["document_id"]:
        yield f"document {letter['document_id']}"
    for action in letter["actions"]:
        why = f": {action['details']['reason']}" if action["details"].get("reason") else ""
        yield f"{moment(action['acted_at'])} {action['action']} by {action['acted_by']}{why}"


def _print_retried(answer: dict[str, Json], *, as_json: bool) -> None:
    """Print the outcome of each step that was to be retried."""
    complain_of_unmatched(answer, "failed step")
    if as_json:
        print_json(answer)
        return
    for outcome in answer["outcomes"]:
        what = "retried" if outcome["retried"] else f"not retried: {outcome['why']}"
        print(f"{outcome['run_id']} {outcome['step_id']}: {what}")
    print(f"{sum(each['retried'] for each in answer['outcomes'])} retried, {answer['left']} open that match")


def _state(letter: dict[str, Json]) -> str:
    """Return the status of a failed step, or how it was resolved and by whom."""
    if letter["resolution"] is None:
        return str(letter["status"])
    by = f" by {letter['resolved_by']}" if letter["resolved_by"] else ""
    return f"{letter['resolution']}{by}"
