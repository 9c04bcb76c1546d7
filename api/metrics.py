"""The /metrics page; counts and times requests for it by route template: ids in paths must not become label values."""

import asyncio
import time
from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.document_metrics import DocumentMetrics
from api.model_metrics import ModelTotals
from api.parameters import AppDep
from api.review_metrics import ReviewTotals
from operations.document_counts import load_document_counts
from operations.model_uses import load_totals
from operations.review_counts import load_review_totals

UNMATCHED = "unmatched"
LABELS = ("method", "route", "status")
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

router = APIRouter(tags=["health"])


class RequestMetrics:
    """ASGI middleware. Give it an app's own registry, so that several apps can live in one process."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._count = Counter("docrail_http_requests", "HTTP requests answered", LABELS, registry=registry)
        self._seconds = Histogram("docrail_http_request_seconds", "Seconds to answer", LABELS, registry=registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and count the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)  # of a request that dies before it is answered

        async def observed(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        began = time.perf_counter()
        try:
            await self._app(scope, receive, observed)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            labels = (method, _template(scope), str(status))
            self._count.labels(*labels).inc()
            self._seconds.labels(*labels).observe(time.perf_counter() - began)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, app: AppDep) -> Response:
    """Tell, in Prometheus' text format, what this process answered, how documents ended, what models cost."""
    asked = (load_document_counts(app), load_totals(app), load_review_totals(app))
    documents, models, reviews = await asyncio.gather(*asked)  # each may wait for a database that hangs
    collectors = (DocumentMetrics(documents), ModelTotals(models or ()), ReviewTotals(reviews))
    page = b"".join(map(generate_latest, (request.app.state.registry, *collectors)))
    return Response(page, media_type=CONTENT_TYPE_LATEST)


def _template(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", UNMATCHED)
