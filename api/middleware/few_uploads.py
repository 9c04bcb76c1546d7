"""Bound how many uploads are received and handled at once: each holds memory and space for temporary files (ADR 34)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from docrail.api.body_sizes import upload_setting
from docrail.api.errors import refusal
from docrail.api.middleware.body_limit import has_body
from docrail.services.access.models import Principal
from docrail.services.errors import Busy, OperationError, QuotaExceeded

PAUSE_SECONDS = 2.0
"""When a refused upload is sent again."""


@dataclass(frozen=True, slots=True)
class Most:
    """How many uploads there may be at once: of one tenant fewer, so that it keeps no other one out."""

    of_all: int
    of_tenant: int


MOST: Mapping[str, Most] = {"max_upload_bytes": Most(64, 24), "max_zip_bytes": Most(6, 2)}
"""By the setting that limits their size. A client of ours sends eight documents at once, or one zip file."""


class FewUploads:
    """ASGI middleware. It expects that the caller has been authenticated, and refuses an upload before it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = Counter[tuple[str, str]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, or refuse it without reading its body."""
        setting = upload_setting(scope["path"]) if scope["type"] == "http" and has_body(scope) else None
        if setting is None:
            await self._app(scope, receive, send)
            return
        tenant_id = cast("Principal", Request(scope).state.principal).tenant_id
        try:
            self._check_room(setting, tenant_id)
        except OperationError as error:
            await refusal(error)(scope, receive, send)
            return
        self._open[setting, tenant_id] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[setting, tenant_id] -= 1
            self._open += Counter()  # forgets tenants without uploads

    def _check_room(self, setting: str, tenant_id: str) -> None:
        """Raise QuotaExceeded if the tenant has too many uploads open, Busy if all tenants together have."""
        most = MOST[setting]
        if self._open[setting, tenant_id] >= most.of_tenant:
            raise QuotaExceeded("uploads_at_once", most.of_tenant, "the tenant", PAUSE_SECONDS)
        if sum(count for (each, _), count in self._open.items() if each == setting) >= most.of_all:
            raise Busy
