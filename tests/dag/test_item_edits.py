"""What items of a list are given by hand: in runs that wait, in runs that go on, in long lists, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.events import Item, Resolution, ResolutionKind, Resolved, Start, StartChunk, StepCompleted
from docrail.dag.engine.map_items import inline_bytes
from docrail.dag.engine.park import resolution_problem, resolution_problems
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.retry import Edit, Fate
from docrail.dag.explain.report import report_of
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InvalidValueError
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.definitions import definition, step
from tests.dag.test_chunks import FAILED, fleet
from tests.dag.test_retry import config, ended, fates, gone_on, retried
from tests.dag.world import World

LIST: Json = {"items": ["w", "x", "y", "z"], "key": "item"}
CONFIG: Json = {"n": "{{ item }}"}


def listed(**more: Json) -> Definition:
    return definition(step("a", for_each=LIST, config=CONFIG), step("b", "a"), **more)


def items(**given: Json) -> Edit:
    return Edit(ResolutionKind.ITEMS, given)


def failing(*places: int) -> frozenset[str]:
    return frozenset(f"a[{place}]" for place in places)


def parked(*places: int) -> World:
    """Play a run until nothing but its parked list is left."""
    world = World(listed(on_failure="park"), failing(*places))
    world.start()
    while active := sorted(world.ledger.active):
        world.send(world.answer(active[0]))
    assert world.parked == {"a"}
    return world


def resolve(world: World, edit: Edit) -> list[Json]:
    """Give a parked list's items something; return the configs of what begins, with their places."""
    commands = world.send(Resolved("a", Resolution(edit.kind, edit.value, "ann"), world.tick()))
    return [
        (command.part, command.config) for command in commands if isinstance(command, Start) and command.step == "a"
    ]


def statuses(world: World) -> list[str]:
    fan = world.states["a"].fan
    assert fan is not None
    return [str(item.status) for item in fan.items]


def test_a_parked_list_goes_on_with_what_its_items_are_given() -> None:
    world = parked(1, 2, 3)
    edit = items(x={"config": {"n": "fixed"}}, y={"output": {"n": 7}}, z={"skip": True})
    assert resolve(world, edit) == [(Item(1), {"n": "fixed"})]
    world.send(StepCompleted("a", {"n": "fixed"}, 1, world.tick(), Item(1)))
    assert statuses(world) == ["completed", "completed", "completed", "skipped"]
    reported = world.states["a"].output
    assert (reported["total"], reported["completed"], reported["failed"]) == (4, 3, 0)
    assert reported["items"][2:] == [
        {"key": "y", "status": "completed", "output": {"n": 7}},
        {"key": "z", "status": "skipped"},
    ]
    assert world.go().run.outcome is RunStatus.COMPLETED
    report = report_of(world.plan, world.run, run_id="r", tenant_id="t", version=1, digest="d")
    counts = report.steps["a"].items
    assert counts is not None
    assert (counts.completed, counts.skipped) == (3, 1)
    assert any("of 4 items 3 completed, 0 failed, 0 running, 1 skipped by hand" in why for why in report.steps["a"].why)


def test_items_that_are_given_nothing_run_again_as_they_were() -> None:
    assert resolve(parked(1, 3), items(z={"config": {"n": "fixed"}})) == [
        (Item(1), {"n": "x"}),
        (Item(3), {"n": "fixed"}),
    ]


def test_a_list_whose_items_need_no_work_is_over_at_once() -> None:
    world = parked(0, 3)
    assert resolve(world, items(w={"output": {"n": 1}}, z={"skip": True})) == []
    assert world.states["a"].status is StepStatus.COMPLETED


def test_an_item_keeps_its_config_however_often_it_is_tried_again() -> None:
    world = parked(1, 3)
    resolve(world, items(x={"config": {"n": "fixed"}}, z={"config": {}}))
    for place in (1, 3):
        world.send(world.answer(f"a[{place}]"))
    assert resolve(world, Edit(ResolutionKind.RETRY)) == [(Item(1), {"n": "fixed"}), (Item(3), {})]
    for place in (1, 3):
        world.send(world.answer(f"a[{place}]"))
    assert resolve(world, items(z={"config": {"n": "other"}})) == [
        (Item(1), {"n": "fixed"}),
        (Item(3), {"n": "other"}),
    ]


