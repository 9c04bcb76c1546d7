"""Run a worker: connect, register workflows and activities, process tasks, and drain on SIGTERM.

In one file because it is the list of what a worker is made of.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.plugin import SimplePlugin
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkerDeploymentConfig, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from docrail import __version__
from docrail.activities.handler_tools import HandlerTools
from docrail.activities.internal.background import background_activities
from docrail.activities.internal.batches import batch_activities, window_activity
from docrail.activities.internal.chunk_ends import chunk_ends_activity
from docrail.activities.internal.dead_letters import dead_letter_activity
from docrail.activities.internal.deadlines import overdue_activity
from docrail.activities.internal.exports import export_activities
from docrail.activities.internal.filing import filing_activity
from docrail.activities.internal.groups import group_activity
from docrail.activities.internal.maintenance import maintenance_activities
from docrail.activities.internal.reviews import review_activities
from docrail.activities.internal.sla import sla_activity
from docrail.activities.internal.triggers import trigger_activity
from docrail.activities.internal.values import value_activities
from docrail.activities.registry import load_catalogue
from docrail.activities.report_together import ReportTogether
from docrail.activities.tenant_scope import TenantScope
from docrail.activities.wrapper import Attempts, missing_handler_activity
from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.client import HttpClient
from docrail.adapters.http.worker_pages import WorkerPages
from docrail.adapters.logs import configure_logs
from docrail.adapters.memory import keep_little, settle
from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.redaction import redacted_logs
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.secrets import SecretStore
from docrail.adapters.store.blobs import BlobStore, remove_copies
from docrail.adapters.store.renewal import BLOBS, VALUES, turns_in
from docrail.adapters.store.values import ValueStore
from docrail.adapters.temporal.connection import connect
from docrail.adapters.temporal.draining import working
from docrail.adapters.temporal.sdk_metrics import SdkMetrics
from docrail.adapters.temporal.turns import TurnExecutor
from docrail.handlers import Catalogue
from docrail.services.app import App
from docrail.services.callback_urls import CallbackUrls
from docrail.services.documents.originals import DrawAhead
from docrail.services.engine import engine_errors, temporal_unreachable
from docrail.services.errors import Unavailable
from docrail.services.exports.files import ExportFiles
from docrail.services.fleet.health import find_polling_fault
from docrail.services.fleet.store_identity import WrongStore, claim_store
from docrail.services.lake.files import SNAPSHOTS, Lake
from docrail.services.metrics import Metrics
from docrail.services.quotas.service import Quotas
from docrail.services.tools import Outside, Tools
from docrail.settings import Settings, missing_settings, unread_variables
from docrail.workflows.background import BackgroundTasks
from docrail.workflows.batch import Batch
from docrail.workflows.contract.names import VERSION_PREFIX, batch_queue, tag_queue
from docrail.workflows.document_chunk import DocumentChunk
from docrail.workflows.elsewhere import QueueOnly
from docrail.workflows.exports import Export
from docrail.workflows.maintenance import Maintenance, SlaWatch
from docrail.workflows.map_chunk import Chunk
from docrail.workflows.run import Run
from docrail.workflows.triggers import Trigger

if TYPE_CHECKING:
    from docrail.adapters.tracing import Tracing

PASSED_THROUGH = (
    "docrail.dag",
    "docrail.workflows.contract",
    "docrail.workflows.answer_validation",
    "docrail.workflows.driver",
    "docrail.workflows.driver_context",
    "docrail.workflows.elsewhere",
    "docrail.workflows.failures",
    "docrail.workflows.grouping",
    "docrail.workflows.lost_workers",
    "docrail.workflows.map_chunk_client",
    "docrail.workflows.notifications",
    "docrail.workflows.outcomes",
    "docrail.workflows.review_request",
    "docrail.workflows.start_step",
    "docrail.workflows.value_transfer",
    "jinja2",
    "markupsafe",
    "pydantic",
)
"""Modules that the workflow sandbox does not re-import for each run: they are pure, and checked to be."""


log = logging.getLogger(__name__)

CORE_LOGS = LoggingConfig(
    filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
    forwarding=LogForwardingConfig(logger=logging.getLogger("temporalio.core")),
)
"""Temporal's own log, through our formatter: it repeats failures of runs."""

BATCH_SLOTS = 1000
"""Batches that a worker keeps going at once: each waits for its runs, and costs little itself."""

DEFAULT_SLOTS = 100
"""Slots of each kind for workers that tests and benchmarks assemble."""


