"""`docrail schedule`: when Docrail works on its own."""

from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, STATUS, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import Reason, moment
from docrail.dag.values.json_values import Json

SCHEDULES = "/v1/schedules"

Name = Annotated[str, typer.Argument(help="maintenance, sla or background.", metavar="SCHEDULE")]


def list_schedules(api: Api = HERE) -> Printout:
    """List the schedules by which Docrail works on its own.

    `maintenance` compacts the lake and deletes what is too old, `sla` notifies people of review items that become due,
    `background` repeats what a crash has cut off and files what was reviewed. Times are in UTC.

    Example: docrail schedule list
    """
    found = ask_api(api, "GET", SCHEDULES)
    return _printout(found, found["schedules"])


def pause(name: Name, reason: Reason = "", api: Api = HERE) -> Printout:
    """Pause a schedule.

    No pass starts by itself until it is resumed, also after a restart of the servers. Needs a key of the operator's
    tenant with the scope admin.

    Example: docrail schedule pause maintenance --reason "the disk is being exchanged"
    """
    found = ask_api(api, "POST", f"{SCHEDULES}/{name}/pause", json={"reason": reason})
    return _printout(found, [found])


def resume(name: Name, reason: Reason = "", api: Api = HERE) -> Printout:
    """Resume a paused schedule.

    Example: docrail schedule resume maintenance
    """
    found = ask_api(api, "POST", f"{SCHEDULES}/{name}/resume", json={"reason": reason})
    return _printout(found, [found])


def run(name: Name, api: Api = HERE) -> Printout:
    """Start a pass now, also of a paused schedule.

    It does not wait for the end of the pass: `docrail schedule list` shows it.

    Example: docrail schedule run maintenance
    """
    found = ask_api(api, "POST", f"{SCHEDULES}/{name}/run")
    return _printout(found, [found])


def _printout(answer: Json, found: list[dict[str, Json]]) -> Printout:
    headings = {"schedule": ID, "state": STATUS, "every": ID, "next": ID, "last": ID, "ended as": STATUS, "note": TEXT}
    return Printout(answer, [Listing(headings, map(_row, found))])


def _row(schedule: dict[str, Json]) -> list[str]:
    last = schedule["last"] or {}
    seconds = schedule["every_seconds"]
    return [
        schedule["name"],
        "paused" if schedule["paused"] else "active",
        f"{seconds:g} s" if seconds else "calendar",
        moment(schedule["next_at"]),
        moment(last.get("started_at")),
        last.get("state") or "",
        schedule["note"],
    ]
