"""The explanation of a step: the rule, its parents, the values that were read, and what prevents it from beginning."""

from dataclasses import dataclass, field

import pytest
from pydantic_core import to_json

from docrail.dag.engine.events import (
    AbortRequested,
    Answered,
    Event,
    PauseRequested,
    Resolution,
    ResolutionKind,
    Resolved,
    RunStarted,
    StepCancelled,
    StepCompleted,
    StepFailed,
    TimedOut,
)
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import Answer, RunState, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.explain import packing
from docrail.dag.explain.conditions import MOST_CHARACTERS, brief
from docrail.dag.explain.explain import MAX_PAGE_BYTES, facts_of_run
from docrail.dag.explain.facts import HoldKind, RunExplanation, StepExplanation, Verdict
from docrail.dag.explain.packing import packed_answer, page_of, unpacked_text
from docrail.dag.explain.words import in_words
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.explained import explain_run
from tests.dag.kinds import part_at

BROKEN = StepError("ConnectionError", "no network")
KINDS = {"handler", "wait", "human", "workflow", "abort", "switch"}


def played(steps: list[dict[str, Json]], *events: Event, **more: Json) -> tuple[Plan, RunState]:
    """Return a run of the steps, `noop` where they do not say their kind, after the events."""
    reported = [step if KINDS & step.keys() else {"handler": "noop", **step} for step in steps]
    plan = compile_plan(Definition.model_validate({"id": "sample", "steps": reported, **more}))
    run = begin(plan, {"amount": 250, "name": "Ada"}, {"workflow": {"id": "w"}})
    for event in (RunStarted(100.0), *events):
        advance(plan, run, event)
    return plan, run


def reported(plan: Plan, run: RunState, step: str) -> StepExplanation:
    return explain_run(plan, run, "sample.1", step_id=step).steps[step]


def done(step: str, output: Json = None, item: int | None = None) -> StepCompleted:
    return StepCompleted(step, output or {}, 1, 110.0, part_at(item))


def failed(step: str, item: int | None = None) -> StepFailed:
    return StepFailed(step, BROKEN, 4, 111.0, part_at(item))


def after(*parents: str, **fields: Json) -> dict[str, Json]:
    return {"id": "b", "depends_on": list(parents), **fields}


@dataclass(frozen=True)
class Explained:
    """A step `b`, what happened, and the sentences that explain it."""

    steps: list[dict[str, Json]]
    events: list[Event]
    words: list[str]
    more: dict[str, Json] = field(default_factory=dict)


NONE_FAILED = "it runs if no parent failed or was skipped because of a failure, and at least one completed"
WAIT = {"for": "signal", "timeout_seconds": 60, "on_timeout": "abort"}
ASKED = {"queue": "pay", "timeout_seconds": 60, "on_timeout": {"escalate_to": "boss", "then": "fail"}}
ITEMS = {"items": [1, 2, 3], "max_concurrency": 2}
ALL_SUCCESS = "all_success did not let it run: it runs if every parent completed"
PERSON = "it waits for a decision of a person in the queue pay"
LET = f"none_failed let it run: {NONE_FAILED}; a is completed"

HAS_FAILED = (
    "it has no parents, so it may begin with the run",
    "its error: ConnectionError: no network",
    "how 3 earlier attempts failed was not kept",
    "attempts made: 4, of at most 4",
)

