"""Routes of exports: order one, preview it, list earlier ones, and download their files again."""

from typing import Annotated

from fastapi import Path, Response

from docrail.api.auth import MayRead, MayReview
from docrail.api.downloads import BYTES, binary, download
from docrail.api.errors import problems
from docrail.api.parameters import After, AppDep, IdempotencyKey, Limit
from docrail.api.prefix_router import PrefixRouter
from docrail.services.errors import KeyConflict, NotFound, WrongState
from docrail.services.exports import service as exports
from docrail.services.exports.models import Export, ExportOrder, ExportPage, Preview

router = PrefixRouter(prefix="/v1/exports", tags=["exports"])

ExportId = Annotated[str, Path(max_length=64, description="Id of the export.")]


@router.post("", status_code=202, responses=problems(KeyConflict, WrongState))
async def create_export(
    wanted: ExportOrder, who: MayReview, app: AppDep, response: Response, idempotency_key: IdempotencyKey = None
) -> Export:
    """Export approved documents as a file, or to a webhook, which needs the scope `operate`, too.

    The documents are chosen now; the file is made in the background.
    """
    export = await exports.create_export(app, who, wanted, key=idempotency_key)
    response.headers["Location"] = f"/v1/exports/{export.export_id}"
    return export


@router.post("/preview", responses=problems())
async def preview_export(wanted: ExportOrder, who: MayRead, app: AppDep) -> Preview:
    """Show how many documents an export would have, their totals, and its first rows. Nothing is exported."""
    return await exports.preview_export(app, who, wanted)


@router.get("", responses=problems())
async def list_exports(who: MayRead, app: AppDep, *, limit: Limit = 100, after: After = None) -> ExportPage:
    """List exports, newest first."""
    return await exports.list_exports(app, who, limit=limit, after=after)


@router.get("/{export_id}", responses=problems(NotFound))
async def show_export(export_id: ExportId, who: MayRead, app: AppDep) -> Export:
    """Show an export and how far it is."""
    return await exports.show_export(app, who, export_id)


@router.get(
    "/{export_id}/file",
    response_class=Response,
    responses=binary(BYTES, "the file: CSV, zip, XLSX, or one JSON message a line") | problems(NotFound, WrongState),
)
async def download_export(export_id: ExportId, who: MayRead, app: AppDep) -> Response:
    """Download the file of an export: each time the same bytes."""
    export, file = await exports.open_file(app, who, export_id)
    return download(file, f'attachment; filename="{export.file_name}"')
