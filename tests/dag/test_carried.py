"""What a run may carry: it fails itself, with a reason, before Temporal would end it without one."""

from docrail.dag.engine.dispatch import (
    EVENTS_OF_AN_END,
    MAX_BEGUN_BYTES,
    MAX_CARRIED_BYTES,
    MAX_HISTORY_BYTES,
    MAX_HISTORY_EVENTS,
    excess,
)
from docrail.dag.engine.events import (
    Answered,
    Cancel,
    Command,
    Finish,
    GoOn,
    PauseRequested,
    Record,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
    WentOn,
)
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin, load, save
from docrail.dag.engine.state import Answer, RunState, StepError, Traffic
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import RunReport, report_of
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from tests.dag.rewinding import rewind

LARGE = {"value": "x" * 250_000}


def begun(*steps: dict[str, Json], **more: Json) -> tuple[Plan, RunState, list[Command]]:
    plan = compile_plan(Definition.model_validate({"id": "carried", "steps": steps, **more}))
    run = begin(plan, {}, {})
    return plan, run, advance(plan, run, RunStarted(10.0))


def reported(plan: Plan, run: RunState) -> RunReport:
    return report_of(plan, run, run_id="carried.1", tenant_id="default", version=1, digest="d")


def echo(number: int, config: Json) -> dict[str, Json]:
    return {"id": f"s{number}", "handler": "echo", "config": config}


def test_configs_outputs_and_answers_are_counted() -> None:
    wait = {"id": "w", "wait": {"for": "signal"}}
    plan, run, _ = begun({"id": "a", "handler": "echo", "config": {"value": "é"}}, {"id": "b", "handler": "noop"}, wait)
    started = len('{"value":"é"}'.encode()) + len("{}") + len('{"seconds":null}')
    assert run.traffic.carried_bytes == started
    advance(plan, run, StepCompleted("a", {"x": 1}, 1, 11.0))
    advance(plan, run, Answered("w", Answer("yes"), 12.0))
    advance(plan, run, StepFailed("b", StepError("ValueError", "no"), 1, 13.0))
    assert run.traffic.carried_bytes == started + len('{"x":1}') + len('"yes"') + len("no")


def test_a_run_that_has_carried_too_much_fails_with_a_reason() -> None:
    plan, run, _ = begun(*(echo(number, LARGE) for number in range(130)))
    for number in range(130):
        stopped = StepCancelled(f"s{number}", 11.0 + number)
        advance(plan, run, stopped if run.stopping else StepCompleted(f"s{number}", LARGE, 1, 11.0 + number))
    assert MAX_CARRIED_BYTES < run.traffic.carried_bytes < MAX_CARRIED_BYTES + 1_000_000
    report = reported(plan, run)
    assert (report.status, report.completed, report.failed) == (RunStatus.FAILED, 58, 0)
    assert report.reason == (
        f"the configs and outputs of the run take {run.traffic.carried_bytes} bytes as JSON together, more than "
        f"{MAX_CARRIED_BYTES}: let its steps pass references"
    )
    assert {step.decided_by for step in report.steps.values() if step.status == "skipped"} == {"budget"}


