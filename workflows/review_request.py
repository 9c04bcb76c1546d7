"""Ask people: open, escalate and close a review item, and record decisions on it."""

import asyncio
from collections.abc import Callable

from temporalio import workflow

from docrail.dag.engine.approvals import approvals_of, barred
from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import Decision
from docrail.dag.language.forms import with_values
from docrail.dag.language.step_kinds import Human
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.messages import DecisionCall, ReviewCall, ReviewEnd
from docrail.workflows.contract.names import CLOSE_REVIEW, ESCALATE_REVIEW, OPEN_REVIEW, RECORD_DECISION, RunRequest
from docrail.workflows.start_step import RECORD_TIMEOUT, wait


async def ask(
    request: RunRequest, step: Step, config: dict[str, Json], asked_at: float, end_of: Callable[[], ReviewEnd]
) -> None:
    """Open a review item and return when it times out. However this ends, the item is closed as `end_of` says."""
    human = step.definition.human
    assert human is not None, "only human steps ask questions"
    try:
        await _execute(OPEN_REVIEW, _question(request, step, config, human.queue, asked_at))
        _raise_if_cancelled()
        await wait(human.timeout_seconds)
        if human.on_timeout and human.on_timeout.escalate_to:
            await _execute(ESCALATE_REVIEW, _question(request, step, config, human.on_timeout.escalate_to, asked_at))
            _raise_if_cancelled()
            await wait(human.timeout_seconds)
    except (Exception, asyncio.CancelledError):  # not `finally`: a run that is only evicted from memory closes nothing
        await _execute(CLOSE_REVIEW, end_of().model_copy(update={"asked_at": asked_at}))
        raise
    await _execute(CLOSE_REVIEW, end_of().model_copy(update={"asked_at": asked_at}))


async def record_decision(request: RunRequest, step_id: str, decision: Decision, asked_at: float) -> None:
    """Record one of several people's decisions in the queue, retried until it succeeds."""
    call = DecisionCall(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        step_id=step_id,
        by=decision.by,
        known_to=decision.known_to,
        decision=decision.value,
        number=decision.number,
        decided_at=workflow.time(),
        asked_at=asked_at,
    )
    await _execute(RECORD_DECISION, call)


def _raise_if_cancelled() -> None:
    """Raise if this task was cancelled: an activity that completes at the same moment swallows the cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _question(request: RunRequest, step: Step, config: dict[str, Json], queue: str, asked_at: float) -> ReviewCall:
    human: Human | None = step.definition.human
    assert human is not None, "only human steps ask questions"
    seconds = human.timeout_seconds
    return ReviewCall(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        step_id=step.id,
        document_id=None if request.document is None else request.document["document_id"],
        queue=queue,
        title=step.question(config["title"]),
        form=with_values(human.form, config.get("prefill"), config.get("notes")),
        show=config["show"],
        priority=human.priority,
        group=human.assignees.group if human.assignees else None,
        may_not_decide=barred(human, request.starters),
        approvals=approvals_of(human),
        due_at=None if seconds is None else workflow.time() + seconds,
        asked_at=asked_at,
    )


async def _execute(activity: str, argument: ReviewCall | DecisionCall | ReviewEnd) -> None:
    await workflow.execute_activity(
        activity, argument, start_to_close_timeout=RECORD_TIMEOUT, summary=f"{activity}: {argument.step_id}"
    )
