"""A deadline is reported once, in any state of the run, and changes no decision unless the definition says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.events import (
    AbortRequested,
    Answered,
    Cancel,
    DeadlinePassed,
    Finish,
    PauseRequested,
    RecordOverdue,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
)
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin, load, save
from docrail.dag.engine.state import Answer, RunState, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import RunReport, markdown, report_of
from docrail.dag.language.definition import DeadlineThen, Definition, OnDeadline
from docrail.dag.language.statuses import RunStatus, StepStatus
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


REASON = "it had not ended 60 s after its start"
ASK: Json = {"id": "ask", "human": {"queue": "q"}, "handler": None}


def test_a_deadline_that_aborts_reports_the_run_and_stops_it() -> None:
    plan, run = begun({"id": "a"}, {"id": "b", "depends_on": ["a"]}, on_deadline="abort")
    assert advance(plan, run, DeadlinePassed(70.0)) == [RecordOverdue(70.0), Cancel("a")]
    assert advance(plan, run, DeadlinePassed(71.0)) == []
    assert advance(plan, run, StepCancelled("a", 72.0)) == [Finish(RunStatus.ABORTED)]
    shown = report(plan, run)
    assert (shown.status, shown.reason, shown.overdue) == (
        RunStatus.ABORTED,
        "it had not ended 60 s after its start",
        True,
    )


def test_a_deadline_with_a_branch_ends_waits_for_an_answer_before_and_after_it() -> None:
    plan, run = begun(
        ASK,
        {"id": "work"},
        {"id": "timer", "handler": None, "wait": {"for": "timer", "seconds": 100}},
        {"id": "escalate", "depends_on": ["ask.late"]},
        {**ASK, "id": "ask_again", "depends_on": ["work"]},
        {"id": "remind", "depends_on": ["ask_again.late"]},
        on_deadline={"branch": "late"},
    )
    commands = advance(plan, run, DeadlinePassed(70.0))
    assert commands == [RecordOverdue(70.0), Cancel("ask"), Start("escalate", {})]
    assert advance(plan, run, StepCompleted("work", {}, 1, 80.0)) == [Start("remind", {})]
    states = dict(zip((step.id for step in plan.steps), run.steps, strict=True))
    for step_id in ("ask", "ask_again"):
        state = states[step_id]
        assert (state.branch, state.output, state.decided_by) == ("late", {"timed_out": True}, "deadline")
    assert states["timer"].status is StepStatus.WAITING
    words = explain_run(plan, run, "late.1").steps["ask"].words
    assert "no one answered before the run's deadline, so the branch late is taken" in words


def test_a_question_that_was_answered_in_time_takes_no_branch_of_the_deadline() -> None:
    plan, run = begun(
        ASK, {"id": "escalate", "depends_on": ["ask.late"]}, {"id": "work"}, on_deadline={"branch": "late"}
    )
    advance(plan, run, Answered("ask", Answer({"yes": True}), 20.0))
    assert advance(plan, run, DeadlinePassed(70.0)) == [RecordOverdue(70.0)]
    assert run.steps[plan.index["escalate"]].status is StepStatus.SKIPPED


@given(cases(), st.integers(0, 8), st.lists(st.integers(0, 3)))
def test_a_deadline_that_aborts_decides_as_an_abort_at_that_moment(case: Case, turns: int, order: list[int]) -> None:
    def world(rule: OnDeadline | None) -> World:
        late = case.definition.model_copy(update={"deadline_seconds": 60, "on_deadline": rule})
        return World(late, case.failing, case.vanishing, case.overdue)

    ended = []
    for rule in (OnDeadline(then=DeadlineThen.ABORT), None):
        played, pick = world(rule), Picker(order)
        played.start()
        played.turns(turns, pick)
        played.send(DeadlinePassed(played.now) if rule else AbortRequested(REASON, played.now))
        ended.append(played.go(pick).results)
    assert ended[0] == ended[1]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deadline_seconds: 0", "'deadline_seconds' must be at least 0.001, found the number 0"),
        ("deadline_seconds: -5", "'deadline_seconds' must be at least 0.001, found the number -5"),
        ("deadline_seconds: 5m", "'deadline_seconds' must be a number, found the text '5m'"),
        ("deadline: 300", "the definition has no field 'deadline'"),
        ("deadline_seconds: 5\non_deadline: stop", "'on_deadline' must be 'notify' or 'abort', found the text 'stop'"),
        ("deadline_seconds: 5\non_deadline: {}", "'on_deadline' needs 'then' (notify or abort) or 'branch'"),
        (
            "deadline_seconds: 5\non_deadline: {then: abort, branch: late}",
            "'on_deadline' has both 'then' and 'branch': keep one of them",
        ),
        (
            "on_deadline: abort",
            "the definition has no 'deadline_seconds', so 'on_deadline' is never used: give it both",
        ),
    ],
)
def test_an_invalid_deadline_is_refused(line: str, expected: str) -> None:
    [[_, message, *_]] = problems_of(f"{line}\n{EXTRACT}")
    assert message == expected
