"""Outputs kept outside the run: which parts are loaded before a step is judged, and what if they cannot be."""

import pytest

from docrail.dag.engine.events import (
    AbortRequested,
    Command,
    Finish,
    GoOn,
    Item,
    Load,
    Loaded,
    NotLoaded,
    NotStored,
    Record,
    Resolution,
    ResolutionKind,
    Resolved,
    RunStarted,
    Start,
    Store,
    Stored,
    WentOn,
)
from docrail.dag.engine.map_items import inline_bytes
from docrail.dag.engine.saved_state import load, save
from docrail.dag.engine.state import StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.engine.value_transfer import LAST_PLACE, MOST_LOADS
from docrail.dag.explain.facts import HoldKind
from docrail.dag.explain.report import report_of
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from docrail.dag.values.stored import (
    MAX_INLINE_BYTES,
    ForOutputs,
    ForStep,
    ForUndo,
    Lack,
    Part,
    Piece,
    Reader,
    has_parts,
    part_of,
    parts_in,
)
from tests.dag.definitions import definition, step
from tests.dag.explained import explain_run
from tests.dag.kinds import begun, broke, done, error_of, mapped, wait
from tests.dag.rewinding import rewind
from tests.dag.world import World

SHA = "ab" * 32
WHOLE = Part(SHA, 100_000)
MARK = WHOLE.to_json()
SUM = {"x": "{{ a.x + 1 }}"}
AWAY = StepError("BlobMissing", "no blob")


def reading(*, on_failure: str = "continue", outputs: Json = None, **fields: Json) -> World:
    """Return a run whose step `a` gave something large, and whose step `b` follows it."""
    steps = (step("a"), step("b", "a", **fields))
    world = World(definition(*steps, on_failure=on_failure).model_copy(update={"outputs": outputs or {}}))
    world.start()
    world.send(done("a", MARK))
    return world


def asked(world: World) -> tuple[Part, ...]:
    """Return the parts that the last event made the run ask for."""
    return tuple(part for command in world.trace[-1][1] if isinstance(command, Load) for part in command.parts)


def loaded(world: World, *found: Json, reader: Reader = ForStep("b")) -> list[Command]:  # noqa: B008 - a constant
    """Bring what the reader's last Load asked for: values, or a Piece that says what is there instead."""
    asked_for = next(
        command
        for _, commands in reversed(world.trace)
        for command in commands
        if isinstance(command, Load) and command.reader == reader
    )
    pieces = (
        value if isinstance(value, Piece) else Piece(_as_they_lead(part), value)
        for part, value in zip(asked_for.parts, found, strict=True)
    )
    return world.send(Loaded(reader, tuple(pieces), 9.0))


def _as_they_lead(part: Part) -> Path:
    return tuple(int(key) if isinstance(key, str) and key.isdecimal() else key for key in part.path)


def at(*path: str | int) -> Part:
    return WHOLE.at(path)


def test_a_retry_explains_what_it_can_of_a_switch_that_read_stored_values() -> None:
    cases: list[Json] = [
        {"when": "a.x > 10", "branch": "much"},
        {"when": "a.y == 'z'", "branch": "much"},
        {"else": "no"},
    ]
    steps = (step("a"), step("r", "a", switch=cases), step("c", "r.much"))
    world = World(definition(*steps))
    world.start()
    world.send(done("a", MARK))
    loaded(world, 5, "z", reader=ForStep("r"))
    world.send(broke("c"))
    again = rewind(world.plan, load(world.plan, save(world.plan, world.run)))
    advance(world.plan, again, RunStarted(20.0))
    reported = report_of(world.plan, again, run_id="x.1", tenant_id="default", version=1, digest="d").steps["r"]
    assert reported.branch == "much"
    assert reported.why[-1] == "`a.y == 'z'` was true, and led to much (a.y = a stored value of 100000 bytes)"


def test_a_mark_is_exactly_that() -> None:
    assert part_of(MARK) == WHOLE
    assert part_of(at("x", 3).to_json()) == at("x", 3)
    for other in (None, {}, "text", {**MARK, "more": 1}, {**MARK, "$stored": "../x"}, {**MARK, "bytes": -1}):
        assert part_of(other) is None
    for path in ("x", [1.5], [True], [None]):
        assert part_of({**MARK, "path": path}) is None
    assert list(parts_in({"x": [1, MARK]})) == [(("x", 1), WHOLE)]
    assert has_parts({"x": MARK})
    assert not has_parts("$stored")


