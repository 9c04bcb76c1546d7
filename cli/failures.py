"""`docrail failure`: deal with steps that failed for good."""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, given
from docrail.cli.listing import ID, NUMBER, STATUS, TEXT, Kind, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.retry import Item, Items, edit_of, of_item
from docrail.cli.terminal import Limit, Reason, complain_of_unmatched, moment, parse_json
from docrail.dag.values.json_values import Json

INBOX = "/v1/dead-letters"

RunId = Annotated[str, typer.Argument(help="The run's id.", metavar="RUN")]
StepId = Annotated[str, typer.Argument(help="The step's id.", metavar="STEP")]
ErrorClass = Annotated[str | None, typer.Option("--class", help="Only this class of error.", metavar="NAME")]
DefinitionId = Annotated[str | None, typer.Option("--definition", help="Only runs of this definition.", metavar="ID")]
HandlerName = Annotated[str | None, typer.Option("--handler", help="Only steps of this handler.", metavar="NAME")]
Config = Annotated[str | None, typer.Option(help="Replaces the step's config; for one step.", metavar="JSON")]
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
    limit: Limit = 100,
    api: Api = HERE,
) -> Printout:
    """List failed steps, newest first.

    The last line says how many the view leaves out.

    Example: docrail failure list --class ConnectionError --view all
    """
    asked = {**_filters(error_class, definition, handler), "status": status, "view": view, "limit": limit}
    page = ask_api(api, "GET", INBOX, params=asked)
    complain_of_unmatched(page, "failed step")
    headings = {"run": ID, "step": ID, "status": STATUS, "failed": ID, "class": ID, "attempts": NUMBER, "message": TEXT}
    return Printout(page["letters"], _list_parts(api, asked, headings, page))


def count(
    definition: DefinitionId = None,
    handler: HandlerName = None,
    status: Status = "open",
    api: Api = HERE,
) -> Printout:
    """Count failed steps by the class of their error.

    Example: docrail failure count --definition invoice
    """
    asked = {**_filters(None, definition, handler), "status": status}
    page = ask_api(api, "GET", f"{INBOX}/counts", params=asked)
    found = page["classes"]
    complain_of_unmatched(page, "failed step")
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
    return Printout(found, [Listing(headings, rows)])


def show(run_id: RunId, step_id: StepId, api: Api = HERE) -> Printout:
    """Show a failed step, and what was done about it.

    Example: docrail failure show invoice.4711 save_json
    """
    return _printout(ask_api(api, "GET", f"{INBOX}/{run_id}/{step_id}"))


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
    limit: Annotated[int, typer.Option(min=1, max=100, help="Retry at most this many at once.", metavar="N")] = 20,
    is_all: Annotated[bool, typer.Option("--all", help="Retry all that match now, --limit at a time.")] = False,
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Try a failed step again, or many.

    Without RUN those that match, oldest first, up to --limit: a step that fails again comes last.

    Exit codes: 0 retried, 1 one of them was not, or the API refused or is unavailable, 2 wrong usage.

    Example: docrail failure retry --class ConnectionError --all
    """
    asked = _filters(error_class, definition, handler)
    if run_id is not None and step_id is not None and not asked:
        edit = of_item(item, edit_of(config=config, items=items))
        return _act(api, run_id, step_id, {"action": "retry", "reason": reason, **edit})
    if run_id is not None or (config, item, items) != (None, None, None) or not asked:
        raise typer.BadParameter("expected RUN STEP for one, or --class or another filter", param_hint="RUN STEP")
    order: dict[str, Json] = {**asked, "limit": limit, "reason": reason}
    answer = _retry_all(api, order) if is_all else ask_api(api, "POST", f"{INBOX}/retry", json=order)
    complain_of_unmatched(answer, "failed step")
    return Printout(answer, _outcome_lines(answer), code=not all(each["retried"] for each in answer["outcomes"]))


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


def skip(run_id: RunId, step_id: StepId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Go on without a failed step.

    It counts as skipped by choice.

    Example: docrail failure skip invoice.4711 save_json
    """
    return _act(api, run_id, step_id, {"action": "skip", "reason": reason})


def complete(
    run_id: RunId,
    step_id: StepId,
    value: Annotated[str, typer.Argument(help="The output of the step.", metavar="JSON")],
    reason: Reason = "",
    api: Api = HERE,
) -> Printout:
    """Go on as if a failed step had this output.

    Example: docrail failure complete invoice.4711 extract '{"total": 119}'
    """
    order = {"action": "output", "output": parse_json("JSON", value), "reason": reason}
    return _act(api, run_id, step_id, order)


def abort(run_id: RunId, step_id: StepId, reason: Reason = "", api: Api = HERE) -> Printout:
    """End the run of a failed step.

    This resolves all failed steps of the run.

    Example: docrail failure abort invoice.4711 extract --reason "wrong customer"
    """
    return _act(api, run_id, step_id, {"action": "abort", "reason": reason})


def dismiss(run_id: RunId, step_id: StepId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Take a failed step out of the list; its run stays as it is.

    Example: docrail failure dismiss invoice.4711 record_metrics
    """
    return _act(api, run_id, step_id, {"action": "dismiss", "reason": reason})


def _act(api: str, run_id: str, step_id: str, order: dict[str, Json]) -> Printout:
    return _printout(ask_api(api, "POST", f"{INBOX}/{run_id}/{step_id}/resolve", json=order))


def _list_parts(
    api: str, asked: dict[str, Json], headings: Mapping[str, Kind], page: dict[str, Json]
) -> Iterator[str | Listing]:
    yield Listing(headings, map(_row, page["letters"]))
    yield from older(page)
    yield from _left_out(api, asked)


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
    return given(**{"class": error_class}, definition=definition, handler=handler)


def _row(letter: dict[str, Json]) -> list[str]:
    error, failed = letter["error_type"], moment(letter["failed_at"])
    place = [letter["run_id"], letter["step_id"], _state(letter), failed]
    return [*place, error, str(letter["attempts"]), letter["error_message"]]


def _printout(letter: dict[str, Json]) -> Printout:
    return Printout(letter, _lines(letter))


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


def _outcome_lines(answer: dict[str, Json]) -> Iterator[str]:
    """Yield the outcome of each step that was to be retried, and the totals."""
    for outcome in answer["outcomes"]:
        what = "retried" if outcome["retried"] else f"not retried: {outcome['why']}"
        yield f"{outcome['run_id']} {outcome['step_id']}: {what}"
    yield f"{sum(each['retried'] for each in answer['outcomes'])} retried, {answer['left']} open that match"


def _state(letter: dict[str, Json]) -> str:
    """Return the status of a failed step, or how it was resolved and by whom."""
    if letter["resolution"] is None:
        return str(letter["status"])
    by = f" by {letter['resolved_by']}" if letter["resolved_by"] else ""
    return f"{letter['resolution']}{by}"
