"""A worker's page shows the metrics of Temporal's SDK, in the format that Prometheus asks for."""

import uuid
from collections.abc import Callable, Iterable
from datetime import timedelta

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from docrail.adapters.http.browsers import Hosts
from docrail.adapters.http.worker_pages import WorkerPages
from docrail.adapters.temporal.sdk_metrics import SdkMetrics
from docrail.services.metrics import Metrics
from tests.stack import Servers


@activity.defn
async def greet() -> str:
    return "hi"


@workflow.defn(name="Greeting")
class Greeting:
    @workflow.run
    async def run(self) -> str:
        return await workflow.execute_activity(greet, start_to_close_timeout=timedelta(seconds=10))


async def no_fault() -> str | None:
    return None


async def page_of_a_greeting(temporal_address: str, queue: str, accept: str = "text/plain") -> str:
    """Run a workflow with one activity, and return its worker's page."""
    of_sdk = SdkMetrics()
    runtime = Runtime(telemetry=TelemetryConfig(metrics=of_sdk.config))
    client = await Client.connect(temporal_address, runtime=runtime)
    pages = WorkerPages(Metrics().registry, no_fault, Hosts(), load_others=of_sdk.load)
    server = await pages.serve("127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/metrics"
    runner = UnsandboxedWorkflowRunner()
    async with (
        server,
        Worker(client, task_queue=queue, workflows=[Greeting], activities=[greet], workflow_runner=runner),
        httpx.AsyncClient(trust_env=False) as http,
    ):
        await client.execute_workflow(Greeting.run, id=queue, task_queue=queue)
        return (await http.get(address, headers={"Accept": accept})).text


@pytest.mark.parametrize(
    ("accept", "parse"),
    [("text/plain", parse_text), ("application/openmetrics-text;version=1.0.0", parse_openmetrics)],
)
async def test_a_workers_page_shows_what_the_sdk_counts(
    embedded: Servers, accept: str, parse: Callable[[str], Iterable[Metric]]
) -> None:
    queue = f"counted-{uuid.uuid4().hex}"
    found = [
        each
        for family in parse(await page_of_a_greeting(embedded.temporal_address, queue, accept))
        for each in family.samples
    ]
    ended = [each for each in found if each.name == "temporal_workflow_completed_total"]
    assert [(each.labels["workflow_type"], each.value) for each in ended] == [("Greeting", 1)]
    latency = [each for each in found if each.name == "temporal_activity_execution_latency_seconds_count"]
    assert [(each.labels["task_queue"], each.value) for each in latency] == [(queue, 1)]


async def test_without_an_answer_of_the_sdk_the_page_shows_the_rest() -> None:
    assert list(await SdkMetrics().load()) == []
