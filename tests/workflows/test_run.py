"""The interpreter on a real server, each run replayed after its end; the four scenarios have their names."""

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from tests.workflows.conftest import Bench, step


def statuses(report: RunReport) -> dict[str, str]:
    return {name: str(reported.status) for name, reported in report.steps.items()}


async def test_linear_chain(bench: Bench) -> None:
    report = await bench.run(
        [
            step("a", "echo", config={"result": "{{ inputs.word }}"}),
            step("b", "echo", config={"result": "{{ a.result }}!"}, depends_on=["a"]),
            step("c", "echo", config={"first": "{{ a.result }}", "second": "{{ b.result }}"}, depends_on=["b"]),
        ],
        inputs={"word": "hello"},
        outputs={"said": "{{ c }}"},
    )
    assert report.status is RunStatus.COMPLETED
    assert bench.gates.calls == ["a", "b", "c"]
    assert report.outputs == {"said": {"first": "hello", "second": "hello!"}}


async def test_fan_out_fan_in(bench: Bench) -> None:
    handle = await bench.start(
        [
            step("a"),
            step("b", "gate", depends_on=["a"]),
            step("c", "gate", depends_on=["a"]),
            step("d", depends_on=["b", "c"]),
        ]
    )
    await bench.gates.began["b"].wait()
    await bench.gates.began["c"].wait()  # both run at the same time
    assert bench.gates.calls == ["a"]
    bench.gates.opened["b"].set()
    bench.gates.opened["c"].set()
    report = await bench.finish(handle)
    assert statuses(report) == dict.fromkeys("abcd", "completed")


async def test_simultaneous_completion_triggers_the_join_exactly_once(bench: Bench) -> None:
    await bench.run([step("b"), step("c"), step("d", "echo", depends_on=["b", "c"])])
    assert bench.gates.calls.count("d") == 1


async def test_save_json_fails(bench: Bench) -> None:
    report = await bench.run(
        [
            step("extract"),
            step("save_parquet", depends_on=["extract"]),
            step("save_json", "bad", config={"message": "disk gone"}, depends_on=["extract"]),
            step("record_metrics", depends_on=["extract"]),
            step("create_review", depends_on=["save_parquet", "save_json"]),
        ]
    )
    review = report.steps["create_review"]
    assert report.status is RunStatus.FAILED
    assert report.reason == "save_json: disk gone"
    assert (report.completed, report.failed, report.skipped) == (3, 1, 1)
    assert review.status is StepStatus.SKIPPED
    assert review.reason is SkipReason.UPSTREAM_FAILED
    assert review.error
    assert review.error.message == "Dependency failed"


async def test_a_retryable_error_is_retried_and_counted(bench: Bench) -> None:
    report = await bench.run([step("a", "flaky", config={"times": 2})])
    assert report.steps["a"].attempts == 3
    assert report.steps["a"].duration_seconds is not None
    assert report.steps["a"].duration_seconds >= 0.05 + 0.1


async def test_retries_end(bench: Bench) -> None:
    report = await bench.run([step("a", "flaky", config={"times": 9}, max_retries=2)])
    reported = report.steps["a"]
    assert (reported.status, reported.attempts) == (StepStatus.FAILED, 3)
    assert reported.error
    assert reported.error.type == "ConnectionError"


async def test_a_bad_value_is_not_retried(bench: Bench) -> None:
    report = await bench.run([step("a", "bad", config={"message": "no invoice"})])
    assert report.steps["a"].attempts == 1
    assert report.reason == "a: no invoice"


async def test_an_error_class_named_non_retryable_is_not_retried(bench: Bench) -> None:
    retry = {"initial_delay": 0.05, "non_retryable": ["ConnectionError"]}
    report = await bench.run([step("a", "flaky", config={"times": 1}) | {"retry_config": retry}])
    assert (report.steps["a"].status, report.steps["a"].attempts) == (StepStatus.FAILED, 1)


async def test_a_step_that_takes_too_long_times_out(bench: Bench) -> None:
    report = await bench.run([step("a", "gate", timeout_seconds=0.2, max_retries=1)])
    reported = report.steps["a"]
    assert (reported.status, reported.attempts) == (StepStatus.FAILED, 2)
    assert reported.error
    assert reported.error.type == "Timeout"
    assert "0.2 s (timeout_seconds)" in reported.error.message