def build_workers(client: Client, settings: Settings, tools: Tools) -> list[Worker]:
    """Return a worker for all workflows and handlers, one for each resource tag that it serves, and one for batches."""
    catalogue = load_catalogue(settings.handlers)
    activities = handler_activities(catalogue, tools)
    grace = settings.graceful_shutdown_seconds
    deployment = deployment_of(settings)
    app = app_of(client, settings, tools, catalogue)
    on_queue = partial(assemble_activity_worker, client, graceful_shutdown_seconds=grace, deployment=deployment)
    main = assemble_worker(
        client,
        settings.task_queue,
        workflows=[Run, Chunk, DocumentChunk, Maintenance, SlaWatch, BackgroundTasks, Export, Batch, Trigger],
        activities=[
            *activities,
            *internal_activities(tools),
            *maintenance_activities(tools, app.store),
            *background_activities(app),
            *export_activities(app, tools.outside),
            *batch_activities(app, tools.outside),
            chunk_ends_activity(app),
            trigger_activity(app, settings.inbox_dir, tools.outside),
        ],
        sandboxed=settings.sandboxed,
        activity_slots=settings.worker_activity_slots,
        workflow_slots=settings.worker_workflow_slots,
        graceful_shutdown_seconds=grace,
        deployment=deployment,
    )
    tagged = [
        on_queue(
            tag_queue(settings.task_queue, tag),
            activities,
            per_second=settings.resource_limits[tag],
            activity_slots=settings.slots_of(tag),
        )
        for tag in settings.served_tags
    ]
    batches = on_queue(batch_queue(settings.task_queue), [window_activity(app)], activity_slots=BATCH_SLOTS)
    return [main, *tagged, batches]


def handler_activities(catalogue: Catalogue, tools: Tools) -> list[Callable[..., Any]]:
    """Return the activities of the handlers, and the fallback for missing ones.

    Broken handlers are logged and skipped.
    """
    for broken in catalogue.broken_handlers:
        log.error("this worker has no handler %r: %s", broken.name, broken)
    given = HandlerTools(tools)
    own = {
        handler.name: Attempts(handler, tools, given if handler.name in catalogue.outside else None)
        for handler in catalogue.values()
    }
    return [
        *(each.as_activity() for each in own.values()),
        group_activity(own),
        missing_handler_activity(catalogue.broken),
    ]


def internal_activities(tools: Tools) -> list[Callable[..., Any]]:
    """Return the activities that definitions cannot name."""
    return [
        *review_activities(tools),
        *value_activities(tools),
        dead_letter_activity(tools),
        overdue_activity(tools),
        sla_activity(tools),
        filing_activity(tools),
    ]


def app_of(client: Client, settings: Settings, tools: Tools, catalogue: Catalogue) -> App:
    """Return the resources that services need, from the worker's own."""
    store = settings.open_store()
    return App(
        db=tools.db,
        credentials=tools.db,  # a worker has no callers
        temporal=client,
        store=store,
        blobs=tools.blobs,
        values=tools.values,
        exports=ExportFiles(store.sub("exports")),
        catalogue=catalogue,
        reader=tools.reader,
        quotas=Quotas(settings.quotas),
        **settings.app_options,
    )


def deployment_of(settings: Settings) -> WorkerDeploymentConfig | None:
    """Return the build that a worker reports on all its queues.

    A run's rate-limited steps thus stay on its build too (ADR 15). None: the worker is unversioned, and takes the runs
    that are not assigned to a build.
    """
    if settings.build_id is None:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(settings.deployment, settings.build_id),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


