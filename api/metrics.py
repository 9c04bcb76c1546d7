"""Serve the /metrics page: HTTP requests of this process, and totals of documents, models and reviews from PostgreSQL.

Requests are labelled by route template, because ids in paths must not become label values. The totals cover all
workers and survive restarts. A worker's own page has the same document and model metrics for that process alone: never
add the two up. Every API process shows the same totals: take the maximum, not the sum.

Straight-through rate: `docrail_straight_through_total{result="passes"}` over the sum of its results; its error rate:
`docrail_audit_sample_total{result="wrong"}` over the sum. Touch rate: touched decisions over all. Seconds per review:
`docrail_review_seconds_sum` over `docrail_review_seconds_count`.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import get_args

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import INF, floatToGoString
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docrail.adapters.postgres.tenants import all_tenants
from docrail.api.auth import MayReadTotals
from docrail.api.errors import problems
from docrail.api.gauges import load_gauges
from docrail.api.parameters import AppDep
from docrail.services.app import in_time
from docrail.services.batches.service import count_all_open
from docrail.services.document_outcomes import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome
from docrail.services.documents.models import DocumentCount
from docrail.services.documents.service import load_counts
from docrail.services.reviews.items import load_review_counts
from docrail.services.reviews.models import (
    CORRECTIONS,
    DECISIONS,
    REVIEWED,
    SAMPLED,
    SECONDS,
    SLA,
    STRAIGHT_THROUGH,
    TOUCHED,
    ReviewCount,
)
from docrail.services.usage.models import ModelTotal
from docrail.services.usage.service import load_model_totals

UNMATCHED = "unmatched"

LABELS = ("method", "route", "status")

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

EVENT_STREAM = (b"content-type", b"text/event-stream; charset=utf-8")

router = APIRouter(tags=["health"])


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
    # In parallel: each may wait for a database that hangs.
    with all_tenants():  # the totals name none of them
        documents, models, reviews, batches, gauges = await asyncio.gather(
            in_time(load_counts(app.db)),
            in_time(load_model_totals(app.db)),
            in_time(load_review_counts(app.db)),
            in_time(count_all_open(app)),
            load_gauges(app),
        )
    totals = (DocumentMetrics(documents), ModelTotals(models or ()), ReviewTotals(reviews), BatchTotals(batches))
    page = b"".join(map(generate_latest, (request.app.state.registry, *totals, gauges)))
    return Response(page, media_type=CONTENT_TYPE_LATEST)


def _template(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", UNMATCHED)


@dataclass(frozen=True, slots=True)
class DocumentMetrics(Collector):
    """The document metrics of one scrape. Created for each scrape, so that concurrent scrapes share nothing."""

    counts: Sequence[DocumentCount] | None
    """None: PostgreSQL did not answer. The document metrics are then omitted, because a 0 would look like a restart."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        up = self.counts is not None
        yield GaugeMetricFamily("docrail_database_up", "1 if PostgreSQL answered, else 0", value=up)
        if self.counts is not None:
            yield _processed(self.counts)
            yield _histogram(
                "processing_duration_seconds",
                "Time from a document's upload until it is counted, of all workers",
                SECONDS_BUCKETS,
                [(count.seconds_le, count.documents) for count in self.counts],
                sum(count.seconds_sum for count in self.counts),
            )
            yield _histogram(
                "extraction_confidence",
                "Overall confidence of an extraction, 0 to 1, of all workers",
                CONFIDENCE_BUCKETS,
                [(count.confidence_le, count.documents) for count in self.counts if count.confidence_le is not None],
                sum(count.confidence_sum for count in self.counts),
            )


def _processed(counts: Iterable[DocumentCount]) -> Metric:
    totals = dict.fromkeys(get_args(Outcome), 0)  # start at 0: rates need a first point
    for count in counts:
        totals[count.outcome] += count.documents
    family = CounterMetricFamily(
        "documents_processed", "Finished documents, by outcome, of all workers", labels=["status"]
    )
    for outcome, documents in totals.items():
        family.add_metric([outcome], documents)
    return family


