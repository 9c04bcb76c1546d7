"""Runs known by name: four scenarios, the truth table row by row, rewinds, references."""

import json

import pytest

from docrail.dag.engine.events import (
    AbortRequested,
    Cancel,
    CancelRequested,
    Finish,
    PauseRequested,
    Record,
    ResumeRequested,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
)
from docrail.dag.engine.plan import compile_plan, plan_of
from docrail.dag.engine.saved_state import load, save
from docrail.dag.engine.state import StepError
from docrail.dag.explain.report import markdown, report_of
from docrail.dag.language.definition import Definition, Step
from docrail.dag.language.expressions.expression_errors import no_value
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.definitions import definition, step
from tests.dag.rewinding import rewind
from tests.dag.specification import Fate
from tests.dag.world import World

COMPLETED, FAILED, SKIPPED = StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED
BROKEN = StepError("Broken", "it broke")

INVOICE = definition(
    step("extract"),
    step("save_parquet", "extract"),
    step("save_json", "extract"),
    step("record_metrics", "extract", trigger_rule="all_done", optional=True),
    step("create_review", "save_parquet", "save_json"),
)
DIAMOND = definition(step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c"))


def started(commands: list[Json]) -> list[str]:
    return [command.step for command in commands if isinstance(command, Start)]


def complete(world: World, name: str, output: Json = None) -> list[str]:
    """Complete a step and return what starts because of that."""
    return started(world.send(StepCompleted(name, output, 1, world.tick())))


def fail(world: World, name: str) -> list[str]:
    return started(world.send(StepFailed(name, BROKEN, 1, world.tick())))


def statuses(world: World) -> dict[str, str]:
    return {name: str(state.status) for name, state in world.states.items()}


# -- the four scenarios --


def test_linear_chain_runs_one_step_after_the_other() -> None:
    world = World(definition(step("a"), step("b", "a"), step("c", "b")))
    assert started(world.start()) == ["a"]
    assert complete(world, "a") == ["b"]
    assert complete(world, "b") == ["c"]
    assert world.send(StepCompleted("c", None, 1, 9.0)) == [Finish(RunStatus.COMPLETED)]


def test_fan_out_runs_side_by_side_and_fan_in_waits_for_all() -> None:
    world = World(DIAMOND)
    world.start()
    assert complete(world, "a") == ["b", "c"]
    assert complete(world, "b") == []
    assert complete(world, "c") == ["d"]


@pytest.mark.parametrize("order", [("b", "c"), ("c", "b")])
def test_simultaneous_completion_triggers_the_join_exactly_once(order: tuple[str, str]) -> None:
    world = World(DIAMOND)
    world.start()
    complete(world, "a")
    reported = [complete(world, name) for name in (*order, *order)]
    assert reported == [[], ["d"], [], []]


def test_save_json_fails_and_only_create_review_is_skipped() -> None:
    world = World(INVOICE, failing={"save_json"}).go()
    assert statuses(world) == {
        "extract": "completed",
        "save_parquet": "completed",
        "save_json": "failed",
        "record_metrics": "completed",
        "create_review": "skipped",
    }
    assert world.states["create_review"].reason is SkipReason.UPSTREAM_FAILED
    assert world.states["create_review"].error == StepError("DependencyFailed", "Dependency failed")
    assert world.ledger.finished is RunStatus.FAILED


# -- the truth table --

WELL, FELL = Fate(COMPLETED), Fate(FAILED)
BLOCKED, PASSED = Fate(SKIPPED, SkipReason.UPSTREAM_FAILED), Fate(SKIPPED, SkipReason.UPSTREAM_SKIPPED)
UNMET, FALSE = Fate(SKIPPED, SkipReason.RULE_NOT_MET), Fate(SKIPPED, SkipReason.CONDITION_FALSE)

TRUTH_TABLE: dict[str, dict[str, Fate]] = {
    # how the parents end: c completed, f failed, b blocked (behind a failure), s skipped by choice
    "none_failed": {"c": WELL, "cc": WELL, "cs": WELL, "s": PASSED, "ss": PASSED, "f": BLOCKED, "cf": BLOCKED}
    | {"b": BLOCKED, "cb": BLOCKED, "sf": BLOCKED, "sb": BLOCKED, "csb": BLOCKED},
    "all_success": {"c": WELL, "cc": WELL, "cs": PASSED, "s": PASSED, "f": BLOCKED, "cf": BLOCKED, "cb": BLOCKED}
    | {"sf": BLOCKED, "csf": BLOCKED},
    "all_done": dict.fromkeys(("c", "f", "b", "s", "cc", "cf", "cs", "fs", "bs", "ff", "ss", "cfbs"), WELL),
    "one_success": {"c": WELL, "cf": WELL, "cb": WELL, "cs": WELL, "f": BLOCKED, "b": BLOCKED, "s": PASSED}
    | {"ss": PASSED, "sf": BLOCKED, "cfbs": WELL},
    "one_failed": {"f": WELL, "b": WELL, "cf": WELL, "cb": WELL, "sf": WELL, "c": UNMET, "s": UNMET, "cs": UNMET},
    "all_failed": {"f": WELL, "ff": WELL, "b": WELL, "fb": WELL, "c": UNMET, "s": UNMET, "cf": UNMET, "sf": UNMET}
    | {"sb": UNMET},
}


@pytest.mark.parametrize(
    ("rule", "parents", "fate"),
    [(rule, parents, fate) for rule, rows in TRUTH_TABLE.items() for parents, fate in rows.items()],
)
def test_truth_table(rule: str, parents: str, fate: Fate) -> None:
    steps: list[Step] = []
    for number, end in enumerate(parents):
        name = f"{end}{number}"
        if end == "b":
            steps.append(step(f"before_{name}"))
        behind = (f"before_{name}",) if end == "b" else ()
        steps.append(step(name, *behind, condition="false" if end == "s" else None))
    failing = {each.id for each in steps if each.id.startswith(("f", "before_"))}
    joined = step("join", *(f"{end}{number}" for number, end in enumerate(parents)), trigger_rule=rule)
    world = World(definition(*steps, joined), failing).go()
    assert world.fates.steps["join"] == fate
    assert world.states["join"].decided_by == rule


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        *(("none_failed", COMPLETED), ("all_success", COMPLETED), ("all_done", COMPLETED), ("all_failed", COMPLETED)),
        *(("one_success", SKIPPED), ("one_failed", SKIPPED)),
    ],
)
def test_a_rule_over_no_parents_is_judged_over_an_empty_list(rule: str, status: StepStatus) -> None:
    assert World(definition(step("a", trigger_rule=rule))).go().states["a"].status is status


