"""Serve the /metrics page: HTTP requests of this process, and totals of documents, models and reviews from PostgreSQL.

Requests are labelled by route template, because ids in paths must not become label values. The totals cover all
workers and survive restarts. A worker's own page has the same document and model metrics for that process alone: never
add the two up. Every API process shows the same totals: take the maximum, not the sum.

Straight-through rate: `docrail_straight_through_total{result="passes"}` over the sum of its results; its error rate:
`docrail_audit_sample_total{result="wrong"}` over the sum. Touch rate: touched decisions over all. Seconds per review:
`docrail_review_seconds_sum` over `docrail_review_seconds_count`.
"""

import time
from http import HTTPStatus

from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docrail.api.auth import MayReadTotals
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.totals.service import load_totals

UNMATCHED = "unmatched"

LABELS = ("method", "route", "status")

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

EVENT_STREAM = (b"content-type", b"text/event-stream; charset=utf-8")

router = PrefixRouter(tags=["health"])


class RequestMetrics:
    """ASGI middleware. Each app needs its own registry, so that several apps can live in one process."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._count = Counter("docrail_http_requests", "HTTP requests answered", LABELS, registry=registry)
        self._seconds = Histogram("docrail_http_request_seconds", "Seconds to answer", LABELS, registry=registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, and count the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)  # of a request that fails without a response

        ended: float | None = None  # of an answer that has no end: when it began

        async def observed(message: Message) -> None:
            nonlocal status, ended
            status = message.get("status", status)
            if EVENT_STREAM in message.get("headers", ()):
                ended = time.perf_counter()
            await send(message)

        began = time.perf_counter()
        try:
            await self._app(scope, receive, observed)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            labels = (method, _template(scope), str(status))
            self._count.labels(*labels).inc()
            self._seconds.labels(*labels).observe((ended or time.perf_counter()) - began)


@router.get("/metrics", response_class=Response, responses={**problems(), 200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, _: MayReadTotals, app: AppDep) -> Response:
    """Return metrics in Prometheus' text format: this process's responses, document outcomes, model costs, reviews."""
    page = b"".join(map(generate_latest, (request.app.state.registry, *await load_totals(app))))
    return Response(page, media_type=CONTENT_TYPE_LATEST)


def _template(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", UNMATCHED)