def test_a_value_that_is_only_passed_on_is_not_loaded() -> None:
    world = reading(config={"all": "{{ a }}", "some": "{{ a.lines[3] }}", "path": {"$path": ["a", "x", "0"]}})
    given = {"all": MARK, "some": at("lines", 3).to_json(), "path": at("x", "0").to_json()}
    assert world.trace[-1][1] == [Start("b", given)]


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("{{ a.total + 1 }}", [at("total")]),
        ("{{ a.x + a.y }}", [at("x"), at("y")]),
        ("{{ a.lines | length + a.lines[3].n }}", [at("lines")]),
        ("{{ a.lines[3].n + 1 }}", [at("lines", 3, "n")]),
        ("{{ a.lines[-1].n + 1 }}", [at("lines")]),
        (f"{{{{ a.lines[{LAST_PLACE + 1}].n + 1 }}}}", [at("lines")]),
        ("total: {{ a.total }}", [at("total")]),
        ("{{ steps.a.output.total + 1 }}", [at("total")]),
        ("{{ steps.a.status + '' }}", []),
        ("{{ [a.total, inputs] }}", [at("total")]),
        ("{{ a | length }}", [WHOLE]),
    ],
)
def test_an_expression_has_only_what_it_names_loaded(expression: str, parts: list[Part]) -> None:
    assert asked(reading(config={"x": expression})) == tuple(parts)


def test_a_step_is_judged_once_it_can_read() -> None:
    world = reading(condition="a.total > 10", config={"x": "{{ a.lines[1].n * 2 }}"})
    assert (asked(world), world.states["b"].status) == ((at("total"),), StepStatus.PENDING)
    assert loaded(world, 11) == [Load(ForStep("b"), (at("lines", 1, "n"),))]
    assert loaded(world, 21) == [Start("b", {"x": 42})]


def test_values_of_a_skipped_step_are_not_loaded() -> None:
    world = reading(condition="a.total > 10", config={"x": "{{ a.lines | length }}"})
    assert loaded(world, 5) == [Finish(RunStatus.COMPLETED)]


def test_a_loaded_value_is_not_loaded_again() -> None:
    world = World(
        definition(
            step("a"), *(step(name, "a", config={"x": "{{ a.x ~ '' }}".replace(" ~ ''", " + 1")}) for name in "bc")
        )
    )
    world.start()
    world.send(done("a", MARK))
    assert world.trace[-1][1] == [Load(ForStep("b"), (at("x"),))]
    assert loaded(world, 1) == [Start("b", {"x": 2}), Start("c", {"x": 2})]
    later = World(definition(step("a"), step("b", "a", config=SUM), step("c", "b", config={"x": "{{ a.x + 2 }}"})))
    later.start()
    later.send(done("a", MARK))
    loaded(later, 1)
    assert later.send(done("b")) == [Start("c", {"x": 3})]


def test_a_part_that_is_not_there_is_undefined() -> None:
    config = {"x": "{{ a.x.y | default(7) }}", "z": "{{ a.x.z }} and", "is": "{{ a.lines[4] is defined }}"}
    world = reading(config=config)
    assert asked(world) == (at("x", "y"), at("x", "z"), at("lines", 4))
    no_key, no_place = Piece(("x",), None, Lack.OBJECT), Piece(("lines",), None, Lack.LIST)
    assert loaded(world, no_key, "here", no_place) == [Start("b", {"x": 7, "z": "here and", "is": False})]


def test_a_step_that_reads_a_missing_part_fails() -> None:
    world = reading(config=SUM)
    loaded(world, Piece((), None, Lack.OBJECT))
    assert error_of(world.states["b"]).type == "TemplateError"


def test_a_value_that_cannot_be_loaded_fails_the_step() -> None:
    world = reading(config=SUM)
    assert world.send(NotLoaded(ForStep("b"), AWAY, 9.0)) == [Record("b"), Finish(RunStatus.FAILED)]
    assert world.states["b"].error == AWAY


