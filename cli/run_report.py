"""How a run's report is printed: its progress while it is followed, and its steps and outputs."""

import json
import sys
from collections.abc import Iterator, Sequence

from docrail.cli.listing import ID, NUMBER, STATUS, TEXT, Kind, Listing
from docrail.cli.terminal import coloured, columns, folded, time_of
from docrail.dag.engine.state import shown_status
from docrail.dag.values.json_values import Json

WAITS_FOR = {"timer": "time", "human": "a person", "webhook": "its callback", "signal": "an answer"}


def progress_lines(report: dict[str, Json], waits: Sequence[dict[str, Json]]) -> Iterator[str]:
    """Yield what to print of a run that goes on, at the width of the terminal."""
    width = columns(sys.stderr)
    settled = report["completed"] + report["failed"] + report["skipped"] + report["cancelled"]
    running = [_name(name, step) for name, step in report["steps"].items() if step["status"] == "running"]
    head = f"{report['run_id']} {report['status']}: {settled} of {len(report['steps'])} steps done"
    yield from folded(f"{head}, running: {', '.join(running)}" if running else head, width)
    for each in waits:
        for line in _wait_lines(each):
            yield from folded(line, width)


def waited_for(waiting: dict[str, Json]) -> str:
    """Return what a step waits for; `waiting` is empty for a failed step that is parked."""
    if not waiting:
        return "a decision on its failure"
    queue = f" in queue {waiting['queue']}" if waiting["queue"] else ""
    return f"{WAITS_FOR[waiting['waits_for']]}{queue}"


def report_parts(report: dict[str, Json]) -> Iterator[str | Listing]:
    """Yield a run's status, steps, outputs and the address of its history."""
    why = f": {report['reason']}" if report["reason"] else ""
    yield f"{report['run_id']} {coloured(report['status'])}{why}\n"
    headings: dict[str, Kind] = {"step": ID, "status": STATUS, "items": ID, "why": TEXT, "attempts": NUMBER}
    rows = [[*_row(name, step)] for name, step in report["steps"].items()]
    headings["seconds"] = NUMBER
    if not any(row[2] for row in rows):
        del headings["items"]
        rows = [[*row[:2], *row[3:]] for row in rows]
    yield Listing(headings, rows)
    yield "\n".join(["", *_not_undone(report), *_outcome(report)])


def _row(name: str, step: dict[str, Json]) -> Iterator[str]:
    yield name
    yield shown_status(step["status"], step["compensation"])
    yield _items(step)
    yield str((step["error"] or {}).get("message") or step["reason"] or ("cached" if step["cached"] else ""))
    yield str(step["attempts"] or "")
    yield "" if step["duration_seconds"] is None else f"{step['duration_seconds']:.2f}"


def _items(step: dict[str, Json]) -> str:
    items = step["items"]
    if items is None:
        return ""
    return f"{items['completed']} of {items['total']} items" + (
        f", {items['failed']} failed" if items["failed"] else ""
    )


def _name(name: str, step: dict[str, Json]) -> str:
    return f"{name} ({_items(step)})" if step["items"] else name


def _wait_lines(each: dict[str, Json]) -> Iterator[str]:
    """Yield what one step waits for, who can answer until when, and the command that answers."""
    waiting, review = each["waiting"] or {}, each["review"] or {}
    run, step = each["run_id"], each["step_id"]
    group = f", group {review['group']}" if review.get("group") else ""
    until = f", until {time_of(waiting['until'])}" if waiting.get("until") is not None else ""
    about = waiting.get("asks") or each["title"]
    yield f"  {step} waits for {waited_for(waiting)}{group}{until}" + (f": {about}" if about else "")
    if review.get("may_not_decide"):
        yield f"    not to be decided by {', '.join(review['may_not_decide'])}"
    if waiting.get("approvals_needed", 1) > 1:
        yield f"    {waiting['approvals_missing']} of {waiting['approvals_needed']} people must still decide alike"
    match waiting.get("waits_for"):
        case "human" if review:
            yield f"    docrail review decide {review['review_id']} NAME=VALUE..."
        case "human" | "signal":
            yield f"    docrail run answer {run} {step} NAME=VALUE..."
        case None:
            yield f"    docrail failure show {run} {step}"


def _not_undone(report: dict[str, Json]) -> Iterator[str]:
    """Yield which steps could not be undone, why, and how to try again."""
    stuck = {name: step for name, step in report["steps"].items() if step["compensation"] in ("failed", "cancelled")}
    for name, step in stuck.items():
        error = step["compensation_error"]
        why = f": {error['type']}: {error['message']}" if error else f": undoing it was {step['compensation']}"
        yield f"could not be undone: {name}{why}"
    if stuck and report["status"] in ("failed", "aborted"):  # a cancelled run can only be undone by hand
        yield f"their effects stand; once the cause is fixed: docrail run retry {report['run_id']} --undo"


def _outcome(report: dict[str, Json]) -> Iterator[str]:
    for name, value in report["outputs"].items():
        yield f"output {name} = {json.dumps(value, ensure_ascii=False)}"
    if report["history_url"]:
        yield f"history {report['history_url']}"
