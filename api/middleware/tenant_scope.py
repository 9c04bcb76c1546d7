"""Begin every request outside of every tenant; the authentication of its caller enters one (`api/auth.py`)."""

from starlette.types import ASGIApp, Receive, Scope, Send

from docrail.adapters.log_context import busy_with
from docrail.adapters.postgres.tenants import no_tenant


class TenantScope:
    """ASGI middleware. A server may start a request in the context of the one before it on the same connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        with no_tenant(), busy_with({}):
            await self._app(scope, receive, send)
