"""Routes of documents: upload and list them, send failed ones again, read them again, get originals and page images."""

from collections.abc import AsyncIterator
from typing import Annotated, cast
from urllib.parse import quote

from fastapi import Depends, File, Form, Header, Path, Query, Request, Response, UploadFile
from pydantic import BaseModel, ConfigDict

from docrail.api.auth import MayRead, MayReview, MaySubmit
from docrail.api.downloads import BYTES, HEADERS, KEPT, binary, download
from docrail.api.errors import problems
from docrail.api.parameters import (
    After,
    AppDep,
    IdempotencyKey,
    InputsPart,
    Limit,
    Moment,
    Reason,
    SearchWords,
    inputs_of_part,
    one_key,
    only_known_parts,
)
from docrail.api.prefix_router import PrefixRouter
from docrail.invoices.extent import MAX_PAGES
from docrail.invoices.facts import DocumentType
from docrail.services.documents import originals
from docrail.services.documents import service as documents
from docrail.services.documents.models import Document
from docrail.services.documents.originals import PageWords
from docrail.services.documents.service import DOCUMENT_ID_PATTERN
from docrail.services.errors import KeyConflict, NotFound, WrongState
from docrail.services.inbox import service as inbox
from docrail.services.inbox.models import (
    STATUS_WORDS,
    DocumentCounts,
    DocumentFilter,
    DocumentPage,
    DocumentSort,
    DocumentStatus,
    ListedDocument,
    Neighbours,
)
from docrail.services.intake import service as intake
from docrail.services.intake.service import DEFAULT_SLA_HOURS, SOURCE_PATTERN, UNKNOWN_MEDIA_TYPE, Upload
from docrail.services.runs.service import KEY_PATTERN, StartedRun

CHUNK_BYTES = 2**18

router = PrefixRouter(prefix="/v1/documents", tags=["documents"])

Source = Annotated[
    str,
    Form(
        description="where it comes from, for routing rules",
        examples=["email"],
        json_schema_extra={"pattern": SOURCE_PATTERN},
    ),
]


@router.post("", status_code=202, responses=problems(NotFound, KeyConflict), dependencies=[Depends(only_known_parts)])
async def upload_document(
    who: MaySubmit,
    app: AppDep,
    response: Response,
    *,
    file: Annotated[
        UploadFile,
        File(
            description="the document; its type follows from its bytes, not from its name",
            json_schema_extra={"minLength": 1},
        ),
    ],
    sla_hours: Annotated[
        int, Form(ge=1, le=8760, description="hours until it must be decided", examples=[24])
    ] = DEFAULT_SLA_HOURS,
    source: Source = "",
    definition: Annotated[
        str | None,
        Form(max_length=200, description="`ID`, `ID@VERSION` or `ID@ALIAS`; by default by the routing rules"),
    ] = None,
    inputs: InputsPart = None,
    key: Annotated[
        str | None, Form(description="as the header Idempotency-Key", json_schema_extra={"pattern": KEY_PATTERN})
    ] = None,
    idempotency_key: IdempotencyKey = None,
) -> Document:
    """Store a document and start its run. The stored bytes are durable when this returns."""
    upload = Upload(
        chunks=chunks_of(file),
        file_name=file.filename or "",
        media_type=file.content_type or UNKNOWN_MEDIA_TYPE,
        sla_hours=sla_hours,
        key=one_key(idempotency_key, key),
        source=source,
        definition=definition or None,
        inputs=inputs_of_part(inputs),
    )
    document = await intake.upload_document(app, who, upload)
    response.headers["Location"] = f"/v1/documents/{document.document_id}"
    return document


Type = Annotated[DocumentType | None, Query(description="as its fields say; unread ones have none")]
Vendor = Annotated[
    SearchWords | None, Query(description="a VAT id, or how the vendor's name begins: only letters and digits count")
]
Words = Annotated[
    SearchWords | None,
    Query(
        description="part of the file name, the vendor's name or the invoice number, or the total; case does not "
        "count; one or two characters are looked for in the newest 10,000 documents"
    ),
]
Since = Annotated[Moment | None, Query(description="uploaded at that time or later")]
Until = Annotated[Moment | None, Query(description="uploaded before that time")]


@router.get("", responses=problems())
async def list_documents(
    who: MayRead,
    app: AppDep,
    *,
    status: Annotated[DocumentStatus | None, Query(description=STATUS_WORDS)] = None,
    document_type: Type = None,
    vendor: Vendor = None,
    text: Words = None,
    since: Since = None,
    until: Until = None,
    sort: Annotated[DocumentSort, Query(description="ones without the value come last")] = DocumentSort.NEWEST,
    limit: Limit = 100,
    after: After = None,
) -> DocumentPage:
    """List documents with their status, in the order of `sort`: latest upload first unless it says otherwise."""
    wanted = DocumentFilter(status, document_type, vendor, text, since, until)
    return await inbox.list_documents(app, who, wanted, sort=sort, limit=limit, after=after)


