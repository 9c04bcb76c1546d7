"""Authenticate a request before its body is read: the framework would read and parse the body first."""

from typing import cast

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from docrail.api.auth import current_principal
from docrail.api.errors import CALLBACKS_PATH, UNAVAILABLE, refusal, unavailable
from docrail.api.middleware.body_limit import has_body
from docrail.services.app import App
from docrail.services.errors import OperationError
from docrail.services.runs.callbacks import check_token

SIGN_IN_PATH = "/v1/session"
"""Its body, of few bytes, has the credentials."""


class AuthenticateFirst:
    """ASGI middleware. Requests without a body pass: their routes authenticate them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse it without reading its body."""
        try:
            if scope["type"] == "http" and has_body(scope) and scope["path"] != SIGN_IN_PATH:
                await _authenticate(Request(scope))
        except OperationError as error:
            await refusal(error)(scope, receive, send)
        except UNAVAILABLE as error:
            await unavailable(error)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def _authenticate(request: Request) -> None:
    """Check the credentials, or the signature of a callback URL. Raises: Unauthenticated, CrossSite, NotFound, ..."""
    app, path = cast("App", request.app.state.app), request.scope["path"]
    if path.startswith(CALLBACKS_PATH):
        check_token(app, path.removeprefix(CALLBACKS_PATH))
    else:
        request.state.principal = await current_principal(request, app)