def test_none_failed_two_steps_behind_a_failure_is_blocked() -> None:
    world = World(definition(step("a"), step("b", "a"), step("c", "b"), step("d", "c")), failing={"a"}).go()
    assert [world.fates.steps[name] for name in "abcd"] == [FELL, BLOCKED, BLOCKED, BLOCKED]


def test_a_rule_that_is_not_met_is_skipped_by_choice_and_blocks_nothing() -> None:
    world = World(definition(step("a"), step("undo", "a", trigger_rule="one_failed"), step("c", "a", "undo"))).go()
    assert world.fates.steps == {"a": WELL, "undo": UNMET, "c": WELL}
    assert world.ledger.finished is RunStatus.COMPLETED


# -- conditions, configs, outputs --


def test_a_false_condition_skips_the_step_and_names_itself() -> None:
    world = World(definition(step("a"), step("b", "a", condition='a.made_by == "b"'), step("c", "b"))).go()
    assert world.fates.steps == {"a": WELL, "b": FALSE, "c": PASSED}
    assert world.states["b"].decided_by == "condition"
    assert world.ledger.finished is RunStatus.COMPLETED


def test_a_condition_is_not_evaluated_where_the_rule_already_skips() -> None:
    world = World(definition(step("a"), step("b", "a", condition="a.nothing.at.all")), failing={"a"}).go()
    assert world.fates.steps["b"] == BLOCKED


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("a.missing", "`a.missing`: 'a' has no 'missing'"),
        ("a.missing > 1", "`a.missing > 1`: 'a' has no 'missing'"),
        ("inputs.nothing", "'inputs' has no 'nothing'"),
        ("1 / 0 == 1", "division by zero"),
        ("a.made_by > 3", "`>` cannot compare the text 'a' with the number 3"),
        ("a.made_by", "gave the text 'a', expected true or false"),
        ("1", "gave the number 1, expected true or false"),
        ("none", "gave null, expected true or false"),
        ("[]", "gave a list, expected true or false"),
    ],
)
def test_a_condition_that_gives_no_boolean_fails_the_step(condition: str, message: str) -> None:
    world = World(definition(step("a"), step("b", "a", condition=condition), step("c", "b"))).go()
    assert world.fates.steps == {"a": WELL, "b": FELL, "c": BLOCKED}
    error = world.states["b"].error
    assert error is not None
    assert error.type == "ConditionError"
    assert message in error.message
    assert world.states["b"].attempts == 0


