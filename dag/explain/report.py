"""Report the state of a run, running or ended."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from docrail.dag.engine.approvals import approvals_of, missing_of
from docrail.dag.engine.map_items import ItemCounts, counts_of
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import RunState, StepError, StepState, shown_status
from docrail.dag.explain.explain import facts_of_report
from docrail.dag.explain.facts import RunExplanation
from docrail.dag.explain.packing import packed_text
from docrail.dag.explain.words import run_words, step_words
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json, shortened


class StepReport(BaseModel):
    """One step. Times are seconds since the epoch; `duration_seconds` covers retries and waiting for a worker."""

    model_config = ConfigDict(frozen=True)

    title: str
    kind: StepKind
    handler: str | None = None
    resource_tag: str | None = None
    status: StepStatus
    decided_by: str = ""
    reason: SkipReason | None = None
    error: StepError | None = None
    branch: str | None = None
    answered_by: str | None = None
    approvals_missing: int | None = Field(None, exclude_if=lambda missing: missing is None)
    """For a waiting human step that needs several approvals: how many are missing."""
    resolved_by: str | None = None
    why: tuple[str, ...] = ()
    """The step's explanation, one sentence per line; empty if the report has no room for it."""
    compensation: StepStatus | None = None
    compensation_error: StepError | None = None
    items: ItemCounts | None = None
    cached: bool = False
    """Whether the output came from the cache and no handler ran; for a list, see `items.cached`."""
    attempts: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    duration_seconds: float | None = None
    output: Json = None


class RunReport(BaseModel):
    """A run: its steps in plan order, the totals, and its outputs once it completed."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    tenant_id: str
    definition_id: str
    version: int
    digest: str
    status: RunStatus
    reason: str = ""
    """Why the run was aborted or failed, in words; also set while it is being stopped."""
    stopped_by: str = ""
    """The principal who aborted it; empty if no one did, or unknown."""
    stopped_by_step: str | None = None
    """The step that aborted it."""
    why: tuple[str, ...] = ()
    """The run's state and what it waits for, one sentence per line."""
    stopping: RunStatus | None = None
    """How the run will end, while it is being stopped: its running steps have been cancelled."""
    steps: dict[str, StepReport] = Field(default_factory=dict)
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    duration_seconds: float | None = None
    overdue: bool = False
    """Whether the run exceeded the definition's `deadline_seconds`."""
    outputs: dict[str, Json] = Field(default_factory=dict)
    step_outputs_omitted: bool = False
    """Whether the steps' outputs are left out of `steps`, because together they are too large."""
    unexplained: int = 0
    """How many steps have no `why`: in a large run the least informative ones, or all if the report is too large."""


class EndReport(RunReport):
    """The report that is a run's result: no worker is asked for its explanation any more."""

    explanation: str = ""
    """The facts of all steps, packed (packing.py); empty if they take too much room."""


MAX_EXPLANATION = 16_384
"""Characters of the explanation in a run's result, which a nested run's outer run has in its history too."""

MAX_REPORT_BYTES = 1_900_000
"""Largest report, in bytes of JSON: Temporal accepts 2 MiB as a workflow's result, and would always refuse a larger
one."""

MAX_INNER_BYTES = 65_536
"""Largest report of a nested run: the outer run's history contains those of all its nested runs."""

SHORT_MESSAGE = 60
"""Characters of each step's error in a report that would be too large even without outputs."""


def report_of(plan: Plan, run: RunState, *, run_id: str, tenant_id: str, version: int, digest: str) -> RunReport:
    """Return the report of `run` with as many details of its steps as Temporal can carry.

    Reduced by `_least`, it is always small enough: a step takes less room in it than in its definition.
    """
    facts = facts_of_report(plan, run, run_id)
    return _report_of(plan, run, facts, tenant_id=tenant_id, version=version, digest=digest)


def end_report_of(plan: Plan, run: RunState, *, run_id: str, tenant_id: str, version: int, digest: str) -> EndReport:
    """Return the report of a run that has ended, with the facts of all steps if there is room."""
    facts = facts_of_report(plan, run, run_id)
    report = _report_of(plan, run, facts, tenant_id=tenant_id, version=version, digest=digest)
    explanation = ""
    if len(facts.steps) == len(plan.steps):
        steps = {step.id: facts.steps[step.id] for step in plan.steps}
        explanation = packed_text(facts.model_copy(update={"steps": steps}))
    fits = len(explanation) <= MAX_EXPLANATION
    return EndReport.model_construct(**dict(report), explanation=explanation if fits else "")


