"""The keys that identify equal work of cached steps, keys that cannot be resolved, and how a hit is reported."""

import pytest

from docrail.dag.engine.events import (
    Command,
    Item,
    Resolution,
    ResolutionKind,
    Resolved,
    RunStarted,
    Start,
    StepCompleted,
    StepFailed,
    Undo,
)
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin, load, save
from docrail.dag.engine.state import RunState, StepError
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import report_of
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json
from tests.dag.catalogue import EXTRACT, problems_of
from tests.dag.explained import explain_run
from tests.dag.rewinding import rewind

CACHE: dict[str, Json] = {"ttl_seconds": 60}
READS: dict[str, Json] = {"value": "{{ inputs.n }}", "unit": "m"}


def started(
    *steps: dict[str, Json], inputs: dict[str, Json] | None = None, **more: Json
) -> tuple[Plan, RunState, list[Command]]:
    handled = [{"id": "a", "handler": "echo", **step} for step in steps]
    plan = compile_plan(Definition.model_validate({"id": "kept", "steps": handled, **more}))
    run = begin(plan, inputs or {}, {})
    return plan, run, advance(plan, run, RunStarted(10.0))


def keys_of(commands: list[Command]) -> list[str | None]:
    return [command.cache_key for command in commands if isinstance(command, Start)]


def key_of(config: Json = READS, *, n: Json = 1, handler: str = "echo", **cache: Json) -> str:
    step = {"handler": handler, "config": config, "cache": {**CACHE, **cache}}
    _, _, commands = started(step, inputs={"n": n, "other": 1})
    [key] = keys_of(commands)
    assert key is not None
    return key


def test_a_step_without_a_cache_has_no_key() -> None:
    assert keys_of(started({"config": READS}, inputs={"n": 1})[2]) == [None]


def test_equal_work_has_an_equal_key() -> None:
    assert key_of() == key_of()
    assert len(key_of()) == 64
    assert key_of(ttl_seconds=5) == key_of(), "how long an output is good says nothing about what made it"


def test_by_default_the_resolved_config_is_the_key() -> None:
    assert key_of(n=2) != key_of(n=1)
    assert key_of(n="1") != key_of(n=1)


def test_a_key_of_its_own_leaves_out_what_does_not_matter() -> None:
    assert key_of(n=1, key="{{ inputs.other }}") == key_of(n=2, key="{{ inputs.other }}")
    assert key_of(n=1, key="{{ inputs.n }}") != key_of(n=2, key="{{ inputs.n }}")
    assert key_of(key=["{{ inputs.n }}", "v2"]) != key_of(key=["{{ inputs.n }}", "v1"])


def test_a_changed_config_or_handler_never_meets_an_old_output() -> None:
    key = "{{ inputs.n }}"
    assert key_of({**READS, "unit": "km"}, key=key) != key_of(key=key)
    assert key_of({**READS, "value": "{{ inputs.n + 0 }}"}) != key_of()
    assert key_of(handler="other") != key_of()


def test_the_order_of_a_configs_fields_says_nothing() -> None:
    assert key_of(dict(reversed(READS.items()))) == key_of()


def test_each_item_has_its_key() -> None:
    step: dict[str, Json] = {"cache": CACHE, "for_each": {"items": [1, 2, 1]}, "config": {"value": "{{ item }}"}}
    first, second, third = keys_of(started(step)[2])
    assert first == third != second
    step |= {"cache": {**CACHE, "key": "{{ item % 2 }} {{ index * 0 }}"}, "for_each": {"items": [1, 2, 3]}}
    first, second, third = keys_of(started(step)[2])
    assert first == third != second


def test_a_config_given_by_hand_is_another_config() -> None:
    """Even where the key does not read it: the person wants that config to be tried, and no output of another."""
    step = {"config": READS, "cache": {**CACHE, "key": "{{ inputs.n }}"}}
    plan, run, commands = started(step, inputs={"n": 1}, on_failure="park")
    [before] = keys_of(commands)
    advance(plan, run, StepFailed("a", StepError("ValueError", "no"), 1, 11.0))
    retry = Resolution(ResolutionKind.RETRY, {"value": 1, "unit": "cm"})
    [after] = keys_of(advance(plan, run, Resolved("a", retry, 12.0)))
    assert after not in (None, before)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("{{ inputs.missing }}", "cache.key: `inputs.missing`"),
        ("{{ inputs.huge }}", "cache.key: takes"),
        (["{{ inputs.half }}"], "cache.key: cannot be written as JSON"),
    ],
)
def test_a_key_that_cannot_be_computed_fails_the_step_as_a_config_does(key: Json, message: str) -> None:
    inputs = {"n": 1, "huge": "x" * MAX_VALUE_BYTES, "half": "\ud83d"}
    _, run, commands = started({"config": READS, "cache": {**CACHE, "key": key}}, inputs=inputs)
    [state] = run.steps
    assert keys_of(commands) == []
    assert state.error is not None
    assert (state.status, state.error.type) == (StepStatus.FAILED, "TemplateError")
    assert state.error.message.startswith(message)