def test_an_item_that_was_skipped_stays_so_until_it_is_given_a_config() -> None:
    world = parked(1, 3)
    resolve(world, items(z={"skip": True}))
    world.send(world.answer("a[1]"))
    assert statuses(world) == ["completed", "failed", "completed", "skipped"]
    assert resolve(world, items(z={"config": {"n": 1}}, x={"skip": True})) == [(Item(3), {"n": 1})]


def test_a_run_that_ended_goes_on_with_what_items_are_given() -> None:
    world = ended(listed(), *failing(1, 3))
    retry = retried(world, {"a": items(x={"config": {"n": "fixed"}}, z={"skip": True})})
    assert fates(retry) == {
        "a": "rerun: failed: ItemsFailed; 2 of its 4 items completed, and are kept; "
        "by hand, x takes a config, z is skipped",
        "b": "rerun: skipped: upstream_failed",
    }
    again = gone_on(retry, listed())
    assert again.ledger.started == {"a[1]", "b"}
    assert again.states["a"].resolved_by == "ann"
    starts = [command for _, commands in again.trace for command in commands if isinstance(command, Start)]
    assert starts[0].config == {"n": "fixed"}


def test_a_config_is_kept_for_the_next_retry_of_the_run() -> None:
    again = gone_on(retried(ended(listed(), *failing(1)), {"a": items(x={"config": {}})}), listed(), *failing(1))
    third = gone_on(retried(again), listed())
    starts = [command for _, commands in third.trace for command in commands if isinstance(command, Start)]
    assert starts[0] == Start("a", {}, Item(1))


def test_a_list_that_needs_no_work_is_new() -> None:
    retry = retried(ended(listed(), *failing(0)), {"a": items(w={"output": 1})})
    assert retry.fates["a"].fate is Fate.NEW
    assert gone_on(retry, listed()).ledger.started == {"b"}


def test_items_that_a_list_may_leave_failed_are_edited_in_a_run_that_failed_elsewhere() -> None:
    document = definition(step("a", for_each={**LIST, "max_failures": 1}, config=CONFIG), step("b", "a"))
    world = ended(document, "b", *failing(2))
    retry = retried(world, {"a": items(y={"config": {"n": 1}})})
    assert fates(retry)["a"] == "rerun: completed; 3 of its 4 items completed, and are kept; by hand, y takes a config"
    assert gone_on(retry, document).ledger.started == {"a[2]", "b"}


def problems(world: World, edits: dict[str, Edit], under: Definition | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InvalidValueError) as caught:
        retried(world, edits, under)
    return [(problem.path, problem.message) for problem in caught.value.problems]


def test_a_list_that_is_computed_again_accepts_no_edits_of_items() -> None:
    document = definition(step("p"), step("a", "p", for_each=LIST, config=CONFIG))
    newer = definition(step("p"), step("a", "p", for_each=LIST, config={"n": 2}))
    edits, rule = {"a": items(x={"skip": True})}, "edits apply to the items of the earlier list only"
    world = ended(document, *failing(1))
    for asked, under, why in (
        (edits | {"p": config({"n": 1})}, None, "it follows p, which is not reused"),
        (edits, newer, "its definition has changed"),
    ):
        assert problems(world, asked, under) == [
            ("steps.a.items", f"its list is computed again, because {why}: {rule}")
        ]
    before = ended(definition(step("p")), "p")
    [(_, message)] = problems(before, edits, document)
    assert "the version that ran has no such step" in message
    never = ended(document, "p")
    [(_, message)] = problems(never, edits, document)
    assert "it follows p" in message
    [(_, message)] = problems(ended(listed()), {"a": items(x={"skip": True})})
    assert message == "the step has completed, and none of its items failed"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, "an object, by the items' keys"),
        ({}, "an object, by the items' keys"),
        ({"x": 7}, "item 'x' takes exactly one of config, output, skip"),
        ({"x": {}}, "item 'x' takes exactly one of"),
        ({"x": {"skip": True, "output": 1}}, "item 'x' takes exactly one of"),
        ({"x": {"input": {}}}, "item 'x' takes exactly one of"),
        ({"x": {"config": 7}}, "item 'x': a config is an object"),
        ({"x": {"skip": False}}, "item 'x': skip is true, or left out"),
        ({"x": {"output": {"$stored": "0" * 64, "bytes": 70_000}}}, "holds the placeholder of a stored value"),
    ],
)
def test_a_value_that_is_no_edits_of_items_is_refused(given: Json, expected: str) -> None:
    [problem] = resolution_problems(parked(1).run, compile_plan(listed()).step("a"), "items", given)
    assert expected in problem.message


