"""`docrail document`: upload documents, list and show them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, given
from docrail.cli.inputs import Inputs, some_inputs
from docrail.cli.listing import ID, STATUS, TEXT, Listing
from docrail.cli.printout import Printout, older
from docrail.cli.terminal import AsJson, Limit, Reason, TextFilter, VendorFilter, moment, print_json, say
from docrail.dag.values.json_values import Json
from docrail.transport import ApiError

DOCUMENTS = "/v1/documents"

Id = Annotated[str, typer.Argument(help="A document's id.", metavar="ID")]


def upload(
    files: Annotated[list[Path], typer.Argument(help="Documents.", metavar="FILE", exists=True, dir_okay=False)],
    definition: Annotated[
        str | None,
        typer.Option(help="ID, ID@VERSION or ID@ALIAS; by default the routing rules choose.", metavar="REF"),
    ] = None,
    inputs: Inputs = None,
    source: Annotated[str, typer.Option(help="Where they come from, for the routing rules.", metavar="TEXT")] = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Upload documents; each starts a run.

    `docrail run list --document ID` shows a document's runs. --input gives an input of the definition that --definition
    names its value: a string as it is, any other as JSON.

    Example: docrail document upload samples/i2d_coolblue1.pdf --source email
    """
    values = some_inputs(api, definition, inputs or [])
    form = {"source": source, **given(definition=definition, inputs=json.dumps(values) if values else None)}
    uploaded: list[dict[str, Json]] = []
    for file in files:
        try:
            document = ask_api(api, "POST", DOCUMENTS, files={"file": (file.name, file.read_bytes())}, data=form)
        except ApiError as error:
            raise ApiError(f"{file} was not uploaded: {error}") from error
        uploaded.append(document)
        if not as_json:
            say(f"{file}: {document['document_id']}, run {document['run_id'] or 'not started yet'}")
    if as_json:
        print_json(uploaded)


def list_documents(
    *,
    status: Annotated[
        str | None, typer.Option(help="Only those with this status, such as attention or failed.", metavar="STATUS")
    ] = None,
    document_type: Annotated[
        str | None,
        typer.Option("--type", help="Only this type, such as invoice, credit_note or statement.", metavar="TYPE"),
    ] = None,
    vendor: VendorFilter = None,
    text: TextFilter = None,
    since: Annotated[
        str | None, typer.Option(help="Only if uploaded at or after: 2026-11-30T09:00:00Z.", metavar="TIME")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only if uploaded before this time.", metavar="TIME")] = None,
    limit: Limit = 100,
    api: Api = HERE,
) -> Printout:
    """List documents, latest upload first.

    `docrail lake query` has every field of them.

    Example: docrail document list --vendor coolblue --status attention
    """
    wanted = {"status": status, "document_type": document_type, "vendor": vendor, "text": text}
    page = ask_api(api, "GET", DOCUMENTS, params={**wanted, "since": since, "until": until, "limit": limit})
    headings = {"document": ID, "status": STATUS, "uploaded": ID, "file": TEXT, "invoice": TEXT}
    listing = Listing(headings, map(_row, page["documents"]))
    return Printout(page["documents"], [listing, *older(page)])


def _row(found: dict[str, Json]) -> list[str]:
    total = f"{found['total']} {found['currency'] or ''}".rstrip() if found["total"] is not None else None
    invoice = ", ".join(filter(None, (found["vendor_name"], found["invoice_number"], total)))
    uploaded = moment(found["received_at"], seconds=False)
    return [found["document_id"], found["status"], uploaded, found["file_name"], invoice]


def show(document: Id, api: Api = HERE) -> Printout:
    """Show a document.

    Example: docrail document show doc_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    found = ask_api(api, "GET", f"{DOCUMENTS}/{document}")
    shown = {
        "run": found["run_id"] or "not started yet",
        "file": found["file_name"],
        "type": f"{found['media_type']}, {found['size_bytes']} bytes",
        "sha256": found["sha256"],
        "received": moment(found["received_at"]),
        "source": found["source"],
        "definition": found["definition"] or "",
        "same as": found["duplicate_of"] or "",
    }
    lines = [f"  {name:10}  {text}" for name, text in shown.items() if text]
    return Printout(found, [found["document_id"], *lines])


def send_again(document: Id, api: Api = HERE) -> Printout:
    """Try a failed document again.

    A dismissed one is read again.

    Example: docrail document send-again doc_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    found = ask_api(api, "POST", f"{DOCUMENTS}/{document}/send-again")
    return Printout(found, f"sent {document} again: {found['status']}")


def dismiss(document: Id, reason: Reason = "", api: Api = HERE) -> Printout:
    """Set the failures of a document aside.

    A run that waits for a person because of them is aborted.

    Example: docrail document dismiss doc_0f9c6c4b3a2d4e5f8a7b6c5d4e --reason "an advertisement"
    """
    found = ask_api(api, "POST", f"{DOCUMENTS}/{document}/dismiss", json={"reason": reason})
    return Printout(found, f"dismissed {document}")
