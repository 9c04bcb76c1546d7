"""What is told of a run, running or ended: the seeds' WorkflowResult."""

from collections import Counter

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from dag.assignees import approvals_of, missing_of
from dag.fan import failed_so_far
from dag.kinds import StepKind
from dag.plan import Plan, Step
from dag.state import FanState, RunState, RunStatus, SkipReason, StepError, StepState, StepStatus
from dag.values import Json, shortened


class ItemCounts(BaseModel):
    """How far a step has come that runs once for each element of a list."""

    model_config = ConfigDict(frozen=True)

    total: int
    completed: int
    failed: int
    running: int
    cached: int = 0
    """Completed ones whose output is that of earlier equal work."""


class StepReport(BaseModel):
    """One step. Times are seconds since the epoch; `duration_seconds` covers retries and waiting for a worker."""

    model_config = ConfigDict(frozen=True)

    title: str
    kind: StepKind
    handler: str | None = None
    status: StepStatus
    decided_by: str = ""
    reason: SkipReason | None = None
    error: StepError | None = None
    branch: str | None = None
    answered_by: str | None = None
    approvals_missing: int | None = Field(None, exclude_if=lambda missing: missing is None)
    """Of a waiting human step that wants several people to decide alike: how many more must."""
    resolved_by: str | None = None
    compensation: StepStatus | None = None
    compensation_error: StepError | None = None
    items: ItemCounts | None = None
    cached: bool = False
    """Whether the output is that of earlier equal work, and no handler ran; of a list, `items.cached` tells."""
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
    """Why the run was aborted or failed, in words; told while it is being stopped, too."""
    stopping: RunStatus | None = None
    """How the run will end, while it is being stopped: its running steps have been asked to stop."""
    steps: dict[str, StepReport] = Field(default_factory=dict)
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    duration_seconds: float | None = None
    overdue: bool = False
    """True from the moment at which the definition's `deadline_seconds` were over and the run was not."""
    outputs: dict[str, Json] = Field(default_factory=dict)
    step_outputs_omitted: bool = False
    """True if the steps' outputs are left out of `steps`, because together they are too large to be told at once."""


MAX_REPORT_BYTES = 1_900_000
"""Largest report, as JSON: Temporal takes 2 MiB as a workflow's result, and would refuse a larger one for ever."""

MAX_INNER_BYTES = 65_536
"""The same for a run inside another, whose history keeps it beside those of all its other runs."""

SHORT_MESSAGE = 60
"""Characters of each step's error where even without outputs a report would be larger: so many steps have failed."""


def report_of(plan: Plan, run: RunState, *, run_id: str, tenant_id: str, version: int, digest: str) -> RunReport:
    """Return what is told of `run` now, with as much of its steps as Temporal can carry.

    With as little as `_least` leaves, it is always small enough: a step takes less of it than of its definition.
    """
    counts = Counter(state.status for state in run.steps)
    report = RunReport(
        run_id=run_id,
        tenant_id=tenant_id,
        definition_id=plan.id,
        version=version,
        digest=digest,
        status=run.status,
        reason=_reason(plan, run),
        stopping=run.stopping if run.outcome is None else None,
        steps={step.id: _step_report(step, run.steps[step.index]) for step in plan.steps},
        completed=counts[StepStatus.COMPLETED],
        failed=counts[StepStatus.FAILED],
        skipped=counts[StepStatus.SKIPPED],
        cancelled=counts[StepStatus.CANCELLED],
        started_at=run.started_at,
        ended_at=run.ended_at,
        duration_seconds=_duration(run.started_at, run.ended_at),
        overdue=run.overdue,
        outputs=run.outputs,
    )
    for lighten in (_without_output, _with_short_error, _least):
        if len(to_json(report)) <= MAX_REPORT_BYTES:
            return report
        steps = {step_id: lighten(step) for step_id, step in report.steps.items()}
        report = report.model_copy(update={"steps": steps, "step_outputs_omitted": True})
    return report


def for_outer(report: RunReport) -> RunReport:
    """Return what a run tells the run around it: of a large report all but the outputs of its steps."""
    if len(to_json(report)) <= MAX_INNER_BYTES:
        return report
    steps = {step_id: _without_output(step) for step_id, step in report.steps.items()}
    return report.model_copy(update={"steps": steps, "step_outputs_omitted": True})


def _without_output(step: StepReport) -> StepReport:
    return step.model_copy(update={"output": None})


def _with_short_error(step: StepReport) -> StepReport:
    if step.error is None:
        return step
    return step.model_copy(update={"error": StepError(step.error.type, shortened(step.error.message, SHORT_MESSAGE))})


def _least(step: StepReport) -> StepReport:
    error = None if step.error is None else StepError(shortened(step.error.type, SHORT_MESSAGE), "…")
    return step.model_copy(update={"title": "", "error": error})


def _step_report(step: Step, state: StepState) -> StepReport:
    return StepReport(
        title=step.definition.title,
        kind=step.kind,
        handler=step.definition.handler,
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


def counts_of(fan: FanState) -> ItemCounts:
    """Return how far a list has come, its chunks as far as they have told."""
    completed = sum(item.status is StepStatus.COMPLETED for item in fan.items)
    completed += sum(chunk.completed for chunk in fan.chunks.values())
    cached = sum(item.cached for item in fan.items)
    running, failed = fan.width if fan.window else fan.running, failed_so_far(fan)
    return ItemCounts(total=len(fan.items), completed=completed, failed=failed, running=running, cached=cached)


def _duration(started_at: float | None, ended_at: float | None) -> float | None:
    return None if started_at is None or ended_at is None else round(ended_at - started_at, 6)


def _reason(plan: Plan, run: RunState) -> str:
    """Say why the run failed, by its first failed step in plan order, or why it was stopped."""
    if run.outcome is RunStatus.FAILED and run.failures and not run.stop_reason:
        failed = next(
            step
            for step in plan.steps
            if run.steps[step.index].status is StepStatus.FAILED and not step.definition.optional
        )
        error = run.steps[failed.index].error
        return shortened(f"{failed.id}: {error.message}") if error else failed.id
    return run.stop_reason


MOST_LINES = 50
"""Longer plans are shown by their counts: the table is made anew with every turn of the run."""


def markdown(plan: Plan, run: RunState) -> str:
    """Return the plan with its states, as Temporal's UI shows it beside a run."""
    settled = len(run.steps) - run.unsettled
    late = " · **overdue**" if run.overdue else ""
    head = f"**{run.status}**{late} · {settled} of {len(run.steps)} steps settled · {run.running} running"
    if len(run.steps) > MOST_LINES:
        return head
    rows = (f"| {step.id} | {_cell(run.steps[step.index])} |" for step in plan.steps)
    return "\n".join((head, "", "| step | status |", "| --- | --- |", *rows))


def _cell(state: StepState) -> str:
    why = state.reason or (state.error.message if state.error else None)
    return f"{state.status}: {str(why).replace('|', '/')[:200]}" if why else str(state.status)
