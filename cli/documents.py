"""`docrail document`: upload documents and look at them."""

from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ApiError, ask_api, given
from docrail.cli.printout import Printout
from docrail.cli.terminal import AsJson, moment, print_json, say
from docrail.dag.values.json_values import Json

DOCUMENTS = "/v1/documents"


def upload(
    files: Annotated[list[Path], typer.Argument(help="Documents.", metavar="FILE", exists=True, dir_okay=False)],
    definition: Annotated[
        str | None,
        typer.Option(help="ID, ID@VERSION or ID@ALIAS; by default the routing rules choose.", metavar="REF"),
    ] = None,
    source: Annotated[str, typer.Option(help="Where they come from, for the routing rules.", metavar="TEXT")] = "",
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Upload documents; each starts a run.

    `docrail run list --document ID` shows a document's runs.

    Example: docrail document upload samples/i2d_coolblue1.pdf --source email
    """
    form = {"source": source, **given(definition=definition)}
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


def show(document: Annotated[str, typer.Argument(help="A document's id.", metavar="ID")], api: Api = HERE) -> Printout:
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
