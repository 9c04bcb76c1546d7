"""`docrail schedule`: when runs start by themselves, and when Docrail works on its own."""

from typing import Annotated
from urllib.parse import quote

import typer

from docrail.cli.client import HERE, Api, ask_api, given
from docrail.cli.inputs import Inputs, some_inputs
from docrail.cli.listing import ID, STATUS, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import Reason, moment
from docrail.dag.values.json_values import Json
from docrail.transport import ApiError

SCHEDULES, TRIGGERS = "/v1/schedules", "/v1/triggers"
OWN = frozenset({"maintenance", "sla", "background"})
"""Schedules of Docrail's own work; all others are triggers."""

Name = Annotated[str, typer.Argument(help="A trigger, or maintenance, sla or background.", metavar="SCHEDULE")]


Mailbox = Annotated[
    str | None, typer.Option(help="Upload attachments of new mails of this IMAP server.", metavar="HOST[:PORT]")
]
Senders = Annotated[
    list[str] | None, typer.Option(help="Take mails of this address or @domain only; repeatable.", metavar="FROM")
]
Attachments = Annotated[
    list[str] | None, typer.Option(help="Take files of such a name, as *.pdf; repeatable.", metavar="PATTERN")
]


def create(
    name: Annotated[str, typer.Argument(help="A name for the trigger.", metavar="NAME")],
    *,
    definition: Annotated[
        str | None, typer.Option(help="ID, ID@VERSION or ID@ALIAS of what is started.", metavar="REF")
    ] = None,
    cron: Annotated[
        str | None, typer.Option(help="When, in UTC: minute, hour, day, month, weekday.", metavar="CRON")
    ] = None,
    every: Annotated[int | None, typer.Option(min=10, help="How often, in seconds.", metavar="SECONDS")] = None,
    folder: Annotated[
        str | None, typer.Option(help="Upload new files of this folder of DOCRAIL_INBOX_DIR.", metavar="NAME")
    ] = None,
    mailbox: Mailbox = None,
    user: Annotated[str | None, typer.Option(help="Who signs in at the mailbox.", metavar="NAME")] = None,
    secret: Annotated[str | None, typer.Option(help="The secret with the mailbox's password.", metavar="NAME")] = None,
    mail_folder: Annotated[str | None, typer.Option(help="Folder of the mailbox: INBOX.", metavar="NAME")] = None,
    sender: Senders = None,
    attachment: Attachments = None,
    move_to: Annotated[str | None, typer.Option(help="Move taken mails to this folder.", metavar="NAME")] = None,
    inputs: Inputs = None,
    source: Annotated[str, typer.Option(help="Where files come from, for routing rules.", metavar="TEXT")] = "",
    batch: Annotated[bool, typer.Option("--batch", help="Put the new files of each pass into one batch.")] = False,
    api: Api = HERE,
) -> Printout:
    """Create a trigger: it starts runs at times, or for new files.

    Without --folder, each pass starts one run of --definition. With --folder, it uploads the files below
    DOCRAIL_INBOX_DIR/TENANT/FOLDER whose content is new at their place, with --mailbox the attachments of new mails;
    without --definition, routing rules choose. The same command again changes nothing.

    Example: docrail schedule create nightly --definition report --cron "0 3 * * *"
    """
    values = some_inputs(api, definition, inputs or [])
    more = given(user=user, secret=secret, folder=mail_folder, senders=sender, attachments=attachment, move_to=move_to)
    box = _mailbox(mailbox, more)
    order = given(definition=definition, cron=cron, every_seconds=every, folder=folder, mailbox=box)
    order |= given(inputs=values or None, batch=batch or None)
    found = ask_api(api, "POST", TRIGGERS, json={"name": name, "source": source, **order})
    return _printout(found, [found])


def _mailbox(place: str | None, more: dict[str, Json]) -> dict[str, Json] | None:
    if place is None:
        if more:
            raise typer.BadParameter("is needed by the other options of a mailbox", param_hint="--mailbox")
        return None
    host, _, port = place.partition(":")
    if port and not port.isdecimal():
        raise typer.BadParameter(f"{port!r} is not a port", param_hint="--mailbox")
    return {"host": host, **({"port": int(port)} if port else {}), **more}


def list_schedules(api: Api = HERE) -> Printout:
    """List what starts by itself: triggers, and Docrail's own work.

    `maintenance` compacts the lake and deletes what is too old, `sla` notifies people of review items that become due,
    `background` repeats what a crash has cut off and files what was reviewed. These three need a key of the operator's
    tenant. Times are in UTC.

    Example: docrail schedule list
    """
    found = ask_api(api, "GET", TRIGGERS)["triggers"]
    try:
        found += ask_api(api, "GET", SCHEDULES)["schedules"]
    except ApiError as error:
        if error.kind != "forbidden":
            raise
    return _printout(found, found)


def pause(name: Name, reason: Reason = "", api: Api = HERE) -> Printout:
    """Pause a schedule.

    No pass starts by itself until it is resumed, also after a restart of the servers. One of Docrail's own needs a key
    of the operator's tenant with the scope admin.

    Example: docrail schedule pause maintenance --reason "the disk is being exchanged"
    """
    found = ask_api(api, "POST", _path(name, "pause"), json={"reason": reason})
    return _printout(found, [found])


def resume(name: Name, reason: Reason = "", api: Api = HERE) -> Printout:
    """Resume a paused schedule.

    Example: docrail schedule resume maintenance
    """
    found = ask_api(api, "POST", _path(name, "resume"), json={"reason": reason})
    return _printout(found, [found])


def run(name: Name, api: Api = HERE) -> Printout:
    """Start a pass now, also of a paused schedule.

    It does not wait for the end of the pass: `docrail schedule list` shows it.

    Example: docrail schedule run maintenance
    """
    found = ask_api(api, "POST", _path(name, "run"))
    return _printout(found, [found])


def delete(name: Annotated[str, typer.Argument(help="A trigger.", metavar="NAME")], api: Api = HERE) -> Printout:
    """Delete a trigger; what it has started goes on.

    Example: docrail schedule delete nightly
    """
    found = ask_api(api, "DELETE", _path(name))
    return Printout(found, f"deleted {name}")


def _path(name: str, *act: str) -> str:
    return "/".join((SCHEDULES if name in OWN else TRIGGERS, quote(name, safe=""), *act))


def _printout(answer: Json, found: list[dict[str, Json]]) -> Printout:
    headings = {"schedule": ID, "state": STATUS, "when": ID, "next": ID, "last": ID, "ended as": STATUS, "does": TEXT}
    headings |= {"last batch": ID, "note": TEXT, "problems": TEXT}
    return Printout(answer, [Listing(headings, map(_row, found))])


def _row(schedule: dict[str, Json]) -> list[str]:
    last = schedule["last"] or {}
    seconds = schedule["every_seconds"]
    return [
        schedule["name"],
        "paused" if schedule["paused"] else "active",
        f"{seconds:g} s" if seconds else schedule.get("cron") or "calendar",
        moment(schedule["next_at"]),
        moment(last.get("started_at")),
        last.get("state") or "",
        _does(schedule),
        schedule.get("last_batch") or "",
        schedule["note"],
        "; ".join(schedule.get("problems", ())),
    ]


def _does(schedule: dict[str, Json]) -> str:
    if schedule["name"] in OWN:
        return "Docrail's own work"
    if schedule["folder"] is not None:
        return f"uploads files of {schedule['folder']}"
    if schedule["mailbox"] is not None:
        return f"uploads attachments of {schedule['mailbox']['user']}"
    return f"starts {schedule['definition']}"