def test_a_step_that_could_not_read_can_be_tried_again() -> None:
    world = reading(config=SUM, on_failure="park")
    world.send(NotLoaded(ForStep("b"), AWAY, 9.0))
    assert world.states["b"].status is StepStatus.PARKED
    assert world.send(Resolved("b", Resolution(ResolutionKind.RETRY), 10.0)) == [
        Record("b"),
        Load(ForStep("b"), (at("x"),)),
    ]
    assert loaded(world, 1) == [Start("b", {"x": 2})]


def test_late_events_change_nothing() -> None:
    world = reading(config=SUM)
    assert world.send(AbortRequested("enough", 9.0)) == [Finish(RunStatus.ABORTED)]
    assert loaded(world, 1) == []
    world = reading(config=SUM)
    loaded(world, 1)
    assert loaded(world, 1) == []
    assert world.send(Stored("b", MARK, 9.0)) == []


def test_all_kinds_but_handlers_are_given_values() -> None:
    nested = reading(workflow={"id": "other", "inputs": {"x": "{{ a.x }}"}})
    assert asked(nested) == (at("x"),)
    assert loaded(nested, [1, 2]) == [Start("b", {"x": [1, 2]})]
    human = reading(human={"title": "?", "show": {"x": "{{ a.x }}"}})
    assert loaded(human, 5)[-1] == Start("b", {"title": "?", "show": {"x": 5}})
    route = reading(switch=[{"when": "a.x > 1", "branch": "much"}, {"else": "little"}])
    assert loaded(route, 5) == [Finish(RunStatus.COMPLETED)]
    assert route.states["b"].output == {"branch": "much"}


def test_a_stored_list_is_loaded_for_its_items() -> None:
    world = World(
        definition(step("a"), mapped("m", "{{ a.rows }}", "a", config={"n": "{{ item.n }}", "all": "{{ a.rows }}"}))
    )
    world.start()
    world.send(done("a", MARK))
    assert asked(world) == (at("rows"),)
    rows = at("rows").to_json()
    assert loaded(world, [{"n": 1}, {"n": 2}], reader=ForStep("m")) == [
        Start("m", {"n": 1, "all": rows}, Item(0)),
        Start("m", {"n": 2, "all": rows}, Item(1)),
    ]


def test_marks_inside_an_output_are_loaded_with_it() -> None:
    reads = step(
        "b",
        "m",
        config={"x": "{{ m['items'] | map(attribute='output') | sum }}", "one": "{{ m['items'][1].output + 1 }}"},
    )
    world = World(definition(mapped("m", [1, 2]), reads))
    world.start()
    world.send(done("m", 5, item=0))
    world.send(done("m", MARK, item=1))
    assert asked(world) == (WHOLE,)
    assert loaded(world, 6) == [Start("b", {"x": 11, "one": 7})]


LARGE = "x" * MAX_INLINE_BYTES


def test_the_large_output_of_a_list_is_stored_before_anything_reads_it() -> None:
    world = World(definition(mapped("m", [1]), step("b", "m", config={"n": "{{ m.completed }}"})))
    world.start()
    (store,) = world.send(done("m", LARGE, item=0))
    assert isinstance(store, Store)
    assert (store.value["completed"], world.states["m"].status) == (1, StepStatus.RUNNING)
    assert world.send(Stored("m", MARK, 10.0)) == [Start("b", {"n": at("completed").to_json()})]


def test_outputs_are_stored_one_after_the_other() -> None:
    world = begun(mapped("m", [1]), mapped("n", [1]))
    assert [type(command) for command in world.send(done("m", LARGE, item=0))] == [Store]
    assert world.send(done("n", LARGE, item=0)) == []
    (second,) = world.send(Stored("m", MARK, 10.0))
    assert isinstance(second, Store)
    assert second.step == "n"
    assert world.send(Stored("n", MARK, 10.0)) == [Finish(RunStatus.COMPLETED)]


