"""`docrail document`: upload documents and look at them."""

from pathlib import Path
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.terminal import AsJson, moment, print_json, visible
from docrail.dag.values.json_values import Json

DOCUMENTS = "/v1/documents"


def upload(
    files: Annotated[list[Path], typer.Argument(help="Documents.", metavar="FILE...", exists=True, dir_okay=False)],
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

    Exit codes: 0 uploaded, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail document upload samples/i2d_coolblue1.pdf --source email
    """
    form = {"source": source} | ({} if definition is None else {"definition": definition})
    uploaded: list[dict[str, Json]] = []
    for file in files:
        part = {"file": (file.name, file.read_bytes())}
        uploaded.append(ask_api(api, "POST", DOCUMENTS, files=part, data=form))
        if not as_json:
            document = uploaded[-1]
            print(f"{file}: {document['document_id']}, run {document['run_id'] or 'not started yet'}", flush=True)
    if as_json:
        print_json(uploaded)


def show(
    document: Annotated[str, typer.Argument(help="A document's id.", metavar="ID")],
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Show a document.

    Exit codes: 0 shown, 1 the API refused or is unavailable, 2 wrong usage.

    Example: docrail document show doc_0f9c6c4b3a2d4e5f8a7b6c5d4e
    """
    found = ask_api(api, "GET", f"{DOCUMENTS}/{document}")
    if as_json:
        print_json(found)
        return
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
    print(found["document_id"])
    for name, text in shown.items():
        if text:
            print(visible(f"  {name:10}  {text}"))
