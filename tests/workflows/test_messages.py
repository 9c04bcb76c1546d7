"""Pause, resume, abort: as updates that answer and refuse, and as signals that wait for a worker."""

import asyncio

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.workflows.contract.names import ABORT, PAUSE, RESUME, STATE, STATUS, WRONG_STATE
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step

GATED = [step("a", "gate", heartbeat_seconds=1), step("b", depends_on=["a"])]


async def status_of(handle: WorkflowHandle[Run, RunReport]) -> RunStatus:
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    return report.status


async def test_a_paused_run_starts_nothing_until_resumed(bench: Bench) -> None:
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    assert await handle.execute_update(PAUSE) == RunStatus.PAUSED
    bench.gates.opened["a"].set()
    await eventually(lambda: _ended(handle, "a"), "step a ends while paused")
    assert await status_of(handle) is RunStatus.PAUSED
    assert bench.gates.calls == []
    assert (await handle.describe()).typed_search_attributes[STATUS] == "paused"
    assert await handle.execute_update(RESUME) == RunStatus.RUNNING
    assert (await bench.finish(handle)).completed == 2


async def test_an_aborted_run_is_not_a_failed_one(bench: Bench) -> None:
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    assert await handle.execute_update(ABORT, "customer said no") == RunStatus.ABORTED
    report = await bench.finish(handle)
    assert report.status is RunStatus.ABORTED
    assert report.reason == "customer said no"
    assert (report.cancelled, report.skipped, report.failed) == (1, 1, 0)
    assert (await handle.describe()).typed_search_attributes[STATUS] == "aborted"


async def test_an_update_in_a_wrong_state_is_refused_with_the_state(bench: Bench) -> None:
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    await handle.execute_update(PAUSE)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update(PAUSE)
    cause = refused.value.cause
    assert isinstance(cause, ApplicationError)
    assert (cause.type, list(cause.details)) == (WRONG_STATE, ["paused"])
    await handle.execute_update(ABORT, "enough")
    await bench.finish(handle)


async def test_signals_do_the_same(bench: Bench) -> None:
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    await handle.signal(PAUSE)
    await eventually(lambda: _is(handle, RunStatus.PAUSED), "the signal pauses the run")
    await handle.signal(RESUME)
    await eventually(lambda: _is(handle, RunStatus.RUNNING), "the signal resumes the run")
    await handle.signal(ABORT, "by signal")
    report = await bench.finish(handle)
    assert (report.status, report.reason) == (RunStatus.ABORTED, "by signal")


async def test_an_abort_is_taken_while_paused_and_only_once(bench: Bench) -> None:
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    await handle.execute_update(PAUSE)
    answers = await asyncio.gather(
        handle.execute_update(ABORT, "first"), handle.execute_update(ABORT, "second"), return_exceptions=True
    )
    assert RunStatus.ABORTED in answers
    assert (await bench.finish(handle)).status is RunStatus.ABORTED


async def test_a_run_that_is_being_undone_cannot_be_aborted_but_paused(bench: Bench) -> None:
    failing = step("b", "bad", depends_on=["a"], config={"message": "no"}, max_retries=0)
    handle = await bench.start([step("a", compensate={"handler": "gate"}, max_retries=0), failing])
    await bench.gates.began["a.compensate"].wait()
    assert await handle.execute_update(PAUSE) == RunStatus.PAUSED
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update(ABORT, "enough")
    cause = refused.value.cause
    assert isinstance(cause, ApplicationError)
    assert (cause.type, list(cause.details)) == (WRONG_STATE, ["failed"])
    assert await handle.execute_update(RESUME) == RunStatus.RUNNING
    bench.gates.opened["a.compensate"].set()
    assert (await bench.finish(handle)).status is RunStatus.FAILED


async def test_the_current_details_show_the_plan_with_its_states(bench: Bench) -> None:
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    assert "0 of 2 steps settled" in metadata.current_details
    assert "| a | running |" in metadata.current_details
    await handle.execute_update(ABORT, "enough")
    await bench.finish(handle)


async def _ended(handle: WorkflowHandle[Run, RunReport], step_id: str) -> bool:
    return (await handle.query(STATE, result_type=RunReport)).steps[step_id].ended_at is not None


async def _is(handle: WorkflowHandle[Run, RunReport], status: RunStatus) -> bool:
    return await status_of(handle) is status


async def test_steps_that_end_in_the_moment_of_a_stop(bench: Bench) -> None:
    """Two ends in one activation: the first stops the run, and the second finds nothing left to cancel."""
    steps = [step("a", "bad", config={"message": "no"}), *(step(f"n{number}") for number in range(40))]
    report = await bench.run(steps, on_failure="fail_fast", limits={"max_concurrency": 50})
    assert report.status is RunStatus.FAILED


async def test_cancelled_while_many_steps_end(bench: Bench) -> None:
    handle = await bench.start([step(f"n{number}") for number in range(60)], limits={"max_concurrency": 60})
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert (await handle.describe()).status is not None


async def test_of_two_pauses_or_resumptions_at_once_one_is_taken_and_the_other_refused(bench: Bench) -> None:
    """Each accepted message is reported with its principal."""
    handle = await bench.start(GATED)
    await bench.gates.began["a"].wait()
    for update, status in ((PAUSE, RunStatus.PAUSED), (RESUME, RunStatus.RUNNING)):
        answers = await asyncio.gather(
            handle.execute_update(update), handle.execute_update(update), return_exceptions=True
        )
        assert sorted(answer == status for answer in answers) == [False, True]
        [refused] = [answer for answer in answers if isinstance(answer, WorkflowUpdateFailedError)]
        assert isinstance(refused.cause, ApplicationError)
        assert list(refused.cause.details) == [status]
    await handle.execute_update(ABORT, "enough")
    await bench.finish(handle)
