"""A deadline is reported once, in any state of the run, and changes no decision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.events import (
    AbortRequested,
    DeadlinePassed,
    PauseRequested,
    RecordOverdue,
    RunStarted,
    StepCompleted,
    StepFailed,
)
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin, load, save
from docrail.dag.engine.state import RunState, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import RunReport, markdown, report_of
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from tests.dag.catalogue import EXTRACT, problems_of
from tests.dag.definitions import Case, cases
from tests.dag.explained import explain_run
from tests.dag.rewinding import rewind
from tests.dag.world import Picker, World


def begun(*steps: dict[str, Json], **more: Json) -> tuple[Plan, RunState]:
    document = {"id": "late", "deadline_seconds": 60, "steps": [{"handler": "noop", **step} for step in steps], **more}
    plan = compile_plan(Definition.model_validate(document))
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(10.0))
    return plan, run


def report(plan: Plan, run: RunState) -> RunReport:
    return report_of(plan, run, run_id="late.1", tenant_id="default", version=1, digest="d")


def test_a_run_that_goes_on_is_overdue_once() -> None:
    plan, run = begun({"id": "a"})
    assert plan.deadline_seconds == 60
    assert advance(plan, run, DeadlinePassed(70.0)) == [RecordOverdue(70.0)]
    assert advance(plan, run, DeadlinePassed(71.0)) == []
    assert report(plan, run).overdue
    assert report(plan, run).status is RunStatus.RUNNING
    assert "overdue" in markdown(plan, run)
    explained = explain_run(plan, run, "late.1")
    assert explained.overdue
    assert "it is overdue, and goes on: it had not ended 60 s after its start" in explained.words


def test_a_run_that_was_overdue_still_says_so_when_it_has_ended() -> None:
    plan, run = begun({"id": "a"})
    advance(plan, run, DeadlinePassed(70.0))
    advance(plan, run, StepCompleted("a", None, 1, 80.0))
    assert (report(plan, run).status, report(plan, run).overdue) == (RunStatus.COMPLETED, True)
    assert "it was overdue: it had not ended 60 s after its start" in explain_run(plan, run, "late.1").words
    assert load(plan, save(plan, run)).overdue


def test_a_run_that_has_ended_is_not_overdue() -> None:
    plan, run = begun({"id": "a"})
    advance(plan, run, StepCompleted("a", None, 1, 20.0))
    assert advance(plan, run, DeadlinePassed(70.0)) == []
    assert not report(plan, run).overdue
    assert "overdue" not in markdown(plan, run)


@pytest.mark.parametrize("event", [PauseRequested(20.0), AbortRequested("enough", 20.0)], ids=["paused", "stopping"])
def test_a_run_that_is_held_up_is_overdue_too(event: PauseRequested | AbortRequested) -> None:
    plan, run = begun({"id": "a"})
    advance(plan, run, event)
    assert advance(plan, run, DeadlinePassed(70.0)) == [RecordOverdue(70.0)]


def test_a_run_that_waits_for_a_person_is_overdue_too() -> None:
    plan, run = begun({"id": "a"}, on_failure="park")
    advance(plan, run, StepFailed("a", StepError("ValueError", "no"), 1, 20.0))
    assert advance(plan, run, DeadlinePassed(70.0)) == [RecordOverdue(70.0)]
    assert run.status is RunStatus.WAITING


def test_a_retry_begins_without_the_delay_of_the_run_before() -> None:
    plan, run = begun({"id": "a"})
    advance(plan, run, DeadlinePassed(70.0))
    advance(plan, run, StepFailed("a", StepError("ValueError", "no"), 1, 80.0))
    assert not rewind(plan, run).overdue


@given(cases(), st.integers(0, 8), st.lists(st.integers(0, 3)))
def test_a_deadline_changes_no_fate(case: Case, turns: int, order: list[int]) -> None:
    """Whenever it passes, the run goes on as without one; the watch checks that it is reported once, at that moment."""

    def world() -> World:
        return World(case.definition, case.failing, case.vanishing, case.overdue)

    late, pick = world(), Picker(order)
    late.start()
    late.turns(turns, pick)
    had_ended = late.run.outcome is not None
    commands = late.send(DeadlinePassed(late.now))
    assert commands == ([] if had_ended else [RecordOverdue(late.now)])
    assert late.go(pick).results == world().go(Picker(order)).results


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deadline_seconds: 0", "'deadline_seconds' must be at least 0.001, found the number 0"),
        ("deadline_seconds: -5", "'deadline_seconds' must be at least 0.001, found the number -5"),
        ("deadline_seconds: 5m", "'deadline_seconds' must be a number, found the text '5m'"),
        ("deadline: 300", "the definition has no field 'deadline'"),
    ],
)
def test_an_invalid_deadline_is_refused(line: str, expected: str) -> None:
    [[_, message, *_]] = problems_of(f"{line}\n{EXTRACT}")
    assert message == expected
