"""Retried runs whose state is in the value store, on the real server: they begin with it, or do not begin."""

from dataclasses import replace
from pathlib import Path

from docrail.adapters.store.values import ValueStore
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.saved_state import PIECES, load, save
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.services.runs.saved import keep_state, load_state
from docrail.workflows.contract.names import ABORT, ANSWER, SAVED, STATE
from tests.dag.rewinding import rewind
from tests.workflows.conftest import Bench, step
from tests.workflows.test_waits import wait

STEPS = [step("a", "echo", config={"n": 1}), step("m", "work", depends_on=["a"], max_retries=0), wait("w", "m")]


async def failed_state(bench: Bench) -> dict[str, Json]:
    """Return what a retry goes on from, of a run whose second step failed."""
    bench.gates.failing.append("m")
    handle = await bench.start(STEPS)
    assert (await replace(bench, recording=None).finish(handle)).status is RunStatus.FAILED  # the retry is what counts
    bench.gates.failing.clear()
    plan = compile_plan(Definition.model_validate({"id": "test", "steps": STEPS}))
    return save(plan, rewind(plan, load(plan, await handle.query(SAVED))))


async def test_a_run_goes_on_from_the_state_that_is_kept(bench: Bench, tmp_path: Path) -> None:
    values = ValueStore(tmp_path / "values")
    kept = await keep_state(values, "default", await failed_state(bench))
    handle = await bench.start(STEPS, resumed=kept)
    await handle.execute_update(ANSWER, args=["w", "early", "ann"])
    report = await bench.finish(handle)
    assert (report.status, report.steps["w"].output) == (RunStatus.COMPLETED, "early")
    assert bench.gates.calls == ["a"]  # once, by the run before


async def test_a_run_that_cannot_get_its_state_waits_for_it_and_loses_nothing(bench: Bench, tmp_path: Path) -> None:
    state = await failed_state(bench)
    elsewhere, values = ValueStore(tmp_path / "elsewhere"), ValueStore(tmp_path / "values")
    kept = await keep_state(elsewhere, "default", state)
    handle = await bench.start(STEPS, resumed=kept)
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    assert (report.status, report.steps["a"].status) == (RunStatus.RUNNING, StepStatus.PENDING)
    reported: dict[str, Json] = await handle.query(SAVED)
    assert (reported, PIECES in reported) == (kept, True)  # so a retry of what is stopped now has it all
    assert await load_state(elsewhere, "default", reported) == state
    await handle.signal(ABORT, "enough")
    await keep_state(values, "default", state)
    report = await bench.finish(handle)
    assert (report.status, report.steps["a"].status) == (RunStatus.ABORTED, StepStatus.COMPLETED)
