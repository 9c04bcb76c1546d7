"""A retry of just the undoing: what could not be undone is undone, and nothing else happens."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from docrail.dag.engine.events import (
    AbortRequested,
    CancelRequested,
    Event,
    Finish,
    Record,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
    Undo,
)
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.retry import Fate, Retry, plan_undoing
from docrail.dag.engine.saved_state import begin, save
from docrail.dag.engine.state import RunState, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.language.definition import OnFailure
from docrail.dag.language.statuses import RunStatus, StepStatus
from tests.dag.definitions import definition, step
from tests.dag.explained import explain_run

UNDO = {"handler": "undo"}
PAID = definition(
    step("load", compensate=UNDO),
    step("pay", "load", compensate=UNDO),
    step("book", "pay", compensate=UNDO),
    step("send", "book"),
    step("note", "send"),
)


PLAN = compile_plan(PAID)
NO = StepError("ValueError", "no refund")


def ended(status: RunStatus, left: Mapping[str, StepStatus]) -> RunState:
    """Return a run that ended so; of those whose undoing was `left`, it failed or was cancelled."""
    run = begin(PLAN, {}, {})
    advance(PLAN, run, RunStarted(0.0))
    for at, name in enumerate(("load", "pay", "book"), 1):
        advance(PLAN, run, StepCompleted(name, {}, 1, at))
    if status is RunStatus.FAILED:
        commands = advance(PLAN, run, StepFailed("send", StepError("Broken", "send broke"), 1, 4.0))
    else:
        is_abort = status is RunStatus.ABORTED
        advance(PLAN, run, AbortRequested("enough", 4.0, by="ann") if is_abort else CancelRequested(4.0))
        commands = advance(PLAN, run, StepCancelled("send", 5.0))
    while run.outcome is None:
        [name] = [command.step for command in commands if isinstance(command, Start)]
        commands = advance(PLAN, run, end_of(name, left.get(name)))
    assert run.outcome is status
    return run


def end_of(step_id: str, left: StepStatus | None) -> Event:
    """Return how undoing a step ends."""
    if left is StepStatus.FAILED:
        return StepFailed(step_id, NO, 1, 6.0, Undo())
    if left is StepStatus.CANCELLED:
        return StepCancelled(step_id, 6.0, Undo())
    return StepCompleted(step_id, {}, 1, 6.0, Undo())


def undoing(run: RunState) -> Retry:
    return plan_undoing(PLAN, json.loads(json.dumps(save(PLAN, run))))


def undone(step_id: str) -> Event:
    return end_of(step_id, None)


STUCK = {"load": StepStatus.FAILED, "book": StepStatus.CANCELLED}


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.ABORTED])
def test_failed_compensations_run_newest_first_and_the_run_keeps_its_status(status: RunStatus) -> None:
    before = ended(status, STUCK)
    retry = undoing(before)
    assert {step_id: f"{fate.fate}: {fate.why}" for step_id, fate in retry.fates.items()} == {
        "load": "undone: could not be undone: ValueError",
        "pay": "reused: was undone, and is not undone again",
        "book": "undone: could not be undone: cancelled",
        "send": f"reused: stays as it is: {before.steps[3].status}",
        "note": "reused: stays as it is: skipped",
    }
    run = retry.state
    assert advance(PLAN, run, RunStarted(10.0)) == [Start("book", {}, Undo())]
    assert run.status is RunStatus.RUNNING
    assert advance(PLAN, run, undone("book")) == [Start("load", {}, Undo())]
    assert advance(PLAN, run, undone("load")) == [Finish(status)]
    assert [state.compensation for state in run.steps[:3]] == [StepStatus.COMPLETED] * 3
    assert (run.outcome, run.stop_reason, run.stopped_by) == (status, before.stop_reason, before.stopped_by)
    assert [state.status for state in run.steps] == [state.status for state in before.steps]


def test_a_repeated_failure_is_recorded_again_and_can_be_retried() -> None:
    run = undoing(ended(RunStatus.FAILED, {"load": StepStatus.FAILED})).state
    assert advance(PLAN, run, RunStarted(10.0)) == [Start("load", {}, Undo())]
    reported = advance(PLAN, run, end_of("load", StepStatus.FAILED))
    assert reported == [Record("load"), Finish(RunStatus.FAILED)]
    assert undoing(run).fates["load"].fate is Fate.UNDONE


def test_a_run_that_only_undoes_is_not_stopped_or_aborted() -> None:
    run = undoing(ended(RunStatus.ABORTED, STUCK)).state
    advance(PLAN, run, RunStarted(10.0))
    assert advance(PLAN, run, AbortRequested("once more", 11.0, by="bob")) == []
    assert (run.stop_reason, run.stopped_by, run.ending) == ("enough", "ann", RunStatus.ABORTED)


@pytest.mark.parametrize(
    ("status", "left"),
    [
        (RunStatus.FAILED, {}),
        (RunStatus.ABORTED, {}),
        (RunStatus.CANCELLED, STUCK),  # it could not end so again
    ],
)
def test_nothing_is_undone_where_nothing_is_left_to_be(status: RunStatus, left: Mapping[str, StepStatus]) -> None:
    fates = undoing(ended(status, left)).fates
    assert Fate.UNDONE not in {fate.fate for fate in fates.values()}


def test_a_run_that_fails_fast_only_undoes_too() -> None:
    plan = replace(PLAN, on_failure=OnFailure.FAIL_FAST)
    run = plan_undoing(plan, json.loads(json.dumps(save(PLAN, ended(RunStatus.FAILED, STUCK))))).state
    assert advance(plan, run, RunStarted(10.0)) == [Start("book", {}, Undo())]
    assert run.stopping is None


def test_the_run_says_what_could_not_be_undone_until_it_is() -> None:
    run = ended(RunStatus.FAILED, STUCK)
    assert "could not be undone, so that what it did stands: load, book" in explain_run(PLAN, run, "stuck.1").words
    run = undoing(run).state
    for event in (RunStarted(10.0), undone("book"), undone("load")):
        advance(PLAN, run, event)
    assert not [line for line in explain_run(PLAN, run, "stuck.1").words if "undone" in line]
