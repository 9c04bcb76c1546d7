"""Drawn definitions on the real server: each ends as the specification says, and its history replays."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import OnFailure
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from tests.dag.specification import FELL, RAN, Fate, Specified, specify
from tests.postgres import dsn, pool
from tests.workflows.conftest import Bench, tools_in, work
from tests.workflows.drawing import GIVEN, OTHER, Drawn, drawn_by
from tests.workflows.playing import DrawnWork, Player

pytestmark = pytest.mark.slow

__all__ = ["dsn", "pool"]

AT_ONCE = 6
"""Runs at once: most of a run's time it waits."""

LONGEST_SECONDS = 60
"""More than any of the runs takes while the others run."""

STOPPED = (Fate(StepStatus.SKIPPED, SkipReason.ABORTED), Fate(StepStatus.CANCELLED))
"""How a step ends whose run was stopped before it had."""


@pytest.fixture
async def drawing(bench: Bench, pool: asyncpg.Pool, tmp_path: Path) -> AsyncIterator[Bench]:
    """A bench whose work ends as it is drawn to, with a database for what is cached."""
    queue, gates = f"test-{uuid.uuid4().hex}", DrawnWork()
    async with work(bench.client, queue, gates, replace(tools_in(tmp_path), db=pool), sandboxed=False):
        yield replace(bench, task_queue=queue, gates=gates, sandboxed=False, recording=None)


async def play(bench: Bench, drawn: Drawn) -> RunReport:
    """Run a definition among people, replay its history and those of the runs inside it, and return its report."""
    more = {name: part for name, part in drawn.document.items() if name not in ("id", "steps", "inputs")}
    handle = await bench.start(
        drawn.steps,
        inputs={"given": GIVEN},
        nested=[OTHER],
        light=("work",) if len(drawn.steps) % 2 else (),
        **more,
    )
    player = Player(bench.client, drawn, handle.id.removeprefix("default/").replace("/", ".", 1))
    await player.play()
    report = await bench.finish(handle)
    for event in (await handle.fetch_history()).events:
        inside = event.child_workflow_execution_started_event_attributes.workflow_execution
        if inside.workflow_id:
            await bench.replay(bench.client.get_workflow_handle(inside.workflow_id, run_id=inside.run_id))
    return report


def outcome(report: RunReport) -> Specified:
    return Specified({name: Fate(shown.status, shown.reason) for name, shown in report.steps.items()}, report.status)


def check(drawn: Drawn, report: RunReport) -> None:
    """Assert that a run ended as it had to."""
    case, found = drawn.case, outcome(report)
    mode = case.definition.on_failure
    expected = specify(case.definition, case.lost, case.overdue, fixed=mode is OnFailure.PARK)
    is_stopped = drawn.move == "abort" and report.reason == "enough"
    if is_stopped:
        assert found.run is RunStatus.ABORTED
    elif mode is OnFailure.FAIL_FAST and expected.run is RunStatus.ABORTED:
        assert found.run in (RunStatus.ABORTED, RunStatus.FAILED)  # whichever came first
    else:
        assert found.run is expected.run
    if is_stopped or found.run is RunStatus.ABORTED or (mode, found.run) == (OnFailure.FAIL_FAST, RunStatus.FAILED):
        unmended = specify(case.definition, case.lost, case.overdue)
        for name, fate in found.steps.items():
            may_fail = [FELL] if name in drawn.stumbling else []  # stopped before it was tried again
            assert fate in (*STOPPED, *may_fail, expected.steps[name], unmended.steps[name]), (name, fate)
    else:
        assert found == expected
    for name, shown in report.steps.items():
        assert shown.compensation is undone(drawn, report, name), name


def undone(drawn: Drawn, report: RunReport, name: str) -> StepStatus | None:
    """Return what has to become of what a step did."""
    did = outcome(report).steps[name] == RAN and report.status is not RunStatus.COMPLETED
    if not did or name not in drawn.undone:
        return None
    return StepStatus.FAILED if name in drawn.stays_done else StepStatus.COMPLETED


@pytest.mark.timeout(300)
async def test_drawn_definitions_end_as_specified_and_replay(drawing: Bench, request: pytest.FixtureRequest) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(drawn: Drawn) -> None:
        async with places, asyncio.timeout(LONGEST_SECONDS):
            check(drawn, await play(drawing, drawn))

    everyone = drawn_by(request.config.getoption("--drawn-seed"), request.config.getoption("--drawn"))
    ends = await asyncio.gather(*map(one, everyone), return_exceptions=True)
    for drawn, end in zip(everyone, ends, strict=True):
        if isinstance(end, BaseException):
            end.add_note(f"{drawn.name}, {drawn.move or 'unmoved'}: {json.dumps(drawn.document)}")
    if wrong := [end for end in ends if isinstance(end, Exception)]:
        raise ExceptionGroup(f"{len(wrong)} of {len(ends)} runs", wrong)
