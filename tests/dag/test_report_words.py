"""A run's report says in words why the run and its steps are as they are: who stopped it, what attempts met."""

from dataclasses import replace

import pytest
from pydantic_core import to_json

from docrail.dag.engine.eligibility import MAX_TURN_WORK
from docrail.dag.engine.events import (
    AbortRequested,
    Event,
    GoOn,
    Item,
    Resolution,
    ResolutionKind,
    Resolved,
    RunStarted,
    StepCancelled,
    StepCompleted,
    StepFailed,
    TimedOut,
)
from docrail.dag.engine.map_items import ItemCounts
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin, load, save
from docrail.dag.engine.state import MOST_EARLIER, EarlierError, RunState, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.explain import MOST_REPORTED
from docrail.dag.explain.report import MAX_INNER_BYTES, MAX_REPORT_BYTES, RunReport, for_outer, report_of
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import Found
from tests.dag.explained import explain_run

BROKEN = StepError("ConnectionError", "no network")
ROOT = "it has no parents, so it may begin with the run"


def played(steps: list[dict[str, Json]], *events: Event, **more: Json) -> tuple[Plan, RunState]:
    plan = compile_plan(Definition.model_validate({"id": "sample", "steps": steps, **more}))
    run = begin(plan, {"amount": 250}, {})
    for event in (RunStarted(100.0), *events):
        advance(plan, run, event)
    return plan, run


def report(plan: Plan, run: RunState) -> RunReport:
    return report_of(plan, run, run_id="sample.1", tenant_id="default", version=1, digest="d")


def noop(step_id: str, *parents: str, **fields: Json) -> dict[str, Json]:
    return {"id": step_id, "handler": "noop", "depends_on": list(parents), **fields}


def earlier(*attempts: int) -> tuple[EarlierError, ...]:
    return tuple(EarlierError(attempt, BROKEN) for attempt in attempts)


def test_a_report_says_of_each_step_what_explain_says() -> None:
    plan, run = played(
        [noop("a"), noop("b", "a", condition="a.n > inputs.amount"), noop("c", "b")],
        StepCompleted("a", {"n": 7}, 1, 110.0),
    )
    shown, explained = report(plan, run), explain_run(plan, run, "sample.1")
    assert shown.why == explained.words
    assert {name: step.why for name, step in shown.steps.items()} == {
        name: step.words for name, step in explained.steps.items()
    }
    assert shown.steps["b"].why[-1] == (
        "its condition `a.n > inputs.amount` was false, so the step is skipped (a.n = 7, inputs.amount = 250)"
    )
    assert shown.unexplained == 0


def test_of_a_large_run_the_steps_that_tell_most_are_explained() -> None:
    names = [f"s{number}" for number in range(MOST_REPORTED + 50)]
    steps = [noop(name) for name in names] + [noop("odd", condition="false")]
    plan, run = played(steps, *(StepCompleted(name, {}, 1, 110.0) for name in names), StepFailed("s9", BROKEN, 1, 9.0))
    shown = report(plan, run)
    unexplained = [name for name, step in shown.steps.items() if not step.why]
    assert (shown.unexplained, len(unexplained)) == (51, 51)
    assert shown.steps["odd"].why
    assert {shown.steps[name].status for name in unexplained} == {StepStatus.COMPLETED}


def just_above(most_bytes: int) -> RunReport:
    """Return a running run's report that takes a few bytes more than `most_bytes`, nearly all of them outputs."""
    names = [f"s{number}" for number in range(10)]
    plan, run = played([noop(name) for name in [*names, "last"]], limits={"max_concurrency": 20})
    for name in names:
        advance(plan, run, StepCompleted(name, {"text": ""}, 1, 110.0))
    size = (most_bytes - len(to_json(report(plan, run)))) // 10 + 1
    for state in run.steps[:10]:
        state.output = {"text": "x" * size}
    return report(plan, run)


def test_words_give_way_to_outputs_where_a_report_would_be_too_large() -> None:
    shown = just_above(MAX_REPORT_BYTES)
    assert (shown.unexplained, shown.step_outputs_omitted) == (11, False)
    assert not any(step.why for step in shown.steps.values())
    assert shown.steps["s3"].output
    assert len(to_json(shown)) <= MAX_REPORT_BYTES