def _histogram(
    name: str, description: str, bounds: Sequence[float], found: Sequence[tuple[float, int]], total: float
) -> Metric:
    """Return a histogram of the counts in `found`, by smallest upper bound.

    Counts under a bound of an earlier release that no longer exists are added to the next larger bound.
    """
    buckets = [
        (_label(bound), sum(documents for least, documents in found if least <= bound)) for bound in (*bounds, INF)
    ]
    return HistogramMetricFamily(name, description, buckets=buckets, sum_value=total)


def _label(bound: float) -> str:
    """Return a bound in the format of prometheus_client's own histograms, as on the workers' pages."""
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class ModelTotals(Collector):
    """The model metrics of one scrape. Empty if PostgreSQL did not answer: a 0 would look like a restart."""

    totals: Sequence[ModelTotal]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        answers = CounterMetricFamily(
            "model_answers", "Answers that were paid for, of all workers", labels=["model", "outcome"]
        )
        tokens = CounterMetricFamily(
            "model_tokens", "Tokens by model and kind, of all workers", labels=["model", "kind"]
        )
        cost = CounterMetricFamily(
            "model_cost", "Cost of answers, in the price table's currency, of all workers", labels=["model"]
        )
        for total in self.totals:
            answers.add_metric([total.model, total.outcome], total.answers)
        for model in dict.fromkeys(total.model for total in self.totals):
            of_model = [total for total in self.totals if total.model == model]
            for kind in ("input", "output", "thinking"):
                tokens.add_metric([model, kind], sum(getattr(total, f"{kind}_tokens") for total in of_model))
            cost.add_metric([model], float(sum(total.cost for total in of_model)))
        yield from (answers, tokens, cost)


@dataclass(frozen=True, slots=True)
class BatchTotals(Collector):
    """The metrics of batches of one scrape."""

    documents: Mapping[str, int] | None
    """None: PostgreSQL did not answer. The metric is then omitted."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        if self.documents is not None:
            family = GaugeMetricFamily(
                "docrail_batch_documents", "Documents of batches that wait for their turn, or run", labels=["state"]
            )
            for state, documents in self.documents.items():
                family.add_metric([state], documents)
            yield family


COUNTERS = {
    DECISIONS: ("docrail_review_decisions", "Documents that people decided", "outcome", ("approved", "rejected")),
    TOUCHED: (
        "docrail_review_touched_decisions",
        "Those among them in which a person corrected a field",
        "outcome",
        ("approved", "rejected"),
    ),
    CORRECTIONS: ("docrail_review_corrections", "Values that people corrected, by field", "field", ()),
    STRAIGHT_THROUGH: (
        "docrail_straight_through",
        "Documents by whether they passed, or in shadow mode would have passed, without a person",
        "result",
        ("passes", "held"),
    ),
    SAMPLED: (
        "docrail_audit_sample",
        "Decided documents of straight-through's audit sample, by whether a person found something wrong",
        "result",
        ("right", "wrong"),
    ),
    SLA: ("docrail_review_sla_events", "Review items that used a share of their SLA", "percent", ("50", "80", "100")),
}
"""For each total: the metric, its description, its label, and the label values that start at 0."""


@dataclass(frozen=True, slots=True)
class ReviewTotals(Collector):
    """The review metrics of one scrape."""

    counts: Sequence[ReviewCount] | None
    """None: PostgreSQL did not answer. The metrics are then omitted, because a 0 would look like a restart."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for prometheus_client."""
        if self.counts is None:
            return
        for name, (metric, description, label, values) in COUNTERS.items():
            family = CounterMetricFamily(metric, description, labels=[label])
            for value, total in (dict.fromkeys(values, 0.0) | self._totals(name)).items():
                family.add_metric([value], total)
            yield family
        yield SummaryMetricFamily(
            "docrail_review_seconds",
            "From the claim of a document to its decision",
            count_value=self._totals(REVIEWED).get("", 0.0),  # type: ignore[arg-type]  # a whole number, as a float
            sum_value=self._totals(SECONDS).get("", 0.0),
        )

    def _totals(self, name: str) -> dict[str, float]:
        return {count.label: count.total for count in self.counts or () if count.name == name}
