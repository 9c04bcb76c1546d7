"""Bound what forms cost: of their parts only files may be large, and their texts are UTF-8 (ADR 34).

The framework reads a form before anything else looks at it, in any encoding that Python knows: some take minutes for a
megabyte.
"""

from typing import Any

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from docrail.api.body_sizes import UPLOADS, upload_setting
from docrail.api.errors import FORM_TYPE, refusal
from docrail.api.middleware.body_limit import has_body
from docrail.services.errors import UnsupportedType

MOST_FILES, MOST_FIELDS, MOST_FIELD_BYTES = 10, 100, 64 * 2**10
"""Parts of one form, and bytes of each that is not a file: more than any route takes."""


class ReadableForms:
    """ASGI middleware. It refuses what is not a form on a route of files, or has texts in another encoding."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse it without reading its body."""
        if scope["type"] == "http" and has_body(scope) and upload_setting(scope["path"]) is not None:
            media_type = Headers(scope=scope).get("content-type", "")
            if media_type and not is_readable(media_type):
                await refusal(UnsupportedType(media_type, FORM_TYPE))(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_readable(media_type: str) -> bool:
    """Return whether a form of this type is read. The type is parsed as the framework does."""
    kind, options = parse_options_header(media_type)
    return kind == FORM_TYPE.encode() and options.get(b"charset", b"utf-8").lower() in (b"utf-8", b"utf8")


def close_forms(document: dict[str, Any]) -> dict[str, Any]:
    """Add to an OpenAPI document that forms have no other parts than those listed, and return it."""
    for path in UPLOADS:
        form = document["paths"][path]["post"]["requestBody"]["content"][FORM_TYPE]["schema"]["$ref"]
        document["components"]["schemas"][form.rpartition("/")[2]]["additionalProperties"] = False
    return document