def test_an_output_is_stored_later_where_much_has_begun_at_once() -> None:
    """All of a turn travels in one message of at most 4 MiB."""
    large = "y" * 250_000
    lists = [mapped(name, [1], config={"text": large} if name != "m" else {}) for name in "mabcdefgh"]
    world = World(definition(*lists, max_concurrency=20))
    world.start()
    world.now = 1.0
    world.send(done("m", "z" * 1_800_000, item=0))
    assert [type(command) for command in world.trace[-1][1]] == [Store]
    world = World(definition(*lists, max_concurrency=20))
    world.run.turn.begun_at, world.run.turn.begun_bytes = 9.0, 2_500_000  # as if much had begun in this very turn
    world.start()
    world.run.turn.begun_at, world.run.turn.begun_bytes = 9.0, 2_500_000
    assert world.send(done("m", "z" * 1_800_000, item=0)) == [GoOn()]
    (store,) = world.send(WentOn(10.0))
    assert isinstance(store, Store)


def test_an_output_that_cannot_be_stored_fails_the_step_and_its_items_are_kept() -> None:
    world = begun(mapped("m", [1]), on_failure="park")
    world.send(done("m", LARGE, item=0))
    world.send(NotStored("m", AWAY, 10.0))
    assert (world.states["m"].status, world.states["m"].error) == (StepStatus.PARKED, AWAY)
    (store,) = (
        each for each in world.send(Resolved("m", Resolution(ResolutionKind.RETRY), 11.0)) if isinstance(each, Store)
    )
    assert store.value["completed"] == 1
    assert world.send(Stored("m", MARK, 12.0)) == [Finish(RunStatus.COMPLETED)]


def test_outputs_of_a_failed_list_are_stored_too() -> None:
    world = begun(mapped("m", [1, 2]))
    world.send(done("m", LARGE, item=0))
    assert isinstance(world.send(broke("m", item=1))[0], Store)
    world.send(Stored("m", MARK, 10.0))
    assert (world.states["m"].status, world.states["m"].output) == (StepStatus.FAILED, MARK)


GIVEN = {"all": "{{ a.rows }}", "many": "{{ a.rows | length }}", "total": "{{ a.total }}", "text": "{{ a.text }}"}


def test_the_run_s_outputs_are_loaded_where_something_is_made_of_them() -> None:
    world = reading(outputs=GIVEN)
    assert world.send(done("b")) == [Load(ForOutputs(), (at("rows"), at("total"), at("text")), (1, 2))]
    assert loaded(world, [1, 2, 3], 5, at("text").to_json(), reader=ForOutputs()) == [Finish(RunStatus.COMPLETED)]
    assert world.run.outputs == {"all": [1, 2, 3], "many": 3, "total": 5, "text": at("text").to_json()}


def test_outputs_that_cannot_be_loaded_fail_the_run() -> None:
    world = reading(outputs={"many": "{{ a.rows | length }}"})
    world.send(done("b"))
    assert world.send(NotLoaded(ForOutputs(), AWAY, 9.0)) == [Finish(RunStatus.FAILED)]
    assert world.run.stop_reason == "outputs: no blob"


UNDO = {"handler": "undo", "config": {"all": "{{ a.rows }}", "many": "{{ a.rows | length }}"}}


def undoing() -> World:
    world = World(definition(step("a", compensate=UNDO), step("b", "a")))
    world.start()
    world.send(done("a", MARK))
    assert world.send(broke("b")) == [Record("b"), Load(ForUndo("a"), (at("rows"),))]
    return world


def test_a_compensation_loads_its_values_first() -> None:
    world = undoing()
    (start,) = advance(world.plan, world.run, Loaded(ForUndo("a"), (Piece(("rows",), [1, 2]),), 9.0))
    assert isinstance(start, Start)
    assert start.config == {"all": at("rows").to_json(), "many": 2}


def test_a_compensation_that_cannot_load_its_values_fails_with_the_reason() -> None:
    world = undoing()
    assert world.send(NotLoaded(ForUndo("a"), AWAY, 9.0)) == [Record("a"), Finish(RunStatus.FAILED)]
    assert (world.states["a"].compensation, world.states["a"].compensation_error) == (StepStatus.FAILED, AWAY)


def test_a_retry_reads_again_what_it_needs() -> None:
    world = reading(config=SUM)
    loaded(world, 1)
    world.send(broke("b"))
    again = World(world.definition)
    again.run = rewind(again.plan, load(again.plan, save(world.plan, world.run)))
    assert again.start() == [Load(ForStep("b"), (at("x"),))]


