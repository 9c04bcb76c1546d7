"""What is told of a run's steps to those outside it: the dead-letter inbox, and whoever was asked."""

from collections.abc import Set as AbstractSet

from temporalio import workflow

from dag.calls import DeadLetter, ReviewEnd
from dag.plan import Plan, Step
from dag.state import Answer, RunState, RunStatus, StepError, StepStatus
from workflows.contract import RunRequest


def letter_of(
    request: RunRequest, plan: Plan, run: RunState, step_id: str, passing: AbstractSet[StepError]
) -> DeadLetter:
    """Return what the inbox is told of a failed step, or of what became of it. `passing`: errors that may pass."""
    step = plan.step(step_id)
    state = run.steps[step.index]
    error = state.error or StepError("", "")
    errors = [item.error for item in state.fan.items if item.error] if state.fan else [error]
    is_aborted = run.stopping is RunStatus.ABORTED  # nothing is left to be done about its steps
    return DeadLetter(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        step_id=step.id,
        definition_id=plan.id,
        version=request.version,
        handler=step.definition.handler,
        document_id=None if request.document is None else request.document["document_id"],
        status=StepStatus.CANCELLED if is_aborted else state.status,
        error_type=error.type,
        error_message=error.message,
        retryable=bool(errors) and passing >= set(errors),
        attempts=state.attempts,
        failed_at=workflow.time(),
        resolved_by=state.resolved_by,
    )


def review_end(request: RunRequest, run: RunState, step: Step) -> ReviewEnd:
    """Return how a human step ended; one that is still waiting has run out of time."""
    state = run.steps[step.index]
    answer = state.answer or Answer(None)
    status = state.status if state.status is not StepStatus.WAITING else StepStatus.CANCELLED
    return ReviewEnd(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        step_id=step.id,
        status=status,
        decision=answer.value,
        decided_by=answer.by,
    )
