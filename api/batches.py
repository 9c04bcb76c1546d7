"""Routes of batches: order one, add documents, control it, and read its progress and its result (ADR 40)."""

from typing import Annotated

from fastapi import Depends, File, Form, Path, Query, Response, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict

from docrail.api.auth import MayOperateRuns, MayRead, MaySubmit
from docrail.api.documents import chunks_of
from docrail.api.downloads import HEADERS, NOT_KEPT, binary
from docrail.api.errors import problems
from docrail.api.parameters import (
    After,
    AppDep,
    IdempotencyKey,
    InputsPart,
    Limit,
    Reason,
    inputs_of_part,
    only_known_parts,
)
from docrail.api.prefix_router import PrefixRouter
from docrail.services.batches import adding, results
from docrail.services.batches import service as batches
from docrail.services.batches.models import (
    MOST_PLACE,
    PLACE_PATTERN,
    STATE_WORDS,
    Added,
    AddedDocument,
    Appended,
    Batch,
    BatchDocumentPage,
    BatchDocumentState,
    BatchOrder,
    BatchPage,
    BatchResult,
    RetryOfBatch,
)
from docrail.services.errors import KeyConflict, NotFound, NothingReadable, PlaceTaken, UnsafeArchive, WrongState
from docrail.services.intake.service import UNKNOWN_MEDIA_TYPE

CSV_TYPE = "text/csv; charset=utf-8"

router = PrefixRouter(prefix="/v1/batches", tags=["batches"])

BatchId = Annotated[str, Path(max_length=64, description="Id of the batch.")]