def test_steps_that_start_together_fit_into_one_message_and_the_rest_follows() -> None:
    plan, run, commands = begun(*(echo(number, LARGE) for number in range(40)), limits={"max_concurrency": 40})
    first = [command.step for command in commands if isinstance(command, Start)]
    assert first == [f"s{number}" for number in range(MAX_BEGUN_BYTES // 250_012 + 1)]
    assert advance(plan, run, StepCompleted("s0", {}, 1, 10.0)) == []
    assert len(advance(plan, run, StepCompleted("s1", {}, 1, 11.0))) == len(first)


def test_items_that_begin_at_one_moment_fit_into_one_message_too() -> None:
    spread = echo(1, LARGE) | {"for_each": {"items": list(range(40)), "max_concurrency": 40}}
    plan, run, commands = begun(spread, limits={"max_concurrency": 40})
    at_once = MAX_BEGUN_BYTES // 250_012 + 1
    assert [type(command) for command in commands] == [Start] * at_once + [GoOn]
    assert [type(command) for command in advance(plan, run, WentOn(11.0))] == [Start] * at_once + [GoOn]


def test_the_definitions_of_nested_runs_are_counted() -> None:
    inner = [{"id": f"s{number}", "workflow": {"id": "inner"}} for number in range(5)]
    plan = compile_plan(Definition.model_validate({"id": "outer", "steps": inner}))
    run = begin(plan, {}, {}, Traffic(nested_bytes=1_500_000))
    assert [command for command in advance(plan, run, RunStarted(10.0)) if isinstance(command, Start)] == [
        *(Start("s0", {}), Start("s1", {}))
    ]
    assert run.traffic.carried_bytes == 2 * 1_500_002


def test_a_run_that_fails_fast_names_its_failed_step_not_the_budget() -> None:
    plan, run, _ = begun(echo(1, {}), echo(2, {}), on_failure="fail_fast")
    advance(plan, run, StepFailed("s1", StepError("ValueError", "no"), 1, 11.0))
    advance(plan, run, StepCancelled("s2", 12.0))
    report = reported(plan, run)
    assert (report.reason, report.steps["s2"].decided_by) == ("s1: no", "fail_fast")


def test_a_retry_counts_from_nothing() -> None:
    """It goes on in a history of its own."""
    plan, run, _ = begun(echo(1, LARGE))
    advance(plan, run, StepFailed("s1", StepError("ValueError", "no"), 1, 11.0))
    assert run.traffic.carried_bytes > 250_000
    assert [rewind(plan, run).traffic.carried_bytes, load(plan, save(plan, run)).traffic.carried_bytes] == [0, 0]


def test_a_run_whose_history_is_nearly_full_fails_with_a_reason() -> None:
    """Temporal would end it without one, and nothing of it could be retried."""
    plan, run, _ = begun(echo(1, {}), echo(2, {}), echo(3, {}), on_failure="park")
    advance(plan, run, StepFailed("s1", StepError("ValueError", "no"), 1, 11.0))
    run.traffic.history_events = MAX_HISTORY_EVENTS - 5 * EVENTS_OF_AN_END
    assert advance(plan, run, PauseRequested(12.0)) == []
    run.traffic.history_events += 1
    assert advance(plan, run, StepCompleted("s2", {}, 1, 13.0)) == []
    run.traffic.history_events += 2 * EVENTS_OF_AN_END
    assert advance(plan, run, PauseRequested(14.0)) == [Cancel("s3"), Record("s1")]
    assert advance(plan, run, StepCancelled("s3", 15.0)) == [Finish(RunStatus.FAILED)]
    report = reported(plan, run)
    assert report.reason == (
        "the run's history has 44983 events, which with 18 for its end are more than 45000: retry it, what completed "
        "is kept and a new run has a fresh history"
    )
    assert [step.status for step in report.steps.values()] == ["failed", "completed", "cancelled"]


def test_a_run_whose_history_is_nearly_too_large_fails_with_a_reason() -> None:
    plan, run, _ = begun(echo(1, {}))
    run.traffic.history_bytes = MAX_HISTORY_BYTES
    assert excess(plan, run) is None
    run.traffic.history_bytes += 1
    assert advance(plan, run, PauseRequested(12.0)) == [Cancel("s1")]
    assert "45000001 bytes, more than 45000000: retry it" in run.stop_reason


def test_work_that_ends_with_the_run_needs_its_own_events() -> None:
    """Items of nested runs are cancelled one by one, and what can be undone may have to be."""
    nested = {"id": "n", "workflow": {"id": "inner"}, "for_each": {"items": [1, 2, 3]}}
    plan, run, _ = begun(nested, echo(1, {}) | {"compensate": {"handler": "noop"}})
    run.traffic.history_events = MAX_HISTORY_EVENTS - EVENTS_OF_AN_END * 7
    assert excess(plan, run) is None
    run.traffic.history_events += 1
    assert excess(plan, run) is not None


def test_a_retry_has_a_history_of_its_own() -> None:
    plan, run, _ = begun(echo(1, {}))
    run.traffic.history_events = run.traffic.history_bytes = MAX_HISTORY_BYTES
    advance(plan, run, StepFailed("s1", StepError("ValueError", "no"), 1, 11.0))
    again = load(plan, save(plan, run))
    assert (again.traffic.history_events, again.traffic.history_bytes) == (0, 0)
