"""Steps that want several people to decide alike, on the real server; each run replayed after its end."""

import asyncio

import pytest
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.messages import DecisionCall, ReviewEnd
from docrail.workflows.contract.names import ABORT, ANSWER, NOT_ALLOWED, RECORD_DECISION, STATE, WRONG_STATE
from docrail.workflows.run import Run
from tests.stack import eventually
from tests.workflows.conftest import Bench, step
from tests.workflows.test_waits import human, until_waiting

Handle = WorkflowHandle[Run, RunReport]
YES, NO = {"decision": "yes"}, {"decision": "no"}


def asked(approvals: int = 2, **fields: Json) -> dict[str, Json]:
    return human("ask", assignees={"approvals": approvals, **fields.pop("assignees", {})}, **fields)


async def decide(handle: Handle, by: str, decision: Json) -> str | None:
    """Decide as the API does; return the type of error with which it is refused."""
    try:
        await handle.execute_update(ANSWER, args=["ask", decision, by])
    except WorkflowUpdateFailedError as error:
        return error.cause.type if isinstance(error.cause, ApplicationError) else str(error.cause)
    return None


def reported(bench: Bench) -> list[tuple[int, str]]:
    calls = [call for kind, call in bench.gates.questions if kind == RECORD_DECISION]
    assert all(isinstance(call, DecisionCall) for call in calls)
    return sorted((call.number, call.by) for call in calls if isinstance(call, DecisionCall))


async def test_two_people_decide_alike(bench: Bench) -> None:
    handle = await bench.start([asked(), step("pay", "echo", depends_on=["ask"], config={"how": "{{ ask.decision }}"})])
    await until_waiting(handle)
    assert [await decide(handle, "ann", YES), await decide(handle, "ann", YES)] == [None, None]
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    assert (report.steps["ask"].status, report.steps["ask"].approvals_missing) == (StepStatus.WAITING, 1)
    assert await decide(handle, "bob", YES) is None
    report = await bench.finish(handle)
    assert (report.steps["pay"].output, report.steps["ask"].answered_by) == ({"how": "yes"}, "ann, bob")
    assert reported(bench) == [(1, "ann"), (2, "bob")]
    end = next(call for _, call in bench.gates.questions if isinstance(call, ReviewEnd))
    assert (end.decision, end.decided_by) == (YES, "ann, bob")


async def test_of_many_at_the_same_moment_so_many_count_and_the_others_are_reported(bench: Bench) -> None:
    handle = await bench.start([asked(3), step("slow", "gate", depends_on=["ask"])])
    await until_waiting(handle)
    outcomes = await asyncio.gather(*(decide(handle, f"person {number}", YES) for number in range(12)))
    bench.gates.opened["slow"].set()
    report = await bench.finish(handle)
    people = (report.steps["ask"].answered_by or "").split(", ")
    assert len(set(people)) == 3
    assert {f"person {number}" for number, outcome in enumerate(outcomes) if outcome is None} == set(people)
    assert [outcome for outcome in outcomes if outcome] == [WRONG_STATE] * 9


async def test_a_changed_vote_counts_for_the_new_decision(bench: Bench) -> None:
    handle = await bench.start([asked()])
    await until_waiting(handle)
    for by, decision in (("ann", YES), ("bob", NO), ("bob", YES)):
        assert await decide(handle, by, decision) is None
    report = await bench.finish(handle)
    assert (report.steps["ask"].output, report.steps["ask"].answered_by) == (YES, "ann, bob")
    assert reported(bench) == [(1, "ann"), (2, "bob"), (3, "bob")]


async def test_only_known_people_other_than_the_starter_count(bench: Bench) -> None:
    others_only = asked(assignees={"not_the_submitter": True}) | {"depends_on": ["slow"]}
    handle = await bench.start([step("slow", "gate"), others_only], started_by="ann")
    await bench.gates.began["slow"].wait()
    assert await decide(handle, "bob", YES) == WRONG_STATE
    bench.gates.opened["slow"].set()
    await until_waiting(handle)
    assert [await decide(handle, by, YES) for by in ("ann", "", "bob", "cy")] == [NOT_ALLOWED, NOT_ALLOWED, None, None]
    assert (await bench.finish(handle)).steps["ask"].answered_by == "bob, cy"


@pytest.mark.parametrize("stop", [True, False])
async def test_too_few_decide_nothing(bench: Bench, stop: bool) -> None:
    """The run records the decisions before it ends, however it ends."""
    handle = await bench.start([asked(timeout_seconds=60 if stop else 1, on_timeout="fail")])
    await until_waiting(handle)
    await decide(handle, "ann", YES)
    if stop:
        await handle.execute_update(ABORT, "enough")
    report = await bench.finish(handle)
    assert report.status is (RunStatus.ABORTED if stop else RunStatus.FAILED)
    assert (report.steps["ask"].output, reported(bench)) == (None, [(1, "ann")])


async def test_earlier_decisions_stay_after_an_escalation(bench: Bench) -> None:
    handle = await bench.start([asked(timeout_seconds=2, on_timeout={"escalate_to": "managers", "then": "fail"})])
    await until_waiting(handle)
    await decide(handle, "ann", YES)
    await eventually(lambda: len(bench.gates.questions) >= 3, "the question is escalated")
    assert await decide(handle, "bob", YES) is None
    assert (await bench.finish(handle)).steps["ask"].answered_by == "ann, bob"


async def test_a_step_that_asks_anew_counts_anew(bench: Bench) -> None:
    question = asked(timeout_seconds=1.5, on_timeout="fail")
    handle = await bench.start([question], on_failure="park")
    await until_waiting(handle)
    await decide(handle, "ann", YES)

    async def is_parked() -> bool:
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        return report.steps["ask"].status is StepStatus.PARKED

    await eventually(is_parked, "the step is parked")
    await handle.execute_update("resolve", args=["ask", "retry", None, "op"])
    assert await decide(handle, "bob", YES) is None
    report: RunReport = await handle.query(STATE, result_type=RunReport)
    assert report.steps["ask"].approvals_missing == 1
    assert await decide(handle, "ann", YES) is None
    assert (await bench.finish(handle)).steps["ask"].answered_by == "bob, ann"
    assert reported(bench) == [(1, "ann"), (1, "bob"), (2, "ann")]
