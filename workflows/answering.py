"""Who may answer: of a step that asks about its run's document only the review queue, which heeds what people saw."""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from dag.kinds import DOCUMENT_QUEUE, Human
from dag.state import StepStatus
from workflows.contract import BY_DECISION, BY_DOCUMENT, NOT_ALLOWED, WRONG_STATE, RunRequest

QUEUE_ONLY = "documents-are-answered-by-the-queue"
"""Marks, in a history, a signal that was dropped: builds before took it. A refused update leaves nothing there."""


def asks_about_document(human: Human, request: RunRequest) -> bool:
    """Tell whether the step's answer is for the review queue to give, and never comes before its question."""
    return human.queue == DOCUMENT_QUEUE and request.document is not None


def check_way(step_id: str, status: str) -> None:
    """Check that the answer that is being given comes from the review queue, to a step that waits now.

    An update's id is Docrail's own choice, never a caller's. Raises: ApplicationError (NotAllowed, WrongState).
    """
    update = workflow.current_update_info()
    if update is None and not workflow.patched(QUEUE_ONLY):
        return
    if update is None or not update.id.startswith((BY_DOCUMENT, BY_DECISION)):
        message = f"{step_id} asks about the run's document: expected its decision in the review queue"
        raise ApplicationError(message, type=NOT_ALLOWED, non_retryable=True)
    if status != StepStatus.WAITING:
        raise ApplicationError(f"{step_id} is {status}", status, type=WRONG_STATE, non_retryable=True)
