"""One run inside a workflow: obeys the scheduler's commands and tells it how they ended."""

import asyncio
from collections import deque
from datetime import timedelta
from functools import partial

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception

from dag.calls import StepCall, StepOutcome
from dag.definition import RetryConfig
from dag.messages import Cancel, Event, Finish, RunStarted, Start, StepCancelled, StepCompleted, StepFailed
from dag.plan import Step, plan_of
from dag.report import RunReport, markdown, report_of
from dag.rewind import begin, load
from dag.scheduler import advance
from dag.state import RunStatus
from dag.values import Json
from workflows.contract import RunRequest
from workflows.failures import attempts_of, error_of

Handle = workflow.ActivityHandle[StepOutcome]

LOCAL_RETRY_THRESHOLD = timedelta(seconds=1)
"""A local step waits longer than this for its next attempt in a timer of the server's, not inside the workflow task:
there it would keep pause and abort from being heard."""

NEVER_RETRIED = "PayloadsTooLarge"
"""Temporal's error for a result above its payload limit: the same result would be too large again."""


class Driver:
    """Drives one run. Needs nothing of the workflow around it, so that one workflow may drive several."""

    def __init__(self, request: RunRequest) -> None:
        """Compile the plan and lay out the state; nothing starts before `drive`."""
        self.plan = plan_of(request.definition)
        self.state = (
            load(self.plan, request.resumed) if request.resumed else begin(self.plan, request.inputs, _context(request))
        )
        self._request = request
        self._inbox: deque[Event | tuple[Step, Handle]] = deque()
        self._work: dict[str, Handle] = {}

    def tell(self, event: Event) -> None:
        """Add an event; it is decided on in the run's next turn."""
        self._inbox.append(event)

    async def drive(self) -> RunStatus:
        """Run the plan to its end and return how it ended."""
        self.tell(RunStarted(workflow.time()))
        while self.state.outcome is None:
            await workflow.wait_condition(lambda: bool(self._inbox))
            while self._inbox:
                self._turn(self._inbox.popleft())
            workflow.set_current_details(markdown(self.plan, self.state))
        return self.state.outcome

    def is_idle(self) -> bool:
        """Tell whether every event told so far has been decided on."""
        return not self._inbox

    def report(self) -> RunReport:
        """Return what is told of the run now."""
        request = self._request
        return report_of(
            self.plan,
            self.state,
            run_id=request.run_id,
            tenant_id=request.tenant_id,
            version=request.version,
            digest=request.digest,
        )

    def _turn(self, arrival: Event | tuple[Step, Handle]) -> None:
        event = _event_of(*arrival) if isinstance(arrival, tuple) else arrival
        for command in advance(self.plan, self.state, event):
            match command:
                case Start(step_id, config):
                    self._start(self.plan.step(step_id), config)
                case Cancel(step_id):
                    self._work[step_id].cancel()
                case Finish():
                    pass  # the state says so

    def _start(self, step: Step, config: Json) -> None:
        handle = _start_activity(
            step, self._call(step, config), local=step.definition.handler in self._request.local_handlers
        )
        self._work[step.id] = handle
        handle.add_done_callback(partial(self._ended, step, handle))

    def _ended(self, step: Step, handle: Handle, _: object) -> None:
        del self._work[step.id]
        self._inbox.append((step, handle))  # its result is read in the main task, where a bug surfaces

    def _call(self, step: Step, config: Json) -> StepCall:
        retry = step.definition.retry_config
        return StepCall(
            tenant_id=self._request.tenant_id,
            run_id=self._request.run_id,
            step_id=step.id,
            config=config,
            jitter_seconds=retry.jitter * retry.initial_delay,
        )


def _context(request: RunRequest) -> dict[str, Json]:
    """Return the words of the run's context, as expressions read them."""
    run = {"id": request.run_id, "tenant_id": request.tenant_id}
    workflow_ = {"id": request.run_id, "definition": request.definition["id"], "version": request.version}
    return {"run": run, "workflow": workflow_, "document": request.document}


def _event_of(step: Step, handle: Handle) -> Event:
    """Return the event that an ended activity is. Only Temporal's failures are outcomes: anything else is a bug."""
    at = workflow.time()
    try:
        outcome = handle.result()
    except (FailureError, asyncio.CancelledError) as error:
        if is_cancelled_exception(error):
            return StepCancelled(step.id, at)
        return StepFailed(step.id, error_of(step.definition, error), attempts_of(step.definition, error), at)
    return StepCompleted(step.id, outcome.output, outcome.attempt, at)


def _start_activity(step: Step, call: StepCall, *, local: bool) -> Handle:
    definition = step.definition
    total = definition.total_timeout_seconds
    if local:
        return workflow.start_local_activity(
            definition.handler,
            call,
            result_type=StepOutcome,
            activity_id=step.id,
            summary=definition.title or None,
            start_to_close_timeout=timedelta(seconds=definition.timeout_seconds),
            schedule_to_close_timeout=None if total is None else timedelta(seconds=total),
            retry_policy=_retry_policy(definition.retry_config, definition.max_retries),
            local_retry_threshold=LOCAL_RETRY_THRESHOLD,
        )
    return workflow.start_activity(
        definition.handler,
        call,
        result_type=StepOutcome,
        activity_id=step.id,
        summary=definition.title or None,
        start_to_close_timeout=timedelta(seconds=definition.timeout_seconds),
        schedule_to_close_timeout=None if total is None else timedelta(seconds=total),
        heartbeat_timeout=timedelta(seconds=definition.heartbeat_seconds),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        retry_policy=_retry_policy(definition.retry_config, definition.max_retries),
    )


def _retry_policy(retry: RetryConfig, max_retries: int) -> RetryPolicy:
    """Return Temporal's policy. It carries the delays for crashes and timeouts; the wrapper adds jitter to errors."""
    return RetryPolicy(
        initial_interval=timedelta(seconds=retry.initial_delay),
        backoff_coefficient=retry.exponential_base,
        maximum_interval=None if retry.max_delay is None else timedelta(seconds=retry.max_delay),
        maximum_attempts=max_retries + 1,
        non_retryable_error_types=[*retry.non_retryable, NEVER_RETRIED],
    )
