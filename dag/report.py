"""What is told of a run, running or ended: the seeds' WorkflowResult."""

from collections import Counter

from pydantic import BaseModel, ConfigDict, Field

from dag.plan import Plan, Step
from dag.state import RunState, RunStatus, SkipReason, StepError, StepState, StepStatus
from dag.values import Json, size_of


class StepReport(BaseModel):
    """One step. Times are seconds since the epoch; `duration_seconds` covers retries and waiting for a worker."""

    model_config = ConfigDict(frozen=True)

    title: str
    handler: str
    status: StepStatus
    decided_by: str = ""
    reason: SkipReason | None = None
    error: StepError | None = None
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
    """Why the run was aborted or failed, in words."""
    steps: dict[str, StepReport] = Field(default_factory=dict)
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    duration_seconds: float | None = None
    outputs: dict[str, Json] = Field(default_factory=dict)
    step_outputs_omitted: bool = False
    """True if the steps' outputs are left out of `steps`, because together they are too large to be told at once."""


MOST_OUTPUT_BYTES = 1_048_576
"""Step outputs in one report, as JSON: half of what Temporal takes as a workflow's result, which would else be refused
again and again."""


def report_of(plan: Plan, run: RunState, *, run_id: str, tenant_id: str, version: int, digest: str) -> RunReport:
    """Return what is told of `run` now."""
    counts = Counter(state.status for state in run.steps)
    omitted = sum(size_of(state.output) for state in run.steps) > MOST_OUTPUT_BYTES
    return RunReport(
        run_id=run_id,
        tenant_id=tenant_id,
        definition_id=plan.id,
        version=version,
        digest=digest,
        status=run.status,
        reason=_reason(plan, run),
        steps={step.id: _step_report(step, run.steps[step.index], with_output=not omitted) for step in plan.steps},
        completed=counts[StepStatus.COMPLETED],
        failed=counts[StepStatus.FAILED],
        skipped=counts[StepStatus.SKIPPED],
        cancelled=counts[StepStatus.CANCELLED],
        started_at=run.started_at,
        ended_at=run.ended_at,
        duration_seconds=_duration(run.started_at, run.ended_at),
        outputs=run.outputs,
        step_outputs_omitted=omitted,
    )


def _step_report(step: Step, state: StepState, *, with_output: bool) -> StepReport:
    return StepReport(
        title=step.definition.title,
        handler=step.definition.handler,
        status=state.status,
        decided_by=state.decided_by,
        reason=state.reason,
        error=state.error,
        attempts=state.attempts,
        started_at=state.started_at,
        ended_at=state.ended_at,
        duration_seconds=_duration(state.started_at, state.ended_at),
        output=state.output if with_output else None,
    )


def _duration(started_at: float | None, ended_at: float | None) -> float | None:
    return None if started_at is None or ended_at is None else round(ended_at - started_at, 6)


def _reason(plan: Plan, run: RunState) -> str:
    """Say why the run failed, by its first failed step in plan order, or why it was stopped."""
    if run.outcome is RunStatus.FAILED and run.failures:
        failed = next(
            step
            for step in plan.steps
            if run.steps[step.index].status is StepStatus.FAILED and not step.definition.optional
        )
        error = run.steps[failed.index].error
        return f"{failed.id}: {error.message}" if error else failed.id
    return run.stop_reason


MOST_LINES = 50
"""Longer plans are shown by their counts: the table is made anew with every turn of the run."""


def markdown(plan: Plan, run: RunState) -> str:
    """Return the plan with its states, as Temporal's UI shows it beside a run."""
    settled = len(run.steps) - run.unsettled
    head = f"**{run.status}** · {settled} of {len(run.steps)} steps settled · {run.running} running"
    if len(run.steps) > MOST_LINES:
        return head
    rows = (f"| {step.id} | {_cell(run.steps[step.index])} |" for step in plan.steps)
    return "\n".join((head, "", "| step | status |", "| --- | --- |", *rows))


def _cell(state: StepState) -> str:
    why = state.reason or (state.error.message if state.error else None)
    return f"{state.status}: {str(why).replace('|', '/')[:200]}" if why else str(state.status)
