"""Report a run from what Temporal has recorded of it, for times when no worker answers.

Temporal knows which steps began and how they ended. It does not know what only the interpreter decides: skipped steps,
questions to people, and what waits for what.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowExecutionDescription, WorkflowHandle

from docrail.dag.engine.plan import Plan, Step, plan_of
from docrail.dag.engine.state import WORKER_UNFIT, StepError
from docrail.dag.explain.report import RunReport, StepReport
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import shortened
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, engine_errors, status_of
from docrail.workflows.contract.messages import WORKER_STOPPED, CallEnd, GroupReport
from docrail.workflows.contract.names import GROUPED, OVERDUE, RunRequest, child_run_id, run_id_of, tenant_of

MOST_EVENTS = 20_000
"""Events that are read of a long history: about a second. Later ones are left out, and the report says so."""

NO_WORKER = "no worker answers: shown is what Temporal has recorded, without skipped steps and questions to people"
CUT = f"only the first {MOST_EVENTS} events of its history were read"

_OF_STEPS = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: StepStatus.COMPLETED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: StepStatus.FAILED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: StepStatus.FAILED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED: StepStatus.CANCELLED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: StepStatus.COMPLETED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: StepStatus.FAILED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT: StepStatus.FAILED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED: StepStatus.CANCELLED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED: StepStatus.FAILED,
}
"""How a step ended, by the event that says so."""

_BEGIN = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
}


async def recorded_report(
    app: App, handle: WorkflowHandle[Any, Any], description: WorkflowExecutionDescription
) -> RunReport:
    """Return the report of a running run without asking a worker. Raises: NotFound, Unavailable (Temporal)."""
    with engine_errors("run", run_id_of(description.id)):
        async with aclosing(_events(handle)) as events:
            request = await _request(app, await anext(events))
            plan = plan_of(request.definition, request.semantics)
            steps, is_cut = await _steps(app, plan, request.run_id, events)
    counts = [step.status for step in steps.values()]
    return RunReport(
        run_id=request.run_id,
        tenant_id=tenant_of(description.id),
        definition_id=plan.id,
        version=request.version,
        digest=request.digest,
        status=status_of(description),
        why=(NO_WORKER, CUT) if is_cut else (NO_WORKER,),
        steps=steps,
        completed=counts.count(StepStatus.COMPLETED),
        failed=counts.count(StepStatus.FAILED),
        cancelled=counts.count(StepStatus.CANCELLED),
        started_at=description.start_time.timestamp(),
        overdue=description.typed_search_attributes.get(OVERDUE) is not None,
        step_outputs_omitted=True,
    )


async def _events(handle: WorkflowHandle[Any, Any]) -> AsyncGenerator[HistoryEvent, None]:
    async for event in handle.fetch_history_events(page_size=1000, rpc_timeout=RPC_TIMEOUT):
        yield event


async def _request(app: App, first: HistoryEvent) -> RunRequest:
    payloads = first.workflow_execution_started_event_attributes.input.payloads
    [request] = await app.temporal.data_converter.decode(payloads, [RunRequest])
    assert isinstance(request, RunRequest), "every run starts with one"
    return request


async def _steps(
    app: App, plan: Plan, run_id: str, events: AsyncIterator[HistoryEvent]
) -> tuple[dict[str, StepReport], bool]:
    """Return the steps' reports, and whether events were left out."""
    steps = {step.id: _pending(step) for step in plan.steps}
    names = {child_run_id(run_id, step.id): step.id for step in plan.steps} | {step.id: step.id for step in plan.steps}
    began: dict[int, list[str | None]] = {}
    """The steps that each event began, by the event's number; None for what is no step."""
    count = 0
    async for event in events:
        count += 1
        if count > MOST_EVENTS:
            return steps, True
        if event.event_type in _BEGIN:
            began[event.event_id] = [names.get(name) for name in _begun(event).split(GROUPED)]
            for step_id in filter(None, began[event.event_id]):
                at = event.event_time.ToMicroseconds() / 1e6
                steps[step_id] = steps[step_id].model_copy(update={"status": StepStatus.RUNNING, "started_at": at})
        elif (status := _OF_STEPS.get(event.event_type)) and (begun := began.get(_beginning(event))):
            ends = await _ends_of_group(app, event) if len(begun) > 1 else (None,)
            for name, end in zip(begun, ends, strict=False):
                if name is not None and end is None:
                    steps[name] = await _ended(app, steps[name], status, event)
                elif name is not None and end is not None:
                    steps[name] = _ended_in_group(steps[name], end, event)
    return steps, False


def _pending(step: Step) -> StepReport:
    return StepReport(
        title=step.definition.title,
        kind=step.kind,
        handler=step.definition.handler,
        resource_tag=step.definition.resource_tag,
        status=StepStatus.PENDING,
    )


def _begun(event: HistoryEvent) -> str:
    """Return the id of the activity, or the public id of the nested run, that an event begins."""
    if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
        return event.activity_task_scheduled_event_attributes.activity_id
    return run_id_of(event.start_child_workflow_execution_initiated_event_attributes.workflow_id)


def _attributes(event: HistoryEvent) -> Any:
    return getattr(event, str(event.WhichOneof("attributes")))


def _beginning(event: HistoryEvent) -> int:
    """Return the number of the event that began what this one ends."""
    found = _attributes(event)
    number: int = getattr(found, "scheduled_event_id", 0) or getattr(found, "initiated_event_id", 0)
    return number


async def _ended(app: App, step: StepReport, status: StepStatus, event: HistoryEvent) -> StepReport:
    at, error = event.event_time.ToMicroseconds() / 1e6, None
    attributes = _attributes(event)
    if status is StepStatus.FAILED and _has_lost_its_worker(getattr(attributes, "failure", None)):
        return step  # the run starts it again as soon as a worker can
    if status is StepStatus.FAILED and "failure" in attributes.DESCRIPTOR.fields_by_name:
        cause = await app.temporal.data_converter.decode_failure(attributes.failure)
        error = StepError(getattr(cause, "type", None) or "Error", shortened(getattr(cause, "message", str(cause))))
    return _ended_as(step, status, at, error)


def _ended_as(step: StepReport, status: StepStatus, at: float, error: StepError | None) -> StepReport:
    known = {"status": status, "ended_at": at, "duration_seconds": at - (step.started_at or at), "error": error}
    return step.model_copy(update=known)


async def _ends_of_group(app: App, event: HistoryEvent) -> tuple[CallEnd, ...]:
    """Return how the calls of a group ended; none if it did not complete: each is then made alone."""
    if event.event_type != EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
        return ()
    payloads = event.activity_task_completed_event_attributes.result.payloads
    [report] = await app.temporal.data_converter.decode(payloads, [GroupReport])
    return tuple(report.ends)


def _ended_in_group(step: StepReport, end: CallEnd, event: HistoryEvent) -> StepReport:
    """Return how a step has ended in a group; one that is made again alone goes on."""
    at = event.event_time.ToMicroseconds() / 1e6
    if end.outcome is not None:
        return _ended_as(step, StepStatus.COMPLETED, at, None)
    if end.failure is None or end.failure.retryable:
        return step
    error = StepError(end.failure.type, shortened(end.failure.message))
    return _ended_as(step, StepStatus.FAILED, at, error)


def _has_lost_its_worker(failure: Failure | None) -> bool:
    if failure is None:
        return False
    timed_out = failure.timeout_failure_info.timeout_type == TimeoutType.TIMEOUT_TYPE_HEARTBEAT
    return timed_out or failure.application_failure_info.type in (WORKER_STOPPED, WORKER_UNFIT)
