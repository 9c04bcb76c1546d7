"""Large outputs of nested runs, which each run stores itself; and values that are on their way when a run ends."""

import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.exceptions import ApplicationError

from docrail.adapters.store.values import ValueStore
from docrail.dag.engine.map_items import inline_bytes
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import Part, part_of
from docrail.workflows.contract.names import ABORT, ANSWER, LOAD_VALUES, STORE_VALUE
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step, tools_in, work

LARGE = "x" * 50_000
GIVING = {
    "id": "giving",
    "inputs": {"text": {"type": "string"}},
    "steps": [step("a", "noop")],
    "outputs": dict.fromkeys("abcd", "{{ inputs.text }}"),
}
INSIDE: dict[str, Json] = {"workflow": {"id": "giving", "inputs": {"text": "{{ inputs.text }}"}}}


class FullStore(ValueStore):
    """A store that takes nothing, and says so for good."""

    async def put(self, tenant_id: str, value: Json) -> Part:
        raise ApplicationError("the disk is full", non_retryable=True)


async def begun(handle: WorkflowHandle[Any, Any]) -> Counter[str]:
    """Return which activities a run has scheduled, and how often."""
    events = (await handle.fetch_history()).events
    return Counter(
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.HasField("activity_task_scheduled_event_attributes")
    )


async def test_nested_runs_store_their_own_outputs(bench: Bench) -> None:
    each = {"items": list(range(24)), "max_concurrency": 24}
    handle = await bench.start([{"id": "m", "for_each": each, **INSIDE}], inputs={"text": LARGE}, nested=[GIVING])
    report = await bench.finish(handle)
    assert report.status is RunStatus.COMPLETED, report.reason
    assert await begun(handle) == {}
    given = [item["output"] for item in report.steps["m"].output["items"]]
    assert len([part_of(output) for output in given]) == 24
    child = bench.client.get_workflow_handle(f"{handle.id}~m~7", result_type=RunReport)
    assert (await begun(child))[STORE_VALUE] == 1
    assert part_of((await child.result()).outputs) is not None
    await bench.replay(child, "_inner")


async def test_a_nested_run_stores_what_is_too_large_to_be_carried(bench: Bench) -> None:
    handle = await bench.start([{"id": "m", **INSIDE}], inputs={"text": LARGE[:17_000]}, nested=[GIVING])
    await replace(bench, recording=None).finish(handle)
    child = bench.client.get_workflow_handle(f"{handle.id}~m", result_type=RunReport)
    assert (await begun(child))[STORE_VALUE] == 1
    await bench.replay(child)


async def test_outputs_that_cannot_be_stored_fail_an_item_and_stay_with_a_step(bench: Bench, tmp_path: Path) -> None:
    full = replace(bench, task_queue=f"test-{uuid.uuid4().hex}")
    each = {"items": [1, 2], "max_concurrency": 2}
    steps = [{"id": "alone", **INSIDE}, {"id": "m", "for_each": each, **INSIDE}]
    tools = replace(tools_in(tmp_path), values=FullStore(tmp_path))
    async with work(bench.client, full.task_queue, bench.gates, tools, sandboxed=False):
        report = await full.run(steps, inputs={"text": LARGE}, nested=[GIVING], on_failure="continue")
    assert report.steps["alone"].status is StepStatus.COMPLETED
    assert report.steps["alone"].output == dict.fromkeys("abcd", LARGE)
    assert size_of(report.steps["alone"].output) > inline_bytes(1)
    assert report.steps["m"].error is not None
    assert "bytes as JSON, and the value store did not take them" in report.steps["m"].error.message


async def test_a_value_store_that_is_away_does_not_keep_a_run_from_ending(bench: Bench, tmp_path: Path) -> None:
    steps = [
        step("load", "rows", config={"count": 900}),
        {"id": "go", "depends_on": ["load"], "wait": {"for": "signal"}},
        step("use", "echo", config={"value": "{{ load.rows | length }}"}, depends_on=["go", "load"]),
    ]
    handle: WorkflowHandle[Run, RunReport] = await bench.start(steps)

    async def stands(status: StepStatus, step_id: str) -> bool:
        report: RunReport = await handle.query(Run.state)
        return report.steps[step_id].status is status

    await eventually(lambda: stands(StepStatus.WAITING, "go"), "the run waits")
    (tmp_path / "values").rename(tmp_path / "away")
    await handle.execute_update(ANSWER, args=["go", None, "ann"])

    async def is_tried_again() -> bool:
        pending = (await handle.describe()).raw_description.pending_activities
        return any(each.activity_type.name == LOAD_VALUES and each.attempt > 1 for each in pending)

    await eventually(is_tried_again, "the value is asked for in vain")
    await handle.execute_update(ABORT, args=["enough"])
    report = await bench.finish(handle)
    assert (report.status, report.steps["use"].status) == (RunStatus.ABORTED, StepStatus.SKIPPED)
