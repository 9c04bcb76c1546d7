"""The workflow of a batch on a real server: its rounds, rests and signals, and the replay of what it once did."""

import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowHandle, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, Worker

from docrail.worker import workflow_runner
from docrail.workflows.batch import Batch
from docrail.workflows.contract.messages import BatchRequest, BatchRest, BatchRound, BatchWebhookFailure
from docrail.workflows.contract.names import (
    BATCH_TYPE,
    CHANGED,
    FAIL_BATCH_WEBHOOK,
    KEEP_WINDOW,
    NOTIFY_BATCH,
    batch_queue,
)
from tests.stack import Servers, eventually
from tests.workflows.conftest import without_stack_traces

HISTORIES = Path(__file__).parents[1] / "histories" / "batches"
REQUEST = BatchRequest(tenant_id="acme", batch_id="bat_" + "0" * 26)


class Script:
    """Stands in for the activities: its rounds are written, and the last one is repeated."""

    def __init__(self, *rounds: BatchRound) -> None:
        self.rounds = [*rounds]
        self.done = 0
        self.failures: list[str] = []

    def window(self) -> Callable[..., Any]:
        @activity.defn(name=KEEP_WINDOW)
        async def keep_window(_: BatchRequest) -> BatchRound:
            self.done += 1
            return self.rounds[min(self.done, len(self.rounds)) - 1]

        return keep_window

    def activities(self) -> list[Callable[..., Any]]:
        @activity.defn(name=NOTIFY_BATCH)
        async def notify(_: BatchRequest) -> None:
            raise ApplicationError("the host is not allowed", non_retryable=True)

        @activity.defn(name=FAIL_BATCH_WEBHOOK)
        async def fail(failure: BatchWebhookFailure) -> None:
            self.failures.append(failure.error)

        return [notify, fail]


@asynccontextmanager
async def started(servers: Servers, script: Script, **more: int) -> AsyncIterator[WorkflowHandle[Any, None]]:
    client = await Client.connect(servers.temporal_address, data_converter=pydantic_data_converter, identity="recorded")
    queue = f"batch-{uuid.uuid4().hex}"
    runner = workflow_runner(sandboxed=True)
    async with (
        Worker(client, task_queue=queue, workflows=[Batch], activities=script.activities(), workflow_runner=runner),
        Worker(client, task_queue=batch_queue(queue), activities=[script.window()]),
    ):
        request = REQUEST.model_copy(update=more)
        yield await client.start_workflow(BATCH_TYPE, request, id=f"batch-{uuid.uuid4().hex}", task_queue=queue)


MORE, IDLE, OVER = (BatchRound(rest=rest) for rest in BatchRest)


async def test_a_batch_rests_until_a_signal_and_reports_a_message_that_was_refused(
    embedded: Servers, request: pytest.FixtureRequest
) -> None:
    script = Script(MORE, IDLE, IDLE, OVER.model_copy(update={"has_webhook": True}))
    async with started(embedded, script) as handle:
        for number in (2, 3):
            await eventually(lambda number=number: script.done == number, "the batch to rest")  # type: ignore[misc]
            await handle.signal(CHANGED, "append")
        await handle.result()
        assert script.failures == ["the host is not allowed"]
        if request.config.getoption("--record-histories"):
            HISTORIES.mkdir(exist_ok=True)
            history = without_stack_traces(json.loads((await handle.fetch_history()).to_json()))
            (HISTORIES / "rests_and_ends.json").write_text(json.dumps(history, indent=1, sort_keys=True) + "\n")


async def test_a_long_batch_continues_as_a_new_workflow(embedded: Servers) -> None:
    script = Script(*[MORE] * 7, OVER)
    async with started(embedded, script, most_rounds=3) as handle:
        await handle.result()
        assert script.done == 8
        first = await handle.fetch_history()
    names = [event.WhichOneof("attributes") for event in first.events]
    assert names.count("activity_task_completed_event_attributes") <= 3


async def test_a_batch_is_looked_at_again_when_its_deadline_passes(embedded: Servers) -> None:
    script = Script(BatchRound(rest=BatchRest.IDLE, seconds=0.1), OVER)
    async with started(embedded, script) as handle:
        await handle.result()
    assert script.done == 2


@pytest.mark.parametrize("sandboxed", [True, False], ids=["sandboxed", "unsandboxed"])
@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
async def test_a_recorded_batch_is_replayed(path: Path, sandboxed: bool) -> None:
    replayer = Replayer(
        workflows=[Batch],
        data_converter=pydantic_data_converter,
        workflow_runner=workflow_runner(sandboxed=sandboxed),
    )
    await replayer.replay_workflow(WorkflowHistory.from_json("recorded", path.read_text()))


def test_there_is_a_recorded_batch() -> None:
    assert [path.stem for path in HISTORIES.glob("*.json")] == ["rests_and_ends"]
