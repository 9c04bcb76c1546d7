"""Send traces to an OpenTelemetry collector: from a request to the activities of the run that it starts.

A span says what took how long: its name, ids, route and status. It has no content: no query, header, error message or
value. Loaded only where a collector is set.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Status, format_span_id, format_trace_id, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from temporalio.contrib.opentelemetry import TracingInterceptor

from docrail import __version__

SHOWN = frozenset(
    {
        *("http.method", "http.request.method", "http.route", "http.status_code", "http.response.status_code"),
        *("temporalWorkflowID", "temporalRunID", "temporalActivityID", "temporalUpdateID"),
    }
)
"""The attributes of a span that leave the process."""

SEND_EVERY_MS = 1_000


@dataclass(frozen=True, slots=True)
class Tracing:
    """The traces of one process."""

    provider: TracerProvider

    @property
    def interceptor(self) -> TracingInterceptor:
        """Return what carries a trace through Temporal; of a client, also for the workers that use it."""
        made = TracingInterceptor(self.provider.get_tracer("docrail"))
        made.text_map_propagator = TraceContextTextMapPropagator()  # not the caller's baggage
        return made

    async def close(self) -> None:
        """Send what is left."""
        await asyncio.to_thread(self.provider.shutdown)


def open_tracing(service: str, endpoint: str, share: float) -> Tracing:
    """Begin to send the traces of this process to `endpoint`, by OTLP over HTTP.

    `share`: of those that the caller has not decided about, 0 to 1. A collector that does not answer costs spans only.
    """
    about = Resource.create({"service.name": service, "service.version": __version__})
    provider = TracerProvider(resource=about, sampler=ParentBased(TraceIdRatioBased(share)), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(_WithoutContent(exporter), schedule_delay_millis=SEND_EVERY_MS))
    return Tracing(provider)


def present_trace_ids() -> Mapping[str, str]:
    """Return the ids of the trace and the span that the code is in."""
    span = get_current_span().get_span_context()
    if not span.is_valid:
        return {}
    return {"trace_id": format_trace_id(span.trace_id), "span_id": format_span_id(span.span_id)}


class _WithoutContent(SpanExporter):
    """Exports what a span may say."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_without_content(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _without_content(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in SHOWN},
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
