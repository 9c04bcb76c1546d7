"""Deadlines on the real server: a timer that only notifies, once, whatever the run does; each run is replayed."""

import time
import uuid
from collections import Counter
from pathlib import Path
from typing import cast

from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import OVERDUE, PAUSE, RESUME, STATE
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, Gates, step, tools_in, work

SOON, LATER = 0.2, 3600.0
WAIT = {"id": "reply", "wait": {"for": "signal"}}

Handle = WorkflowHandle[Run, RunReport]


async def events_of(handle: Handle) -> Counter[str]:
    return Counter([EventType.Name(event.event_type) async for event in handle.fetch_history_events()])


async def until_overdue(gates: Gates, runs: int = 1) -> None:
    await eventually(lambda: len(gates.overdue) >= runs, "the run is reported overdue")


async def report_of(handle: Handle) -> RunReport:
    return cast(RunReport, await handle.query(STATE, result_type=RunReport))


async def mark_of(handle: Handle) -> str | None:
    """Return the search attributes for lists of runs."""
    return (await handle.describe()).typed_search_attributes.get(OVERDUE)


async def test_a_run_past_its_deadline_is_reported_once_and_goes_on(bench: Bench) -> None:
    handle = await bench.start([step("slow", "gate"), step("after", depends_on=["slow"])], deadline_seconds=SOON)
    await until_overdue(bench.gates)
    now = await report_of(handle)
    assert (now.status, now.overdue) == (RunStatus.RUNNING, True)
    assert await mark_of(handle) == "true"
    bench.gates.opened["slow"].set()
    report = await bench.finish(handle)
    assert (report.status, report.overdue) == (RunStatus.COMPLETED, True)
    [reported] = bench.gates.overdue
    assert (reported.tenant_id, reported.run_id, reported.definition_id) == ("default", report.run_id, "test")
    assert reported.deadline_seconds == SOON
    description = await handle.describe()
    assert reported.started_at == description.start_time.timestamp()
    assert await mark_of(handle) == "true"


async def test_a_run_that_ends_in_time_does_not_wait_for_its_deadline(bench: Bench) -> None:
    handle = await bench.start([step("a")], deadline_seconds=LATER)
    report = await bench.finish(handle)
    assert (report.status, report.overdue) == (RunStatus.COMPLETED, False)
    events = await events_of(handle)
    assert events["EVENT_TYPE_TIMER_STARTED"] == 1
    assert events["EVENT_TYPE_TIMER_FIRED"] == 0
    assert bench.gates.overdue == []
    assert await mark_of(handle) is None


async def test_a_run_without_a_deadline_has_no_timer(bench: Bench) -> None:
    handle = await bench.start([step("a")])
    await bench.finish(handle)
    assert (await events_of(handle))["EVENT_TYPE_TIMER_STARTED"] == 0


async def test_a_paused_run_that_waits_becomes_overdue_too(bench: Bench) -> None:
    handle = await bench.start([WAIT], deadline_seconds=SOON)
    await handle.execute_update(PAUSE)
    await until_overdue(bench.gates)
    assert ((await report_of(handle)).status, (await report_of(handle)).overdue) == (RunStatus.PAUSED, True)
    await handle.execute_update(RESUME)
    await bench.answer(handle, "reply", {})
    assert (await bench.finish(handle)).status is RunStatus.COMPLETED
    assert len(bench.gates.overdue) == 1


async def test_a_nested_run_has_the_deadline_of_its_own_definition(bench: Bench) -> None:
    inner: dict[str, Json] = {"id": "inner", "steps": [step("slow", "gate")], "deadline_seconds": SOON}
    outer: list[dict[str, Json]] = [{"id": "outer", "workflow": {"id": "inner"}}]
    handle = await bench.start(outer, nested=[inner], deadline_seconds=LATER)
    await until_overdue(bench.gates)
    bench.gates.opened["slow"].set()
    report = await bench.finish(handle)
    assert [reported.run_id for reported in bench.gates.overdue] == [f"{report.run_id}~outer"]
    assert not report.overdue


async def test_it_is_reported_until_that_works(bench: Bench) -> None:
    """Though the run is over meanwhile: that it was overdue must not get lost."""
    bench.gates.failing.append("record_overdue")
    handle = await bench.start([step("slow", "gate")], deadline_seconds=SOON)
    await eventually(lambda: not bench.gates.failing, "the first attempt fails")
    bench.gates.opened["slow"].set()
    report = await bench.finish(handle)
    assert (report.status, len(bench.gates.overdue)) == (RunStatus.COMPLETED, 1)


async def test_a_deadline_that_passes_while_no_worker_is_there_is_reported_by_the_next_one(
    bench: Bench, tmp_path: Path
) -> None:
    tools = tools_in(tmp_path)
    elsewhere = Bench(bench.client, f"test-{uuid.uuid4().hex}", Gates(), None)

    async def has_passed() -> bool:
        return (await events_of(handle))["EVENT_TYPE_TIMER_FIRED"] == 1

    async def has_begun() -> bool:
        return (await events_of(handle))["EVENT_TYPE_TIMER_STARTED"] == 1

    handle = await elsewhere.start([WAIT], deadline_seconds=1)
    async with work(bench.client, elsewhere.task_queue, elsewhere.gates, tools):
        await eventually(has_begun, "the run's timer")
    await eventually(has_passed, "the deadline passes")
    assert elsewhere.gates.overdue == []
    async with work(bench.client, elsewhere.task_queue, elsewhere.gates, tools):
        await until_overdue(elsewhere.gates)
        await elsewhere.answer(handle, "reply", {})
        assert (await elsewhere.finish(handle)).overdue
    assert len(elsewhere.gates.overdue) == 1


async def test_the_time_in_which_no_worker_took_the_run_counts(bench: Bench, tmp_path: Path) -> None:
    tools = tools_in(tmp_path)
    elsewhere = Bench(bench.client, f"test-{uuid.uuid4().hex}", Gates(), None)
    handle = await elsewhere.start([WAIT], deadline_seconds=SOON)
    due = (await handle.describe()).start_time.timestamp() + SOON
    await eventually(lambda: time.time() > due, "the deadline")
    async with work(bench.client, elsewhere.task_queue, elsewhere.gates, tools):
        await until_overdue(elsewhere.gates)
        assert (await report_of(handle)).overdue
        assert (await events_of(handle))["EVENT_TYPE_TIMER_STARTED"] == 0
        await handle.terminate()
