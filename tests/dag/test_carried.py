"""What a run may carry: it fails itself, with a reason, before Temporal would end it without one."""

from dag.definition import Definition
from dag.dispatch import MAX_BEGUN_BYTES, MAX_CARRIED_BYTES
from dag.messages import Answered, Command, GoOn, RunStarted, Start, StepCancelled, StepCompleted, StepFailed, WentOn
from dag.plan import Plan, compile_plan
from dag.report import RunReport, report_of
from dag.rewind import begin, load, rewind, save
from dag.scheduler import advance
from dag.state import Answer, RunState, RunStatus, StepError
from dag.values import Json

LARGE = {"value": "x" * 250_000}


def begun(*steps: dict[str, Json], **more: Json) -> tuple[Plan, RunState, list[Command]]:
    plan = compile_plan(Definition.model_validate({"id": "carried", "steps": steps, **more}))
    run = begin(plan, {}, {})
    return plan, run, advance(plan, run, RunStarted(10.0))


def told(plan: Plan, run: RunState) -> RunReport:
    return report_of(plan, run, run_id="carried.1", tenant_id="default", version=1, digest="d")


def echo(number: int, config: Json) -> dict[str, Json]:
    return {"id": f"s{number}", "handler": "echo", "config": config}


def test_configs_outputs_and_answers_are_counted() -> None:
    wait = {"id": "w", "wait": {"for": "signal"}}
    plan, run, _ = begun({"id": "a", "handler": "echo", "config": {"value": "é"}}, {"id": "b", "handler": "noop"}, wait)
    started = len('{"value":"é"}'.encode()) + len("{}") + len('{"seconds":null}')
    assert run.carried_bytes == started
    advance(plan, run, StepCompleted("a", {"x": 1}, 1, 11.0))
    advance(plan, run, Answered("w", Answer("yes"), 12.0))
    advance(plan, run, StepFailed("b", StepError("ValueError", "no"), 1, 13.0))
    assert run.carried_bytes == started + len('{"x":1}') + len('"yes"') + len("no")


def test_a_run_that_has_carried_too_much_fails_with_a_reason() -> None:
    plan, run, _ = begun(*(echo(number, LARGE) for number in range(130)))
    for number in range(130):
        stopped = StepCancelled(f"s{number}", 11.0 + number)
        advance(plan, run, stopped if run.stopping else StepCompleted(f"s{number}", LARGE, 1, 11.0 + number))
    assert MAX_CARRIED_BYTES < run.carried_bytes < MAX_CARRIED_BYTES + 1_000_000
    report = told(plan, run)
    assert (report.status, report.completed, report.failed) == (RunStatus.FAILED, 58, 0)
    assert report.reason == (
        f"the configs and outputs of the run take {run.carried_bytes} bytes as JSON together, more than "
        f"{MAX_CARRIED_BYTES}: let its steps pass references"
    )
    assert {step.decided_by for step in report.steps.values() if step.status == "skipped"} == {"budget"}


def test_what_begins_at_one_moment_fits_into_one_message_and_the_rest_follows() -> None:
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
    run = begin(plan, {}, {})
    run.nested_bytes = 1_500_000
    assert [command for command in advance(plan, run, RunStarted(10.0)) if isinstance(command, Start)] == [
        *(Start("s0", {}), Start("s1", {}))
    ]
    assert run.carried_bytes == 2 * 1_500_002


def test_a_run_that_fails_fast_is_told_by_its_failed_step_not_by_the_budget() -> None:
    plan, run, _ = begun(echo(1, {}), echo(2, {}), on_failure="fail_fast")
    advance(plan, run, StepFailed("s1", StepError("ValueError", "no"), 1, 11.0))
    advance(plan, run, StepCancelled("s2", 12.0))
    report = told(plan, run)
    assert (report.reason, report.steps["s2"].decided_by) == ("s1: no", "fail_fast")


def test_a_retry_counts_from_nothing() -> None:
    """It goes on in a history of its own."""
    plan, run, _ = begun(echo(1, LARGE))
    advance(plan, run, StepFailed("s1", StepError("ValueError", "no"), 1, 11.0))
    assert run.carried_bytes > 250_000
    assert [rewind(plan, run).carried_bytes, load(plan, save(plan, run)).carried_bytes] == [0, 0]
