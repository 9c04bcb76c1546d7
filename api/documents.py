"""Documents: upload one, which starts its run; show one; have it read again."""

import datetime as dt
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Response, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayRead, MayReview, MaySubmit
from api.errors import problems
from api.parameters import AppDep, IdempotencyKey, each_part_once, one_key
from operations import documents, reextraction
from operations.documents import DEFAULT_SLA_HOURS, UNKNOWN_MEDIA_TYPE, Upload
from operations.errors import KeyConflict, NotFound, WrongState

CHUNK_BYTES = 2**18

router = APIRouter(prefix="/v1/documents", tags=["documents"])


class DocumentOut(BaseModel):
    """An uploaded document. Its run is at `/v1/runs/{run_id}` once `run_started_at` is set."""

    model_config = ConfigDict(from_attributes=True)

    document_id: str = Field(examples=["doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"])
    run_id: str | None = Field(examples=["invoice.doc_0f9c6c4b3a2d4e5f8a7b6c5d4e"])
    run_started_at: dt.datetime | None = Field(
        description="null while Temporal is away: the run starts when it is back"
    )
    sha256: str
    size_bytes: int
    media_type: str = Field(description="as the uploader claimed", examples=["application/pdf"])
    file_name: str = Field(description="as the uploader claimed, without folders", examples=["invoice-4711.pdf"])
    sla_hours: float
    received_at: dt.datetime
    source: str = Field(description="where the uploader says it comes from")
    definition: str | None = Field(
        description="what it takes, as the upload named it or a routing rule chose it", examples=["invoice@canary"]
    )
    duplicate_of: str | None = Field(description="the first document with the same bytes")


@router.post("", status_code=202, responses=problems(NotFound, KeyConflict), dependencies=[Depends(each_part_once)])
async def upload_document(
    who: MaySubmit,
    app: AppDep,
    response: Response,
    *,
    file: Annotated[UploadFile, File(description="the document; its type is told by its bytes, not by its name")],
    sla_hours: Annotated[
        int, Form(ge=1, le=8760, description="hours until it must be decided", examples=[24])
    ] = DEFAULT_SLA_HOURS,
    source: Annotated[
        str, Form(max_length=100, description="where it comes from, for routing rules", examples=["email"])
    ] = "",
    definition: Annotated[
        str | None,
        Form(max_length=200, description="`ID`, `ID@VERSION` or `ID@ALIAS`; by default by the routing rules"),
    ] = None,
    key: Annotated[str | None, Form(description="as the header Idempotency-Key")] = None,
    idempotency_key: IdempotencyKey = None,
) -> DocumentOut:
    """Keep a document and start its run. Kept bytes are durable when this answers."""
    upload = Upload(
        chunks=_chunks(file),
        file_name=file.filename or "",
        media_type=file.content_type or UNKNOWN_MEDIA_TYPE,
        sla_hours=sla_hours,
        key=one_key(idempotency_key, key),
        source=source,
        definition=definition or None,
    )
    document = DocumentOut.model_validate(await documents.upload_document(app, who, upload))
    response.headers["Location"] = f"/v1/documents/{document.document_id}"
    return document


@router.get("/{document_id}", responses=problems(NotFound))
async def show_document(document_id: str, who: MayRead, app: AppDep) -> DocumentOut:
    """Show a document."""
    return DocumentOut.model_validate(await documents.show_document(app, who, document_id))


class ReadingOut(BaseModel):
    """The run that reads a document again; when it has ended, the document's fields are as it read them."""

    model_config = ConfigDict(from_attributes=True)

    run_id: str
    created: bool = Field(description="false: an earlier request with this key had started it")


@router.post("/{document_id}/extract", status_code=202, responses=problems(NotFound, KeyConflict, WrongState))
async def extract_again(
    document_id: str, who: MayReview, app: AppDep, idempotency_key: IdempotencyKey = None
) -> ReadingOut:
    """Read a document again with today's readers. Locked fields stay; what differs from them is proposed there.

    One that was decided is to be reopened first.
    """
    started = await reextraction.extract_again(app, who, document_id, key=idempotency_key)
    return ReadingOut.model_validate(started)


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk
