"""The workflow of an export: its activities in their order, on the real server. What they do is in tests/api."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from docrail.adapters.temporal.draining import working
from docrail.worker import workflow_runner
from docrail.workflows.contract.messages import ExportFailure, ExportRequest
from docrail.workflows.contract.names import EXPORT_TYPE, FAIL_EXPORT, MAKE_EXPORT, SEND_EXPORT
from docrail.workflows.exports import Export
from tests.workflows.conftest import Bench

Happened = list[tuple[str, str]]
"""The activities that ran, each with the export's id or the error that it records."""


@asynccontextmanager
async def export_worker(bench: Bench, *, refused: bool) -> AsyncIterator[Happened]:
    """Run a worker for exports to a webhook whose receiver may refuse them; yield what happens."""
    happened: Happened = []

    @activity.defn(name=MAKE_EXPORT)
    async def make_export(request: ExportRequest) -> bool:
        happened.append((MAKE_EXPORT, request.export_id))
        return True

    @activity.defn(name=SEND_EXPORT)
    async def send_export(request: ExportRequest) -> bool:
        happened.append((SEND_EXPORT, request.export_id))
        if refused:
            raise ApplicationError("answered 403", type="Refused", non_retryable=True)
        return True

    @activity.defn(name=FAIL_EXPORT)
    async def fail_export(failure: ExportFailure) -> None:
        happened.append((FAIL_EXPORT, failure.error))

    worker = Worker(
        bench.client,
        task_queue=bench.task_queue,
        workflows=[Export],
        activities=[make_export, send_export, fail_export],
        workflow_runner=workflow_runner(sandboxed=True),
    )
    async with working([worker]):
        yield happened


async def export(bench: Bench, *, refused: bool) -> Happened:
    """Make an export and replay its history."""
    request = ExportRequest(tenant_id="default", export_id="exp_1")
    queue = f"test-{uuid.uuid4().hex}"
    own = Bench(bench.client, queue, bench.gates, bench.recording)
    async with export_worker(own, refused=refused) as happened:
        handle = await own.client.start_workflow(EXPORT_TYPE, request, id=f"default/{queue}", task_queue=queue)
        await handle.result()
        await own.replay(handle)
    return happened


async def test_an_export_is_made_and_sent(bench: Bench) -> None:
    assert await export(bench, refused=False) == [(MAKE_EXPORT, "exp_1"), (SEND_EXPORT, "exp_1")]


async def test_an_export_that_cannot_be_sent_is_recorded_as_failed(bench: Bench) -> None:
    happened = await export(bench, refused=True)
    assert happened == [(MAKE_EXPORT, "exp_1"), (SEND_EXPORT, "exp_1"), (FAIL_EXPORT, "answered 403")]