def test_a_key_that_cannot_be_computed_for_one_item_fails_that_item() -> None:
    items = [{"n": 1}, {}]
    step: dict[str, Json] = {"cache": {**CACHE, "key": "{{ item.n }}"}, "for_each": {"items": items, "max_failures": 1}}
    _, run, commands = started({**step, "config": {"value": "{{ item }}"}})
    assert len(keys_of(commands)) == 1
    fan = run.steps[0].fan
    assert fan is not None
    assert [item.status for item in fan.items] == [StepStatus.RUNNING, StepStatus.FAILED]


def test_a_compensation_is_never_cached() -> None:
    """Nor may the step be: the validator refuses both together, and a plan made without it does not care."""
    undone = {"cache": CACHE, "compensate": {"handler": "echo"}}
    plan, run, commands = started(undone, {"id": "b", "depends_on": ["a"]})
    assert None not in keys_of(commands)
    advance(plan, run, StepCompleted("a", None, 1, 11.0))
    undoing = advance(plan, run, StepFailed("b", StepError("ValueError", "no"), 1, 12.0))
    assert Start("a", {}, Undo()) in undoing


def test_a_hit_is_reported() -> None:
    plan, run, _ = started({"cache": CACHE}, {"id": "b"})
    advance(plan, run, StepCompleted("a", {"value": 1}, 1, 11.0, cached=True))
    advance(plan, run, StepCompleted("b", {"value": 1}, 1, 11.0))
    report = report_of(plan, run, run_id="kept.1", tenant_id="default", version=1, digest="d")
    assert {name: step.cached for name, step in report.steps.items()} == {"a": True, "b": False}
    explained = explain_run(plan, run, "kept.1").steps
    assert explained["a"].cached
    assert "its output is that of earlier equal work (cache): the handler did not run" in explained["a"].words
    assert not any("cache" in words for words in explained["b"].words)
    assert load(plan, save(plan, run)).steps[0].cached


def test_hits_of_items_are_counted() -> None:
    plan, run, _ = started({"cache": CACHE, "for_each": {"items": [1, 2]}, "config": {"value": "{{ item }}"}})
    advance(plan, run, StepCompleted("a", {}, 1, 11.0, Item(0), cached=True))
    advance(plan, run, StepCompleted("a", {}, 1, 11.0, Item(1)))
    report = report_of(plan, run, run_id="kept.1", tenant_id="default", version=1, digest="d")
    assert report.steps["a"].items is not None
    assert report.steps["a"].items.cached == 1
    words = explain_run(plan, run, "kept.1").steps["a"].words
    assert any("of 2 items 2 completed, 0 failed, 0 running, 1 out of the cache" in line for line in words)


def test_a_retry_keeps_what_came_out_of_the_cache() -> None:
    plan, run, _ = started({"cache": CACHE}, {"id": "b", "depends_on": ["a"], "cache": CACHE})
    advance(plan, run, StepCompleted("a", {}, 1, 11.0, cached=True))
    advance(plan, run, StepFailed("b", StepError("ValueError", "no"), 1, 12.0))
    again = rewind(plan, run)
    assert [state.cached for state in again.steps] == [True, False], "what completed is kept, and how"


def test_a_step_without_a_cache_is_stored_without_cache_fields() -> None:
    """Else every published definition would have another digest."""
    definition = Definition.model_validate({"id": "kept", "steps": [{"id": "a", "handler": "echo"}]})
    assert "cache" not in to_json(definition)["steps"][0]
    assert "deadline_seconds" not in to_json(definition)


@pytest.mark.parametrize(
    ("cache", "expected"),
    [
        ("{ttl_seconds: 60}", []),
        ("{ttl_seconds: 60, key: '{{ inputs.n }}'}", []),
        ("{key: x}", ["'cache' needs the field 'ttl_seconds'"]),
        ("{ttl_seconds: 0}", ["'ttl_seconds' must be at least 0.001, found the number 0"]),
        ("3600", ["'cache' must be an object, found the number 3600"]),
        ("{ttl: 60}", ["'cache' has no field 'ttl'"]),
        ("{ttl_seconds: 60, key: '{{ inputs.nn }}'}", ["there is no input 'nn'"]),
    ],
)
def test_valid_and_invalid_caches(cache: str, expected: list[str]) -> None:
    found = problems_of(f"inputs: {{n: {{type: number}}}}\n{EXTRACT}    cache: {cache}\n")
    assert [message for _, message, *_ in found] == expected