def test_the_run_around_a_run_is_reported_a_large_one_without_its_words() -> None:
    shown = for_outer(just_above(MAX_INNER_BYTES))
    assert (shown.unexplained, shown.step_outputs_omitted) == (11, False)
    assert shown.steps["s3"].output
    assert len(to_json(shown)) <= MAX_INNER_BYTES


def test_asking_leaves_the_run_as_it_is() -> None:
    """What expressions take counts towards a turn's work: a question that counted would change what is decided."""
    condition = {"when": "inputs.amount > 1", "branch": "same"}
    plan, run = played([{"id": "a", "switch": [condition, condition, {"else": "same"}]}])
    before = run.turn.spent
    assert report(plan, run).steps["a"].why
    assert explain_run(plan, run, "sample.1").steps
    assert run.turn.spent == before


def test_no_more_is_explained_than_a_turn_has_time_for() -> None:
    """A report is made in the run's last turn, too: Temporal would end one that takes long, for ever."""
    costly = {"when": "(inputs.many | map('length') | sum) > 0", "branch": "same"}
    steps = [{"id": f"s{number}", "switch": [costly, {"else": "same"}]} for number in range(30)]
    plan = compile_plan(Definition.model_validate({"id": "sample", "steps": steps}))
    run = begin(plan, {"many": ["x"] * 20_000}, {})
    for step in run.steps:
        step.status, step.branch, step.started_at = StepStatus.COMPLETED, "same", 100.0
    shown = report(plan, run)
    assert 0 < shown.unexplained < 30
    page = explain_run(plan, run, "sample.1")
    assert 0 < len(page.steps) < 30
    assert page.after == next(reversed(page.steps))


def test_a_report_explains_no_more_than_the_turn_that_ends_a_run_has_time_for() -> None:
    steps = [noop(f"s{number}", "a", condition="a.n > 100") for number in range(100)]
    plan, run = played([noop("a"), *steps], StepCompleted("a", {"n": 7}, 1, 110.0))
    run.transfers.loaded = {("other", "x", number): Found(("other", "x", number), 1) for number in range(5_000)}
    shown, before = report(plan, run), run.turn.spent
    assert 0 < shown.unexplained < 101
    assert sum(not step.why for step in shown.steps.values()) == shown.unexplained
    assert run.turn.spent == before


def test_a_run_that_has_not_begun_is_reported() -> None:
    plan = compile_plan(Definition.model_validate({"id": "sample", "steps": [noop("a")]}))
    assert report(plan, begin(plan, {}, {})).steps["a"].why[-1] == "it has not begun: the run has not come to it yet"


def test_a_step_that_is_left_to_a_later_turn_is_reported() -> None:
    plan, run = played([noop("a"), noop("b", "a", condition="inputs.amount > 1")])
    run.turn.spent, run.turn.begun_at = MAX_TURN_WORK, 110.0
    assert GoOn() in advance(plan, run, StepCompleted("a", {}, 1, 110.0))
    assert report(plan, run).steps["b"].why[-1] == "it has not begun: the run has not come to it yet"


@pytest.mark.parametrize(
    ("step", "event", "words"),
    [
        (noop("a"), AbortRequested("wrong file", 105.0, by="ann"), "it was aborted by ann: wrong file"),
        (noop("a"), AbortRequested("wrong file", 105.0), "it was aborted: wrong file"),
        ({"id": "a", "abort": {"reason": "no"}}, RunStarted(101.0), "it was aborted by its step a: no"),
        (
            {"id": "a", "wait": {"for": "signal", "timeout_seconds": 60, "on_timeout": "abort"}},
            TimedOut("a", 160.0),
            "it was aborted by its step a: a: no one answered within 60 s",
        ),
    ],
)
def test_a_run_shows_who_aborted_it(step: dict[str, Json], event: Event, words: str) -> None:
    shown = report(*played([step], event))
    assert shown.why[1] == words
    assert (shown.stopped_by, shown.stopped_by_step) == (
        "ann" * (" ann" in words),
        "a" if "its step" in words else None,
    )


