"""Decide whether a step accepts an answer: late answers, and answers that do not fit, are refused.

Questions about the run's document are answered only through the review queue, which checks what the person saw.
"""

from collections.abc import Iterable
from functools import reduce

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from docrail.dag.engine.approvals import agreement, approvals_of, decide, refusal
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import Answer, Decision, RunState
from docrail.dag.language import inputs
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import DOCUMENT_QUEUE, Human, WaitFor
from docrail.workflows.contract.names import (
    BY_DECISION,
    BY_DOCUMENT,
    INVALID_VALUE,
    NOT_ALLOWED,
    UNKNOWN_STEP,
    WRONG_STATE,
    RunRequest,
)

MOST_NAMED = 100
"""Steps that a refusal lists."""


def check_answer(
    plan: Plan, run: RunState, request: RunRequest, step_id: str, given: Answer, *, coming: Iterable[Answer]
) -> None:
    """Check that a step accepts this answer now; `coming` are answers it was given and has not processed yet.

    Raises: ApplicationError (UnknownStep, WrongState, NotAllowed, InvalidValue).
    """
    step = plan.step(step_id) if step_id in plan.index else None
    wait, human = (step.definition.wait, step.definition.human) if step else (None, None)
    if step is None or not _takes_answers(step):
        message = f"the run has no step {step_id[:64]!r} that waits for an answer"
        known = [each.id for each in plan.steps if _takes_answers(each)]
        raise ApplicationError(message, known[:MOST_NAMED], type=UNKNOWN_STEP, non_retryable=True)
    status = str(run.outcome or run.stopping or run.steps[step.index].status)
    if _is_answered(step, run, coming):
        status = "answered"
    may_be_early = approvals_of(human) == 1  # several people must see the same question
    if status != StepStatus.WAITING and not (may_be_early and status in (StepStatus.PENDING, StepStatus.QUEUED)):
        raise ApplicationError(f"{step_id} is {status}", status, type=WRONG_STATE, non_retryable=True)
    if human and _asks_about_document(human, request):
        _check_sender(step_id, status)
    if human and (why := refusal(human, given, request.starters)):
        raise ApplicationError(why, type=NOT_ALLOWED, non_retryable=True)
    try:
        inputs.check_answer((human.form if human else wait and wait.accept) or {}, given.value)
    except inputs.InvalidValueError as error:
        problems = [[problem.path, problem.message] for problem in error.problems]
        raise ApplicationError(str(error), problems, type=INVALID_VALUE, non_retryable=True) from error


def _takes_answers(step: Step) -> bool:
    wait = step.definition.wait
    return step.definition.human is not None or (wait is not None and wait.for_ is not WaitFor.TIMER)


def _is_answered(step: Step, run: RunState, coming: Iterable[Answer]) -> bool:
    """Return whether the step has its answer, or will have it once `coming` is processed."""
    state = run.steps[step.index]
    decisions: tuple[Decision, ...] = reduce(decide, coming, state.decisions)
    return state.answer is not None or agreement(decisions, approvals_of(step.definition.human)) is not None


def _asks_about_document(human: Human, request: RunRequest) -> bool:
    """Return whether only the review queue may answer the step, and never before its question is asked."""
    return human.queue == DOCUMENT_QUEUE and request.document is not None


def _check_sender(step_id: str, status: str) -> None:
    """Check that the current answer comes from the review queue, for a step that waits now.

    An update's id is chosen by Docrail, never by a caller. Raises: ApplicationError (NotAllowed, WrongState).
    """
    update = workflow.current_update_info()
    if update is None or not update.id.startswith((BY_DOCUMENT, BY_DECISION)):
        message = f"{step_id} asks about the run's document: expected its decision in the review queue"
        raise ApplicationError(message, type=NOT_ALLOWED, non_retryable=True)
    if status != StepStatus.WAITING:
        raise ApplicationError(f"{step_id} is {status}", status, type=WRONG_STATE, non_retryable=True)
