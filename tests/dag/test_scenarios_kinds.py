"""Rules of the language about waits, questions, switches, aborts, nested runs and lists, one test each."""

import pytest

from docrail.dag.engine.events import (
    AbortRequested,
    Cancel,
    Event,
    Finish,
    PauseRequested,
    Record,
    ResumeRequested,
    Start,
    StepCancelled,
    TimedOut,
)
from docrail.dag.engine.state import StepError
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import LONGEST_WAIT_SECONDS, SHORTEST_SECONDS
from docrail.dag.values.json_values import Json
from tests.dag.definitions import step
from tests.dag.kinds import answer, begun, broke, done, error_of, reported, started, statuses, timer, wait

# -- waits and questions --


def test_a_wait_holds_no_slot_and_the_run_is_waiting_once_nothing_else_runs() -> None:
    world = begun(wait("w"), step("a"), step("b"), max_concurrency=1)
    assert reported(world) == ["w", "a"]
    assert str(world.run.status) == "running"
    world.send(done("a"))
    world.send(done("b"))
    assert str(world.run.status) == "waiting"


def test_a_run_whose_layer_waits_is_waiting_although_a_step_is_ready() -> None:
    world = begun(wait("w"), step("a"), step("b", "a"), dispatch="layers")
    assert started(world, done("a")) == []
    assert world.run.status is RunStatus.WAITING
    assert started(world, answer("w", "yes")) == ["b"]


def test_an_answer_is_the_steps_output_and_the_question_is_withdrawn() -> None:
    world = begun(wait("w"), step("a", "w", config={"go": "{{ w.go }}", "by": "{{ steps.w.answered_by }}"}))
    assert world.trace[-1][1] == [Start("w", {"seconds": 60.0})]
    commands = world.send(answer("w", {"go": 1}, "ann"))
    assert commands == [Cancel("w"), Start("a", {"go": 1, "by": "ann"})]
    assert world.send(StepCancelled("w", 10.0)) == []


def test_a_question_takes_its_title_and_what_it_shows_with_it() -> None:
    show = {"total": "{{ inputs.total }}"}
    world = begun(step("h", human={"title": "Pay {{ inputs.total }}?", "show": show}), inputs={"total": 7})
    assert world.trace[-1][1] == [Start("h", {"title": "Pay 7?", "show": {"total": 7}})]
    world.send(answer("h", {"ok": True}))
    assert world.ledger.finished is RunStatus.COMPLETED


def test_the_first_answer_counts() -> None:
    world = begun(step("a"), wait("w", "a"))
    world.send(answer("w", "first"))
    world.send(answer("w", "second"))
    assert world.send(done("a")) == [Finish(RunStatus.COMPLETED)]
    assert world.states["w"].output == "first"
    assert "w" not in world.ledger.started


def test_an_early_answer_waits_for_its_step_and_does_not_make_it_run() -> None:
    world = begun(step("a"), wait("w", "a", condition="a.go"), step("b", "w"))
    world.send(answer("w", "yes"))
    assert world.send(done("a", {"go": False})) == [Finish(RunStatus.COMPLETED)]
    assert statuses(world) == {"a": "completed", "w": "skipped", "b": "skipped"}


def test_an_answer_while_paused_is_taken_and_what_follows_starts_with_the_resume() -> None:
    world = begun(wait("w"), step("a", "w"))
    world.send(PauseRequested(2.0))
    assert world.send(answer("w", "yes")) == [Cancel("w")]
    assert world.run.status is RunStatus.PAUSED
    assert started(world, ResumeRequested(3.0)) == ["a"]


def test_an_answer_to_a_wait_that_a_pause_holds_back_is_kept() -> None:
    world = begun(step("a"), wait("w", "a"))
    world.send(PauseRequested(2.0))
    world.send(done("a"))
    assert world.states["w"].status is StepStatus.QUEUED
    assert world.send(answer("w", "yes")) == []
    assert world.send(ResumeRequested(3.0)) == [Finish(RunStatus.COMPLETED)]
    assert world.states["w"].output == "yes"


@pytest.mark.parametrize("late", [answer("w", "yes"), TimedOut("w", 9.0)])
def test_events_after_an_answer_change_nothing(late: Event) -> None:
    world = begun(wait("w"), step("a", "w"))
    world.send(answer("w", "first"))
    assert world.send(late) == []
    assert world.states["w"].output == "first"