def _report_of(
    plan: Plan, run: RunState, facts: RunExplanation, *, tenant_id: str, version: int, digest: str
) -> RunReport:
    counts = Counter(state.status for state in run.steps)
    words = {step_id: tuple(step_words(step, facts.stopping)) for step_id, step in facts.steps.items()}
    report = RunReport(
        run_id=facts.run_id,
        tenant_id=tenant_id,
        definition_id=plan.id,
        version=version,
        digest=digest,
        status=run.status,
        reason=reason_of(plan, run),
        stopped_by=run.stopped_by,
        stopped_by_step=run.stopped_by_step,
        why=tuple(run_words(facts)),
        stopping=run.stopping if run.outcome is None else None,
        steps={step.id: _step_report(step, run.steps[step.index], words.get(step.id, ())) for step in plan.steps},
        completed=counts[StepStatus.COMPLETED],
        failed=counts[StepStatus.FAILED],
        skipped=counts[StepStatus.SKIPPED],
        cancelled=counts[StepStatus.CANCELLED],
        started_at=run.started_at,
        ended_at=run.ended_at,
        duration_seconds=_duration(run.started_at, run.ended_at),
        overdue=run.overdue,
        outputs=run.outputs,
        unexplained=len(plan.steps) - len(words),
    )
    return _fitted(report, MAX_REPORT_BYTES, _without_why, _without_output, _with_short_error, _least)


def for_outer(report: RunReport) -> RunReport:
    """Return a nested run's report for the outer run; a large one lacks the steps' explanations and outputs."""
    return _fitted(report, MAX_INNER_BYTES, _without_why, _without_output)


def _fitted(report: RunReport, most_bytes: int, *lighter: Callable[[StepReport], StepReport]) -> RunReport:
    """Return the report with its steps reduced, one way after the other, until it has at most `most_bytes`."""
    for lighten in lighter:
        if len(to_json(report)) <= most_bytes:
            break
        steps = {step_id: lighten(step) for step_id, step in report.steps.items()}
        omitted = {"unexplained": len(steps)} if lighten is _without_why else {"step_outputs_omitted": True}
        report = report.model_copy(update={"steps": steps, **omitted})
    return report


def _without_why(step: StepReport) -> StepReport:
    return step.model_copy(update={"why": ()})


def _without_output(step: StepReport) -> StepReport:
    return step.model_copy(update={"output": None})


def _with_short_error(step: StepReport) -> StepReport:
    if step.error is None:
        return step
    return step.model_copy(update={"error": StepError(step.error.type, shortened(step.error.message, SHORT_MESSAGE))})


def _least(step: StepReport) -> StepReport:
    error = None if step.error is None else StepError(shortened(step.error.type, SHORT_MESSAGE), "…")
    return step.model_copy(update={"title": "", "error": error})


def _step_report(step: Step, state: StepState, why: tuple[str, ...]) -> StepReport:
    return StepReport(
        title=step.definition.title,
        kind=step.kind,
        handler=step.definition.handler,
        resource_tag=step.definition.resource_tag,
        status=state.status,
        decided_by=state.decided_by,
        reason=state.reason,
        error=state.error,
        branch=state.branch,
        answered_by=None if state.answer is None else state.answer.by,
        approvals_missing=_approvals_missing(step, state),
        compensation=state.compensation,
        compensation_error=state.compensation_error,
        resolved_by=state.resolved_by or None,
        why=why,
        items=None if state.fan is None else counts_of(state.fan),
        cached=state.cached,
        attempts=state.attempts,
        started_at=state.started_at,
        ended_at=state.ended_at,
        duration_seconds=_duration(state.started_at, state.ended_at),
        output=state.output,
    )


def _approvals_missing(step: Step, state: StepState) -> int | None:
    needed = approvals_of(step.definition.human)
    if state.status is not StepStatus.WAITING or needed == 1:
        return None
    return missing_of([made.value for made in state.decisions], needed)


def _duration(started_at: float | None, ended_at: float | None) -> float | None:
    return None if started_at is None or ended_at is None else round(ended_at - started_at, 6)


def reason_of(plan: Plan, run: RunState) -> str:
    """Return why the run failed, by its first failed step in plan order, or why it was stopped."""
    if run.outcome is RunStatus.FAILED and run.counters.failures and not run.stop_reason:
        failed = next(
            step
            for step in plan.steps
            if run.steps[step.index].status is StepStatus.FAILED and not step.definition.optional
        )
        error = run.steps[failed.index].error
        return shortened(f"{failed.id}: {error.message}") if error else failed.id
    return run.stop_reason


MOST_LINES = 50
"""Steps up to which the table is shown; larger plans only show counts, since every turn rebuilds the table."""


def markdown(plan: Plan, run: RunState) -> str:
    """Return the plan with its states as Markdown, as Temporal's UI shows it with a run."""
    settled = len(run.steps) - run.counters.unsettled
    late = " · **overdue**" if run.overdue else ""
    head = f"**{run.status}**{late} · {settled} of {len(run.steps)} steps settled · {run.counters.running} running"
    if len(run.steps) > MOST_LINES:
        return head
    states = [(step.id, run.steps[step.index]) for step in plan.steps]
    rows = [_row(step_id, state.status, state.compensation, state.reason, state.error) for step_id, state in states]
    return "\n".join((head, "", "| step | status |", "| --- | --- |", *rows))


@lru_cache(maxsize=4096)
def _row(
    step_id: str,
    status: StepStatus,
    compensation: StepStatus | None,
    reason: SkipReason | None,
    error: StepError | None,
) -> str:
    """Return a step's row. Every turn of a run shows all of them, and few have changed."""
    why = reason or (error.message if error else None)
    shown = shown_status(status, compensation)
    cell = f"{shown}: {str(why).replace('|', '/')[:200]}" if why else shown
    return f"| {step_id} | {cell} |"