async def test_a_total_timeout_bounds_all_attempts(bench: Bench) -> None:
    retry = {"initial_delay": 60}
    report = await bench.run(
        [step("a", "flaky", config={"times": 9}, total_timeout_seconds=2) | {"retry_config": retry}]
    )
    assert report.steps["a"].status is StepStatus.FAILED
    assert report.steps["a"].attempts == 1


async def test_conditions_skip_and_optional_failures_do_not_fail_the_run(bench: Bench) -> None:
    report = await bench.run(
        [
            step("a", "echo", config={"total": 12}),
            step("large", condition="a.total >= 1000", depends_on=["a"]),
            step("small", condition="a.total < 1000", depends_on=["a"]),
            step("join", depends_on=["large", "small"]),
            step("extra", "bad", config={"message": "x"}, optional=True),
        ]
    )
    assert report.status is RunStatus.COMPLETED
    assert statuses(report) == {
        "a": "completed",
        "extra": "failed",
        "large": "skipped",
        "small": "completed",
        "join": "completed",
    }


async def test_a_template_that_cannot_be_resolved_fails_its_step(bench: Bench) -> None:
    report = await bench.run([step("a", "echo"), step("b", "echo", config={"x": "{{ a.missing }}"}, depends_on=["a"])])
    error = report.steps["b"].error
    assert error
    assert (error.type, error.message) == ("TemplateError", "`a.missing`: 'a' has no 'missing': it is empty")


async def test_a_config_that_does_not_fit_its_handler_is_not_retried(bench: Bench) -> None:
    report = await bench.run([step("a", "flaky", config={})])
    assert report.steps["a"].attempts == 1
    assert report.steps["a"].status is StepStatus.FAILED


async def test_fail_fast_cancels_what_runs(bench: Bench) -> None:
    handle = await bench.start(
        [
            step("slow", "gate", heartbeat_seconds=1),
            step("wrong", "flaky", config={"times": 9}, max_retries=1),
            step("after", depends_on=["slow"]),
        ],
        on_failure="fail_fast",
    )
    report = await bench.finish(handle)
    assert report.status is RunStatus.FAILED
    assert statuses(report) == {"slow": "cancelled", "wrong": "failed", "after": "skipped"}


async def test_layers_wait_for_the_whole_layer_before(bench: Bench) -> None:
    handle = await bench.start(
        [step("slow", "gate"), step("quick"), step("next", depends_on=["quick"])],
        limits={"dispatch": "layers"},
    )
    await bench.gates.began["slow"].wait()
    bench.gates.opened["slow"].set()
    report = await bench.finish(handle)
    ended, started = report.steps["slow"].ended_at, report.steps["next"].started_at
    assert ended is not None
    assert started is not None
    assert started >= ended


async def test_max_concurrency_bounds_what_runs(bench: Bench) -> None:
    handle = await bench.start([step(name, "gate") for name in "abc"], limits={"max_concurrency": 2})
    await bench.gates.began["a"].wait()
    await bench.gates.began["b"].wait()
    assert not bench.gates.began["c"].is_set()
    for name in "abc":
        bench.gates.opened[name].set()
    assert (await bench.finish(handle)).completed == 3


async def test_a_retry_goes_on_from_a_rewound_state(bench: Bench) -> None:
    saved_step = {"status": "completed", "output": {"x": "kept"}, "attempts": 1}
    resumed = {"steps": {"a": saved_step}, "inputs": {}, "context": {}}
    report = await bench.run(
        [step("a", "echo"), step("b", "echo", config={"y": "{{ a.x }}"}, depends_on=["a"])], resumed=resumed
    )
    assert bench.gates.calls == ["b"]
    assert report.steps["b"].output == {"y": "kept"}


async def test_a_cancelled_workflow_is_a_cancelled_run(bench: Bench) -> None:
    handle = await bench.start([step("a", "gate", heartbeat_seconds=1), step("b", depends_on=["a"])])
    await bench.gates.began["a"].wait()
    await handle.cancel()
    with pytest.raises(WorkflowFailureError, match="execution failed"):
        await handle.result()
    report = await bench.finish(handle)
    assert report.status is RunStatus.CANCELLED
    assert statuses(report) == {"a": "cancelled", "b": "skipped"}


async def test_an_activity_is_summarised_by_its_steps_title_or_id(bench: Bench) -> None:
    handle = await bench.start([step("a"), step("b", title="The second", depends_on=["a"])])
    await bench.finish(handle)
    scheduled = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    events = [event for event in (await handle.fetch_history()).events if event.event_type == scheduled]
    assert [event.user_metadata.summary.data for event in events] == [b'"a"', b'"The second"']