def test_the_first_to_abort_is_who_aborted() -> None:
    first, second = AbortRequested("enough", 105.0, by="ann"), AbortRequested("no more", 106.0, by="bob")
    assert report(*played([noop("a")], first, second)).stopped_by == "ann"


def test_continuing_elsewhere_with_a_parked_step_names_the_person() -> None:
    handed_over = AbortRequested("goes on under version 2", 112.0, is_continued=True, by="ann")
    shown = report(*played([noop("a")], StepFailed("a", BROKEN, 1, 111.0), handed_over, on_failure="park"))
    assert shown.why[1] == "it was ended by ann: goes on under version 2"


def test_a_step_that_succeeded_in_the_end_tells_how_earlier_attempts_failed() -> None:
    plan, run = played([noop("a")], StepCompleted("a", {}, 4, 110.0, earlier=earlier(1, 3)))
    assert list(report(plan, run).steps["a"].why) == [
        ROOT,
        "attempt 1 failed: ConnectionError: no network",
        "attempt 3 failed: ConnectionError: no network",
        "how 1 earlier attempt failed was not kept",
        "attempts made: 4, of at most 4",
    ]
    attempts = explain_run(plan, run, "sample.1").steps["a"].attempts
    assert attempts is not None
    assert attempts.earlier == earlier(1, 3)


def test_of_a_list_the_last_of_its_items_earlier_errors_are_reported() -> None:
    listed = noop("a", for_each={"items": [1, 2, 3], "max_concurrency": 2})
    recovered = StepCompleted("a", {}, 3, 110.0, Item(1), earlier=earlier(1, 2))
    shown = report(*played([listed], recovered, StepFailed("a", BROKEN, 5, 110.0, Item(0), earlier(1, 2, 3, 4))))
    assert list(shown.steps["a"].why) == [
        ROOT,
        "of 3 items 1 completed, 1 failed, 1 running; failed: 0",
        "attempt 2 at item 1 failed: ConnectionError: no network",
        *(f"attempt {number} at item 0 failed: ConnectionError: no network" for number in range(1, MOST_EARLIER)),
        "attempts made: 8 for all items, of at most 4 for each",
    ]


def test_a_step_that_had_no_time_for_another_attempt_says_so() -> None:
    step = noop("a", total_timeout_seconds=90)
    over = StepFailed("a", BROKEN, 2, 110.0, out_of_time=True)
    plan, run = played([step], over)
    said = "attempts made: 2, of at most 4"
    assert report(plan, run).steps["a"].why[-1] == f"{said}: the 90 s for all attempts left no time for another"
    again = load(plan, save(plan, run))
    assert report(plan, again).steps["a"].why == report(plan, run).steps["a"].why
    assert report(*played([step], replace(over, out_of_time=False))).steps["a"].why[-1] == said
    attempts = explain_run(plan, run, "sample.1").steps["a"].attempts
    assert attempts is not None
    assert attempts.over_seconds == 90


def test_a_state_that_was_saved_before_that_was_known_is_loaded() -> None:
    plan, run = played([noop("a", total_timeout_seconds=90)], StepFailed("a", BROKEN, 2, 110.0, out_of_time=True))
    saved = save(plan, run)
    del saved["steps"]["a"]["out_of_time"]
    assert report(plan, load(plan, saved)).steps["a"].why[-1] == "attempts made: 2, of at most 4"


def test_a_step_that_completes_once_it_is_tried_again_had_time_enough() -> None:
    over = StepFailed("a", BROKEN, 2, 110.0, out_of_time=True)
    resolved = Resolved("a", Resolution(ResolutionKind.RETRY, None, "ann"), 120.0)
    step = noop("a", total_timeout_seconds=90)
    shown = report(*played([step], over, resolved, StepCompleted("a", {}, 1, 130.0), on_failure="park"))
    assert "attempts made: 1, of at most 4" in shown.steps["a"].why


