"""What would stop a run for ever, or have Temporal end it, ends in the run instead: as a failed step with a reason."""

import pytest

from docrail.dag.engine import dispatch as history
from docrail.dag.values.json_values import LONGEST_MESSAGE
from docrail.dag.values.stored import part_of
from tests.workflows.conftest import Bench, step

LARGE = "x" * 250_000


async def test_more_at_once_than_one_message_may_hold_is_begun_in_turns(bench: Bench) -> None:
    steps = [step(f"s{number}", "echo", config={"value": "{{ inputs.text }}"}) for number in range(20)]
    report = await bench.run(steps, inputs={"text": LARGE}, limits={"max_concurrency": 20})
    assert (report.status, report.completed) == ("completed", 20)
    assert all(part_of(reported.output) is not None for reported in report.steps.values())


async def test_an_error_of_any_length_ends_the_run(bench: Bench) -> None:
    steps = [step(f"s{number}", "bad", config={"message": "{{ inputs.text }}"}) for number in range(10)]
    report = await bench.run(steps, inputs={"text": LARGE})
    assert (report.status, report.failed) == ("failed", 10)
    assert len(report.reason) == LONGEST_MESSAGE


@pytest.mark.parametrize(
    "value", ["{{ inputs.numbers | select('in', inputs.numbers) | length }}", "{{ inputs.numbers }}" * 2000]
)
async def test_an_expression_that_takes_too_long_fails_its_step(bench: Bench, value: str) -> None:
    numbers = list(range(30_000))
    report = await bench.run([step("a", "echo", config={"value": value})], inputs={"numbers": numbers})
    assert report.status == "failed"
    error = report.steps["a"].error
    assert error is not None
    assert error.type == "TemplateError"
    assert "too much work" in error.message or "pass a reference" in error.message


async def test_a_nested_run_that_would_not_travel_fails_its_step(bench: Bench) -> None:
    """Its definition goes along twice, and the server would refuse it again and again."""
    inner = {
        "id": "inner",
        "title": "",
        "steps": [step(f"s{n}", "echo", config={"value": "x" * 1_000}) for n in range(800)],
    }
    report = await bench.run([{"id": "n", "workflow": {"id": "inner"}}], nested=[inner])
    error = report.steps["n"].error
    assert error is not None
    assert (error.type, "bytes as JSON together, more than 2000000" in error.message) == ("TooLarge", True)
    assert "inputs: 2, states kept of an earlier attempt: " in error.message


async def test_a_run_whose_history_becomes_too_long_fails_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporal would terminate it: no step could be seen and nothing retried any more."""
    monkeypatch.setattr(history, "MAX_HISTORY_EVENTS", 60)
    chain = [step(f"s{n}", "noop", depends_on=[f"s{n - 1}"] if n else []) for n in range(20)]
    handle = await bench.start(chain)
    report = await bench.finish(handle)
    assert (report.status, 3 < report.completed < 12) == ("failed", True)
    assert report.reason.startswith("the run's history has ")
    assert report.reason.endswith(
        "are more than 60: retry it, what completed is kept and a new run has a fresh history"
    )
    assert len((await handle.fetch_history()).events) < 70
