"""The report of a run: totals and reasons, never larger than Temporal can carry."""

import pytest
from pydantic_core import to_json

from docrail.dag.engine.events import AbortRequested, RunStarted, StepCancelled, StepCompleted, StepFailed, Undo
from docrail.dag.engine.plan import Plan, compile_plan, plan_of
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import RunState, StepError, shown_status
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import (
    MAX_INNER_BYTES,
    MAX_REPORT_BYTES,
    MOST_LINES,
    SHORT_MESSAGE,
    RunReport,
    for_outer,
    markdown,
    report_of,
)
from docrail.dag.language.definition import Definition, Limits
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.validation.rules.budget import MAX_BYTES
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json


def begun(*steps: dict[str, Json], **more: Json) -> tuple[Plan, RunState]:
    handled = [{"handler": "noop", **step} for step in steps]
    plan = compile_plan(Definition.model_validate({"id": "sample", "steps": handled, **more}))
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(10.0))
    return plan, run


def reported(plan: Plan, run: RunState) -> RunReport:
    return report_of(plan, run, run_id="sample.1", tenant_id="default", version=1, digest="d")


def test_a_failed_run_reports_the_first_failed_step_and_the_totals() -> None:
    plan, run = begun({"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "optional": True})
    advance(plan, run, StepFailed("c", StepError("ValueError", "not this one"), 1, 11.0))
    advance(plan, run, StepFailed("a", StepError("ValueError", "no invoice"), 2, 12.5))
    report = reported(plan, run)
    assert (report.status, report.reason) == (RunStatus.FAILED, "a: no invoice")
    assert (report.completed, report.failed, report.skipped) == (0, 2, 1)
    assert (report.duration_seconds, report.steps["a"].duration_seconds) == (2.5, 2.5)


def test_an_aborted_run_reports_why() -> None:
    plan, run = begun({"id": "a", "condition": "false"}, {"id": "b"})
    advance(plan, run, AbortRequested("customer said no", 11.0))
    assert reported(plan, run).reason == "customer said no"


def test_a_run_that_is_being_stopped_says_so() -> None:
    plan, run = begun({"id": "a"})
    assert reported(plan, run).stopping is None
    advance(plan, run, AbortRequested("wrong file", 11.0))
    report = reported(plan, run)
    assert (report.status, report.stopping, report.reason) == (RunStatus.RUNNING, RunStatus.ABORTED, "wrong file")
    advance(plan, run, StepCancelled("a", 12.0))
    assert (reported(plan, run).status, reported(plan, run).stopping) == (RunStatus.ABORTED, None)


def test_outputs_that_are_too_large_together_are_left_out_and_that_is_said() -> None:
    names = [f"s{number}" for number in range(10)]
    plan, run = begun(*({"id": name} for name in names), limits={"max_concurrency": 10})
    for name in names:
        advance(plan, run, StepCompleted(name, {"text": "x" * 200_000}, 1, 11.0))
    report = reported(plan, run)
    assert report.step_outputs_omitted
    assert all(step.output is None for step in report.steps.values())
    assert len(report.model_dump_json()) < 10_000


def test_the_outer_run_gets_a_large_runs_outputs_without_those_of_its_steps() -> None:
    plan, run = begun({"id": "a"}, {"id": "b"}, outputs={"text": "{{ a.text }}"})
    advance(plan, run, StepCompleted("a", {"text": "small"}, 1, 11.0))
    assert for_outer(reported(plan, run)) == reported(plan, run)
    advance(plan, run, StepCompleted("b", {"text": "x" * MAX_INNER_BYTES}, 1, 12.0))
    report = for_outer(reported(plan, run))
    assert (report.status, report.outputs, report.step_outputs_omitted) == (
        RunStatus.COMPLETED,
        {"text": "small"},
        True,
    )
    assert [step.output for step in report.steps.values()] == [None, None]
    assert len(to_json(report)) < 2_000


def test_a_message_of_any_length_is_cut_where_it_enters() -> None:
    plan, run = begun({"id": "a"})
    advance(plan, run, StepFailed("a", StepError("ValueError" * 100, "x" * 3_000_000), 1, 11.0))
    report = reported(plan, run)
    error = report.steps["a"].error
    assert error is not None
    assert (len(error.type), error.message) == (100, "x" * (LONGEST_MESSAGE - 1) + "…")
    assert len(report.reason) == LONGEST_MESSAGE


def test_a_reason_of_any_length_is_cut() -> None:
    plan, run = begun({"id": "a"})
    advance(plan, run, AbortRequested("x" * 3_000_000, 11.0))
    assert len(reported(plan, run).reason) == LONGEST_MESSAGE


def test_errors_that_are_too_large_together_are_cut_further() -> None:
    names = [f"s{number}" for number in range(500)]
    plan, run = begun(*({"id": name} for name in names), limits={"max_concurrency": 500})
    for name in names:
        advance(plan, run, StepFailed(name, StepError("ValueError", "\N{GRINNING FACE}" * 2000), 1, 11.0))
    report = reported(plan, run)
    assert {len(step.error.message) for step in report.steps.values() if step.error} == {SHORT_MESSAGE}
    assert len(to_json(report)) <= MAX_REPORT_BYTES


def test_the_report_of_the_largest_definition_travels_whatever_happens() -> None:
    """Many steps with as little in the definition as possible, which all fail at length, and the largest outputs."""
    names = [f"s{number}" for number in range(MAX_BYTES // 480)]
    steps = ({"id": name, "handler": "noop", "title": "t" * 20, "optional": True} for name in names)
    outputs = {"text": "x" * 262_000}
    definition = Definition.model_validate({"id": "sample", "steps": list(steps), "outputs": outputs})
    assert len(definition.model_dump_json()) > MAX_BYTES
    plan = compile_plan(definition.model_copy(update={"limits": Limits(max_concurrency=500)}))
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(10.0))
    for name in names:
        error = StepError("E" * 100, "\N{GRINNING FACE}" * 2000)
        advance(plan, run, StepFailed(name, error, 1, 1760000000.123456))
    report = reported(plan, run)
    assert (report.status, report.failed, report.outputs) == (RunStatus.COMPLETED, len(names), outputs)
    assert len(to_json(report)) < 2 * 2**20


def test_outputs_keep_the_authors_order() -> None:
    definition = Definition.model_validate(
        {"id": "sample", "steps": [{"id": "a", "handler": "noop"}], "outputs": {"zebra": 1, "ant": 2}}
    )
    plan = plan_of(definition.model_dump(mode="json"))
    run = begin(plan, {}, {})
    advance(plan, run, RunStarted(10.0))
    advance(plan, run, StepCompleted("a", None, 1, 11.0))
    assert list(reported(plan, run).outputs) == ["zebra", "ant"]


def test_the_picture_of_a_long_plan_is_its_counts() -> None:
    plan, run = begun(*({"id": f"s{number}"} for number in range(MOST_LINES + 1)))
    assert markdown(plan, run) == f"**running** · 0 of {MOST_LINES + 1} steps settled · 4 running"


def test_the_picture_of_a_short_plan_shows_each_step_and_why() -> None:
    plan, run = begun({"id": "a"}, {"id": "b", "depends_on": ["a"]})
    advance(plan, run, StepFailed("a", StepError("ValueError", "one|two"), 1, 11.0))
    assert markdown(plan, run).splitlines()[-2:] == ["| a | failed: one/two |", "| b | skipped: upstream_failed |"]


def test_the_picture_says_whether_what_a_step_did_was_undone() -> None:
    undo = {"compensate": {"handler": "noop"}}
    plan, run = begun({"id": "a", **undo}, {"id": "b", "depends_on": ["a"]})
    advance(plan, run, StepCompleted("a", None, 1, 11.0))
    advance(plan, run, StepFailed("b", StepError("ValueError", "no"), 1, 12.0))
    assert "| a | completed, being undone |" in markdown(plan, run)
    advance(plan, run, StepCompleted("a", None, 1, 13.0, Undo()))
    assert "| a | completed, undone |" in markdown(plan, run)


@pytest.mark.parametrize("status", [StepStatus.FAILED, StepStatus.CANCELLED])
def test_a_table_shows_a_step_that_could_not_be_undone(status: StepStatus) -> None:
    assert shown_status(StepStatus.COMPLETED, status) == "completed, not undone"