@pytest.mark.parametrize("last", [True, False])
def test_a_list_says_that_some_items_had_no_time_for_another_attempt(last: bool) -> None:
    listed = noop("a", for_each={"items": [1, 2]}, total_timeout_seconds=90)
    over, done = StepFailed("a", BROKEN, 2, 110.0, Item(0), out_of_time=True), StepCompleted("a", {}, 3, 111.0, Item(1))
    shown = report(*played([listed], *((done, over) if last else (over, done))))
    assert shown.steps["a"].why[-1] == (
        "attempts made: 5 for all items, of at most 4 for each; for some, the 90 s for all attempts left no time for "
        "another"
    )


@pytest.mark.parametrize(
    ("human", "title", "asks"),
    [
        ({"title": "Pay {{ inputs.amount }}?"}, "Approve", "Pay 250?"),
        ({"title": "{{ inputs.amount }}"}, "Approve", "250"),
        ({}, "Approve", "Approve"),
        ({}, "", "ask"),
        ({"title": "x" * 500, "show": {"n": "{{ inputs.amount }}"}}, "", "x" * 500),
    ],
)
def test_a_step_that_waits_for_people_tells_what_they_are_asked(human: dict[str, Json], title: str, asks: str) -> None:
    shown = explain_run(*played([{"id": "ask", "title": title, "human": human}]), "sample.1").steps["ask"].waiting
    assert shown is not None
    assert shown.asks == asks


def test_nobody_is_asked_by_a_step_that_waits_for_an_answer() -> None:
    shown = explain_run(*played([{"id": "reply", "wait": {"for": "signal"}}]), "sample.1").steps["reply"].waiting
    assert shown is not None
    assert shown.asks is None


def test_a_step_that_somebody_had_tried_again_says_so() -> None:
    resolved = Resolved("a", Resolution(ResolutionKind.RETRY, None, "ann"), 120.0)
    failed = StepFailed("a", BROKEN, 4, 110.0)
    run = played(
        [{"id": "a", "handler": "noop"}], failed, resolved, StepCompleted("a", {}, 1, 130.0), on_failure="park"
    )
    assert "ann had it tried again" in report(*run).steps["a"].why


@pytest.mark.parametrize("rule", [{"then": "fail"}, {"then": "abort"}, {"then": "continue"}, {"branch": "late"}])
def test_a_question_that_was_escalated_tells_how_long_it_stood_in_all(rule: dict[str, Json]) -> None:
    human = {"queue": "pay", "timeout_seconds": 6, "on_timeout": {"escalate_to": "boss", **rule}}
    plan, run = played([{"id": "ask", "human": human}], TimedOut("ask", 112.0))
    leads = ", so the branch late is taken" if "branch" in rule else ""
    said = "no one answered in time, 12 s in all: it was escalated, and the last 6 s it was in the queue boss"
    assert f"{said}{leads}" in report(plan, run).steps["ask"].why
    assert explain_run(plan, run, "sample.1").steps["ask"].waiting is None
    error = run.steps[0].error
    assert (
        error is None or error.message == "no one answered within 6 s"
    )  # the report repeats the reason the run was given


def test_a_question_that_nobody_was_handed_tells_its_time_in_its_error() -> None:
    human = {"queue": "pay", "timeout_seconds": 6, "on_timeout": "fail"}
    plan, run = played([{"id": "ask", "human": human}], TimedOut("ask", 106.0))
    assert "no one answered in time" in report(plan, run).steps["ask"].why


def test_items_that_were_stopped_are_counted_as_that_beside_those_that_never_began() -> None:
    items = {"id": "page", "handler": "noop", "for_each": {"items": [1, 2, 3, 4], "max_concurrency": 2}}
    events = (StepCompleted("page", {}, 1, 101.0, Item(0)), AbortRequested("enough", 102.0))
    plan, run = played([items], *events, StepCancelled("page", 103.0, Item(1)), StepCancelled("page", 103.0, Item(2)))
    step = report(plan, run).steps["page"]
    assert step.items == ItemCounts(total=4, completed=1, failed=0, running=0, cancelled=2)
    assert "of 4 items 1 completed, 0 failed, 0 running, 2 cancelled, 1 not started" in step.why
    shown = explain_run(plan, run, "sample.1").steps["page"].items
    assert shown is not None
    assert (shown.cancelled, shown.not_started) == (2, 1)
