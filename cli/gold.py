"""`docrail review export`: write what people approved and corrected, as files for scoring and training."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from docrail.adapters.store.blobs import BlobMissing, BlobStore
from docrail.adapters.store.files import write_atomic
from docrail.cli.database import small_pool
from docrail.cli.printout import Printout
from docrail.cli.terminal import complain, visible_json
from docrail.services.access.models import DEFAULT_TENANT, system_principal
from docrail.services.reviews.gold import GoldDocument, gold_documents

CORRECTIONS, MANIFEST = "corrections.jsonl", "MANIFEST.json"


def export(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(help="Where to write; `-` prints the corrections.", metavar="FOLDER|-")],
    tenant: Annotated[str, typer.Option(help="The documents of this tenant.", metavar="NAME")] = DEFAULT_TENANT,
    originals: Annotated[bool, typer.Option("--originals", help="Write the documents themselves, too.")] = False,
) -> Printout | None:
    """Export what people approved and corrected.

    Writes FOLDER/corrections.jsonl, one corrected field per line: the value that was read, its source and confidence,
    the right value, who corrected it, and who approved it when. FOLDER/MANIFEST.json has every field of every approved
    document, as `docrail calibration fit` and scoring scripts read it; with --originals its files are there, too, named
    by their sha256. Only approved documents are exported. It reads the database of DOCRAIL_DATABASE_URL.

    Example: docrail review export gold --originals
    """
    settings = context.obj()
    if folder == "-" and originals:
        raise typer.BadParameter("needs a folder", param_hint="--originals")
    documents = asyncio.run(_load(settings.database_url, tenant))
    if folder == "-":
        sys.stdout.writelines(map(visible_json, _lines(documents)))
        return None
    place = Path(folder)
    write_atomic(place / CORRECTIONS, "".join(_lines(documents)).encode())
    write_atomic(place / MANIFEST, _manifest(documents).encode())
    missing = asyncio.run(_copy(BlobStore(settings.open_store().sub("blobs")), documents, place)) if originals else []
    corrected = sum(len(document.corrections) for document in documents)
    for sha256 in missing:
        complain(f"the original {sha256} is no longer kept")
    data = {"documents": len(documents), "corrections": corrected, "missing_originals": missing}
    return Printout(data, f"wrote {corrected} corrections of {len(documents)} approved documents to {place}")


async def _load(database_url: str, tenant: str) -> list[GoldDocument]:
    async with small_pool(database_url, tenant) as pool:
        return [document async for document in gold_documents(pool, system_principal(tenant))]


async def _copy(blobs: BlobStore, documents: list[GoldDocument], place: Path) -> list[str]:
    missing = []
    for document in documents:
        try:
            write_atomic(place / document.file, await blobs.get(document.sha256))
        except BlobMissing:
            missing.append(document.sha256)
    return missing


def _lines(documents: list[GoldDocument]) -> list[str]:
    return [f"{correction.model_dump_json()}\n" for document in documents for correction in document.corrections]


def _manifest(documents: list[GoldDocument]) -> str:
    files: dict[str, Any] = {document.file: document.for_manifest() for document in documents}  # equal bytes are one
    return json.dumps({"count": len(files), "files": list(files.values())}, indent=1, ensure_ascii=False) + "\n"