def test_only_items_of_the_list_that_did_not_complete_can_be_edited() -> None:
    world = parked(1)
    given = {"xx": {"skip": True}, "w": {"skip": True}, "x": {"output": "o" * inline_bytes(4)}}
    found = resolution_problems(world.run, world.plan.step("a"), "items", given)
    assert [(problem.path, problem.suggestion) for problem in found] == [
        ("items.xx", "x"),
        ("items.w", None),
        ("items.x.output", None),
    ]
    assert found[0].message == "the list has no such item, but 4 others"
    assert "more than the" in found[2].message
    assert resolution_problem(world.plan.step("b"), "items", given) == "only a step over a list has items"
    [problem] = resolution_problems(World(listed()).run, world.plan.step("a"), "items", {"x": {"skip": True}})
    assert "it ended before its list was computed" in problem.message


def test_items_of_a_long_list_take_their_configs_into_its_chunks() -> None:
    broken = dict.fromkeys(range(300), FAILED)
    world = fleet(600, on_failure="park").go(broken)
    world.began.clear()
    given: Json = {str(place): {"config": {"n": "fixed"}} for place in range(0, 300, 2)} | {"1": {"skip": True}}
    commands = world.send(Resolved("m", Resolution(ResolutionKind.ITEMS, given, "ann"), 20.0))
    [first, *_] = [command for command in commands if isinstance(command, StartChunk)]
    assert [item.config["n"] for item in first.items[:4]] == ["fixed", "fixed", 3, "fixed"]
    assert [item.place for item in first.items[:4]] == [0, 2, 3, 4]
    assert world.go().finished is RunStatus.COMPLETED
    fan = world.state().fan
    assert fan is not None
    assert [str(item.status) for item in fan.items[:3]] == ["completed", "skipped", "completed"]


KEYS = "wxyz"
edited = st.dictionaries(
    st.sampled_from(KEYS), st.sampled_from([{"config": {"n": 1}}, {"output": {"n": 2}}, {"skip": True}]), min_size=1
)


@given(broken=st.sets(st.integers(0, 3), min_size=1), again=st.sets(st.integers(0, 3)), given=edited)
def test_every_item_is_kept_or_given_or_runs_again(broken: set[int], again: set[int], given: dict[str, Json]) -> None:
    """Both ways of going on begin the same items with the same configs, and give the same output."""
    given = {key: edit for key, edit in given.items() if KEYS.index(key) in broken}
    if not given:
        return
    waiting, over = parked(*broken), ended(listed(), *failing(*broken))
    begun = resolve(waiting, items(**given))
    gone = gone_on(retried(over, {"a": items(**given)}), listed(), *failing(*again))
    starts = [command for _, commands in gone.trace for command in commands if isinstance(command, Start)]
    assert begun == [(start.part, start.config) for start in starts if start.step == "a"]
    expected = [place for place in sorted(broken) if "config" in given.get(KEYS[place], {"config": None})]
    assert [part for part, _ in begun] == [Item(place) for place in expected]
    for reported in gone.states["a"].output["items"]:
        edit = given.get(reported["key"], {})
        if "config" not in edit and edit:
            assert reported["status"] == ("skipped" if "skip" in edit else "completed")