@pytest.mark.parametrize("condition", ["inputs.n * inputs.n", "'inf' | float > inputs.n"])
def test_no_condition_stops_a_run_without_a_word(condition: str) -> None:
    world = World(definition(step("a", condition=condition)), inputs={"n": 10**3000}).go()
    assert world.ledger.finished is not None


def test_a_config_that_cannot_be_resolved_fails_the_step_and_starts_nothing() -> None:
    world = World(definition(step("a"), step("b", "a", config={"x": "{{ a.total }}"}), step("c", "a"))).go()
    assert world.ledger.started == {"a", "c"}
    error = world.states["b"].error
    assert error is not None
    assert (error.type, error.message) == ("TemplateError", "`a.total`: 'a' has no 'total': it has made_by")


def test_a_config_is_not_resolved_for_a_step_that_does_not_run() -> None:
    broken = {"x": "{{ inputs.missing }}"}
    world = World(definition(step("a", condition="false", config=broken), step("b", "a", config=broken))).go()
    assert world.fates.steps == {"a": FALSE, "b": PASSED}


def test_a_long_chain_of_broken_configs_ends_in_one_event() -> None:
    names = [f"s{number}" for number in range(400)]
    broken: Json = {"trigger_rule": "all_done", "config": {"x": "{{ inputs.missing }}"}}
    world = World(definition(*(step(name, *names[max(0, n - 1) : n], **broken) for n, name in enumerate(names))))
    assert world.start() == [*map(Record, names), Finish(RunStatus.FAILED)]


@pytest.mark.parametrize("rule", ["none_failed", "all_done"])
def test_a_long_chain_settles_without_recursion(rule: str) -> None:
    names = [f"s{number}" for number in range(400)]
    chain = [
        step(name, *names[max(0, n - 1) : n], trigger_rule=rule, condition="false") for n, name in enumerate(names)
    ]
    world = World(definition(*chain)).go()
    assert not world.ledger.started
    assert world.ledger.finished is RunStatus.COMPLETED


def test_outputs_are_resolved_when_the_run_completes() -> None:
    document = definition(step("a")).model_copy(update={"outputs": {"by": "{{ a.made_by }}", "all": "{{ steps.a }}"}})
    world = World(document).go()
    assert world.run.outputs["by"] == "a"
    assert world.run.outputs["all"]["status"] == "completed"


def test_outputs_that_cannot_be_resolved_fail_the_run() -> None:
    document = definition(step("a", optional=True)).model_copy(update={"outputs": {"by": "{{ a.made_by }}"}})
    world = World(document, failing={"a"})
    world.start()
    fail(world, "a")
    assert world.run.outcome is RunStatus.FAILED
    assert world.run.stop_reason == f"outputs: `a.made_by`: {no_value('a')}"
    assert world.run.outputs == {}


