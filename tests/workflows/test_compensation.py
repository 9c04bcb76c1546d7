"""Steps that are undone when their run ends without success, on the real server; each run replayed after its end."""

import pytest

from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.retry import plan_undoing
from docrail.dag.engine.saved_state import save
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import ABORT, SAVED
from tests.workflows.conftest import Bench, step


def undone(step_id: str, *parents: str, handler: str = "echo", **config: Json) -> dict[str, Json]:
    return step(
        step_id,
        "echo",
        depends_on=list(parents),
        config={"id": step_id},
        compensate={"handler": handler, "config": config or {"undo": "{{ " + step_id + ".id }}"}},
        max_retries=0,
    )


async def test_a_failed_run_is_undone_newest_first(bench: Bench) -> None:
    report = await bench.run(
        [undone("a"), undone("b", "a"), step("c", "bad", depends_on=["b"], config={"message": "no"})]
    )
    assert report.status is RunStatus.FAILED
    assert bench.gates.calls == ["a", "b", "b.compensate", "a.compensate"]
    assert [report.steps[name].compensation for name in "abc"] == [StepStatus.COMPLETED, StepStatus.COMPLETED, None]


async def test_a_completed_run_is_not_undone(bench: Bench) -> None:
    report = await bench.run([undone("a")])
    assert (report.status, bench.gates.calls) == (RunStatus.COMPLETED, ["a"])


@pytest.mark.parametrize("fails", [True, False])
async def test_a_nested_run_undoes_itself_if_it_fails_and_is_not_undone_once_it_completed(
    bench: Bench, fails: bool
) -> None:
    """The outer run undoes what has a `compensate` of its own."""
    message = {"message": "no"}
    inner = [undone("paid")] + [step("sent", "bad", depends_on=["paid"], config=message)] * fails
    compensate = {"handler": "echo", "config": {"from": "outside"}}
    outer = {"id": "inside", "workflow": {"id": "inner"}, "compensate": compensate}
    last = step("last", "bad", depends_on=["inside"], config=message)
    report = await bench.run([outer, last], nested=[{"id": "inner", "steps": inner}])
    assert report.status is RunStatus.FAILED
    assert bench.gates.calls == (["paid", "paid.compensate"] if fails else ["paid", "inside.compensate"])
    assert report.steps["inside"].compensation is (None if fails else StepStatus.COMPLETED)


async def test_a_compensation_that_fails_keeps_no_other_from_being_tried(bench: Bench) -> None:
    report = await bench.run(
        [
            undone("a"),
            undone("b", "a", handler="bad", message="stuck"),
            undone("c", "b", value="{{ inputs.missing }}"),
            step("d", "bad", depends_on=["c"], config={"message": "no"}),
        ]
    )
    reported = {name: report.steps[name].compensation_error for name in "abc"}
    assert report.status is RunStatus.FAILED
    assert reported["a"] is None
    assert reported["b"]
    assert reported["b"].message == "stuck"
    assert reported["c"]
    assert reported["c"].type == "TemplateError"
    assert bench.gates.calls == ["a", "b", "c", "a.compensate"]
    letters = {letter.step_id: (letter.status, letter.error_message) for letter in bench.gates.letters}
    assert letters.pop("d") == (StepStatus.FAILED, "no")
    assert letters["b"] == (StepStatus.FAILED, "what it did could not be undone: stuck")
    assert letters["c"][0] is StepStatus.FAILED
    assert letters.keys() == {"b", "c"}


async def test_a_run_whose_outputs_fail_is_undone(bench: Bench) -> None:
    report = await bench.run([undone("a")], outputs={"total": "{{ a.missing }}"})
    assert (report.status, bench.gates.calls) == (RunStatus.FAILED, ["a", "a.compensate"])
    assert report.reason.startswith("outputs: ")


async def test_a_failed_compensation_of_an_aborted_run_is_reported_as_failed(bench: Bench) -> None:
    slow = step("slow", "gate", depends_on=["a"], heartbeat_seconds=1)
    handle = await bench.start([undone("a", handler="bad", message="stuck"), slow])
    await bench.gates.began["slow"].wait()
    await handle.execute_update(ABORT, "enough")
    assert (await bench.finish(handle)).status is RunStatus.ABORTED
    assert {letter.step_id: letter.status for letter in bench.gates.letters}["a"] is StepStatus.FAILED


async def test_an_aborted_run_is_undone(bench: Bench) -> None:
    handle = await bench.start([undone("a"), step("slow", "gate", depends_on=["a"], heartbeat_seconds=1)])
    await bench.gates.began["slow"].wait()
    await handle.execute_update(ABORT, "enough")
    report = await bench.finish(handle)
    assert (report.status, report.reason) == (RunStatus.ABORTED, "enough")
    assert report.steps["a"].compensation is StepStatus.COMPLETED


@pytest.mark.parametrize("is_aborted", [False, True])
async def test_undoing_alone_is_tried_again_and_the_run_ends_as_it_did(bench: Bench, *, is_aborted: bool) -> None:
    steps = [
        undone("a", handler="work"),
        undone("b", "a"),
        undone("c", "b", handler="work"),
        step("d", "gate" if is_aborted else "bad", depends_on=["c"], config={"message": "no"}, heartbeat_seconds=1),
        step("e", depends_on=["d"]),
    ]
    bench.gates.failing += ["a.compensate", "c.compensate"]
    handle = await bench.start(steps)
    if is_aborted:
        await bench.gates.began["d"].wait()
        await handle.execute_update(ABORT, args=["enough", False, "ann"])
    before = await bench.finish(handle)
    assert [before.steps[name].compensation for name in "abc"] == ["failed", "completed", "failed"]
    plan = compile_plan(Definition.model_validate({"id": "test", "steps": steps}))
    for left in (["a.compensate"], []):
        bench.gates.failing[:] = left
        reported = len(bench.gates.letters)
        resumed = save(plan, plan_undoing(plan, await handle.query(SAVED)).state)
        handle = await bench.start(steps, resumed=resumed)
        after = await bench.finish(handle)
        assert len(bench.gates.letters) - reported == len(left)
        assert (after.status, after.reason, after.stopped_by) == (before.status, before.reason, before.stopped_by)
        compensations = ["failed" if left else "completed", "completed", "completed"]
        assert [after.steps[name].compensation for name in "abc"] == compensations
    assert {name: each.status for name, each in after.steps.items()} == {
        name: each.status for name, each in before.steps.items()
    }
    assert bench.gates.calls == ["a", "b", "c", "b.compensate"]
