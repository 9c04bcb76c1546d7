"""Draining: workers stop together, within a bound, and a worker's own failure is raised."""

import asyncio
import uuid
from datetime import timedelta

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

from docrail.adapters.temporal.connection import connect, find_connection
from docrail.adapters.temporal.draining import working
from tests.stack import Servers


@pytest.fixture
async def client(embedded: Servers) -> Client:
    return await connect(find_connection(embedded.temporal_address, None, envconfig=False))


@workflow.defn(sandboxed=False)
class Holding:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity("hold", start_to_close_timeout=timedelta(minutes=5))


async def test_a_worker_that_does_not_drain_is_left_behind(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """In one stop of 600 Temporal's core never says that it has; an activity that will not end does the same."""
    held, gate = asyncio.Event(), asyncio.Event()

    @activity.defn
    async def hold() -> None:
        held.set()
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue

    queue = f"draining-{uuid.uuid4().hex}"
    worker = Worker(
        client,
        task_queue=queue,
        workflows=[Holding],
        activities=[hold],
    )
    async with working([worker], margin_seconds=0.2):
        run = await client.start_workflow(Holding.run, id=queue, task_queue=queue)
        await held.wait()
    assert "has not ended after its stop" in caplog.text
    gate.set()
    await run.terminate()


async def test_an_error_of_the_body_is_raised_unchanged_with_its_cause(client: Client) -> None:
    worker = Worker(client, task_queue=f"draining-{uuid.uuid4().hex}", workflows=[Holding])
    cause = ValueError("why")
    with pytest.raises(KeyError, match="mine") as raised:
        async with working([worker]):
            raise KeyError("mine") from cause
    assert raised.value.__cause__ is cause


async def test_a_worker_that_fails_ends_the_body(embedded: Servers) -> None:
    nowhere = await Client.connect(embedded.temporal_address, namespace="nowhere")
    worker = Worker(nowhere, task_queue=f"draining-{uuid.uuid4().hex}", workflows=[Holding])
    with pytest.raises(RuntimeError, match="nowhere"):
        async with working([worker]):
            await asyncio.Event().wait()
