"""Send stored files to be saved, in pieces, as content that no browser shows or runs."""

from fastapi.responses import StreamingResponse

from docrail.adapters.store.checked import CheckedFile

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
"""Headers for untrusted content: browsers must not run, sniff or pass on any of it."""

KEPT, NOT_KEPT = "private, no-cache", "no-store"
"""Cache a page image privately, with revalidation on each use; never store an original."""

BYTES = "application/octet-stream"


def binary(media_type: str, description: str) -> dict[int | str, dict[str, object]]:
    """Return the description of a response that is not JSON."""
    return {
        200: {"description": description, "content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}
    }


def download(file: CheckedFile, disposition: str) -> StreamingResponse:
    """Return the response that sends the file."""
    headers = {"Content-Disposition": disposition, "Content-Length": str(file.size), "Cache-Control": NOT_KEPT}
    return StreamingResponse(file.pieces(), media_type=BYTES, headers=HEADERS | headers)