def assemble_worker(
    client: Client,
    task_queue: str,
    workflows: Sequence[type],
    activities: Sequence[Callable[..., Any]],
    *,
    sandboxed: bool,
    activity_slots: int = DEFAULT_SLOTS,
    workflow_slots: int = DEFAULT_SLOTS,
    graceful_shutdown_seconds: float = 0,
    deployment: WorkerDeploymentConfig | None = None,
) -> Worker:
    """Return a worker with the settings that performed best on two cores (ADR 4)."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=workflows,
        activities=activities,
        workflow_runner=workflow_runner(sandboxed=sandboxed),
        interceptors=[QueueOnly(), TenantScope(), ReportTogether(activity_slots)],
        plugins=[version_plugin()],
        max_concurrent_workflow_tasks=workflow_slots,
        workflow_task_executor=TurnExecutor(workflow_slots),
        max_concurrent_activities=activity_slots,
        # Safe on this queue because it has no rate limit: eager activities bypass a queue's limit.
        max_eager_activity_reservations_per_workflow_task=50,
        # After a crash, the dead worker's runs wait this long before another worker gets them.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=5),
        graceful_shutdown_timeout=timedelta(seconds=graceful_shutdown_seconds),
        deployment_config=deployment,
    )


def assemble_activity_worker(
    client: Client,
    task_queue: str,
    activities: Sequence[Callable[..., Any]],
    *,
    per_second: float | None = None,
    activity_slots: int = DEFAULT_SLOTS,
    graceful_shutdown_seconds: float = 0,
    deployment: WorkerDeploymentConfig | None = None,
) -> Worker:
    """Return a worker for one queue's activities. It runs no workflows, so no step can bypass a resource tag's queue.

    `per_second`: the limit of a resource tag.
    """
    return Worker(
        client,
        task_queue=task_queue,
        activities=activities,
        interceptors=[TenantScope()],
        plugins=[version_plugin()],
        max_concurrent_activities=activity_slots,
        # Applies only while the queue has no limit of its own, which `docrail server migrate` and `up` set (ADR 8).
        max_task_queue_activities_per_second=per_second,
        graceful_shutdown_timeout=timedelta(seconds=graceful_shutdown_seconds),
        deployment_config=deployment,
    )


def version_plugin() -> SimplePlugin:
    """Return a plugin that does nothing: its name, with Docrail's version, is part of the worker's heartbeats."""
    return SimplePlugin(VERSION_PREFIX + __version__)


def workflow_runner(*, sandboxed: bool) -> WorkflowRunner:
    """Return the runner of workflow code.

    Temporal's sandbox detects forbidden calls, and costs a third of the speed.
    """
    if not sandboxed:
        return UnsandboxedWorkflowRunner()
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


@asynccontextmanager
async def open_tools(settings: Settings) -> AsyncIterator[Tools]:
    """Open the resources of handlers; close them, in order, at the end."""
    store = settings.open_store()
    blobs, values, lake = (store.sub(name) for name in ("blobs", "values", "lake"))
    for folder in (blobs, values, lake, store.sub("exports"), store.sub(SNAPSHOTS)):
        await asyncio.to_thread(folder.remove_leftovers)  # of workers that were killed while writing
    await asyncio.to_thread(remove_copies)  # of workers that were killed while reading
    pool = await open_pool(settings.database_url)
    metrics = Metrics()
    reader = DocumentReader(record=metrics.record_reading)
    kept = BlobStore(blobs, turns_in(pool, BLOBS)), ValueStore(values, turns_in(pool, VALUES))
    drawn_ahead = DrawAhead(kept[0], reader)
    try:
        await reader.start()
        with redacted_logs():
            yield Tools(
                pool,
                *kept,
                Lake(lake),
                reader,
                metrics,
                outside_of(settings),
                settings.keeping,
                settings.four_eyes_above,
                drawn_ahead,
            )
    finally:
        await drawn_ahead.close()
        await reader.close()
        await pool.close()


def outside_of(settings: Settings) -> Outside:
    """Return the handlers' access to external services. Empty variables count as unset."""
    key, url = settings.gemini_api_key, settings.notify_url
    return Outside(
        http=HttpClient(AllowedHosts.parse(settings.allowed_hosts)),
        secrets=SecretStore(settings.secrets_folder),
        gemini=GeminiAccess(
            api_key=key.get_secret_value() if key else None,
            base_url=settings.gemini_base_url or None,
            default_model=settings.gemini_model,
            prices=settings.price_table,
            budget_per_day=settings.gemini_budget_per_day,
            budget_per_tenant=settings.gemini_budget_per_tenant,
        ),
        notify_url=url.get_secret_value() if url else None,
        callbacks=CallbackUrls(settings.public_url, settings.callback_keys),
    )


async def serve(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then accept no new tasks and let running ones finish, within the grace period."""
    keep_little()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    of_sdk = SdkMetrics() if settings.worker_metrics_port else None
    tracing = settings.open_tracing("docrail-worker")
    client = await _connect(settings, of_sdk, tracing)
    async with open_tools(settings) as tools:
        try:
            await claim_store(tools.db, settings.open_store())
        except (WrongStore, OSError) as error:
            sys.exit(str(error))
        if of_sdk is not None:
            find_fault = partial(find_polling_fault, client, settings.task_queue)
            pages = WorkerPages(tools.metrics.registry, find_fault, settings.worker_hosts, load_others=of_sdk.load)
            await _serve(pages, settings.worker_metrics_host, settings.worker_metrics_port)
        async with working(build_workers(client, settings, tools)):
            settle()
            await stop.wait()
    if tracing is not None:
        await tracing.close()


async def _serve(pages: WorkerPages, host: str, port: int) -> None:
    try:
        await pages.serve(host, port)
    except OSError as error:
        sys.exit(
            f"DOCRAIL_WORKER_METRICS_PORT: cannot listen on {host}:{port} ({os.strerror(error.errno or 0)}): expected "
            "a free port, a different one for each worker of a machine"
        )


async def _connect(settings: Settings, of_sdk: SdkMetrics | None, tracing: "Tracing | None") -> Client:
    connection = settings.temporal_connection(tracing)
    runtime = Runtime(
        telemetry=TelemetryConfig(logging=CORE_LOGS, metrics=None if of_sdk is None else of_sdk.config),
        worker_heartbeat_interval=timedelta(seconds=settings.worker_heartbeat_seconds),
    )
    try:
        with engine_errors("namespace", connection.namespace):
            return await connect(connection, runtime=runtime)
    except Unavailable as error:
        sys.exit(temporal_unreachable(error, connection))


def main() -> None:
    """Run a worker with the settings of the environment."""
    settings = Settings()
    configure_logs(**settings.log_options)
    for line in missing_settings(settings):
        sys.stderr.write(f"docrail: {line}\n")
    os.umask(0o077)  # documents are no one else's to read
    asyncio.run(serve(settings))
    sys.stdout.flush()
    # Temporal's core may abort the interpreter's own exit (sdk-python issue 300); everything is closed by now.
    os._exit(0)


if __name__ == "__main__":
    for line in unread_variables(os.environ):
        sys.stderr.write(f"docrail: {line}\n")
    main()
