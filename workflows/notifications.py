"""Build the messages about a run's steps to other components: the dead-letter table and the review queue."""

from collections.abc import Set as AbstractSet

from temporalio import workflow

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import Answer, RunState, StepError, StepState
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.workflows.contract.messages import DeadLetter, ReviewEnd
from docrail.workflows.contract.names import RunRequest


def letter_of(
    request: RunRequest, plan: Plan, run: RunState, step_id: str, passing: AbstractSet[StepError]
) -> DeadLetter:
    """Return the dead-letter record of a failed step, or of its resolution. `passing`: errors that may pass."""
    step = plan.step(step_id)
    state = run.steps[step.index]
    error, status, handler = state.error or StepError("", ""), state.status, step.definition.handler
    errors: list[StepError | None] = [item.error for item in state.fan.items if item.error] if state.fan else [error]
    if run.stopping is RunStatus.ABORTED:  # its steps need no action
        status = StepStatus.CANCELLED
    if state.compensation is not None and step.definition.compensate is not None:  # unless an effect remains
        status, handler = StepStatus.FAILED, step.definition.compensate.handler
        error, errors = _not_undone(state), [state.compensation_error]
    return DeadLetter(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        step_id=step.id,
        definition_id=plan.id,
        version=request.version,
        handler=handler,
        document_id=None if request.document is None else request.document["document_id"],
        status=status,
        error_type=error.type,
        error_message=error.message,
        retryable=bool(errors) and passing >= set(errors),
        attempts=state.attempts,
        failed_at=workflow.time(),
        resolved_by=state.resolved_by,
    )


def _not_undone(state: StepState) -> StepError:
    """Return why the step's effects remain, in words."""
    error = state.compensation_error or StepError("Cancelled", "it was stopped")
    return StepError(error.type, f"what it did could not be undone: {error.message}")


def review_end(request: RunRequest, run: RunState, step: Step) -> ReviewEnd:
    """Return how a human step ended; one that is still waiting has timed out."""
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
