"""Serve the console: one page for all of its addresses, and the files that it loads (ADR 38).

Vite builds them into `api/built`, from `console/`. They are read once, when the API starts.
"""

import mimetypes
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI, HTTPException, Request, Response
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

BUILT = Path(__file__).parent / "built"
ASSETS = "/assets/{name}"
PAGES = (
    "/",
    "/review/{review_id}",
    "/decide",
    "/decide/{review_id}",
    "/batches",
    "/batches/{batch_id}",
    "/exports",
    "/documents/{document_id}",
    "/runs",
    "/runs/{run_id}",
    "/failures",
    "/definitions",
    "/definitions/new",
    "/definitions/{definition_id}",
    "/definitions/{definition_id}/edit",
    "/operations",
    "/operations/{part}",
)
"""The addresses of the console's pages, as in its router; others that a browser opens get its page of status 404."""
NEVER_PAGES = ("/v1/", "/assets/", "/docs/")
"""Paths under which everything that does not exist is an error for programs."""

POLICY = (
    "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'nonce-{nonce}'; "  # the nonce: Mantine and the editor add <style> elements
    "img-src 'self' data:; "  # data: the editor's underlines are in its style sheet
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'"
)
ASSET_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",  # their names change with their content
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'",  # of workers
}
LASTING_HEADERS = ASSET_HEADERS | {"Cache-Control": "no-cache"}
NAMED_BY_CONTENT = re.compile(r"-[\w-]{8}\.\w+$")
ENCODINGS = {"br": ".br", "gzip": ".gz"}

NOT_BUILT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Docrail</title>
<h1>The console is not built</h1>
<p>The API works, but its pages are not built. In the checkout, run <code>make console</code>, then start it again.</p>
<p><a href="docs">API documentation</a></p>
</html>
"""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that the page loads, as it is and compressed."""

    body: bytes
    media_type: str
    is_immutable: bool
    compressed: Mapping[str, bytes] = field(default_factory=dict)

    def answer(self, accepted: str) -> Response:
        """Return the file in the smallest form that the client accepts."""
        headers = dict(ASSET_HEADERS if self.is_immutable else LASTING_HEADERS) | {"Vary": "Accept-Encoding"}
        wanted = {entry.partition(";")[0].strip() for entry in accepted.split(",")}
        for encoding, body in self.compressed.items():
            if encoding in wanted:
                return Response(body, media_type=self.media_type, headers=headers | {"Content-Encoding": encoding})
        return Response(self.body, media_type=self.media_type, headers=headers)


@dataclass(frozen=True, slots=True)
class Console:
    """The built console."""

    page: str | None
    """The HTML of its page; None if it is not built."""
    assets: Mapping[str, Asset]

    @classmethod
    def read(cls, folder: Path) -> "Console":
        """Read the built files."""
        index = folder / "index.html"
        if not index.exists():
            return cls(None, {})
        files = {path.name: path for path in (folder / "assets").iterdir()}
        return cls(index.read_text("utf-8"), {name: _asset(files, name) for name in files if not _is_compressed(name)})

    def show(self, request: Request, status: int = 200) -> Response:
        """Return the page, with a policy that allows this server's files and this answer's styles."""
        if self.page is None:
            return HTMLResponse(NOT_BUILT, 503, {"Cache-Control": "no-store"})
        nonce = secrets.token_urlsafe(16)
        base = urlsplit(str(request.app.state.public_url or request.base_url)).path.rstrip("/")
        page = self.page.replace('<base href="/"', f'<base href="{escape(base)}/"', 1)
        page = page.replace('name="csp-nonce" content=""', f'name="csp-nonce" content="{nonce}"', 1)
        headers = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY.format(nonce=nonce)}
        return HTMLResponse(page, status, headers)


def add_console(api: FastAPI) -> None:
    """Serve the console. Its pages are for people, and not part of the OpenAPI document."""
    console = Console.read(BUILT)

    async def page(request: Request) -> Response:
        return console.show(request)

    async def asset(request: Request) -> Response:
        found = console.assets.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return found.answer(request.headers.get("accept-encoding", ""))

    api.add_route(ASSETS, asset, include_in_schema=False)
    for path in PAGES:
        api.add_route(path, page, include_in_schema=False)
    api.router.default = NotFoundPage(console, api.router.default)


class NotFoundPage:
    """ASGI application for paths without a route: a browser that opens one sees the console's page for it."""

    def __init__(self, console: Console, otherwise: ASGIApp) -> None:
        self._console = console
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the page, or as the framework does."""
        is_page = scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith(NEVER_PAGES)
        if is_page and self._console.page is not None and "text/html" in Headers(scope=scope).get("accept", ""):
            await self._console.show(Request(scope), 404)(scope, receive, send)
        else:
            await self._otherwise(scope, receive, send)


def _asset(files: Mapping[str, Path], name: str) -> Asset:
    compressed = {
        encoding: files[name + suffix].read_bytes() for encoding, suffix in ENCODINGS.items() if name + suffix in files
    }
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(files[name].read_bytes(), media_type, bool(NAMED_BY_CONTENT.search(name)), compressed)


def _is_compressed(name: str) -> bool:
    return name.endswith(tuple(ENCODINGS.values()))