CASES = {
    "a root": Explained([{"id": "b"}], [], ["it has no parents, so it may begin with the run"]),
    "not yet": Explained(
        [{"id": "a"}, after("a")],
        [],
        [
            f"none_failed decides once every parent is settled: {NONE_FAILED}; a is running",
            "it has not begun: its parent a is not settled yet (a)",
        ],
    ),
    "a failure upstream": Explained(
        [{"id": "a"}, after("a")], [failed("a")], [f"none_failed did not let it run: {NONE_FAILED}; a is failed"]
    ),
    "a rule": Explained(
        [{"id": "a"}, {"id": "c", "condition": "false"}, after("a", "c", trigger_rule="all_success")],
        [done("a")],
        [
            f"{ALL_SUCCESS}; a is completed, c is skipped (condition_false)",
        ],
    ),
    "a branch not taken": Explained(
        [
            {"id": "a", "switch": [{"when": "inputs.amount > 1000", "branch": "large"}, {"else": "small"}]},
            after("a.large"),
        ],
        [],
        [f"none_failed did not let it run: {NONE_FAILED}; a took the branch small, not large"],
    ),
    "a condition that was false": Explained(
        [{"id": "a"}, after("a", condition="a.n > 1 and inputs.name")],
        [done("a", {"n": 0})],
        [
            LET,
            'its condition `a.n > 1 and inputs.name` was false, so the step is skipped (a.n = 0, inputs.name = "Ada")',
        ],
    ),
    "a condition that was true": Explained(
        [{"id": "a"}, after("a", condition='steps.a.status == "completed"')],
        [done("a")],
        [LET, 'its condition `steps.a.status == "completed"` was true (steps.a.status = "completed")'],
    ),
    "a condition that could not be evaluated": Explained(
        [{"id": "a"}, after("a", condition="a.total > 1")],
        [done("a")],
        [
            LET,
            "its condition `a.total > 1` could not be evaluated (a.total has no value)",
            "its error: ConditionError: `a.total > 1`: 'a' has no 'total': it is empty",
        ],
    ),
    "a condition that was never asked": Explained(
        [{"id": "a"}, after("a", condition="a.total > 1")],
        [failed("a")],
        [
            f"none_failed did not let it run: {NONE_FAILED}; a is failed",
            "its condition `a.total > 1` is evaluated only if none_failed lets it run",
        ],
    ),
    "a switch": Explained(
        [
            {
                "id": "b",
                "switch": [
                    {"when": "inputs.amount > 1000", "branch": "large"},
                    {"when": "inputs.amount > 100", "branch": "middle"},
                    {"else": "small"},
                ],
            }
        ],
        [],
        [
            "it has no parents, so it may begin with the run",
            "`inputs.amount > 1000` was false, so not large (inputs.amount = 250)",
            "`inputs.amount > 100` was true, and led to middle (inputs.amount = 250)",
        ],
    ),
    "a switch whose branch two cases lead to": Explained(
        [
            {
                "id": "b",
                "switch": [
                    {"when": "inputs.amount > 1000", "branch": "x"},
                    {"when": "inputs.amount > 100", "branch": "x"},
                ],
            }
        ],
        [],
        [
            "it has no parents, so it may begin with the run",
            "`inputs.amount > 1000` was false, so not x (inputs.amount = 250)",
            "`inputs.amount > 100` was true, and led to x (inputs.amount = 250)",
        ],
    ),
    "a switch that could not be evaluated": Explained(
        [
            {
                "id": "b",
                "switch": [
                    {"when": "inputs.amount > 1000", "branch": "x"},
                    {"when": "inputs.none > 1", "branch": "y"},
                    {"else": "z"},
                ],
            }
        ],
        [],
        [
            "it has no parents, so it may begin with the run",
            "`inputs.amount > 1000` was false, so not x (inputs.amount = 250)",
            "`inputs.none > 1` could not be evaluated (inputs.none has no value)",
            "its error: TemplateError: `inputs.none > 1`: 'inputs' has no 'none': it has amount, name",
        ],
    ),
    "a wait": Explained(
        [{"id": "b", "wait": WAIT}],
        [],
        [
            "it has no parents, so it may begin with the run",
            "it waits for an answer, 60 s in all; then the run is aborted",
        ],
    ),
    "a wait for ever": Explained(
        [{"id": "b", "wait": {"for": "webhook"}}],
        [],
        [
            "it has no parents, so it may begin with the run",
            "it waits for an answer to its callback address, without a limit",
        ],
    ),
    "a timer": Explained(
        [{"id": "b", "wait": {"for": "timer", "seconds": "{{ inputs.amount * 2 }}"}}],
        [],
        ["it has no parents, so it may begin with the run", "it waits for nothing but time: 8 minutes 20 s in all"],
    ),
    "a person": Explained(
        [{"id": "b", "human": ASKED}],
        [],
        [
            "it has no parents, so it may begin with the run",
            f"{PERSON}, 2 minutes in all, after 60 s in the queue boss; then the step fails",
        ],
    ),
    "an answer": Explained(
        [{"id": "b", "wait": WAIT}],
        [Answered("b", Answer({"decision": "yes"}, "ann"), 120.0)],
        ["it has no parents, so it may begin with the run", 'it was answered by ann: {"decision": "yes"}'],
    ),
    "no answer": Explained(
        [{"id": "b", "wait": {**WAIT, "on_timeout": {"branch": "late"}}}],
        [TimedOut("b", 160.0)],
        ["it has no parents, so it may begin with the run", "no one answered in time, so the branch late is taken"],
    ),
    "attempts": Explained(
        [{"id": "b"}],
        [failed("b")],
        [
            *HAS_FAILED,
        ],
    ),
    "items": Explained(
        [{"id": "b", "for_each": ITEMS}],
        [failed("b", 0)],
        [
            "it has no parents, so it may begin with the run",
            "of 3 items 0 completed, 1 failed, 2 running; failed: 0",
            "attempts made: 4 for all items, of at most 4 for each",
        ],
    ),
    "items behind a window": Explained(
        [{"id": "b", "for_each": ITEMS}],
        [],
        [
            "it has no parents, so it may begin with the run",
            "its next item has not begun: 2 items run, as many as for_each.max_concurrency (2) allows",
            "of 3 items 0 completed, 0 failed, 2 running, 1 not started",
        ],
    ),
    "a parked step": Explained(
        [{"id": "b"}],
        [failed("b")],
        [
            *HAS_FAILED,
            "it waits for a person to have it tried again, skipped, or given an output",
        ],
        {"on_failure": "park"},
    ),
    "a parked step that was skipped": Explained(
        [{"id": "b"}],
        [failed("b"), Resolved("b", Resolution(ResolutionKind.SKIP, None, "ann"), 120.0)],
        [
            *HAS_FAILED,
            "ann had it skipped",
        ],
        {"on_failure": "park"},
    ),
    "a parked step that was given an output": Explained(
        [{"id": "b"}],
        [failed("b"), Resolved("b", Resolution(ResolutionKind.OUTPUT, {"total": 1}, "ann"), 120.0)],
        [
            *(HAS_FAILED[0], *HAS_FAILED[2:]),
            "ann gave its output by hand",
        ],
        {"on_failure": "park"},
    ),
    "no slot": Explained(
        [{"id": "a"}, {"id": "b"}],
        [],
        [
            "it has no parents, so it may begin with the run",
            "it has not begun: all slots are taken: limits.max_concurrency is 1 (a)",
        ],
        {"limits": {"max_concurrency": 1}},
    ),
    "a paused run": Explained(
        [{"id": "a"}, after("a")],
        [PauseRequested(105.0), done("a")],
        [LET, "it has not begun: the run is paused: nothing begins until it is resumed"],
    ),
    "a layer": Explained(
        [{"id": "a"}, {"id": "c"}, after("a")],
        [done("a")],
        [
            LET,
            "it has not begun: limits.dispatch is layers: an earlier layer has steps that are not settled yet (c)",
        ],
        {"limits": {"dispatch": "layers"}},
    ),
    "an aborted run": Explained(
        [{"id": "a"}, after("a", condition="a.x")],
        [AbortRequested("enough", 105.0)],
        ["the run was stopped before the step began"],
    ),
    "a step that an abort stopped": Explained(
        [{"id": "b"}],
        [AbortRequested("enough", 105.0), StepCancelled("b", 106.0)],
        [
            "it has no parents, so it may begin with the run",
            "it was stopped while it ran, because the run was aborted",
            "attempts made: 1, of at most 4",
        ],
    ),
    "a step of an aborted run": Explained(
        [{"id": "b"}],
        [AbortRequested("enough", 105.0)],
        [
            "it has no parents, so it may begin with the run",
            "the run is aborted, and the step was asked to stop",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_step_is_explained_in_words(case: Explained) -> None:
    plan, run = played(case.steps, *case.events, **case.more)
    assert list(reported(plan, run, "b").words) == case.words


def test_each_sentence_is_also_available_as_data() -> None:
    plan, run = played(
        [{"id": "a"}, {"id": "c"}, after("a", "c", condition="a.total > 1000")], done("a", {"total": 5}), done("c")
    )
    step = reported(plan, run, "b")
    assert (step.rule.name, step.rule.verdict) == ("none_failed", Verdict.YES)
    assert (step.parents.total, step.parents.completed) == (2, 2)
    assert [(parent.id, parent.status, parent.counts_as) for parent in step.parents.named] == [
        ("a", StepStatus.COMPLETED, "completed"),
        ("c", StepStatus.COMPLETED, "completed"),
    ]
    assert step.condition is not None
    assert (step.condition.verdict, [(read.path, read.value) for read in step.condition.reads]) == (
        Verdict.NO,
        [("a.total", "5")],
    )


def test_a_wait_shows_when_its_time_is_up() -> None:
    plan, run = played([{"id": "ask", "human": ASKED}, {"id": "reply", "wait": {"for": "signal"}}])
    waiting = reported(plan, run, "ask").waiting
    assert waiting is not None
    assert (waiting.asks, waiting.since, waiting.escalates_at, waiting.until) == ("ask", 100.0, 160.0, 220.0)
    endless = reported(plan, run, "reply").waiting
    assert endless is not None
    assert endless.until is None


def test_a_hold_names_the_steps_to_look_at() -> None:
    plan, run = played([{"id": "a"}, {"id": "c"}, {"id": "b"}], limits={"max_concurrency": 2})
    hold = reported(plan, run, "b").hold
    assert hold is not None
    assert (hold.by, hold.steps) == (HoldKind.SLOTS, ("a", "c"))


def test_of_two_true_cases_that_lead_to_one_branch_the_first_was_taken() -> None:
    cases = [{"when": "inputs.amount > 100", "branch": "x"}, {"when": "inputs.amount > 1", "branch": "x"}]
    step = reported(*played([{"id": "b", "switch": cases}]), "b")
    assert [case.verdict for case in step.cases] == [Verdict.YES, Verdict.NOT_ASKED]


def hold(plan: Plan, run: RunState) -> HoldKind | None:
    found = reported(plan, run, "b").hold
    return None if found is None else found.by


def test_a_step_that_no_layer_holds_may_be_held_by_slots() -> None:
    limits = {"dispatch": "layers", "max_concurrency": 1}
    assert hold(*played([{"id": "a"}, {"id": "b"}], limits=limits)) is HoldKind.SLOTS


def test_the_items_of_a_paused_run_are_held_by_the_pause() -> None:
    assert hold(*played([{"id": "b", "for_each": ITEMS}], PauseRequested(105.0))) is HoldKind.PAUSE


def test_items_that_will_never_begin_are_held_by_nothing() -> None:
    items = {**ITEMS, "on_item_error": "fail_fast"}
    plan, run = played([{"id": "b", "for_each": items}], failed("b", 0), PauseRequested(112.0))
    assert (run.steps[0].status, hold(plan, run)) == (StepStatus.RUNNING, None)


def test_a_condition_that_a_person_overruled_is_reported_as_one_that_could_not_be_evaluated() -> None:
    overruled = Resolved("b", Resolution(ResolutionKind.OUTPUT, {"by": "hand"}, "ann"), 120.0)
    step = reported(*played([{"id": "b", "condition": "inputs.none > 1"}], overruled, on_failure="park"), "b")
    assert (step.status, step.condition and step.condition.verdict) == (StepStatus.COMPLETED, Verdict.ERROR)


def test_an_error_of_a_handler_is_never_taken_for_one_of_the_condition() -> None:
    error = StepFailed("b", StepError("ConditionError", "of the handler"), 1, 111.0)
    step = reported(*played([{"id": "b", "condition": "inputs.amount > 1"}], error), "b")
    assert (step.status, step.condition and step.condition.verdict) == (StepStatus.FAILED, Verdict.YES)


def test_many_parents_are_counted_and_only_the_odd_ones_named() -> None:
    names = [f"a{number}" for number in range(8)]
    plan, run = played(
        [*({"id": name} for name in names), after(*names, trigger_rule="all_success")],
        *(failed(name) if name == "a3" else done(name) for name in names),
        limits={"max_concurrency": 8},
    )
    assert reported(plan, run, "b").words == (f"{ALL_SUCCESS}; of 8 parents 7 completed, 1 failed (a3 is failed)",)


def test_of_very_many_parents_those_that_did_not_complete_are_named_first() -> None:
    names = [f"a{number}" for number in range(80)]
    plan, run = played(
        [*({"id": name} for name in names), after(*names)],
        *(failed(name) if name == "a79" else done(name) for name in names),
        limits={"max_concurrency": 80},
    )
    parents = reported(plan, run, "b").parents
    assert (parents.total, len(parents.named), parents.named[0].id) == (80, 50, "a79")


def test_a_run_is_explained_in_a_few_words() -> None:
    plan, run = played([{"id": "a"}, {"id": "c"}, {"id": "w", "wait": WAIT}], failed("a"))
    explanation = explain_run(plan, run, "sample.1")
    assert explanation.status is RunStatus.RUNNING
    assert explanation.words == (
        "1 of 3 steps are settled, the run is running",
        "failed: a",
        "waiting for an answer or a time: w",
        "running: c",
    )


def test_a_run_that_ended_early_says_why_and_what_is_being_undone() -> None:
    undone = {"id": "a", "compensate": {"handler": "noop"}}
    plan, run = played([undone, {"id": "c", "depends_on": ["a"]}], done("a"), AbortRequested("enough", 120.0))
    assert explain_run(plan, run, "sample.1").words == (
        "1 of 2 steps are settled, the run is running",
        "it was aborted: enough",
        "running: c",
    )
    advance(plan, run, StepCancelled("c", 121.0))
    assert explain_run(plan, run, "sample.1").words[2] == "what it did is being undone; then it ends as aborted"
    assert reported(plan, run, "a").words[-1] == "undoing it is running"


def test_a_step_that_there_is_not_is_in_no_page() -> None:
    assert explain_run(*played([{"id": "a"}]), "sample.1", step_id="b").steps == {}


def pages(plan: Plan, run: RunState, limit: int) -> list[RunExplanation]:
    found = [explain_run(plan, run, "sample.1", limit=limit)]
    while found[-1].after is not None:
        found.append(explain_run(plan, run, "sample.1", limit=limit, after=found[-1].after))
    return found


def test_pages_report_every_step_once_in_plan_order() -> None:
    plan, run = played([{"id": name} for name in "edcba"])
    assert [list(page.steps) for page in pages(plan, run, 2)] == [["e", "d"], ["c", "b"], ["a"]]


def test_a_page_never_takes_more_than_a_query_can_carry() -> None:
    steps: list[dict[str, Json]] = [
        {"id": f"s{number}", "for_each": {"items": list(range(60))}} for number in range(30)
    ]
    run_over = {"limits": {"max_concurrency": 500}}
    plan, run = played(steps, **run_over)
    long = StepError("ValueError", "x" * 5_000)
    for number in range(30):
        for item in range(60):
            advance(plan, run, StepFailed(f"s{number}", long, 1, 110.0, part_at(item)))
    found = pages(plan, run, 500)
    assert len(found) > 1
    assert [step for page in found for step in page.steps] == [step["id"] for step in steps]
    assert all(len(to_json(page)) < MAX_PAGE_BYTES + 10_000 for page in found)


@pytest.mark.parametrize("value", ["x" * 5_000_000, ["x"] * 1_000_000, {"a": {"b": "x" * 1_000_000}}, {"x" * 900: 1}])
def test_a_long_value_is_cut(value: Json) -> None:
    assert len(brief(value)) == MOST_CHARACTERS
    assert brief(value).endswith("…")


def test_a_short_value_is_shown_whole() -> None:
    assert brief({"a": [1, None, "ä"]}) == '{"a": [1, null, "ä"]}'


def chain(length: int) -> tuple[Plan, RunState]:
    """Return an ended run whose steps follow each other."""
    steps: list[dict[str, Json]] = [{"id": "step_0", "handler": "noop"}]
    for number in range(1, length):
        parents = [f"step_{above}" for above in range(max(0, number - 3), number)]
        condition = f"step_{number - 1}.value < {number}"
        steps.append({"id": f"step_{number}", "handler": "noop", "depends_on": parents, "condition": condition})
    return played(steps, *(done(f"step_{number}", {"value": number}) for number in range(length)))


def test_a_run_of_two_thousand_steps_is_explained_in_one_page() -> None:
    plan, run = chain(2_000)
    facts = facts_of_run(plan, run, "long.1", limit=5_000)
    assert (facts.status, len(facts.steps), facts.after) == (RunStatus.COMPLETED, 2_000, None)
    carried = to_json(facts.model_dump(mode="json", exclude_defaults=True))
    assert in_words(RunExplanation.model_validate_json(carried)) == explain_run(plan, run, "long.1", limit=5_000)


def test_a_packed_answer_has_all_steps_and_its_pages_are_those_of_the_run() -> None:
    plan, run = chain(300)
    answer = packed_answer(plan, run, "long.1")
    whole = unpacked_text(answer)
    assert whole == facts_of_run(plan, run, "long.1", limit=300)
    assert len(answer) * 8 < len(whole.model_dump_json(exclude_defaults=True))
    for after, limit in ((None, 300), (None, 299), ("step_7", 5), ("step_298", 9), ("unknown", 2)):
        page = page_of(whole, step_id=None, after=after, limit=limit)
        assert page == facts_of_run(plan, run, "long.1", after=after, limit=limit)
    for step_id in ("step_9", "unknown"):
        page = page_of(whole, step_id=step_id, after=None, limit=1)
        assert page.steps == facts_of_run(plan, run, "long.1", step_id=step_id).steps


def test_a_packed_answer_that_would_be_too_large_has_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, run = chain(300)
    monkeypatch.setattr(packing, "MAX_ANSWER_BYTES", len(packed_answer(plan, run, "long.1")) - 1)
    monkeypatch.setattr(packing, "MAX_PAGE_BYTES", 20_000)
    steps, after, answers = dict[str, StepExplanation](), None, 0
    while answers == 0 or after is not None:
        part = unpacked_text(packed_answer(plan, run, "long.1", after=after))
        steps, after, answers = steps | part.steps, part.after, answers + 1
    assert answers == 2, "of what is left after the first one, all fits"
    assert steps == facts_of_run(plan, run, "long.1", limit=300).steps


def test_a_run_sends_facts_and_no_sentences() -> None:
    """Whoever shows an explanation makes its sentences: they would double what a query carries."""
    plan, run = played([{"id": "a"}, after("a", condition="a.value > 1")], done("a", {"value": 1}))
    facts = facts_of_run(plan, run, "sample.1")
    assert facts.words == ()
    assert [step.words for step in facts.steps.values()] == [(), ()]
    assert all(step.words for step in in_words(facts).steps.values())