@pytest.mark.parametrize(
    ("on_timeout", "status", "follows", "output"),
    [
        ("fail", "failed", [], None),
        ("continue", "completed", ["b"], {"timed_out": True}),
        ({"branch": "late"}, "completed", ["b", "c"], {"timed_out": True}),
    ],
)
def test_time_that_is_up_is_what_on_timeout_says(
    on_timeout: Json, status: str, follows: list[str], output: Json
) -> None:
    branch = "w.late" if isinstance(on_timeout, dict) else "b"
    world = begun(wait("w", on_timeout=on_timeout), step("b", "w"), step("c", branch))
    assert started(world, TimedOut("w", 9.0)) == follows
    state = world.states["w"]
    assert (str(state.status), state.output, state.decided_by) == (status, output, "timeout")


def test_an_unanswered_step_fails_with_the_time_it_waited() -> None:
    world = begun(step("h", human={"timeout_seconds": 90, "on_timeout": "fail"}))
    assert world.send(TimedOut("h", 9.0)) == [Record("h"), Finish(RunStatus.FAILED)]
    assert world.states["h"].error == StepError("Timeout", "no one answered within 90 s")


def test_a_branch_for_those_who_are_late_is_not_taken_by_an_answer() -> None:
    world = begun(wait("w", on_timeout={"branch": "late"}), step("remind", "w.late"), step("go", "w"))
    assert started(world, answer("w", "yes")) == ["go"]
    assert world.states["remind"].reason is SkipReason.UPSTREAM_SKIPPED
    assert world.states["w"].branch is None


def test_a_timeout_that_aborts_ends_the_run_and_stops_the_rest_but_not_itself() -> None:
    world = begun(wait("w", on_timeout="abort"), step("a"), step("b", "a"))
    assert world.send(TimedOut("w", 9.0)) == [Cancel("a")]
    assert world.send(StepCancelled("a", 10.0)) == [Finish(RunStatus.ABORTED)]
    assert statuses(world) == {"w": "cancelled", "a": "cancelled", "b": "skipped"}
    assert world.run.stop_reason == "w: no one answered within 60 s"


def test_a_question_that_cannot_be_asked_fails() -> None:
    world = begun(step("h", human={"queue": "payments"}))
    assert world.send(broke("h")) == [Record("h"), Finish(RunStatus.FAILED)]


def test_a_wait_that_is_cancelled_behind_our_back_fails() -> None:
    world = begun(wait("w"))
    world.send(StepCancelled("w", 9.0))
    assert error_of(world.states["w"]).type == "Cancelled"


def test_an_aborted_run_asks_what_waits_to_stop_and_takes_no_answer_any_more() -> None:
    world = begun(wait("w"), step("a"), wait("later", "a"))
    assert world.send(AbortRequested("", 2.0)) == [Cancel("w"), Cancel("a")]
    assert world.run.status is RunStatus.RUNNING
    assert world.send(answer("w", "yes")) == []
    assert world.send(answer("later", "yes")) == []
    world.go()
    assert statuses(world) == {"w": "cancelled", "a": "cancelled", "later": "skipped"}
    assert world.states["later"].answer is None


# -- timers --


def test_a_timer_may_take_its_time_from_a_template_and_completes_when_it_is_due() -> None:
    world = begun(step("a"), timer("t", "a", seconds="{{ a.delay * 60 }}"), step("b", "t"))
    assert world.send(done("a", {"delay": 1.5})) == [Start("t", {"seconds": 90.0})]
    assert world.run.status is RunStatus.WAITING
    assert started(world, TimedOut("t", 99.0)) == ["b"]
    assert (world.states["t"].output, world.states["t"].decided_by) == ({}, "none_failed")


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        ("{{ inputs.text }}", "the text 'soon'"),
        ("{{ inputs.nothing }}", "null"),
        ("{{ true }}", "true"),
        ("{{ 0 }}", "the number 0"),
        ("{{ 0 - 5 }}", "the number -5"),
        (LONGEST_WAIT_SECONDS + 1, f"the number {LONGEST_WAIT_SECONDS + 1}"),
        (None, "null"),
    ],
)
def test_a_timer_that_cannot_be_set_fails_and_says_what_it_found(seconds: Json, found: str) -> None:
    world = begun(timer("t", seconds=seconds), inputs={"text": "soon", "nothing": None})
    assert world.ledger.finished is RunStatus.FAILED
    error = error_of(world.states["t"])
    assert error.type == "TemplateError"
    assert error.message.startswith(f"`seconds` is {found}, expected a number")


@pytest.mark.parametrize("seconds", [LONGEST_WAIT_SECONDS, SHORTEST_SECONDS])
def test_a_timer_of_a_year_or_a_millisecond_can_be_set(seconds: float) -> None:
    assert reported(begun(timer("t", seconds=seconds))) == ["t"]


def test_a_timer_takes_no_answer() -> None:
    world = begun(step("a"), timer("t", "a", seconds=5))
    assert world.send(answer("t", "now")) == []
    assert started(world, done("a")) == ["t"]
    assert world.send(answer("t", "now")) == []
    assert world.states["t"].status is StepStatus.WAITING


