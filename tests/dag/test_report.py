"""What is told of a run: totals, reasons, and never more than Temporal can carry."""

from dag.definition import Definition
from dag.messages import AbortRequested, RunStarted, StepCompleted, StepFailed
from dag.plan import Plan, compile_plan, plan_of
from dag.report import MOST_LINES, RunReport, markdown, report_of
from dag.rewind import begin
from dag.scheduler import advance
from dag.state import RunState, RunStatus, StepError
from dag.values import Json


def begun(*steps: dict[str, Json], **more: Json) -> tuple[Plan, RunState]:
    handled = [{"handler": "noop", **step} for step in steps]
    plan = compile_plan(Definition.model_validate({"id": "told", "steps": handled, **more}))
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(10.0))
    return plan, run


def told(plan: Plan, run: RunState) -> RunReport:
    return report_of(plan, run, run_id="told.1", tenant_id="default", version=1, digest="d")


def test_a_failed_run_tells_the_first_failed_step_and_the_totals() -> None:
    plan, run = begun({"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "optional": True})
    advance(plan, run, StepFailed("c", StepError("ValueError", "not this one"), 1, 11.0))
    advance(plan, run, StepFailed("a", StepError("ValueError", "no invoice"), 2, 12.5))
    report = told(plan, run)
    assert (report.status, report.reason) == (RunStatus.FAILED, "a: no invoice")
    assert (report.completed, report.failed, report.skipped) == (0, 2, 1)
    assert (report.duration_seconds, report.steps["a"].duration_seconds) == (2.5, 2.5)


def test_an_aborted_run_tells_why() -> None:
    plan, run = begun({"id": "a", "condition": "false"}, {"id": "b"})
    advance(plan, run, AbortRequested("customer said no", 11.0))
    assert told(plan, run).reason == "customer said no"


def test_outputs_that_are_too_large_together_are_left_out_and_that_is_said() -> None:
    names = [f"s{number}" for number in range(6)]
    plan, run = begun(*({"id": name} for name in names), limits={"max_concurrency": 6})
    for name in names:
        advance(plan, run, StepCompleted(name, {"text": "x" * 200_000}, 1, 11.0))
    report = told(plan, run)
    assert report.step_outputs_omitted
    assert all(step.output is None for step in report.steps.values())
    assert len(report.model_dump_json()) < 10_000


def test_outputs_keep_the_authors_order() -> None:
    definition = Definition.model_validate(
        {"id": "told", "steps": [{"id": "a", "handler": "noop"}], "outputs": {"zebra": 1, "ant": 2}}
    )
    plan = plan_of(definition.model_dump(mode="json"))
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(10.0))
    advance(plan, run, StepCompleted("a", None, 1, 11.0))
    assert list(told(plan, run).outputs) == ["zebra", "ant"]


def test_the_picture_of_a_long_plan_is_its_counts() -> None:
    plan, run = begun(*({"id": f"s{number}"} for number in range(MOST_LINES + 1)))
    assert markdown(plan, run) == f"**running** · 0 of {MOST_LINES + 1} steps settled · 4 running"


def test_the_picture_of_a_short_plan_shows_each_step_and_why() -> None:
    plan, run = begun({"id": "a"}, {"id": "b", "depends_on": ["a"]})
    advance(plan, run, StepFailed("a", StepError("ValueError", "one|two"), 1, 11.0))
    assert markdown(plan, run).splitlines()[-2:] == ["| a | failed: one/two |", "| b | skipped: upstream_failed |"]
