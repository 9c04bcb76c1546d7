"""What a retry keeps, does again and does for the first time: tables by name, laws over random definitions."""

import json
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.events import (
    Item,
    Record,
    ResolutionKind,
    RunStarted,
    Start,
    StepCompleted,
    StepFailed,
    Store,
    Stored,
    Undo,
)
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.rerun import Rerun
from docrail.dag.engine.retry import Edit, Fate, Retry, Who, edit_problems, plan_retry, renew_context
from docrail.dag.engine.saved_state import begin, save
from docrail.dag.engine.state import StepError, StepState
from docrail.dag.engine.transitions import advance
from docrail.dag.language.definition import Definition, Step
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json, canonical
from tests.dag.definitions import LAW, Case, cases, definition, picks, step
from tests.dag.specification import work_name
from tests.dag.world import Picker, World

WHO = Who("ann", 9.0)
CHAIN = definition(step("load"), step("sum", "load"), step("send", "sum"), step("note", "load"))
SKIP = Edit(ResolutionKind.SKIP)


def output(value: Json) -> Edit:
    return Edit(ResolutionKind.OUTPUT, value)


def config(value: Json) -> Edit:
    return Edit(ResolutionKind.RETRY, value)


def ended(document: Definition, *failing: str) -> World:
    return World(document, frozenset(failing)).go()


def retried(world: World, edits: Mapping[str, Edit] = MappingProxyType({}), under: Definition | None = None) -> Retry:
    saved = json.loads(json.dumps(save(world.plan, world.run)))
    return plan_retry(world.plan, compile_plan(under or world.definition), saved, edits, WHO)


def fates(retry: Retry) -> dict[str, str]:
    return {step_id: f"{fate.fate}: {fate.why}" for step_id, fate in retry.fates.items()}


def gone_on(retry: Retry, document: Definition, *failing: str) -> World:
    """Play a retry to its end."""
    world = World(document, frozenset(failing))
    world.run = retry.state
    world.run.fallen = []  # the watch knows only of what fell while it watched
    return world.go()


FAILED_SUM = {
    "load": "reused: completed",
    "sum": "rerun: failed: Error",
    "note": "reused: completed",
    "send": "rerun: skipped: upstream_failed",
}


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({}, FAILED_SUM),
        ({"sum": config({"n": 1})}, FAILED_SUM | {"sum": "rerun: takes a config given by hand"}),
        ({"sum": output({"n": 1})}, FAILED_SUM | {"sum": "new: takes an output given by hand"}),
        ({"sum": SKIP}, FAILED_SUM | {"sum": "new: skipped by hand"}),
        (
            {"load": output({})},
            FAILED_SUM
            | {
                "load": "new: takes an output given by hand",
                "note": "rerun: follows load, which is not reused",
            },
        ),
    ],
)
def test_edits_decide_what_is_kept(edits: dict[str, Edit], expected: dict[str, str]) -> None:
    world = ended(CHAIN, "sum")
    [error] = {state.error.type for state in world.states.values() if state.status is StepStatus.FAILED and state.error}
    found = fates(retried(world, edits))
    assert found == {name: why.replace("failed: Error", f"failed: {error}") for name, why in expected.items()}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([step("load"), step("sum", "load"), step("send", "sum")], {"note": "dropped"}),
        (
            [step("load", config={"n": 2}), step("sum", "load"), step("send", "sum"), step("note", "load")],
            {"load": "rerun", "note": "rerun"},
        ),
        (
            [step("load"), step("sum", "load"), step("send", "sum"), step("note", "load"), step("more", "note")],
            {"more": "new"},
        ),
        ([*CHAIN.steps[:3], step("before"), step("note", "load", "before")], {"before": "new", "note": "rerun"}),
    ],
    ids=["a step less", "a step changed", "a step more", "a parent more"],
)
def test_a_newer_version_reruns_what_changed_and_what_follows(steps: list[Json], expected: dict[str, str]) -> None:
    retry = retried(ended(CHAIN, "sum"), under=definition(*steps))
    base = {"load": "reused", "sum": "rerun", "note": "reused", "send": "rerun"}
    assert {name: str(fate.fate) for name, fate in retry.fates.items()} == base | expected