# -- dispatch --

TWO_SPEEDS = (step("slow"), step("fast"), step("after_slow", "slow"), step("after_fast", "fast"))


def test_ready_dispatch_starts_a_step_when_its_own_parents_have_ended() -> None:
    world = World(definition(*TWO_SPEEDS, dispatch="ready"))
    world.start()
    assert complete(world, "fast") == ["after_fast"]


def test_layers_dispatch_waits_for_the_whole_layer() -> None:
    world = World(definition(*TWO_SPEEDS, dispatch="layers"))
    world.start()
    assert complete(world, "fast") == []
    assert complete(world, "slow") == ["after_slow", "after_fast"]


def test_max_concurrency_bounds_what_runs_and_slots_are_given_in_plan_order() -> None:
    world = World(definition(step("a"), step("b"), step("c"), step("d", "a"), max_concurrency=2))
    assert started(world.start()) == ["a", "b"]
    assert complete(world, "a") == ["c"]
    assert complete(world, "b") == ["d"]


# -- failures, stops --


def test_an_optional_failure_does_not_fail_the_run_but_blocks_its_children() -> None:
    world = World(definition(step("a", optional=True), step("b", "a"), step("c")), failing={"a"}).go()
    assert world.fates.steps == {"a": FELL, "b": BLOCKED, "c": WELL}
    assert world.ledger.finished is RunStatus.COMPLETED


def test_fail_fast_cancels_what_runs_and_skips_the_rest() -> None:
    world = World(definition(step("a"), step("b"), step("c", "b"), on_failure="fail_fast"))
    world.start()
    assert world.send(StepFailed("a", BROKEN, 4, 2.0)) == [Cancel("b"), Record("a")]
    assert world.send(StepCancelled("b", 3.0)) == [Finish(RunStatus.FAILED)]
    assert statuses(world) == {"a": "failed", "b": "cancelled", "c": "skipped"}
    assert (world.states["c"].reason, world.states["c"].decided_by) == (SkipReason.ABORTED, "fail_fast")
    assert world.states["a"].attempts == 4


def test_fail_fast_does_not_mind_an_optional_failure() -> None:
    world = World(definition(step("a", optional=True), step("b"), on_failure="fail_fast"), failing={"a"}).go()
    assert world.ledger.finished is RunStatus.COMPLETED


def test_a_cancellation_that_the_run_did_not_request_is_a_failure() -> None:
    """A run once "succeeded" with work that had been cancelled behind its back."""
    world = World(definition(step("a"), step("b", "a")), vanishing={"a"}).go()
    assert world.fates.steps == {"a": FELL, "b": BLOCKED}
    assert world.states["a"].error == StepError("Cancelled", "cancelled from outside the run")
    assert world.ledger.finished is RunStatus.FAILED


def test_an_aborted_run_waits_for_every_acknowledgment() -> None:
    world = World(definition(step("a"), step("b"), step("c", "a")))
    world.start()
    assert world.send(AbortRequested("wrong file", 2.0)) == [Cancel("a"), Cancel("b")]
    assert world.send(StepCancelled("a", 3.0)) == []
    assert world.send(StepCompleted("b", "late", 1, 4.0)) == [Finish(RunStatus.ABORTED)]
    assert statuses(world) == {"a": "cancelled", "b": "completed", "c": "skipped"}
    assert world.run.stop_reason == "wrong file"


def test_a_run_that_is_stopped_before_it_starts_ends_at_once() -> None:
    world = World(DIAMOND)
    assert world.send(CancelRequested(1.0)) == [Finish(RunStatus.CANCELLED)]
    assert {state.decided_by for state in world.states.values()} == {"cancel"}
    assert world.send(RunStarted(2.0)) == []


