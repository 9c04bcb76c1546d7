"""`docrail export`: export approved documents, list earlier exports, and fetch their files again."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from docrail.adapters.store.files import write_atomic
from docrail.cli.client import HERE, Api, ask_api, connect, given
from docrail.cli.listing import ID, NUMBER, STATUS, TEXT, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.stop import run_or_exit
from docrail.cli.terminal import Limit, moment
from docrail.dag.values.json_values import Json
from docrail.transport import ApiError, Transport

EXPORTS = "/v1/exports"
POLL_SECONDS = 0.5

LINE_COLUMNS = "invoice_number,position,description,quantity,unit_price,amount,tax_rate,document_id"
"""What --lines adds."""


class Format(StrEnum):
    """What an export is written as."""

    CSV = "csv"
    XLSX = "xlsx"
    WEBHOOK = "webhook"


class Separator(StrEnum):
    """Character between two cells."""

    COMMA = ","
    SEMICOLON = ";"
    TAB = "tab"


DateKind = Annotated[
    str, typer.Option(help="The date that counts: approved, invoice_date or received.", metavar="DATE")
]


def create(
    *,
    output: Annotated[Path | None, typer.Option(help="File to write; default: the API's name.", metavar="FILE")] = None,
    format: Annotated[Format, typer.Option(help="What to write.")] = Format.CSV,  # noqa: A002  # the option's name
    separator: Annotated[Separator, typer.Option(help="CSV: separates cells.")] = Separator.COMMA,
    decimal: Annotated[str, typer.Option(help="CSV: decimal separator, `.` or `,`.", metavar="CHARACTER")] = ".",
    bom: Annotated[bool, typer.Option(help="CSV: begin with a byte order mark, for Excel.")] = True,
    url: Annotated[str | None, typer.Option(help="Webhook: where to send the messages.", metavar="URL")] = None,
    of: DateKind = "approved",
    since: Annotated[str | None, typer.Option(help="The first day: 2026-11-01.", metavar="DAY")] = None,
    until: Annotated[str | None, typer.Option(help="The last day.", metavar="DAY")] = None,
    zone: Annotated[str, typer.Option(help="Where days begin: Europe/Berlin.", metavar="ZONE")] = "UTC",
    again: Annotated[bool, typer.Option("--all", help="Also those that were exported before.")] = False,
    columns: Annotated[str | None, typer.Option(help="Columns, separated by commas.", metavar="NAMES")] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Add a table of line items.")] = False,
    key: Annotated[str | None, typer.Option(help="Idempotency key of the export.", metavar="KEY")] = None,
    api: Api = HERE,
) -> Printout:
    """Export approved documents to a file, or to a webhook.

    Each is exported once: those that an export has already are left out, unless --all is given. The file can be fetched
    again later.

    Example: docrail export create --since 2026-11-01 --until 2026-11-30 --format xlsx --lines
    """
    style = {"separator": "\t" if separator is Separator.TAB else separator.value, "decimal": decimal, "bom": bom}
    to: dict[str, Json] = {"format": format.value, **(style if format is Format.CSV else {}), **given(url=url)}
    period = given(of=of, since=since, until=until, time_zone=zone)
    tables = given(columns=_named(columns) if columns else None, line_columns=_named(LINE_COLUMNS) if lines else None)
    wanted: dict[str, Json] = {"to": to, "period": period, "which": "all" if again else "new", **tables}
    headers = {"Idempotency-Key": key} if key else {}

    async def run() -> Printout:
        async with connect(api) as client:
            export = await _ended(client, await client.request("POST", EXPORTS, json=wanted, headers=headers))
            if format is Format.WEBHOOK:
                return Printout(export, f"sent {export['documents']} documents: {export['export_id']}")
            return await _save(client, export, output)

    return run_or_exit(run)


def list_exports(
    *,
    limit: Limit = 100,
    api: Api = HERE,
) -> Printout:
    """List exports, newest first.

    Example: docrail export list --limit 20
    """
    page = ask_api(api, "GET", EXPORTS, params={"limit": limit})
    headings = {"export": ID, "status": STATUS, "ordered": ID, "documents": NUMBER, "file": TEXT, "by": TEXT}
    return Printout(page["exports"], [Listing(headings, map(_row, page["exports"])), *older(page)])


def download(
    export: Annotated[str, typer.Argument(help="An export's id.", metavar="ID")],
    file: Annotated[Path | None, typer.Argument(help="File to write; default: its own name.", metavar="FILE")] = None,
    api: Api = HERE,
) -> Printout:
    """Download the file of an export again.

    Example: docrail export download exp_0f9c6c4b3a2d4e5f8a7b6c5d4e november.xlsx
    """

    async def run() -> Printout:
        async with connect(api) as client:
            return await _save(client, await client.request("GET", f"{EXPORTS}/{export}"), file)

    return run_or_exit(run)


async def _ended(client: Transport, export: dict[str, Json]) -> dict[str, Json]:
    """Return the export once it has ended. Raises: ApiError if it failed."""
    while export["ended_at"] is None:
        await asyncio.sleep(POLL_SECONDS)
        export = await client.request("GET", f"{EXPORTS}/{export['export_id']}")
    if export["status"] == "failed":
        raise ApiError(f"the export {export['export_id']} failed: {export['error']}")
    return export


async def _save(client: Transport, export: dict[str, Json], file: Path | None) -> Printout:
    place = file or Path(export["file_name"])
    write_atomic(place.absolute(), await client.fetch(f"{EXPORTS}/{export['export_id']}/file"))
    return Printout(export, f"wrote {export['documents']} documents to {place} ({export['export_id']})")


def _named(columns: str) -> list[Json]:
    return [{"name": name.strip()} for name in columns.split(",")]


def _row(export: dict[str, Json]) -> list[str]:
    ordered = moment(export["created_at"], seconds=False)
    count = str(export["documents"])
    return [export["export_id"], export["status"], ordered, count, export["file_name"], export["created_by"]]
