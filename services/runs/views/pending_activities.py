"""Describe running steps from Temporal's server: the current attempt, and the nested run."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription
from temporalio.exceptions import FailureError

from docrail.dag.engine.state import EarlierError, StepError
from docrail.dag.explain.facts import AttemptsPart, StepExplanation
from docrail.dag.explain.report import StepReport
from docrail.dag.explain.words import earlier_words
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.services.app import App
from docrail.services.engine import status_of
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.executing import describe
from docrail.workflows.contract.messages import errors_left
from docrail.workflows.contract.names import GROUPED, child_run_id, run_id_of, tenant_of

MOST_NESTED = 20
"""Maximum number of nested runs of one run whose status is requested, one call each; for the others only the id is
shown."""

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


_SHARED_WORDS = {
    "running": "it is running on a worker, in one activity with other steps or items",
    "stopping": "it was asked to stop, with the other steps or items of its activity",
    "queued": "it waits for a worker, in one activity with other steps or items",
    "backing_off": "its activity, which it shares with other steps or items, begins again after a delay",
}


@dataclass(frozen=True, slots=True)
class Nested:
    """A nested run in progress; `status` is None if it is unknown."""

    run_id: str
    status: RunStatus | None


@dataclass(frozen=True, slots=True)
class Pending:
    """The current attempts and nested runs of a run's steps, by step id. Errors are those of the current activity."""

    attempts: Mapping[str, AttemptsPart]
    nested: Mapping[str, Nested]
    shared: Mapping[str, str]
    """States of the activities that a step shares with others, of which a report knows no number of attempts."""

    def words(self, step_id: str, resource_tag: str | None) -> Iterator[str]:
        """Describe the current work of one step."""
        if step_id in self.attempts:
            yield from _attempt_words(self.attempts[step_id], resource_tag)
        if step_id in self.shared:
            yield _SHARED_WORDS[self.shared[step_id]]
        if nested := self.nested.get(step_id):
            status = "" if nested.status is None else f", which is {nested.status}"
            yield f"it waits for its nested run {nested.run_id}{status}: that can be explained too"


async def pending_of(
    app: App,
    description: WorkflowExecutionDescription,
    steps: Mapping[str, StepReport | StepExplanation],
    *,
    prefix: str = "",
) -> Pending:
    """Return the current work of the running ones among `steps`. Raises: Unavailable.

    `prefix`: of the run's activities in a workflow that it shares.
    """
    running = {step_id: step for step_id, step in steps.items() if step.status is StepStatus.RUNNING and not step.items}
    pending = description.raw_description.pending_activities
    activities = {name: activity for activity in pending for name in activity.activity_id.split(GROUPED)}
    attempts = {
        step_id: attempts
        for step_id, step in running.items()
        if step.kind is StepKind.HANDLER
        and (attempts := await _attempts(app, activities.get(prefix + step_id), _failed(step), _known(step)))
    }
    of_steps = {step_id: activities.get(prefix + step_id) for step_id in running.keys() - attempts.keys()}
    shared = {step_id: state_of(activity) for step_id, activity in of_steps.items() if activity is not None}
    outer = [step_id for step_id, step in running.items() if step.kind is StepKind.WORKFLOW]
    return Pending(attempts, await _nested(app, description, outer) if outer else {}, shared)


async def _nested(app: App, description: WorkflowExecutionDescription, steps: Iterable[str]) -> dict[str, Nested]:
    tenant_id, outer = tenant_of(description.id), run_id_of(description.id)
    runs = {step_id: child_run_id(outer, step_id) for step_id in steps}
    first = islice(runs.items(), MOST_NESTED)
    known = dict(await asyncio.gather(*(_status(app, tenant_id, step_id, run_id) for step_id, run_id in first)))
    return {step_id: Nested(run_id, known.get(step_id)) for step_id, run_id in runs.items()}


async def _status(app: App, tenant_id: str, step_id: str, run_id: str) -> tuple[str, RunStatus | None]:
    try:
        return step_id, status_of(await describe(app, tenant_id, run_id))
    except (NotFound, Unavailable):  # it is about to start, or the rest can be shown without it
        return step_id, None


def state_of(activity: PendingActivityInfo) -> str:
    """Return an activity's state: `running`, `stopping`, `queued` or `backing_off`."""
    return _ACTIVITIES.get(activity.state, "backing_off" if _next_at(activity) > time.time() else "queued")


def _next_at(activity: PendingActivityInfo) -> float:
    return activity.next_attempt_schedule_time.ToMicroseconds() / 1e6  # 0 if there is none


def _known(step: StepReport | StepExplanation) -> AttemptsPart | None:
    return step.attempts if isinstance(step, StepExplanation) else None


def _failed(step: StepReport | StepExplanation) -> int:
    """Return how many attempts failed before the step's activity."""
    if isinstance(step, StepReport):
        return step.attempts
    return step.attempts.made if step.attempts else 0


async def _attempts(
    app: App, activity: PendingActivityInfo | None, before: int, known: AttemptsPart | None
) -> AttemptsPart | None:
    """Return the attempts of a step, of which some were `before` its activity, as is `known` to its run."""
    if activity is None:  # the run pauses after a worker that lacks what the step needs, or a failure in a group
        return known.model_copy(update={"activity": "backing_off", "earlier": ()}) if known and known.next_at else None
    if known is None and GROUPED in activity.activity_id:  # the group's attempts are not the step's
        return None
    state, next_at = state_of(activity), _next_at(activity)
    return AttemptsPart(
        made=before + (activity.attempt if state in _ACTIVITIES.values() else activity.attempt - 1),
        most=known.most if known else before + activity.maximum_attempts,
        last_error=await _error(app, activity),
        earlier=await _earlier(app, activity, before),
        activity=state,
        next_at=next_at if next_at > time.time() else None,
        worker=activity.last_worker_identity or None,
    )


async def _error(app: App, activity: PendingActivityInfo) -> StepError | None:
    if not activity.HasField("last_failure"):
        return None
    failure = activity.last_failure
    kind = failure.application_failure_info.type if failure.HasField("application_failure_info") else "Timeout"
    error = await app.temporal.data_converter.decode_failure(failure)
    return StepError(kind or "Error", error.message if isinstance(error, FailureError) else str(error))


async def _earlier(app: App, activity: PendingActivityInfo, before: int) -> tuple[EarlierError, ...]:
    """Return the errors that attempts passed on to later ones (activities/wrapper.py), except the last, `_error`."""
    left = errors_left(await app.temporal.data_converter.decode(activity.heartbeat_details.payloads))
    return tuple(each for each in left if each.attempt < before + activity.attempt - 1)


def _attempt_words(of: AttemptsPart, resource_tag: str | None) -> Iterator[str]:
    facts = {
        "attempt": of.made if of.activity in _ACTIVITIES.values() else of.made + 1,
        "most": of.most,
        "worker": of.worker or "a worker",
        "turn": f", or for its turn of {resource_tag}" if resource_tag else "",
    }
    yield _WORDS[of.activity or "queued"].format(**facts)
    yield from earlier_words(of.earlier)
    if of.last_error is not None:
        yield f"the last attempt failed: {of.last_error.type}: {of.last_error.message}"