@router.get("/counts", responses=problems())
async def count_documents(
    who: MayRead,
    app: AppDep,
    *,
    document_type: Type = None,
    vendor: Vendor = None,
    text: Words = None,
    since: Since = None,
    until: Until = None,
) -> DocumentCounts:
    """Count documents by status."""
    return await inbox.count_documents(app, who, DocumentFilter(None, document_type, vendor, text, since, until))


@router.get("/{document_id}", responses=problems(NotFound))
async def show_document(document_id: str, who: MayRead, app: AppDep) -> Document:
    """Show a document."""
    return await documents.show_document(app, who, document_id)


@router.get("/{document_id}/neighbours", responses=problems(NotFound))
async def show_neighbours(
    document_id: str,
    who: MayRead,
    app: AppDep,
    *,
    status: Annotated[DocumentStatus | None, Query(description=STATUS_WORDS)] = None,
    document_type: Type = None,
    vendor: Vendor = None,
    text: Words = None,
    since: Since = None,
    until: Until = None,
    sort: Annotated[DocumentSort, Query(description="as in the list")] = DocumentSort.NEWEST,
    below: Annotated[
        str | None,
        Query(
            description="the look-alike that the document followed, which may have left the list: `next_below`",
            pattern=DOCUMENT_ID_PATTERN,
        ),
    ] = None,
) -> Neighbours:
    """Show the documents before and after one in a list, without those that others work on, and its place there.

    Documents that look alike follow the first of them.
    """
    wanted = DocumentFilter(status, document_type, vendor, text, since, until)
    return await inbox.show_neighbours(app, who, document_id, wanted, sort, below=below)


@router.post("/{document_id}/extract", status_code=202, responses=problems(NotFound, KeyConflict, WrongState))
async def extract_again(
    document_id: str, who: MayReview, app: AppDep, idempotency_key: IdempotencyKey = None
) -> StartedRun:
    """Read a document again with the current readers. Locked fields stay; differing values are proposed.

    A decided document must be reopened first.
    """
    return await intake.extract_again(app, who, document_id, key=idempotency_key)


@router.post("/{document_id}/send-again", responses=problems(NotFound, KeyConflict, WrongState))
async def send_again(document_id: str, who: MayReview, app: AppDep) -> ListedDocument:
    """Try a failed document again: its failed steps are retried. A dismissed one is read again."""
    return await inbox.send_again(app, who, document_id)


class DismissIn(BaseModel):
    """Why the failure needs no work."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "an advertisement"}]})

    reason: Reason = ""


@router.post("/{document_id}/dismiss", responses=problems(NotFound, WrongState))
async def dismiss_document(
    document_id: str, who: MayReview, app: AppDep, wanted: DismissIn | None = None
) -> ListedDocument:
    """Set the failure of a document aside. A run that waits because of it is aborted."""
    return await inbox.dismiss(app, who, document_id, wanted.reason if wanted else "")


async def chunks_of(file: UploadFile) -> AsyncIterator[bytes]:
    """Yield the content of a file."""
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk


PNG = "image/png"


async def _drawings_of(request: Request) -> originals.Drawings:
    return cast("originals.Drawings", request.app.state.drawings)


Page = Annotated[int, Path(ge=1, le=MAX_PAGES, description="counted from 1")]


@router.get(
    "/{document_id}/original",
    response_class=Response,
    responses=binary(BYTES, "the bytes as they were sent") | problems(NotFound),
)
async def download_original(document_id: str, who: MayRead, app: AppDep) -> Response:
    """Download a document as it was sent. It is not scanned: open it only if you trust its sender."""
    document, file = await originals.open_original(app, who, document_id)
    return download(file, f"attachment; filename*=UTF-8''{quote(document.file_name, safe='')}")


@router.get(
    "/{document_id}/pages/{number}.png",
    response_class=Response,
    responses=binary(PNG, "the page")
    | {304: {"description": "unchanged: `If-None-Match` has its `ETag`"}}
    | problems(NotFound, WrongState),
)
async def show_page(
    document_id: str,
    number: Page,
    who: MayRead,
    app: AppDep,
    drawings: Annotated[originals.Drawings, Depends(_drawings_of)],
    *,
    size: Annotated[
        originals.Size, Query(description="`small`: at most 0.09 megapixels, for a strip of pages")
    ] = "full",
    if_none_match: Annotated[str | None, Header(description="an `ETag` of this image")] = None,
) -> Response:
    """Show a page as an image of at most 2.2 megapixels.

    The `box` of a field refers to it: left, top, right and bottom edge, as fractions of its width and height from the
    top left.
    """
    page = await originals.draw_page(app, drawings, who, document_id, number, size)
    tag = f'"{page.tag}"'
    headers = HEADERS | {"ETag": tag, "Cache-Control": KEPT}
    if if_none_match and tag in (each.strip().removeprefix("W/") for each in if_none_match.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(page.data, media_type=PNG, headers=headers | {"Content-Disposition": "inline"})


@router.get("/{document_id}/pages/{number}/words", responses=problems(NotFound, WrongState))
async def show_words(document_id: str, number: Page, who: MayRead, app: AppDep) -> PageWords:
    """Show the words of a page and where they are on its image, in reading order; a scan's come from OCR."""
    return await originals.show_words(app, who, document_id, number)