def test_the_first_stop_wins() -> None:
    world = World(definition(step("a"), on_failure="fail_fast"))
    world.start()
    world.send(AbortRequested("first", 2.0))
    world.send(CancelRequested(3.0))
    assert world.send(StepFailed("a", BROKEN, 1, 4.0)) == [Record("a"), Finish(RunStatus.ABORTED)]


def test_a_paused_run_is_seen_as_paused_and_abort_still_ends_it() -> None:
    world = World(DIAMOND)
    world.start()
    world.send(PauseRequested(2.0))
    assert complete(world, "a") == []
    assert world.run.status is RunStatus.PAUSED
    assert world.send(AbortRequested("", 3.0)) == [Finish(RunStatus.ABORTED)]


def test_a_resumed_run_starts_what_was_held_back_within_its_limit() -> None:
    world = World(definition(step("a"), step("b", "a"), step("c", "a"), step("d", "a"), max_concurrency=2))
    world.start()
    world.send(PauseRequested(2.0))
    complete(world, "a")
    assert started(world.send(ResumeRequested(3.0))) == ["b", "c"]
    assert world.run.status is RunStatus.RUNNING


# -- rewind --


def rewound(world: World, **ends: Json) -> World:
    again = World(world.definition, **ends)
    again.run = rewind(again.plan, world.run)
    return again


def test_a_retry_runs_the_failed_step_and_what_follows_and_keeps_the_rest() -> None:
    first = World(INVOICE, failing={"save_json"}).go()
    second = rewound(first)
    assert started(second.start()) == ["save_json"]
    second.go()
    assert second.ledger.started == {"save_json", "create_review"}
    assert second.ledger.finished is RunStatus.COMPLETED
    assert second.states["extract"] == first.states["extract"]


def test_a_retry_reads_outputs_of_the_first_try() -> None:
    first = World(definition(step("a"), step("b", "a", config={"by": "{{ a.made_by }}"})), failing={"b"}).go()
    assert rewound(first).start() == [Start("b", {"by": "a"})]


def test_a_retry_reruns_what_ran_because_of_the_failure() -> None:
    document = definition(step("a"), step("clean_up", "a", trigger_rule="all_done"), step("b"))
    second = rewound(World(document, failing={"a"}).go()).go()
    assert second.ledger.started == {"a", "clean_up"}


def test_a_retry_of_an_aborted_run_goes_on_where_it_stood() -> None:
    first = World(DIAMOND)
    first.start()
    complete(first, "a")
    first.send(AbortRequested("pause for today", 5.0))
    first.go()
    second = rewound(first)
    assert started(second.start()) == ["b", "c"]
    assert second.run.stop_reason == ""


def test_a_retry_that_fails_again_can_be_retried_again() -> None:
    world = World(INVOICE, failing={"extract"}).go()
    again = rewound(world, failing={"save_json"}).go()
    assert again.ledger.finished is RunStatus.FAILED
    assert rewound(again).go().ledger.started == {"save_json", "create_review"}


def test_a_retry_of_a_completed_run_ends_at_once() -> None:
    world = rewound(World(DIAMOND).go())
    assert world.start() == [Finish(RunStatus.COMPLETED)]


def test_a_saved_state_names_steps_and_survives_a_plan_with_one_more() -> None:
    world = World(definition(step("a"), step("b", "a")))
    world.start()
    complete(world, "a", {"total": 3})
    saved = json.loads(json.dumps(save(world.plan, world.run)))
    wider = World(definition(step("new"), step("a"), step("b", "a")))
    run = load(wider.plan, saved)
    by_id = wider.watch.states(run)
    assert by_id["a"].output == {"total": 3}
    assert [str(by_id[name].status) for name in ("a", "b", "new")] == ["completed", "running", "pending"]


# -- references --

ORDER = {"id": "o1", "total": 12.5, "lines": [{"sku": "x", "count": 2}, {"sku": "y", "count": 1}], "note": None}