class BatchReasonIn(BaseModel):
    """Why."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "the bank is closed"}]})

    reason: Reason = ""


@router.post("", status_code=201, responses=problems(NotFound, KeyConflict))
async def create_batch(
    wanted: BatchOrder, who: MaySubmit, app: AppDep, response: Response, idempotency_key: IdempotencyKey = None
) -> Batch:
    """Order a batch. It starts at once, and takes more documents until it is closed."""
    batch = await adding.order_batch(app, who, wanted, key=idempotency_key)
    response.headers["Location"] = f"/v1/batches/{batch.batch_id}"
    return batch


@router.get("", responses=problems())
async def list_batches(who: MayRead, app: AppDep, *, limit: Limit = 20, after: After = None) -> BatchPage:
    """List batches, newest first."""
    return await batches.list_batches(app, who, limit=limit, after=after)


@router.get("/{batch_id}", responses=problems(NotFound))
async def show_batch(batch_id: BatchId, who: MayRead, app: AppDep) -> Batch:
    """Show a batch: its documents by state, its rate, the time left, and why documents failed."""
    return await batches.show_batch(app, who, batch_id)


@router.post("/{batch_id}/append", responses=problems(NotFound, WrongState))
async def append_documents(batch_id: BatchId, wanted: Appended, who: MaySubmit, app: AppDep) -> Added:
    """Add uploaded documents to an open batch. Safe to repeat."""
    return await adding.append_documents(app, who, batch_id, wanted.document_ids)


@router.post(
    "/{batch_id}/documents",
    status_code=201,
    responses=problems(NotFound, WrongState, PlaceTaken),
    dependencies=[Depends(only_known_parts)],
)
async def upload_to_batch(
    batch_id: BatchId,
    who: MaySubmit,
    app: AppDep,
    *,
    file: Annotated[UploadFile, File(description="the document", json_schema_extra={"minLength": 1})],
    place: Annotated[
        str | None,
        Form(
            max_length=MOST_PLACE,
            pattern=PLACE_PATTERN,
            description="where it lies at the client; by default the file's name",
            examples=["november/4711.pdf"],
        ),
    ] = None,
    inputs: InputsPart = None,
) -> AddedDocument:
    """Add a file to an open batch. The same content again is the same document, and a place has one content."""
    name = file.filename or "document"
    media_type = file.content_type or UNKNOWN_MEDIA_TYPE
    sent = adding.File(place or name, name, media_type, chunks_of(file), inputs_of_part(inputs))
    return await adding.add_file(app, who, batch_id, sent)


@router.post(
    "/{batch_id}/zip",
    responses=problems(NotFound, WrongState, PlaceTaken, UnsafeArchive, NothingReadable),
    dependencies=[Depends(only_known_parts)],
)
async def upload_zip(
    batch_id: BatchId,
    who: MaySubmit,
    app: AppDep,
    *,
    file: Annotated[
        UploadFile, File(description="a zip file of at most 10,000 documents", json_schema_extra={"minLength": 1})
    ],
    close: Annotated[bool, Form(description="whether the batch takes no more documents then", examples=[True])] = False,
) -> Added:
    """Add the files of a zip file to an open batch; their names are their places. Safe to repeat if it was cut off."""
    return await adding.add_zip(app, who, batch_id, file.file, close=close)


@router.post("/{batch_id}/close", responses=problems(NotFound))
async def close_batch(batch_id: BatchId, who: MaySubmit, app: AppDep) -> Batch:
    """Let a batch take no more documents: it completes once all have ended. Safe to repeat."""
    return await batches.close_batch(app, who, batch_id)


@router.get("/{batch_id}/documents", responses=problems(NotFound))
async def list_batch_documents(
    batch_id: BatchId,
    who: MayRead,
    app: AppDep,
    *,
    state: Annotated[BatchDocumentState | None, Query(description=STATE_WORDS)] = None,
    limit: Limit = 100,
    after: After = None,
) -> BatchDocumentPage:
    """List the documents of a batch, in the order in which they were added."""
    return await batches.list_documents(app, who, batch_id, state=state, limit=limit, after=after)


@router.get("/{batch_id}/result", responses=problems(NotFound))
async def show_batch_result(
    batch_id: BatchId, who: MayRead, app: AppDep, *, limit: Limit = 100, after: After = None
) -> BatchResult:
    """Show the result of a batch: a summary, and its documents with what was read. It may not have completed."""
    return await results.load_result(app, who, batch_id, limit=limit, after=after)


@router.get(
    "/{batch_id}/result.csv",
    response_class=StreamingResponse,
    responses=binary("text/csv", "one row for each document") | problems(NotFound),
)
async def download_batch_result(batch_id: BatchId, who: MayRead, app: AppDep) -> StreamingResponse:
    """Download the result of all documents of a batch as CSV."""
    await results.check_result(app, who, batch_id)
    disposition = f'attachment; filename="{batch_id}.csv"'
    headers = HEADERS | {"Content-Disposition": disposition, "Cache-Control": NOT_KEPT}
    return StreamingResponse(results.csv_result(app, who, batch_id), media_type=CSV_TYPE, headers=headers)


@router.post("/{batch_id}/pause", responses=problems(NotFound, WrongState))
async def pause_batch(
    batch_id: BatchId, who: MayOperateRuns, app: AppDep, wanted: BatchReasonIn | None = None
) -> Batch:
    """Start no more runs of a batch; open ones go on."""
    return await batches.pause_batch(app, who, batch_id, reason=wanted.reason if wanted else "")


@router.post("/{batch_id}/resume", responses=problems(NotFound, WrongState))
async def resume_batch(
    batch_id: BatchId, who: MayOperateRuns, app: AppDep, wanted: BatchReasonIn | None = None
) -> Batch:
    """Start runs of a paused batch again."""
    return await batches.resume_batch(app, who, batch_id, reason=wanted.reason if wanted else "")


@router.post("/{batch_id}/cancel", responses=problems(NotFound, WrongState))
async def cancel_batch(
    batch_id: BatchId, who: MayOperateRuns, app: AppDep, wanted: BatchReasonIn | None = None
) -> Batch:
    """Start no more runs of a batch, and cancel the open ones."""
    return await batches.cancel_batch(app, who, batch_id, reason=wanted.reason if wanted else "")


@router.post("/{batch_id}/retry", responses=problems(NotFound, WrongState))
async def retry_batch(batch_id: BatchId, who: MayOperateRuns, app: AppDep, wanted: RetryOfBatch | None = None) -> Batch:
    """Try the failed documents of a batch again, all or those of one error class. A passed deadline is dropped."""
    return await batches.retry_batch(app, who, batch_id, wanted or RetryOfBatch())