def test_later_steps_see_an_output_given_by_hand() -> None:
    document = definition(step("a"), step("b", "a", config={"by": "{{ a.n }}"}))
    world = gone_on(retried(ended(document, "a"), {"a": output({"n": 7})}), document)
    assert world.ledger.started == {"b"}
    assert world.states["a"].resolved_by == "ann"
    assert world.states["a"].decided_by == "operator"
    assert world.states["b"].status is StepStatus.COMPLETED


def test_a_step_skipped_by_hand_is_skipped_by_choice() -> None:
    document = definition(step("a"), step("b", "a"), step("c"), step("d", "a", "c"))
    world = gone_on(retried(ended(document, "a"), {"a": SKIP}), document)
    assert world.states["a"].reason is SkipReason.OPERATOR
    assert world.states["b"].reason is SkipReason.UPSTREAM_SKIPPED
    assert world.states["d"].status is StepStatus.COMPLETED


def test_a_config_given_by_hand_is_used_and_kept_for_the_next_retry() -> None:
    document = definition(step("a", config={"url": "old"}))
    again = gone_on(retried(ended(document, "a"), {"a": config({"url": "new"})}), document, "a")
    assert retried(again).state.steps[0].edited == {"url": "new"}


def test_items_that_completed_are_kept_unless_the_step_changed() -> None:
    def over(**more: Json) -> Definition:
        return definition(step("a", for_each={"items": ["x", "y", "z"], "key": "item"}, **more))

    world = ended(over(), work_name("a", 1))
    fan = retried(world).state.steps[0].fan
    assert fan is not None
    assert [item.status for item in fan.items] == ["completed", "pending", "completed"]
    assert retried(world, under=over(config={"n": 2})).state.steps[0].fan is None
    assert retried(world, under=over(max_retries=9)).state.steps[0].fan == fan


def test_a_list_tolerates_other_failures_and_keeps_what_it_did() -> None:
    def over(**more: Json) -> Definition:
        return definition(step("a", for_each={"items": ["x", "y"], **more}))

    world = ended(over(), work_name("a", 1))
    assert retried(world, under=over(max_failures=1, on_item_error="fail_fast", max_concurrency=1)).state.steps[0].fan
    assert retried(world, under=over(key="item")).state.steps[0].fan is None


