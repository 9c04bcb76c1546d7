"""`docrail run list`, `pause`, `resume`, `abort` and `cancel`: find runs, hold them, end them."""

import datetime as dt
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, run_path
from docrail.cli.listing import ID, NUMBER, STATUS, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.terminal import Limit, Reason, complain_of_unmatched, moment
from docrail.dag.values.json_values import Json

UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))

RunId = Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")]


def list_runs(
    overdue: Annotated[
        bool,
        typer.Option("--overdue", help="Only runs whose deadline has passed; without --status, those that go on."),
    ] = False,
    definition: Annotated[str | None, typer.Option(help="Only runs of this definition.", metavar="ID")] = None,
    document: Annotated[str | None, typer.Option(help="Only runs of this document.", metavar="ID")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="running, waiting, paused, completed, failed, aborted or cancelled.", metavar="STATUS"),
    ] = None,
    limit: Limit = 100,
    api: Api = HERE,
) -> Printout:
    """List runs, newest first.

    A run has one line, in its present state, also after it was retried.

    Example: docrail run list --overdue
    """
    wanted = {"definition": definition, "document": document, "status": status, "overdue": overdue or None}
    page = ask_api(api, "GET", "/v1/runs", params={**wanted, "limit": limit})
    complain_of_unmatched(page, "run")
    headings = {"run": ID, "v": NUMBER, "status": STATUS, "attempts": NUMBER, "started": ID, "took": NUMBER}
    unreadable = [f"{run['run_id']}: {run['unreadable']}" for run in page["runs"] if run["unreadable"]]
    return Printout(page["runs"], [Listing(headings, map(_row, page["runs"])), *unreadable, *older(page)])


def pause(run: RunId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Pause a run: its next steps do not start.

    Running steps go on, and answers are taken. The runs inside it have ids of their own to pause them by; its deadline
    still counts. `docrail run waits` lists the runs that are paused.

    Example: docrail run pause invoice.order-4711 --reason "the bank is closed"
    """
    changed = ask_api(api, "POST", run_path(run, "pause"), json={"reason": reason})
    if changed["status"] != "paused":
        return Printout(changed, error=f"{run} is {changed['status']}, not paused: it ended in the same moment")
    return Printout(changed, f"{run} is paused: running steps go on, and `docrail run resume {run}` starts the rest")


def resume(run: RunId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Resume a paused run.

    Example: docrail run resume invoice.order-4711
    """
    changed = ask_api(api, "POST", run_path(run, "resume"), json={"reason": reason})
    waits = f": `docrail run waits {run}` shows for what" if changed["status"] == "waiting" else ""
    return Printout(changed, f"{run} continues, and is {changed['status']}{waits}")


def abort(
    run: RunId,
    *,
    reason: Reason,
    force: Annotated[
        bool, typer.Option("--force", help="Ask no worker: for a run that none can carry on. Its steps go on.")
    ] = False,
    api: Api = HERE,
) -> Printout:
    """End a run early, as aborted.

    Its running steps are stopped and waited for, the runs inside it are cancelled, and steps that have not started are
    skipped. Then its steps are undone where the definition says how (`compensate`). There is no confirmation.

    With --force, for a run whose workflow task fails, steps are neither stopped nor undone, and the run has failed.

    Example: docrail run abort invoice.order-4711 --reason "wrong customer"
    """
    changed = ask_api(api, "POST", run_path(run, "abort"), json={"reason": reason, "force": force})
    goes_on = "running steps are stopped, then those with a `compensate` are undone"
    if force:
        text = f"{run} is {changed['status']}, ended by force: its steps were not stopped, and nothing is undone"
    else:
        text = f"{run} is {changed['status']}: {goes_on}; `docrail run explain {run}` shows how far that is"
    return Printout(changed, text)


def cancel(run: RunId, reason: Reason = "", api: Api = HERE) -> Printout:
    """Cancel a run: unlike an aborted one, it can be retried.

    Its running steps are stopped, and nothing is undone. It needs no worker: the run stops once there is one.

    Example: docrail run cancel invoice.order-4711 --reason "the bank is closed"
    """
    changed = ask_api(api, "POST", run_path(run, "cancel"), json={"reason": reason})
    return Printout(changed, f"{run} is {changed['status']}: `docrail run retry {run}` goes on with it")


def _row(run: dict[str, Json]) -> list[str]:
    status = f"{run['status']}{', overdue' if run['overdue'] else ''}"
    attempts = str(run["attempts"]) if run["attempts"] > 1 else ""
    version = "?" if run["version"] is None else str(run["version"])
    return [run["run_id"], version, status, attempts, _utc(run["started_at"]), _took(run)]


def _utc(text: str) -> str:
    return moment(dt.datetime.fromisoformat(text).astimezone(dt.UTC).isoformat(), seconds=False)


def _took(run: dict[str, Json]) -> str:
    """Return how long an ended run took, as 4 s, 12 min, 3 h or 2 d."""
    if run["ended_at"] is None:
        return ""
    started, ended = (dt.datetime.fromisoformat(run[name]) for name in ("started_at", "ended_at"))
    seconds = (ended - started).total_seconds()
    unit, size = next((pair for pair in UNITS if seconds >= 2 * pair[1]), UNITS[-1])
    return f"{seconds / size:.0f} {unit}"
