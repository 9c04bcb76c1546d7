"""Answer HEAD, OPTIONS and wrong methods on every path by the methods that its routes have."""

from collections.abc import Iterable

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

IS_HEAD = "docrail.head"
"""In the scope of a HEAD request: an answer without end must end at once, as the server sends nothing of it."""


class HeadAsGet:
    """ASGI middleware. The server sends the headers of a GET, and no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a HEAD request as GET, and other requests as they are."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        as_get = {**scope, "method": "GET", IS_HEAD: True}
        await self._app(as_get, receive, send)
        scope.update({name: as_get[name] for name in ("route",) if name in as_get})  # for the metrics


def allowed_methods(routes: Iterable[BaseRoute], scope: Scope) -> list[str]:
    """Return the methods of all routes that match the request's path, sorted; OPTIONS is answered on each."""
    found, scope = {"OPTIONS"}, {**scope, "root_path": scope.get("app_root_path", scope.get("root_path", ""))}
    for route in iter_route_contexts([*routes]):
        match, _ = route.matches(scope)
        if match is not Match.NONE:
            found |= route.methods or {"GET"}  # mounted files have no list
    return sorted(found | ({"HEAD"} if "GET" in found else set()))
