"""`docrail run show`, `explain`, `waits`, `output` and `history`: read what is known of a run."""

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_all, ask_api, ask_pages, run_path
from docrail.cli.listing import ID, TEXT, Listing
from docrail.cli.printout import Printout, print_parts
from docrail.cli.run_report import report_parts, waited_for
from docrail.cli.runs import RunId
from docrail.cli.terminal import AlwaysJson, AsJson, coloured, complain, moment, print_json, say, time_of
from docrail.dag.values.json_values import Json

STEPS_A_PAGE = 5_000
ACTIONS_A_PAGE = 500
"""Most of each that the API gives at once."""

StepId = Annotated[str | None, typer.Argument(help="One step of it.", metavar="STEP", show_default=False)]


def show(run: RunId, api: Api = HERE) -> Printout:
    """Show a run: its steps, its outputs and its history.

    Example: docrail run show invoice.order-4711
    """
    report = ask_api(api, "GET", run_path(run))
    return Printout(report, report_parts(report))


def explain(run: RunId, step: StepId = None, api: Api = HERE) -> Printout:
    """Explain why a run and its steps are as they are.

    For each step: what decided, on which values, and what it waits for. An open run needs a worker, for only the run
    itself knows; an ended one is explained from a copy, also after Temporal has deleted it.

    Example: docrail run explain invoice.order-4711 create_review
    """
    explanation = _explanation(api, run, step)
    lines = [f"{explanation['run_id']}: {coloured(explanation['status'])}"]
    if step is None:
        lines += [f"  {line}" for line in explanation["words"]]
    for name, explained in explanation["steps"].items():
        lines += ["", f"{name}: {coloured(explained['status'])}", *(f"  {line}" for line in _lines(explained))]
    return Printout(explanation, "\n".join(lines))


def waits(run: RunId, as_json: AsJson = False, api: Api = HERE) -> None:
    """List what a run waits for.

    Includes the runs inside it, at any depth: people, answers, callbacks and times. `docrail run answer RUN STEP`
    answers, with the run and the step that are shown. A run inside another appears after a moment. Needs a worker, for
    only the runs themselves know.

    Example: docrail run waits payout.monday
    """
    found, others = _waits(api, run)
    if as_json:
        print_json(found)
    elif found:
        headings = {"run": ID, "step": ID, "item": TEXT, "waits for": TEXT, "until": ID, "question or title": TEXT}
        print_parts([Listing(headings, map(_wait_row, found))])
    elif not others["paused"]:
        say(f"{run} waits for nothing")
    for paused in others["paused"]:
        line = f"{paused} is paused: it takes answers, but no step starts before `docrail run resume {paused}`"
        complain(line) if as_json else say(line)
    for inner in others["unanswered"]:
        complain(f"{inner} did not answer what it waits for")


def output(
    run: RunId,
    step: StepId = None,
    as_json: AlwaysJson = True,  # noqa: ARG001
    api: Api = HERE,
) -> None:
    """Print a step's output, or a run's outputs, as JSON.

    All of it: a run's report only refers to large values. A step's output can be read as soon as the step completed,
    and after the run's end; a run's outputs are there at its end.

    Example: docrail run output invoice.order-4711 extract
    """
    if step is None:
        print_json(ask_api(api, "GET", run_path(run, "outputs"))["outputs"])
    else:
        print_json(ask_api(api, "GET", run_path(run, "steps", step, "output"))["output"])


def history(
    run: RunId,
    step: Annotated[
        str | None,
        typer.Argument(help="Only actions on this step, or on the whole run.", metavar="STEP", show_default=False),
    ] = None,
    api: Api = HERE,
) -> Printout:
    """Show what people did to a run, newest first.

    Pauses, resumptions, aborts and retries, and each failed step that was tried again, skipped, dismissed or given an
    output: who did it, when and why, with the values given by hand. Refused actions are left out.

    Example: docrail run history invoice.order-4711
    """
    actions = ask_all(api, run_path(run, "actions"), "actions", limit=ACTIONS_A_PAGE, step=step)
    lines = [line for action in actions for line in _action_lines(action)]
    return Printout(actions, lines or "no one has paused, aborted or retried it, or resolved a failed step of it")


def _explanation(api: str, run: str, step: str | None) -> dict[str, Json]:
    """Return the explanation of one step, or of all: all pages."""
    limit = STEPS_A_PAGE if step is None else None
    first, *others = ask_pages(api, run_path(run, "explain"), limit=limit, step=step)
    for page in others:
        first["steps"] |= page["steps"]
    return {**first, "after": None}


def _lines(step: dict[str, Json]) -> Iterator[str]:
    yield from step["words"]
    waiting, attempts = step["waiting"] or {}, step["attempts"] or {}
    if waiting.get("until") is not None:
        yield f"its time is up at {time_of(waiting['until'])}"
    if attempts.get("next_at") is not None:
        yield f"the next attempt begins at {time_of(attempts['next_at'])}"


def _waits(api: str, run: str) -> tuple[list[dict[str, Json]], dict[str, list[str]]]:
    """Return all that is waited for, and which runs are paused or did not answer: all pages."""
    found: list[dict[str, Json]] = []
    others: dict[str, list[str]] = {"paused": [], "unanswered": []}
    for page in ask_pages(api, run_path(run, "waits")):
        found += page["waits"]
        for name in others:
            others[name] += page[name]
    return found, others


def _wait_row(each: dict[str, Json]) -> list[str]:
    waiting = each["waiting"] or {}
    until = time_of(waiting["until"]) if waiting.get("until") is not None else ""
    about = waiting.get("asks") or each["title"]
    return [each["run_id"], each["step_id"], each["item"] or "", waited_for(waiting), until, about]


def _action_lines(action: dict[str, Json]) -> Iterator[str]:
    details = dict(action["details"])
    why = f": {reason}" if (reason := details.pop("reason", "")) else ""
    where = f" {action['step_id']}" if action["step_id"] else ""
    yield f"{moment(action['acted_at'])} {action['action']}{where} by {action['acted_by']}{why}"
    for name, value in details.items():
        if value not in (None, {}) or action["action"] == "output":
            yield f"  {name} {json.dumps(value, ensure_ascii=False)}"
