"""Runs of documents that share a workflow, on a real server: each ends as it would alone, and leaves when asked to."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowHandle, WorkflowHistory, WorkflowQueryFailedError

from docrail.dag.engine.plan import SEMANTICS, plan_of
from docrail.dag.engine.saved_state import stopped
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json, digest
from docrail.workflows.contract.names import (
    CHUNKED_ENDS,
    DOCUMENT_CHUNK_TYPE,
    LEAVE,
    RECORD_ENDS,
    SAVED,
    STATE,
    ChunkedRun,
    DocumentChunkReport,
    DocumentChunkRequest,
    document_chunk_id,
)
from tests.stack import eventually
from tests.workflows.conftest import Bench, step, tools_in, work
from tests.workflows.test_resources import TAG, tag_worker

LIGHT = ("noop", "echo", "flaky", "bad", "work", "rows", "gate")


def chunk_of(
    steps: Sequence[dict[str, Json]], given: Sequence[dict[str, Json]], *, light: Sequence[str] = LIGHT, **more: Json
) -> DocumentChunkRequest:
    definition = to_json(Definition.model_validate({"id": "test", "steps": steps, **more}))
    runs = (
        ChunkedRun(run_id=f"test.{uuid.uuid4().hex}", inputs=each, document={"document_id": f"doc_{number}"})
        for number, each in enumerate(given)
    )
    return DocumentChunkRequest(
        tenant_id="default",
        definition=definition,
        version=1,
        digest=digest(definition),
        semantics=SEMANTICS,
        light=tuple(light),
        runs=tuple(runs),
    )


Handle = WorkflowHandle[Any, DocumentChunkReport]


async def start(bench: Bench, request: DocumentChunkRequest) -> Handle:
    handle: Handle = await bench.client.start_workflow(
        DOCUMENT_CHUNK_TYPE,
        request,
        id=document_chunk_id("default", uuid.uuid4().hex),
        task_queue=bench.task_queue,
        result_type=DocumentChunkReport,
    )
    return handle


async def finish(bench: Bench, handle: Handle) -> DocumentChunkReport:
    """Return how the runs ended, after a replay."""
    report = await handle.result()
    await bench.replay(handle)
    return report


async def scheduled(handle: Handle) -> Counter[str]:
    """Return how many activities of each type the chunk has started."""
    history: WorkflowHistory = await handle.fetch_history()
    types = (event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events)
    return Counter(filter(None, types))


STEPS = [
    step("a", "echo", config={"text": "{{ inputs.text }}"}),
    step("b", "noop", depends_on=["a"]),
    step("c", "echo", depends_on=["a"], config={"again": "{{ steps.a.output.text }}"}),
    step("d", "noop", depends_on=["b", "c"]),
]
OUTPUTS: dict[str, Json] = {"said": "{{ steps.c.output.again }}"}
TEXT: dict[str, Json] = {"text": {"type": "string"}}


async def test_documents_share_activities_and_keep_their_own_values(bench: Bench) -> None:
    request = chunk_of(STEPS, [{"text": f"t{n}"} for n in range(10)], outputs=OUTPUTS, inputs=TEXT)
    handle = await start(bench, request)
    report = await finish(bench, handle)
    assert [(end.status, end.outputs) for end in report.ends] == [
        (RunStatus.COMPLETED, {"said": f"t{n}"}) for n in range(10)
    ]
    assert await scheduled(handle) == {"run_group": 3}
    assert Counter(bench.gates.calls) == dict.fromkeys("abcd", 10)


async def test_a_heavy_step_and_a_tagged_one_are_one_activity_each(bench: Bench) -> None:
    steps = [
        step("a", "echo"),
        step("b", "noop", depends_on=["a"]),
        step("c", "noop", depends_on=["b"], resource_tag=TAG),
    ]
    async with tag_worker(bench, bench.gates.handlers()):
        handle = await start(bench, chunk_of(steps, [{}] * 5, light=["noop"]))
        await finish(bench, handle)
    assert await scheduled(handle) == {"echo": 5, "run_group": 1, "noop": 5}


async def test_a_failed_call_is_retried_alone_under_its_own_policy(bench: Bench) -> None:
    steps = [step("a", "flaky", config={"times": "{{ inputs.times }}"}, max_retries=2), step("b", depends_on=["a"])]
    times: dict[str, Json] = {"times": {"type": "integer"}}
    request = chunk_of(steps, [{"times": n} for n in (0, 1, 2, 3, 0)], inputs=times)
    handle = await start(bench, request)
    report = await finish(bench, handle)
    assert [end.status for end in report.ends] == [
        *[RunStatus.COMPLETED] * 3,
        RunStatus.FAILED,
        RunStatus.COMPLETED,
    ]
    states = [(await handle.query(SAVED, run.run_id))["steps"]["a"] for run in request.runs]
    assert [state["attempts"] for state in states] == [1, 2, 3, 3, 1]
    assert (await scheduled(handle))["flaky"] == 3


async def test_groups_of_single_runs_may_run_at_the_same_time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docrail.workflows.grouping.LINGER", timedelta(milliseconds=10))
    late = {"initial_delay": 0.5, "jitter": 0}
    steps = [
        step("a", "flaky", config={"times": "{{ inputs.times }}"}) | {"retry_config": late},
        *(step(name, "gate", depends_on=["a"]) for name in "bc"),
        step("d", "noop", depends_on=["b", "c"]),
    ]
    times: dict[str, Json] = {"times": {"type": "integer"}}
    handle = await start(bench, chunk_of(steps, [{"times": 0}, {"times": 1}], light=["gate"], inputs=times))

    async def both_run() -> bool:
        return (await scheduled(handle))["run_group"] == 2

    await eventually(both_run, "a group of each run")
    for name in "bc":
        bench.gates.opened[name].set()
    report = await finish(bench, handle)
    assert [end.status for end in report.ends] == [RunStatus.COMPLETED] * 2
    events = (await handle.fetch_history()).events
    assert not any(event.HasField("workflow_task_failed_event_attributes") for event in events)


async def test_a_call_that_takes_long_is_made_alone(bench: Bench) -> None:
    steps = [step("a", "flaky", config={"times": 0, "hangs": "{{ inputs.hangs }}"}, timeout_seconds=1, max_retries=1)]
    hangs: dict[str, Json] = {"hangs": {"type": "integer"}}
    handle = await start(bench, chunk_of(steps, [{"hangs": n} for n in (0, 1, 0)], inputs=hangs))
    report = await finish(bench, handle)
    assert [end.status for end in report.ends] == [RunStatus.COMPLETED] * 3
    assert await scheduled(handle) == {"run_group": 1, "flaky": 1}


async def test_a_run_leaves_with_what_it_has_done_and_the_others_go_on(bench: Bench) -> None:
    steps = [step("a", "echo", config={"text": "{{ inputs.text }}"}), step("g", "gate", depends_on=["a"])]
    steps += [step("z", "echo", depends_on=["g"], config={"text": "{{ steps.a.output.text }}"})]
    request = chunk_of(steps, [{"text": "x"}, {"text": "y"}], inputs=TEXT, light=["echo"])
    handle = await start(bench, request)
    first, _ = request.runs
    await bench.gates.began["g"].wait()
    await handle.execute_update(LEAVE, first.run_id)
    known = await handle.query(CHUNKED_ENDS, result_type=DocumentChunkReport)
    assert [(end.run_id, end.status) for end in known.ends] == [(first.run_id, None)]
    saved = stopped(plan_of(request.definition, SEMANTICS), await handle.query(SAVED, first.run_id))
    bench.gates.opened["g"].set()
    left, stayed = (await finish(bench, handle)).ends
    assert (left.status, stayed.status) == (None, RunStatus.COMPLETED)
    assert {name: state["status"] for name, state in saved["steps"].items()} == {
        "a": "completed",
        "g": "pending",
        "z": "pending",
    }
    report = await bench.run(steps, inputs=first.inputs, document=first.document, resumed=saved)
    assert report.status is RunStatus.COMPLETED
    assert report.steps["z"].output == {"text": "x"}
    assert bench.gates.calls.count("a") == 2


async def test_temporals_page_of_a_chunk_shows_its_documents_and_their_states(bench: Bench) -> None:
    steps = [step("a", "bad", config={"message": "no"}, condition="inputs.text == 'x'"), step("g", "gate")]
    request = chunk_of(steps, [{"text": "x"}, {"text": "y"}, {"text": "y"}], inputs=TEXT, light=["bad"])
    handle = await start(bench, request)
    await bench.gates.began["g"].wait()
    assert await states_shown(handle) == {run.run_id: "running" for run in request.runs}
    failing, staying, leaving = (run.run_id for run in request.runs)
    await handle.execute_update(LEAVE, leaving)
    assert (await states_shown(handle))[leaving] == "in a workflow of its own"
    bench.gates.opened["g"].set()
    await finish(bench, handle)
    assert await states_shown(handle) == {
        failing: "failed",
        staying: "completed",
        leaving: "in a workflow of its own",
    }


async def test_a_chunk_records_the_ends_of_its_runs_those_together_that_end_together(bench: Bench) -> None:
    steps = [
        step("a", "bad", config={"message": "no"}, condition="inputs.text == 'x'"),
        step("g", "gate", condition="inputs.text == 'y'"),
    ]
    request = chunk_of(steps, [{"text": "x"}, {"text": "y"}, {"text": "y"}, {"text": "y"}], inputs=TEXT, light=["bad"])
    bench.gates.failing.append(RECORD_ENDS)
    handle = await start(bench, request.model_copy(update={"records_ends": True}))
    await bench.gates.began["g"].wait()
    failing, first, second, leaving = (run.run_id for run in request.runs)
    await eventually(lambda: bool(bench.gates.ends), "the first end to be recorded, at the second attempt")
    await handle.execute_update(LEAVE, leaving)
    bench.gates.opened["g"].set()
    await finish(bench, handle)
    assert [*bench.gates.ends[0].items()] == [(failing, RunStatus.FAILED)]
    later = [run_id for some in bench.gates.ends[1:] for run_id in some]
    assert sorted(later) == sorted([first, second]), "each once, and not the one that has left"
    assert (await scheduled(handle))["record_ends"] <= 3


async def test_a_chunk_reports_a_run_until_it_leaves(bench: Bench) -> None:
    steps = [step("a", "echo", config={"text": "{{ inputs.text }}"}), step("g", "gate", depends_on=["a"])]
    request = chunk_of(steps, [{"text": "x"}, {"text": "y"}], inputs=TEXT, light=["echo"])
    handle = await start(bench, request)
    first, second = (run.run_id for run in request.runs)
    await bench.gates.began["g"].wait()
    running = await handle.query(STATE, first, result_type=RunReport)
    assert (running.status, running.steps["a"].output) == (RunStatus.RUNNING, {"text": "x"})
    await handle.execute_update(LEAVE, first)
    with pytest.raises(WorkflowQueryFailedError, match="has left the chunk"):
        await handle.query(STATE, first)
    bench.gates.opened["g"].set()
    await finish(bench, handle)
    ended = await handle.query(STATE, second, result_type=RunReport)
    assert (ended.status, ended.steps["g"].status) == (RunStatus.COMPLETED, StepStatus.COMPLETED)


async def states_shown(handle: Handle) -> dict[str, str]:
    """Return the states of the runs on Temporal's page of the chunk."""
    metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    rows = [line.strip("| ").split(" | ") for line in metadata.current_details.splitlines()]
    return {row[0]: row[1] for row in rows[2:]}


