"""Tell why a run's steps are as they are: its worker knows what decided, Temporal's server what is being tried."""

import time
from collections.abc import Mapping

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription

from dag.explanation import AttemptsPart, RunExplanation, StepExplanation
from dag.inputs import InputProblem
from dag.kinds import StepKind
from dag.state import StepError, StepStatus
from operations.app import App
from operations.engine import WORKER_TIMEOUT, describe, engine_errors, worker_errors
from operations.errors import InvalidInput, NotFound
from operations.principal import Principal
from operations.runs import checked_run_id
from workflows.contract import EXPLAIN, child_run_id

_ACTIVITIES = {
    PendingActivityState.PENDING_ACTIVITY_STATE_STARTED: "running",
    PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED: "stopping",
}

_WORDS = {
    "running": "attempt {attempt} of at most {most} is running on {worker}",
    "stopping": "attempt {attempt} of at most {most} was asked to stop, and has not yet answered",
    "queued": "attempt {attempt} of at most {most} waits for a worker{turn}",
    "backing_off": "attempt {attempt} of at most {most} begins when the delay before it is over",
}


async def explain_run(
    app: App,
    principal: Principal,
    run_id: str,
    *,
    step: str | None = None,
    after: str | None = None,
    limit: int = 100,
) -> RunExplanation:
    """Explain one step of a run, or a page of its steps, also after its end.

    Raises: NotFound, also for a step that the run does not have; InvalidInput; Unavailable without a worker.
    """
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    if step is not None and after is not None:
        raise InvalidInput([InputProblem("after", "a single step has no further pages")])
    explanation = await _ask(app, description, run_id, [step, after, limit])
    if step is not None and step not in explanation.steps:
        raise NotFound("step", f"{run_id} {step}")
    pending = {activity.activity_id: activity for activity in description.raw_description.pending_activities}
    steps = {
        step_id: _with_nested(run_id, step_id, _with_attempt(step_id, told, pending))
        for step_id, told in explanation.steps.items()
    }
    return explanation.model_copy(update={"steps": steps})


async def _ask(
    app: App, description: WorkflowExecutionDescription, run_id: str, wanted: list[str | int | None]
) -> RunExplanation:
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    with engine_errors("run", run_id), worker_errors():
        explanation: RunExplanation = await handle.query(
            EXPLAIN, args=wanted, result_type=RunExplanation, rpc_timeout=WORKER_TIMEOUT
        )
    return explanation


def _with_attempt(step_id: str, told: StepExplanation, pending: Mapping[str, PendingActivityInfo]) -> StepExplanation:
    """Return the explanation with what the server knows of the attempt that is being made, if one is."""
    activity = pending.get(step_id)
    if activity is None or told.attempts is None:
        return told
    attempts = _attempts(activity, told.attempts)
    facts = {
        "attempt": activity.attempt,
        "most": attempts.most,
        "worker": attempts.worker or "a worker",
        "turn": f", or for its turn of {told.resource_tag}" if told.resource_tag else "",
    }
    words = [_WORDS[attempts.activity or "queued"].format(**facts)]
    if attempts.last_error is not None:
        words.append(f"the last attempt failed: {attempts.last_error.type}: {attempts.last_error.message}")
    return told.model_copy(update={"attempts": attempts, "words": (*told.words, *words)})


def _with_nested(run_id: str, step_id: str, told: StepExplanation) -> StepExplanation:
    """Return the explanation with the id of the nested run that the step waits for."""
    if told.kind is not StepKind.WORKFLOW or told.status is not StepStatus.RUNNING or told.items is not None:
        return told
    nested = child_run_id(run_id, step_id)
    words = f"it waits for its nested run {nested}, which can be explained too"
    return told.model_copy(update={"nested_run_id": nested, "words": (*told.words, words)})


def _attempts(activity: PendingActivityInfo, known: AttemptsPart) -> AttemptsPart:
    next_at = activity.next_attempt_schedule_time.ToMicroseconds() / 1e6  # 0 where there is none
    waits = next_at > time.time()
    state = _ACTIVITIES.get(activity.state, "backing_off" if waits else "queued")
    return known.model_copy(
        update={
            "made": activity.attempt if state in _ACTIVITIES.values() else activity.attempt - 1,
            "last_error": _error(activity),
            "activity": state,
            "next_at": next_at if waits else None,
            "worker": activity.last_worker_identity or None,
        }
    )


def _error(activity: PendingActivityInfo) -> StepError | None:
    if not activity.HasField("last_failure"):
        return None
    failure = activity.last_failure
    kind = failure.application_failure_info.type if failure.HasField("application_failure_info") else "Timeout"
    return StepError(kind or "Error", failure.message)
