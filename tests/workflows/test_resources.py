"""Limited resources and priorities in a run: which task queue a step goes to, how it goes first, how workers drain."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes
from temporalio.client import WorkflowHandle
from temporalio.worker import Worker

from docrail.activities.wrapper import Attempts
from docrail.adapters.temporal.draining import working
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools
from docrail.settings import Settings
from docrail.worker import assemble_activity_worker, assemble_worker, build_workers
from docrail.workflows.contract.names import tag_queue
from docrail.workflows.run import Run
from tests.workflows.conftest import Bench, Values, step, tools_in

NO_TOOLS = cast(Tools, None)
TAG = "gemini_api"
GRACE_SECONDS = 20


def tag_worker(bench: Bench, handlers: Sequence[Handler], tag: str = TAG) -> Worker:
    activities = [Attempts(handler, NO_TOOLS).as_activity() for handler in handlers]
    queue = tag_queue(bench.task_queue, tag)
    return assemble_activity_worker(
        bench.client, queue, activities, per_second=1000, graceful_shutdown_seconds=GRACE_SECONDS
    )


async def scheduled(handle: WorkflowHandle[Run, RunReport]) -> dict[str, ActivityTaskScheduledEventAttributes]:
    """Return what Temporal was asked to run, by step."""
    kind = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    events = [event async for event in handle.fetch_history_events() if event.event_type == kind]
    found = [event.activity_task_scheduled_event_attributes for event in events]
    return {attributes.activity_id: attributes for attributes in found}


async def test_a_tagged_step_goes_to_its_own_queue(bench: Bench) -> None:
    async with tag_worker(bench, bench.gates.handlers()):
        steps = [step("limited", resource_tag=TAG), step("plain", depends_on=["limited"])]
        handle = await bench.start(steps)
        report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED
    queues = {name: asked.task_queue.name for name, asked in (await scheduled(handle)).items()}
    assert queues == {"limited": f"{bench.task_queue}.{TAG}", "plain": bench.task_queue}


async def test_a_tagged_step_that_nobody_takes_waits_and_can_be_aborted(bench: Bench) -> None:
    handle = await bench.start([step("limited", resource_tag=TAG)])
    await handle.execute_update("abort", args=["no one comes"])
    assert (await bench.finish(handle)).status is RunStatus.ABORTED


async def test_a_step_says_its_priority_and_inherits_what_it_does_not_say(bench: Bench) -> None:
    handle = await bench.start([step("urgent", priority=1), step("as_the_run")])
    await bench.finish(handle)
    asked = await scheduled(handle)
    assert (asked["urgent"].priority.priority_key, asked["urgent"].priority.fairness_key) == (1, "")
    assert asked["as_the_run"].priority.priority_key == 0  # Temporal's "not said": the run's counts


async def test_no_step_is_more_urgent_than_the_tenant_may_be(bench: Bench) -> None:
    handle = await bench.start([step("urgent", priority=1), step("idle", priority=5)], highest_priority=3)
    await bench.finish(handle)
    asked = await scheduled(handle)
    assert [asked[name].priority.priority_key for name in ("urgent", "idle")] == [3, 5]


@dataclass
class Drain:
    """Steps that end when every worker is stopping: a worker that waits for another one would hang them."""

    began: dict[str, asyncio.Event] = field(default_factory=dict)
    shown: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(2))

    async def drain(self, call: StepCall[Any], _: Tools) -> Values:
        self.began[call.step_id].set()
        await activity.wait_for_worker_shutdown()
        await self.shown.wait()
        return Values()


async def test_all_queues_of_a_worker_drain_at_once(bench: Bench) -> None:
    """One after the other, each would need a grace time of its own, and what runs on the last would be killed."""
    bench = replace(bench, task_queue=f"drain-{uuid.uuid4().hex}")
    drain = Drain({"limited": asyncio.Event(), "plain": asyncio.Event()})
    handler = Handler("drain", Values, Values, drain.drain)
    main = assemble_worker(
        bench.client,
        bench.task_queue,
        [Run],
        [Attempts(handler, NO_TOOLS).as_activity()],
        sandboxed=True,
        graceful_shutdown_seconds=GRACE_SECONDS,
    )
    async with working([main, tag_worker(bench, [handler])]):
        handle = await bench.start([step("limited", "drain", resource_tag=TAG), step("plain", "drain")])
        await asyncio.gather(*(event.wait() for event in drain.began.values()))
    assert not drain.shown.broken
    async with working([assemble_worker(bench.client, bench.task_queue, [Run], [], sandboxed=True)]):
        report = await bench.finish(handle)
    assert [(shown.status, shown.attempts) for shown in report.steps.values()] == [
        ("completed", 1),
        ("completed", 1),
    ]


@pytest.mark.parametrize(
    ("tags", "queues"),
    [
        (None, ["q", "q.gemini_api", "q.database", "q:batches"]),
        (("database",), ["q", "q.database", "q:batches"]),
        ((), ["q", "q:batches"]),
    ],
)
def test_settings_choose_the_tags_that_a_worker_serves(
    bench: Bench, tmp_path: Path, tags: tuple[str, ...] | None, queues: list[str]
) -> None:
    settings = Settings(task_queue="q", worker_resource_tags=tags)
    workers = build_workers(bench.client, settings, tools_in(tmp_path))
    assert [worker.task_queue for worker in workers] == queues