async def test_a_run_that_has_ended_continues_as_ended(bench: Bench) -> None:
    steps = [step("a", "bad", config={"message": "no"}), step("b", depends_on=["a"])]
    request = chunk_of(steps, [{}, {}])
    handle = await start(bench, request)
    report = await finish(bench, handle)
    assert [end.status for end in report.ends] == [RunStatus.FAILED] * 2
    run = request.runs[0]
    saved = stopped(plan_of(request.definition, SEMANTICS), await handle.query(SAVED, run.run_id))
    moved: RunReport = await bench.run(steps, inputs=run.inputs, document=run.document, resumed=saved)
    assert (moved.status, moved.reason) == (RunStatus.FAILED, report.ends[0].reason)
    assert moved.steps["a"].status is StepStatus.FAILED
    assert len(bench.gates.letters) == 2


async def test_a_cancelled_chunk_lets_its_runs_leave(bench: Bench) -> None:
    request = chunk_of([step("g", "gate")], [{}, {}], light=[])
    handle = await start(bench, request)
    await bench.gates.began["g"].wait()
    await handle.cancel()
    assert [end.status for end in (await finish(bench, handle)).ends] == [None, None]


async def test_a_chunk_is_evicted_while_its_group_runs(bench: Bench, tmp_path: Path) -> None:
    """Its memory and its place in the worker are given back, and it goes on from its history."""
    tight = replace(bench, task_queue=f"test-{uuid.uuid4().hex}", recording=None)
    async with work(bench.client, tight.task_queue, bench.gates, tools_in(tmp_path), max_cached_workflows=1):
        async with asyncio.timeout(60):
            handle = await start(tight, chunk_of([step("g", "gate")], [{}, {}]))
            await bench.gates.began["g"].wait()
            assert (await tight.run([step("other")])).status is RunStatus.COMPLETED
            bench.gates.opened["g"].set()
            report = await handle.result()
    assert [end.status for end in report.ends] == [RunStatus.COMPLETED] * 2


async def test_a_chunk_with_a_terminated_workflow_leaves_states_that_continue(bench: Bench) -> None:
    steps = [step("a", "echo"), step("g", "gate", depends_on=["a"])]
    request = chunk_of(steps, [{}, {}], light=["echo"])
    handle = await start(bench, request)
    await eventually(bench.gates.began["g"].is_set, "the gate")
    await handle.terminate()
    bench.gates.opened["g"].set()
    plan = plan_of(request.definition, SEMANTICS)
    for run in request.runs:
        saved = stopped(plan, await handle.query(SAVED, run.run_id))
        report = await bench.run(steps, inputs=run.inputs, document=run.document, resumed=saved)
        assert report.status is RunStatus.COMPLETED
    assert bench.gates.calls.count("a") == 2