def test_a_step_that_reads_is_explained() -> None:
    world = reading(config=SUM)
    reported = explain_run(world.plan, world.run, "r", step_id="b").steps["b"]
    assert reported.hold is not None
    assert reported.hold.by is HoldKind.VALUES


def test_the_share_of_an_item_shrinks_with_the_list() -> None:
    assert [inline_bytes(count) for count in (0, 1, 20, 300, 10_000)] == [MAX_INLINE_BYTES] * 3 + [4_900, 100]


def test_a_failed_step_is_hidden_however_large_its_output_is() -> None:
    config = {
        "is": "{{ m is defined }}",
        "total": "{{ m.total | default(-1) }}",
        "reported": "{{ steps.m.output.total + 0 }}",
    }
    after = step("b", "m", trigger_rule="all_done", config=config)
    world = World(definition(mapped("m", [1, 2]), after))
    world.start()
    world.send(done("m", LARGE, item=0))
    world.send(broke("m", item=1))
    world.send(Stored("m", MARK, 10.0))
    assert asked(world) == (at("total"),)
    assert loaded(world, 2) == [Start("b", {"is": False, "total": -1, "reported": 2})]


def test_a_config_given_by_hand_reads_nothing() -> None:
    world = reading(config=SUM, on_failure="park")
    world.send(NotLoaded(ForStep("b"), AWAY, 9.0))
    commands = world.send(Resolved("b", Resolution(ResolutionKind.RETRY, {"x": 5}), 10.0))
    assert commands == [Start("b", {"x": 5}), Record("b")]


def test_a_cache_key_is_the_value_and_not_the_reference_to_it() -> None:
    keys: list[str | None] = []
    for sha256 in (SHA, "cd" * 32):
        world = World(definition(step("a"), step("b", "a", cache={"key": "{{ a.id }}", "ttl_seconds": 60})))
        world.start()
        world.send(done("a", Part(sha256, 100_000).to_json()))
        (start,) = loaded(world, 5)
        assert isinstance(start, Start)
        keys.append(start.cache_key)
    assert keys[0] == keys[1]


def test_a_mark_that_leads_nowhere_is_asked_for_once() -> None:
    world = World(definition(step("n"), step("b", "n", config={"x": "{{ n.v | default(1) }} {{ n.ok }}"})))
    world.start()
    world.send(done("n", {"v": at("p", "q", "r").to_json(), "ok": 7}))
    assert asked(world) == (at("p", "q", "r"),)
    assert loaded(world, Piece((), None, Lack.OBJECT)) == [Start("b", {"x": "{} 7"})]


def test_only_so_much_is_loaded_at_once() -> None:
    readers = (step(f"s{n}", "a", config={"x": f"{{{{ a.x{n} + 1 }}}}"}) for n in range(MOST_LOADS + 5))
    world = World(definition(step("a"), *readers, max_concurrency=500))
    world.start()
    assert len(world.send(done("a", MARK))) == MOST_LOADS
    assert loaded(world, 1, reader=ForStep("s0")) == [
        Start("s0", {"x": 2}),
        Load(ForStep(f"s{MOST_LOADS}"), (at(f"x{MOST_LOADS}"),)),
    ]


def test_nothing_is_loaded_for_a_run_that_the_same_event_has_ended() -> None:
    steps = (step("a"), step("b"), step("c", "a", "b", trigger_rule="all_done", config={"x": "{{ a.x + 1 }}"}))
    world = World(definition(*steps, on_failure="fail_fast"))
    world.start()
    world.send(done("a", MARK))
    assert world.send(broke("b")) == [Record("b"), Finish(RunStatus.FAILED)]


def test_a_run_that_loads_is_not_waiting() -> None:
    world = World(definition(step("a"), wait("w"), step("b", "a", config=SUM)))
    world.start()
    world.send(done("a", MARK))
    assert world.run.status is RunStatus.RUNNING


def test_a_skipped_step_that_could_not_read_was_not_undone_badly() -> None:
    world = World(definition(step("a"), step("b", "a", config=SUM, compensate={"handler": "undo"})))
    world.start()
    world.send(done("a", MARK))
    advance(world.plan, world.run, AbortRequested("enough", 9.0))
    advance(world.plan, world.run, NotLoaded(ForStep("b"), AWAY, 9.0))
    assert world.run.steps[world.plan.index["b"]].compensation is None
