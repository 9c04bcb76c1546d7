"""Tests of definitions, simulated without a server: which pass, which fail, and their messages."""

from pathlib import Path

import pytest

from docrail.activities.registry import load_catalogue
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.simulation.simulate import simulate
from docrail.dag.simulation.verdict import Verdict, assess
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.stored import MAX_INLINE_BYTES
from docrail.services.definitions.run_tests import run_trials
from docrail.services.definitions.service import shipped_files

TESTED = Path(__file__).parent / "tested"
PASSING = [*shipped_files(), *(path for path in sorted(TESTED.glob("*.yaml")) if path.stem != "wrong")]


def read(path: Path) -> Definition:
    definition, problems = check_definition(path.read_text("utf-8"), load_catalogue())
    assert definition is not None, problems
    return definition


def verdicts_of(definition: Definition) -> list[Verdict]:
    return run_trials(definition, load_catalogue())


def verdict_on(steps: list[Json], test: Json, **more: Json) -> Verdict:
    """Return the verdict on one test of a definition."""
    document = {"id": "tested", "steps": steps, "tests": [{"name": "it", **test}], **more}
    definition = Definition.model_validate(document)
    [verdict] = verdicts_of(definition)
    return verdict


@pytest.mark.parametrize("path", PASSING, ids=lambda path: path.stem)
def test_the_tests_of_a_definition_pass(path: Path) -> None:
    definition = read(path)
    assert definition.tests
    assert [verdict for verdict in verdicts_of(definition) if not verdict.passed] == []


def test_everything_that_is_otherwise_is_reported() -> None:
    unsaid, otherwise, broken = verdicts_of(read(TESTED / "wrong.yaml"))
    assert reported(unsaid) == [
        f"steps.{step}: step '{step}' runs, and the test has no result for {whose}: "
        f"add an `output` or a `failure` under `steps.{step}`"
        for step, whose in (("a", "it"), ("d", "its item 'y'"))
    ]
    items = [{"key": key, "status": "completed", "output": {"value": 1}} for key in ("x", "y")]
    assert reported(otherwise) == [
        "expect.status: expected the run to be failed, found completed",
        "expect.steps.a.output.value.total: expected true, found 5",
        "expect.steps.b.reason: expected the reason operator, found none",
        "expect.steps.b.error: expected the error Broken, found none",
        "expect.steps.b.config.value: expected 6, found 5",
        "expect.steps.b.config.more: expected 1, found nothing",
        "expect.steps.c: expected skipped, found completed (none_failed)",
        f"expect.steps.d.output.items: expected {canonical([{'key': 'x'}])}, found {canonical(items)}",
        "expect.outputs.total: expected 6, found 5",
        "expect.undone: expected undone: a; found none",
        "steps.d.items.z: the list of step 'd' has no item 'z'; it has x, y",
    ]
    why = "b: `a.value.total`: 'a.value' has no 'total': it is empty"
    assert reported(broken) == [f"expect.status: expected the run to be completed, found failed: {why}"]


def reported(verdict: Verdict) -> list[str]:
    return [f"{one.path}: {one.message}" for one in verdict.differences]


def test_a_one_is_not_true() -> None:
    expected = {"status": "completed", "steps": {"a": {"output": {"value": True}}}}
    test = {"steps": {"a": {"output": {"value": 1}}}, "expect": expected}
    verdict = verdict_on([{"id": "a", "handler": "echo"}], test)
    assert reported(verdict) == ["expect.steps.a.output.value: expected true, found 1"]


def test_time_moves_to_what_is_due_next() -> None:
    steps: list[Json] = [
        {"id": "long", "wait": {"for": "timer", "seconds": 1_000_000}},
        {"id": "short", "wait": {"for": "timer", "seconds": "{{ inputs.n }}"}},
        {"id": "stop", "abort": "enough", "depends_on": ["short"]},
    ]
    expect = {"status": "aborted", "steps": {"long": "cancelled", "short": "completed"}}
    inputs = {"n": {"type": "integer", "default": 60}}
    assert verdict_on(steps, {"expect": expect}, inputs=inputs).passed


def test_a_question_that_is_escalated_is_waited_for_twice() -> None:
    question = {"timeout_seconds": 60, "on_timeout": {"escalate_to": "boss", "then": "abort"}}
    steps: list[Json] = [{"id": "ask", "human": question}, {"id": "pause", "wait": {"for": "timer", "seconds": 100}}]
    expect = {"status": "aborted", "steps": {"pause": "completed"}}
    assert verdict_on(steps, {"steps": {"ask": {"times_out": True}}, "expect": expect}).passed


