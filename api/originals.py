"""Originals: the bytes of a document as they were sent, and pictures of its pages for who checks its fields."""

from typing import Annotated, cast
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Request, Response

from api.auth import MayRead
from api.errors import problems
from api.parameters import AppDep
from operations import originals
from operations.errors import NotFound, WrongState

MOST_PAGES = 50
"""As many are read."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
"""Of what strangers sent: no browser may run, guess or hand on anything of it."""
KEPT, NOT_KEPT = "private, no-cache", "no-store"
"""A picture, by the browser that asked, which asks each time whether it may still be seen; an original nowhere."""
PNG, BYTES = "image/png", "application/octet-stream"

router = APIRouter(prefix="/v1/documents", tags=["documents"])


async def _drawings_of(request: Request) -> originals.Drawings:
    return cast("originals.Drawings", request.app.state.drawings)


Page = Annotated[int, Path(ge=1, le=MOST_PAGES, description="counted from 1")]


def _of(media_type: str, said: str) -> dict[int | str, dict[str, object]]:
    return {200: {"description": said, "content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


@router.get(
    "/{document_id}/original",
    response_class=Response,
    responses=_of(BYTES, "the bytes as they were sent") | problems(NotFound),
)
async def download_original(document_id: str, who: MayRead, app: AppDep) -> Response:
    """Download a document as it was sent. It is not checked for anything: open it only if you trust its sender."""
    document, data = await originals.load_original(app, who, document_id)
    name = f"attachment; filename*=UTF-8''{quote(document.file_name, safe='')}"
    return Response(data, media_type=BYTES, headers=HEADERS | {"Content-Disposition": name, "Cache-Control": NOT_KEPT})


@router.get(
    "/{document_id}/pages/{number}.png",
    response_class=Response,
    responses=_of(PNG, "the page") | {304: {"description": "as `If-None-Match` says"}} | problems(NotFound, WrongState),
)
async def show_page(
    document_id: str,
    number: Page,
    who: MayRead,
    app: AppDep,
    drawings: Annotated[originals.Drawings, Depends(_drawings_of)],
    *,
    if_none_match: Annotated[str | None, Header(description="an `ETag` of this picture")] = None,
) -> Response:
    """Show a page as a picture of at most 2.2 megapixels.

    A field's `box` lies on it: left, top, right and bottom edge, as shares of its width and height, from its top left.
    """
    page = await originals.draw_page(app, drawings, who, document_id, number)
    tag = f'"{page.tag}"'
    headers = HEADERS | {"ETag": tag, "Cache-Control": KEPT}
    if if_none_match and tag in (each.strip().removeprefix("W/") for each in if_none_match.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(page.data, media_type=PNG, headers=headers | {"Content-Disposition": "inline"})