def test_a_wait_without_a_timeout_waits_for_ever() -> None:
    world = begun(step("w", wait={"for": "webhook"}))
    assert world.trace[-1][1] == [Start("w", {"seconds": None})]


# -- switches --

ROUTE = step(
    "route",
    switch=[
        {"when": "inputs.total >= 100", "branch": "large"},
        {"when": "inputs.total >= 10", "branch": "small"},
        {"else": "tiny"},
    ],
)


@pytest.mark.parametrize(("total", "branch"), [(100, "large"), (99, "small"), (9, "tiny")])
def test_a_switch_takes_its_first_true_case_and_only_that_branch_runs(total: int, branch: str) -> None:
    followers = [step(name, f"route.{name}") for name in ("large", "small", "tiny")]
    world = begun(ROUTE, *followers, step("both", "route.large", "route.small"), inputs={"total": total})
    assert set(reported(world)) == {branch} | ({"both"} if branch != "tiny" else set())
    assert (world.states["route"].output, world.states["route"].attempts) == ({"branch": branch}, 0)
    skipped = {world.states[each.id].reason for each in followers if each.id != branch}
    assert skipped == {SkipReason.UPSTREAM_SKIPPED}


def test_a_step_after_the_switch_itself_runs_whichever_way_it_took() -> None:
    config = {"way": "{{ route.branch }} {{ steps.route.branch }}"}
    world = begun(ROUTE, step("a", "route", "route.large", config=config), inputs={"total": 1})
    assert world.trace[-1][1] == [Start("a", {"way": "tiny tiny"})]


def test_branches_meet_again_where_one_of_them_ran() -> None:
    world = begun(
        ROUTE, step("l", "route.large"), step("s", "route.small"), step("join", "l", "s"), inputs={"total": 50}
    )
    assert reported(world) == ["s"]
    assert started(world, done("s")) == ["join"]


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([{"when": "false", "branch": "a"}], "no case is true, and there is no else"),
        ([{"when": "inputs.total", "branch": "a"}], "`inputs.total` gave the number 50, expected true or false"),
        (
            [{"when": "inputs.missing", "branch": "a"}, {"else": "b"}],
            "`inputs.missing`: 'inputs' has no 'missing': it has total",
        ),
    ],
)
def test_a_switch_without_a_way_out_fails(cases: Json, message: str) -> None:
    world = begun(step("route", switch=cases), step("a", "route.a"), inputs={"total": 50})
    assert statuses(world) == {"route": "failed", "a": "skipped"}
    assert error_of(world.states["route"]).message == message
    assert world.states["a"].reason is SkipReason.UPSTREAM_FAILED


# -- aborts and nested runs --


def test_an_abort_step_ends_the_run_as_aborted_with_its_reason() -> None:
    world = begun(step("a"), step("x", abort="because of {{ inputs.who }}"), step("b", "x"), inputs={"who": "ann"})
    assert world.trace[-1][1] == [Start("a", {}), Cancel("a")]
    assert world.send(StepCancelled("a", 2.0)) == [Finish(RunStatus.ABORTED)]
    assert statuses(world) == {"a": "cancelled", "x": "completed", "b": "skipped"}
    assert world.run.stop_reason == "because of ann"


def test_an_abort_whose_reason_cannot_be_computed_fails_and_aborts_nothing() -> None:
    world = begun(step("x", abort="{{ inputs.missing }}"), step("a"))
    assert reported(world) == ["a"]
    assert world.states["x"].status is StepStatus.FAILED
    assert world.send(done("a")) == [Finish(RunStatus.FAILED)]


def test_a_paused_run_does_not_come_to_its_abort_step() -> None:
    world = begun(step("a"), step("x", "a", abort="enough"))
    world.send(PauseRequested(2.0))
    assert world.send(done("a")) == []
    assert world.send(ResumeRequested(3.0)) == [Finish(RunStatus.ABORTED)]


def test_a_nested_run_takes_no_slot_and_its_outputs_are_the_steps_output() -> None:
    nested = {"id": "other", "inputs": {"x": "{{ inputs.x }}"}}
    world = begun(
        *(step("n", workflow=nested), step("a"), step("b", "n", config={"y": "{{ n.y }}"})),
        max_concurrency=1,
        inputs={"x": 4},
    )
    assert world.trace[-1][1] == [Start("n", {"x": 4}), Start("a", {})]
    assert world.run.status is RunStatus.RUNNING
    world.send(done("a"))
    assert world.send(done("n", {"y": 5})) == [Start("b", {"y": 5})]
