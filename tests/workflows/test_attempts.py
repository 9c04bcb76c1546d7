"""What a run keeps of attempts that failed before a step's last one, on the real server."""

import pytest

from docrail.dag.engine.state import MOST_EARLIER
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS
from docrail.dag.values.json_values import Json
from tests.workflows.conftest import FAST, Bench, step

QUICK = {**FAST, "initial_delay": 0.02, "exponential_base": 1}


def flaky(**config: Json) -> dict[str, Json]:
    return step("a", "flaky", config=config)


def failures(report: RunReport) -> list[str]:
    """Return what is said of the attempts at step `a`, but for how many there were."""
    return [line for line in report.steps["a"].why if "earlier" in line or line.startswith(("attempt ", "its error"))]


def no_network(*attempts: int) -> list[str]:
    return [f"attempt {attempt} failed: ConnectionError: no network at attempt {attempt}" for attempt in attempts]


async def test_errors_of_earlier_attempts_are_kept_of_a_step_that_succeeded_in_the_end(bench: Bench) -> None:
    report = await bench.run([flaky(times=2)])
    assert report.status is RunStatus.COMPLETED
    assert failures(report) == no_network(1, 2)


async def test_errors_of_earlier_attempts_are_kept_of_a_step_that_failed(bench: Bench) -> None:
    report = await bench.run([flaky(times=9) | {"max_retries": 2}])
    assert report.steps["a"].attempts == 3
    assert failures(report) == ["its error: ConnectionError: no network at attempt 3", *no_network(1, 2)]


async def test_an_attempt_that_ended_without_a_word_does_not_take_with_it_what_was_known(bench: Bench) -> None:
    """Its time ran out, as when its worker has died: nothing else is known of it."""
    report = await bench.run([flaky(times=1, hangs=2) | {"timeout_seconds": 0.3}])
    assert (report.steps["a"].status, report.steps["a"].attempts) == (StepStatus.COMPLETED, 3)
    assert failures(report) == [*no_network(1), "how 1 earlier attempt failed was not kept"]


async def test_a_step_whose_time_is_up_tells_what_its_attempts_met(bench: Bench) -> None:
    report = await bench.run([flaky(times=1, hangs=2) | {"total_timeout_seconds": 2}])
    assert report.steps["a"].attempts == 2
    error = "its error: Timeout: all attempts together took longer than 2.0 s"
    assert failures(report) == [error, *no_network(1)]


async def test_a_step_whose_time_was_too_short_for_another_attempt_says_so(bench: Bench) -> None:
    late = {"total_timeout_seconds": 2, "retry_config": {"initial_delay": 60}}
    report = await bench.run([flaky(times=9) | late])
    assert report.steps["a"].why[1:] == (
        "its error: ConnectionError: no network at attempt 1",
        "attempts made: 1, of at most 4: the 2 s for all attempts left no time for another",
    )


async def test_a_step_whose_error_is_not_tried_again_had_time_enough(bench: Bench) -> None:
    never = {"total_timeout_seconds": 60, "retry_config": {"non_retryable": ["ConnectionError"]}}
    report = await bench.run([flaky(times=9) | never])
    assert report.steps["a"].why[-1] == "attempts made: 1, of at most 4"


@pytest.mark.parametrize("items", [2, CHUNK_ITEMS + 1])
async def test_a_list_says_that_items_had_no_time_for_another_attempt(bench: Bench, items: int) -> None:
    late = {"total_timeout_seconds": 2, "retry_config": {"initial_delay": 60}, "for_each": {"items": [*range(items)]}}
    report = await bench.run([flaky(times=9) | late])
    over = "for some, the 2 s for all attempts left no time for another"
    assert report.steps["a"].why[-1] == f"attempts made: {items} for all items, of at most 4 for each; {over}"


async def test_a_last_attempt_that_ended_without_a_word_is_counted(bench: Bench) -> None:
    report = await bench.run([flaky(times=1, hangs=2) | {"timeout_seconds": 0.3, "max_retries": 1}])
    assert (report.steps["a"].status, report.steps["a"].attempts) == (StepStatus.FAILED, 2)
    assert failures(report) == [
        "its error: Timeout: one attempt took longer than 0.3 s (timeout_seconds)",
        *no_network(1),
    ]


async def test_of_many_attempts_the_latest_errors_are_kept(bench: Bench) -> None:
    report = await bench.run([flaky(times=MOST_EARLIER + 2) | {"max_retries": 20, "retry_config": QUICK}])
    assert failures(report) == [*no_network(3, 4, 5, 6, 7), "how 2 earlier attempts failed was not kept"]


async def test_of_a_list_the_errors_name_their_items(bench: Bench) -> None:
    listed = flaky(times=1) | {"for_each": {"items": ["x", "y"], "max_concurrency": 1}}
    report = await bench.run([listed])
    assert report.status is RunStatus.COMPLETED
    assert failures(report) == [f"attempt 1 at item {n} failed: ConnectionError: no network at attempt 1" for n in "01"]
