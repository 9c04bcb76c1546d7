"""With a collector set, a request's trace reaches the activities of its run, and their log lines. It has no content."""

import json
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from docrail.adapters.logs import JsonFormatter
from docrail.adapters.temporal.connection import connect, find_connection
from docrail.adapters.temporal.draining import working
from docrail.dag.values.json_values import Json
from docrail.settings import Settings
from docrail.worker import build_workers, open_tools
from tests.api.service import Service, serve, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

SAY_IT = '''"""Log that it was called, and return the value."""

import logging

from pydantic import BaseModel

from docrail import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid"):
    value: str


class Output(BaseModel):
    value: str


async def run(call: StepCall[Config], tools: Tools) -> Output:
    logging.getLogger("own").warning("called")
    return Output(value=call.config.value)


HANDLER = Handler("say_it", Config, Output, run)
'''
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE_ID, CALLERS_SPAN = CALLER.split("-")[1:3]


@dataclass
class Collector:
    """A collector's receiver: what it was sent, by service."""

    url: str
    spans: list[tuple[str, Span]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def named(self, name: str) -> list[Span]:
        return [span for _, span in self.spans if span.name == name]


@contextmanager
def collecting() -> Iterator[Collector]:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = ExportTraceServiceRequest.FromString(body)
            collector.bodies.append(body)
            for resource in request.resource_spans:
                (service,) = (
                    each.value.string_value for each in resource.resource.attributes if each.key == "service.name"
                )
                collector.spans += [(service, span) for scope in resource.scope_spans for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Traced:
    service: Service
    collector: Collector


@pytest.fixture(scope="module")
async def traced(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Traced]:
    folder = tmp_path_factory.mktemp("traced")
    (folder / "own").mkdir()
    (folder / "own" / "say_it.py").write_text(SAY_IT)
    with collecting() as collector:
        async with migrated_database(embedded.dsn) as dsn:
            settings = settings_for(embedded.temporal_address, dsn, folder).model_copy(
                update={"traces_endpoint": collector.url, "handlers": (str(folder / "own"),)}
            )
            async with serve(settings) as service, tracing_worker(settings):
                yield Traced(service, collector)


@asynccontextmanager
async def tracing_worker(settings: Settings) -> AsyncIterator[None]:
    """Run a worker as worker.py does, with Temporal's sandbox."""
    tracing = settings.open_tracing("docrail-worker")
    assert tracing is not None
    connection = find_connection(settings.temporal_address, None, envconfig=False)
    client = await connect(replace(connection, interceptors=(tracing.interceptor,)))
    async with open_tools(settings) as tools, working(build_workers(client, settings, tools)):
        yield
    await tracing.close()


@contextmanager
def logged() -> Iterator[list[dict[str, Json]]]:
    """Give the lines of a process whose log is JSON."""
    lines: list[dict[str, Json]] = []
    formatter = JsonFormatter(trace_ids=Settings(traces_endpoint="http://127.0.0.1:1").trace_ids)

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(formatter.format(record)))

    handler = Keep()
    logging.getLogger("own").addHandler(handler)
    try:
        yield lines
    finally:
        logging.getLogger("own").removeHandler(handler)


async def test_a_trace_leads_from_the_request_to_the_activity_and_its_log(traced: Traced) -> None:
    secret = f"content-{secrets.token_hex(8)}"
    definition = {"id": "says", "steps": [{"id": "say", "handler": "say_it", "config": {"value": secret}}]}
    headers = {"traceparent": CALLER, "baggage": f"note={secret}"}
    http = traced.service.http
    with logged() as lines:
        started = await http.post(f"/v1/runs?note={secret}", json={"definition": definition}, headers=headers)
        assert started.status_code == 422  # an unknown parameter: this request has a span without content, too
        started = await http.post("/v1/runs", json={"definition": definition}, headers=headers)
        run_id = started.json()["run_id"]
        await traced.service.ended(run_id)
    collector = traced.collector
    await eventually(lambda: len(collector.named("RunActivity:say_it")) > 0, "the spans of the run")
    (activity,) = collector.named("RunActivity:say_it")
    await eventually(lambda: len(chain(collector, activity)) == 4, "the spans around it")
    assert [(service, span.name) for service, span in chain(collector, activity)] == [
        ("docrail-worker", "RunActivity:say_it"),
        ("docrail-worker", "StartActivity:say_it"),
        ("docrail-api", "StartWorkflow:Run"),
        ("docrail-api", "POST /v1/runs"),
    ]
    *_, (_, started_run), (_, request) = chain(collector, activity)
    assert started_run.span_id in {span.parent_span_id for span in collector.named("RunWorkflow:Run")}
    assert request.parent_span_id.hex() == CALLERS_SPAN
    (line,) = lines
    assert (line["trace_id"], line["span_id"]) == (TRACE_ID, activity.span_id.hex())
    assert (line["run_id"], line["step_id"], line["tenant_id"]) == (run_id, "say", "default")
    assert not [body for body in collector.bodies if secret.encode() in body]


def chain(collector: Collector, span: Span) -> list[tuple[str, Span]]:
    """Return the span and the spans around it, from the inside, as far as they have arrived."""
    around = {each.span_id: (service, each) for service, each in collector.spans if each.trace_id.hex() == TRACE_ID}
    found = []
    while span.span_id in around:
        found.append(around[span.span_id])
        if span.parent_span_id not in around:
            break
        span = around[span.parent_span_id][1]
    return found


async def test_a_failed_step_sends_its_error_to_no_collector(traced: Traced) -> None:
    secret = f"content-{secrets.token_hex(8)}"
    step = {"id": "bad", "handler": "fail", "config": {"times": 9, "message": secret}, "max_retries": 0}
    started = await traced.service.http.post("/v1/runs", json={"definition": {"id": "fails", "steps": [step]}})
    await traced.service.closed(started.json()["run_id"])
    await eventually(lambda: len(traced.collector.named("RunActivity:fail")) > 0, "the span of the failed step")
    assert not [body for body in traced.collector.bodies if secret.encode() in body]


async def test_a_probe_has_no_span(traced: Traced) -> None:
    await traced.service.http.get("/healthz")
    answered = await traced.service.http.get("/v1/handlers")
    assert answered.status_code == 200
    await eventually(lambda: len(traced.collector.named("GET /v1/handlers")) > 0, "the request's span")
    assert traced.collector.named("GET /healthz") == []


async def test_without_a_collector_nothing_is_traced(service: Service) -> None:
    assert service.settings.open_tracing("docrail-api") is None
    assert service.settings.trace_ids() == {}