@pytest.mark.parametrize(
    ("config", "resolved"),
    [
        ("{{ a.total }}", 12.5),
        ("{{ a }}", ORDER),
        ("{{ a.lines }}", ORDER["lines"]),
        ("{{ a.lines[1].sku }}", "y"),
        ("{{ a.lines.0.count }}", 2),
        ("{{ a.note }}", None),
        ("total: {{ a.total }}, note: {{ a.note }}", "total: 12.5, note: null"),
        ("{{ a.lines | map(attribute='sku') | join(', ') }}", "x, y"),
        ("{{ a.missing | default('none') }}", "none"),
        ("{{ a.total >= 10 }}", True),
        ({"$path": ["a", "lines", "0", "sku"]}, "x"),
        ({"$path": ["inputs", "who"]}, "me"),
        ({"deep": [{"er": {"$path": ["a", "id"]}}, "{{ a.id }}!", 7]}, {"deep": [{"er": "o1"}, "o1!", 7]}),
        ("{{ steps.a.status }} after {{ steps.a.attempts }}", "completed after 1"),
        ("{{ steps.a.error }}", None),
        ("{{ steps.a.output.id }}", "o1"),
        ("no reference at all", "no reference at all"),
    ],
)
def test_references_are_resolved_and_keep_their_type(config: Json, resolved: Json) -> None:
    world = World(definition(step("a"), step("b", "a", config={"x": config})), inputs={"who": "me"})
    world.start()
    assert world.send(StepCompleted("a", ORDER, 1, 2.0)) == [Start("b", {"x": resolved})]


def test_a_step_that_did_not_complete_has_a_status_and_no_value() -> None:
    reported = {"status": "{{ steps.a.status }}", "error": "{{ steps.a.error }}", "value": "{{ a | default(0) }}"}
    world = World(definition(step("a"), step("b", "a", trigger_rule="all_done", config=reported)))
    world.start()
    commands = world.send(StepFailed("a", BROKEN, 4, 2.0))
    assert commands == [Start("b", {"status": "failed", "error": "it broke", "value": 0}), Record("a")]


def test_a_skipped_step_says_why_in_expressions() -> None:
    reported = {"reason": "{{ steps.a.reason }}", "by": "{{ steps.a.decided_by }}"}
    world = World(definition(step("a", condition="false"), step("b", "a", trigger_rule="all_done", config=reported)))
    assert world.start() == [Start("b", {"reason": "condition_false", "by": "condition"})]


# -- plan and report --


def test_plan_order_is_by_layer_and_then_by_place() -> None:
    plan = compile_plan(definition(step("d", "b"), step("c"), step("b", "a"), step("a")))
    assert [each.id for each in plan.steps] == ["c", "a", "b", "d"]
    assert plan.layers == ((0, 1), (2,), (3,))


def test_a_layer_is_the_longest_way_from_a_root() -> None:
    plan = compile_plan(definition(step("a"), step("b", "a"), step("c", "a", "b"), step("d", "a", "c")))
    assert [each.layer for each in plan.steps] == [0, 1, 2, 3]


def test_equal_definitions_share_one_plan() -> None:
    document = DIAMOND.model_dump(mode="json")
    assert plan_of(document) is plan_of(DIAMOND.model_dump(mode="json"))
    assert Definition.model_validate(document) == DIAMOND


def test_a_report_counts_and_names_the_first_failure() -> None:
    world = World(INVOICE, failing={"save_json"}).go()
    report = report_of(world.plan, world.run, run_id="r", tenant_id="t", version=1, digest="d")
    assert (report.completed, report.failed, report.skipped, report.cancelled) == (3, 1, 1, 0)
    assert report.reason == "save_json: save_json broke"
    assert report.steps["create_review"].error == StepError("DependencyFailed", "Dependency failed")
    assert report.duration_seconds == world.now - 1.0
    assert "| create_review | skipped: upstream_failed |" in markdown(world.plan, world.run)