@pytest.mark.parametrize(("failure", "attempts"), [("Broken", 1), ("Final", 1), ("Passing", 4)])
def test_a_failure_that_may_pass_has_used_up_the_retries(failure: str, attempts: int) -> None:
    steps: list[Json] = [
        {"id": "a", "handler": "noop", "max_retries": 3, "retry_config": {"non_retryable": ["Final"]}},
        {
            "id": "b",
            "handler": "echo",
            "depends_on": ["a"],
            "trigger_rule": "all_done",
            "config": {"value": "{{ steps.a.attempts }}"},
        },
    ]
    mocks = {"a": {"failure": {"type": failure, "retryable": failure != "Broken"}}, "b": {"output": {"value": 1}}}
    expect = {"status": "failed", "steps": {"b": {"config": {"value": attempts}}}}
    assert verdict_on(steps, {"steps": mocks, "expect": expect}).passed


def test_a_config_that_its_handler_refuses_fails_the_step_whatever_the_mock_says() -> None:
    steps: list[Json] = [{"id": "a", "handler": "sleep", "config": {"seconds": "{{ inputs.n }}"}}]
    test = {"inputs": {"n": "soon"}, "steps": {"a": {"output": {}}}, "expect": {"status": "completed"}}
    [difference] = verdict_on(steps, test, inputs={"n": {"type": "string"}}).differences
    assert difference.message.startswith("expected the run to be completed, found failed: a: its config does not fit")


def test_a_mock_has_the_defaults_of_its_handlers_output() -> None:
    steps: list[Json] = [
        {
            "id": "ask",
            "handler": "send_webhook",
            "config": {"url": "https://a.example", "body": "{{ run.callbacks.b }}"},
        },
        {"id": "b", "wait": {"for": "webhook"}, "depends_on": ["ask"]},
    ]
    mocks = {"ask": {"output": {"status": 200}}, "b": {"answer": 1}}
    expect = {"status": "completed", "steps": {"ask": {"config": {"body": "https://callbacks.invalid/b"}}}}
    assert verdict_on(steps, {"steps": mocks, "expect": expect}).passed


def test_values_above_the_transfer_limit_are_compared_too() -> None:
    large = "x" * (MAX_INLINE_BYTES // 2)
    steps: list[Json] = [
        {"id": "many", "handler": "echo", "config": {"value": 1}, "for_each": {"items": [1, 2, 3]}},
        {
            "id": "last",
            "handler": "echo",
            "depends_on": ["many"],
            "condition": "many.items[2].output.value | length > 5",
            "config": {"value": "{{ many.items }}"},
        },
    ]
    mocks = {"many": {"output": {"value": large}}, "last": {"output": {"value": 1}}}
    items = [{"key": "0", "output": {"value": large}}, {}, {}]
    expected = {"many": {"output": {"items": items}}, "last": {"status": "completed", "config": {"value": items}}}
    assert verdict_on(steps, {"steps": mocks, "expect": {"status": "completed", "steps": expected}}).passed


def test_a_test_is_played_the_same_every_time() -> None:
    definition = read(TESTED / "kinds.yaml")
    trial = definition.tests[0]
    first, second = (simulate(definition, trial, load_catalogue()) for _ in range(2))
    assert first.cues == second.cues
    assert first.report == second.report
    assert assess(trial, 0, first) == assess(trial, 0, second)


def test_tests_that_take_too_long_have_failed() -> None:
    verdicts = run_trials(read(TESTED / "kinds.yaml"), load_catalogue(), most_seconds=0)
    assert [verdict.passed for verdict in verdicts] == [False] * 3
    assert "run this one with `docrail test`" in verdicts[0].differences[0].message


def test_a_thousand_steps_are_played_in_no_time() -> None:
    steps: list[Json] = [
        {"id": f"s{number}", "handler": "echo", "config": {"value": "x" * 3_000}} for number in range(1_000)
    ]
    mocks = {f"s{number}": {"output": {"value": "x"}} for number in range(1_000)}
    expect = {"status": "completed", "steps": {"s999": "completed"}}
    limits = {"max_concurrency": 500}
    assert verdict_on(
        steps, {"steps": mocks, "expect": expect}, limits=limits
    ).passed  # more than one message can carry


def test_tests_are_no_part_of_a_version() -> None:
    definition = read(TESTED / "kinds.yaml")
    assert "tests" not in to_json(definition)
    assert to_json(definition) == to_json(definition.model_copy(update={"tests": ()}))