@pytest.mark.parametrize(
    "more",
    [
        {"title": "Load it"},
        {"timeout_seconds": 60, "total_timeout_seconds": 600, "heartbeat_seconds": 5},
        {"max_retries": 9, "retry_config": {"initial_delay": 1}},
        {"optional": True, "compensate": {"handler": "undo"}},
        {"cache": {"ttl_seconds": 60}, "priority": 1},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_step_with_other_retries_and_timeouts_is_reused(more: dict[str, Json]) -> None:
    steps = [step("load", **more), step("sum", "load"), step("send", "sum"), step("note", "load")]
    retry = retried(ended(CHAIN, "sum"), under=definition(*steps))
    assert {name: str(fate.fate) for name, fate in retry.fates.items()} == {
        "load": "reused",
        "sum": "rerun",
        "note": "reused",
        "send": "rerun",
    }


HUMAN = {"form": {"type": "object"}, "timeout_seconds": 60, "on_timeout": "fail"}


@pytest.mark.parametrize(
    ("more", "fate"),
    [
        ({"queue": "other", "priority": 90, "timeout_seconds": 90}, "reused"),
        ({"title": "Pay?"}, "rerun"),
        ({"assignees": {"approvals": 2}}, "rerun"),
        ({"on_timeout": "continue"}, "rerun"),
    ],
)
def test_a_question_in_another_queue_is_the_same_question(more: dict[str, Json], fate: str) -> None:
    world = ended(definition(step("ask", human=HUMAN), step("pay", "ask")), "pay")
    under = definition(step("ask", human=HUMAN | more), step("pay", "ask"))
    assert retried(world, under=under).fates["ask"].fate == fate


def test_an_undone_step_runs_again() -> None:
    world = ended(CHAIN, "sum")
    world.states["load"].compensation = StepStatus.COMPLETED
    retry = retried(world)
    assert retry.fates["load"].why == "completed, but its effects were undone"
    assert retry.fates["note"].fate is Fate.RERUN
    assert retry.state.steps[0] == StepState()


def not_undone(status: StepStatus = StepStatus.FAILED) -> World:
    """Return a run in which `pay` could not be undone, and `load`, before it, was."""
    world = ended(definition(step("load"), step("pay", "load"), step("send", "pay")), "send")
    world.states["load"].compensation, world.states["pay"].compensation = StepStatus.COMPLETED, status
    world.states["pay"].compensation_error = StepError("ValueError", "no refund")
    return world


@pytest.mark.parametrize("status", [StepStatus.FAILED, StepStatus.CANCELLED])
def test_a_step_whose_compensation_failed_never_runs_twice(status: StepStatus) -> None:
    retry = retried(not_undone(status))
    assert fates(retry) == {
        "load": "rerun: completed, but its effects were undone",
        "pay": "reused: completed, and its effects remain: its compensation failed",
        "send": "rerun: failed: Broken",
    }
    world = gone_on(retry, definition(step("load"), step("pay", "load"), step("send", "pay")))
    assert world.ledger.started == {"load", "send"}


def test_a_retry_forgets_a_failed_compensation() -> None:
    pay = retried(not_undone()).state.steps[1]
    assert (pay.status, pay.compensation, pay.compensation_error) == (StepStatus.COMPLETED, None, None)


def test_a_step_whose_compensation_failed_runs_again_if_a_person_asks() -> None:
    under = definition(step("load"), step("pay", "load", config={"to": "b"}), step("send", "pay"))
    assert retried(not_undone(), under=under).fates["pay"].fate is Fate.REUSED
    assert retried(not_undone(), {"pay": config({"to": "b"})}).fates["pay"].fate is Fate.RERUN
    assert retried(not_undone(), {"pay": output({"paid": 2})}).fates["pay"].fate is Fate.NEW


def test_a_completed_run_does_its_failed_items_again_and_what_follows_from_them() -> None:
    each = {"items": ["x", "y", "z"], "max_failures": 2}
    document = definition(step("a", for_each=each), step("b", "a"), step("c"))
    retry = retried(ended(document, work_name("a", 0), work_name("a", 2)))
    assert fates(retry) == {
        "a": "rerun: 2 of its 3 items failed, and only these run again",
        "c": "reused: completed",
        "b": "rerun: follows a, which is not reused",
    }
    world = gone_on(retry, document)
    assert world.ledger.started == {work_name("a", 0), work_name("a", 2), "b"}
    assert world.states["a"].output["completed"] == 3


def test_the_items_of_a_stored_list_are_kept_for_those_that_failed() -> None:
    world = World(definition(step("a", for_each={"items": ["x", "y"], "max_failures": 1})))
    world.start()
    world.send(StepCompleted("a", "z" * 70_000, 1, 2.0, Item(0)))
    [store] = world.send(StepFailed("a", StepError("Broken", "y broke"), 1, 3.0, Item(1)))
    assert isinstance(store, Store)
    world.send(Stored("a", {"$stored": {}}, 4.0))
    assert world.run.outcome is RunStatus.COMPLETED
    fan = retried(world).state.steps[0].fan
    assert fan is not None
    assert [(item.value, item.output is None) for item in fan.items] == [("x", False), ("y", True)]


def test_a_run_whose_outputs_fail_is_undone() -> None:
    document = definition(step("a", compensate={"handler": "undo"})).model_copy(update={"outputs": {"n": "{{ a.no }}"}})
    plan = compile_plan(document)
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(1.0))
    commands = advance(plan, run, StepCompleted("a", {}, 1, 2.0))
    assert [command for command in commands if isinstance(command, Start)] == [Start("a", {}, Undo())]
    assert run.outcome is None


def test_a_failed_run_does_not_do_again_what_it_tolerated() -> None:
    document = definition(step("a", for_each={"items": ["x", "y"], "max_failures": 1}), step("b", "a"))
    retry = retried(ended(document, work_name("a", 0), "b"))
    assert retry.fates["a"].fate is Fate.REUSED


def test_the_steps_that_had_failed_are_recorded_as_resolved() -> None:
    world = ended(definition(step("a"), step("b"), step("c", "b")), "a")
    retry = retried(world)
    commands = advance(world.plan, retry.state, RunStarted(10.0))
    assert [command for command in commands if isinstance(command, Record)] == [Record("a")]
    assert retry.state.steps[0].resolved_by == "ann"


@pytest.mark.parametrize(
    ("edits", "path"),
    [
        ({"lod": SKIP}, "steps.lod"),
        ({"load": Edit(ResolutionKind.SKIP, 1)}, "steps.load.skip"),
        ({"load": config([])}, "steps.load.config"),
        ({"load": output("x" * 300_000)}, "steps.load.output"),
        ({"turn": config({})}, "steps.turn.config"),
    ],
)
def test_invalid_edits_are_reported_with_their_path(edits: dict[str, Edit], path: str) -> None:
    plan = compile_plan(definition(step("load"), step("turn", switch=[{"else": "a"}])))
    [problem] = edit_problems(plan, edits)
    assert problem.path == path
    assert problem.suggestion == ("load" if path == "steps.lod" else None)


def test_another_version_gets_its_number_and_a_stand_in_for_each_new_webhook() -> None:
    wait = {"for": "webhook", "timeout_seconds": 60, "on_timeout": "fail"}
    plan = compile_plan(definition(step("old", wait=wait), step("new", wait=wait), step("a")))
    before: dict[str, Json] = {
        "run": {"id": "r", "callbacks": {"old": "callback://n1/old"}},
        "workflow": {"version": 1},
        "document": None,
    }
    after = renew_context(before, plan, 2, "n2")
    assert after["run"]["callbacks"] == {"old": "callback://n1/old", "new": "callback://n1/new"}
    assert after["workflow"]["version"] == 2
    first = renew_context({**before, "run": {"id": "r", "callbacks": {}}}, plan, 2, "n2")
    assert first["run"]["callbacks"] == {"old": "callback://n2/old", "new": "callback://n2/new"}
    assert before["run"]["callbacks"] == {"old": "callback://n1/old"}


chosen = st.dictionaries(
    st.integers(0, 11).map("s{}".format), st.sampled_from([SKIP, output({"by": "hand"})]), max_size=3
)


@LAW
@given(cases(), cases(), picks, chosen)
def test_every_step_is_reused_rerun_or_new_and_nothing_that_completed_reruns_without_a_cause(
    ran: Case, newer: Case, order: list[int], edits: dict[str, Edit]
) -> None:
    world = World(ran.definition, ran.failing, ran.vanishing, ran.overdue).go(Picker(order))
    # Half of the newer version's steps are as they were: else next to nothing would be reused.
    before = {each.id: each for each in ran.definition.steps}
    mixed = [before.get(each.id, each) if number % 2 else each for number, each in enumerate(newer.definition.steps)]
    known = {each.id for each in mixed}
    fits = all(parent in known for each in mixed for parent in each.parents)
    under = newer.definition.model_copy(update={"steps": tuple(mixed)}) if fits else ran.definition
    try:
        plan = compile_plan(under)
    except (KeyError, IndexError):
        plan = compile_plan(ran.definition)
    if any(each.layer < 0 for each in plan.steps):
        plan = compile_plan(ran.definition)
    edits = {name: edit for name, edit in edits.items() if name in plan.index}
    retry = plan_retry(world.plan, plan, save(world.plan, world.run), edits, WHO)
    assert {name for name, fate in retry.fates.items() if fate.fate is not Fate.DROPPED} == set(plan.index)
    assert {
        name for name, fate in retry.fates.items() if fate.fate is Fate.DROPPED
    } == before.keys() - plan.index.keys()
    for each in plan.steps:
        fate, state = retry.fates[each.id].fate, retry.state.steps[each.index]
        old = world.states.get(each.id)
        changed = [parent for parent in each.parents if retry.fates[plan.steps[parent].id].fate is not Fate.REUSED]
        same = each.id in before and _work(before[each.id]) == _work(each.definition)
        if fate is Fate.REUSED:
            assert old == state
            assert state.status in (StepStatus.COMPLETED, StepStatus.SKIPPED)
            assert same
            assert not changed
        elif fate is Fate.RERUN:
            assert state.status is StepStatus.PENDING
            assert changed or not same or (old is not None and _is_left(world, old))
        else:
            assert each.id in edits or each.id not in before
            assert (state.status in SETTLED) is (each.id in edits)


def _is_left(world: World, old: StepState) -> bool:
    """Return whether something of a step failed, or never was: in a completed run, also items."""
    is_tolerated = world.run.outcome is RunStatus.COMPLETED and old.fan is not None and old.fan.failed > 0
    return old.status is not StepStatus.COMPLETED or is_tolerated


def _work(each: Step) -> str:
    shown: dict[str, Json] = each.model_dump(mode="json")
    for name in ("for_each", "human", "wait"):
        fields = ("timeout_seconds", "queue", "priority", "max_concurrency", "on_item_error", "max_failures")
        shown[name] = shown[name] and {key: value for key, value in shown[name].items() if key not in fields}
    names = ("kind", "handler", "config", "condition", "depends_on", "trigger_rule", "workflow", "abort", "switch")
    return canonical([*(shown.get(name) for name in names), shown["for_each"], shown["human"], shown["wait"]])


def test_an_error_is_named_by_its_class() -> None:
    world = ended(CHAIN, "load")
    world.states["load"].error = StepError("ConnectionError", "no network")
    assert fates(retried(world))["load"] == "rerun: failed: ConnectionError"


def rerun(world: World, *steps: str, inputs: Mapping[str, Json] = MappingProxyType({})) -> Retry:
    saved = json.loads(json.dumps(save(world.plan, world.run)))
    asked = Rerun(frozenset(steps), frozenset(inputs))
    return plan_retry(world.plan, world.plan, saved, {}, WHO, rerun=asked)


@pytest.mark.parametrize(
    ("step_id", "expected"),
    [
        ("note", {"load": "reused", "sum": "reused", "send": "reused", "note": "rerun"}),
        ("sum", {"load": "reused", "sum": "rerun", "send": "rerun", "note": "reused"}),
        ("load", dict.fromkeys(("load", "sum", "send", "note"), "rerun")),
    ],
)
def test_a_completed_run_is_run_again_from_a_step_with_all_that_follows(step_id: str, expected: dict[str, str]) -> None:
    world = ended(CHAIN)
    assert world.run.outcome is RunStatus.COMPLETED
    found = rerun(world, step_id)
    assert {id_: str(fate.fate) for id_, fate in found.fates.items()} == expected
    assert found.fates[step_id].why == "is run again by hand"
    kept = {id_ for id_, fate in expected.items() if fate == "reused"}
    statuses = dict(zip((step.id for step in world.plan.steps), found.state.steps, strict=True))
    assert {id_ for id_, state in statuses.items() if state.status is StepStatus.COMPLETED} == kept


READERS = definition(
    step("config", config={"value": "{{ inputs.a }}"}),
    step("condition", condition="inputs.b > 1"),
    step("all", config={"value": "{{ inputs }}"}),
    step("other", config={"value": "inputs.a"}),
    step("after", "config"),
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("a", {"config": "reads the input a", "all": "reads the inputs", "after": "follows config"}),
        ("b", {"condition": "reads the input b", "all": "reads the inputs"}),
    ],
)
def test_steps_that_read_a_changed_input_run_again_with_what_follows(changed: str, expected: dict[str, str]) -> None:
    found = rerun(World(READERS, inputs={"a": 1, "b": 2}).go(), inputs={changed: 5})
    again = {id_: fate.why for id_, fate in found.fates.items() if fate.fate is Fate.RERUN}
    assert again.keys() == expected.keys()
    assert all(again[id_].startswith(words) for id_, words in expected.items()), again


def test_a_list_that_is_run_again_forgets_its_items() -> None:
    items = definition(step("pay", for_each={"items": [1, 2]}))
    world = ended(items)
    assert rerun(world, "pay").state.steps[0].fan is None


def test_a_step_whose_compensation_failed_runs_again_only_if_it_is_named() -> None:
    assert rerun(not_undone(), "send").fates["pay"].fate is Fate.REUSED
    assert rerun(not_undone(), "pay").fates["pay"].fate is Fate.RERUN
