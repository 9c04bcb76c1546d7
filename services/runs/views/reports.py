"""Report a run's state: from its worker while it runs, from its result once it has ended.

While no worker answers, a running run is reported from Temporal's history; after Temporal has deleted a run, it is
reported from its copy (ended.py).
"""

from datetime import timedelta
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowHistoryEventFilterType,
)
from temporalio.exceptions import ApplicationError

from docrail.dag.explain.report import EndReport, RunReport
from docrail.dag.values.json_values import shortened
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import (
    RPC_TIMEOUT,
    WORKER,
    WORKER_TIMEOUT,
    engine_errors,
    status_of,
    worker_answers,
    worker_errors,
)
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.ended_runs import load_ended
from docrail.services.runs.executing import describe
from docrail.services.runs.models import EndedRun
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.pending_activities import pending_of
from docrail.services.runs.views.recorded import recorded_report
from docrail.workflows.contract.names import OVERDUE, RUN_FAILED, STATE, run_id_of, tenant_of

Handle = WorkflowHandle[object, EndReport]

REPORT_TIMEOUT = timedelta(seconds=3.5)
"""How long a worker may take to report a running run before Temporal's history is read instead."""


DELETED = "Temporal has deleted the run: shown is the copy of its report, without outputs"


async def show_run(app: App, principal: Principal, run_id: str, *, or_recorded: bool = False) -> RunReport:
    """Return a run's steps and totals. Raises: NotFound, Unavailable.

    `or_recorded`: if no worker answers, return what Temporal has recorded, to be shown but not to be decided on.
    """
    checked_run_id(run_id)
    try:
        description = await describe(app, principal.tenant_id, run_id)
    except NotFound:
        if (copied := await load_ended(app.db, principal.tenant_id, run_id)) is None:
            raise
        return report_in(copied)
    handle = _handle(app.temporal, description)
    match description.status:
        case WorkflowExecutionStatus.COMPLETED | WorkflowExecutionStatus.FAILED:
            report = await _result(handle, description)
            is_inner = description.parent_id is not None
            return await _in_full(handle, report) if is_inner and _is_lightened(report) else report
        case WorkflowExecutionStatus.RUNNING:
            return await _current(app, handle, description, run_id, or_recorded=or_recorded)
        case _:
            return await _last_known(handle, description)


def report_in(copied: EndedRun) -> RunReport:
    """Return the report of a run that Temporal has deleted."""
    report = RunReport.model_validate(copied.report)
    return report.model_copy(update={"why": (*report.why, DELETED)})


async def ended_report(client: Client, execution: WorkflowExecution) -> RunReport:
    """Return the report of an ended run. Raises: NotFound, Unavailable, ValueError (it cannot be read)."""
    return await result_of(client, execution) or await _last_known(_handle(client, execution), execution)


async def result_of(client: Client, execution: WorkflowExecution) -> RunReport | None:
    """Return the report that is an ended run's result; None if it ended without one. Raises: as `ended_report`."""
    if execution.status not in (WorkflowExecutionStatus.COMPLETED, WorkflowExecutionStatus.FAILED):
        return None
    return await _result(_handle(client, execution), execution)


def _handle(client: Client, execution: WorkflowExecution) -> Handle:
    return client.get_workflow_handle(execution.id, run_id=execution.run_id, result_type=EndReport)


def _is_lightened(report: RunReport) -> bool:
    """Check whether a nested run sent its outer run a shortened report."""
    return report.step_outputs_omitted or 0 < report.unexplained == len(report.steps)


async def _ask(handle: Handle, run_id: str, within: timedelta = WORKER_TIMEOUT) -> RunReport:
    with engine_errors("run", run_id), worker_errors():
        report: RunReport = await handle.query(STATE, result_type=RunReport, rpc_timeout=within)
    return report


async def _current(
    app: App, handle: Handle, description: WorkflowExecutionDescription, run_id: str, *, or_recorded: bool
) -> RunReport:
    try:
        async with worker_answers(app, tenant_of(description.id), run_id):
            report = await _ask(handle, run_id, REPORT_TIMEOUT if or_recorded else WORKER_TIMEOUT)
    except Unavailable as error:
        if error.service != WORKER or not or_recorded:
            raise
        report = await recorded_report(app, handle, description)
    return await with_pending(app, description, report)


async def with_pending(
    app: App, description: WorkflowExecutionDescription, report: RunReport, *, prefix: str = ""
) -> RunReport:
    """Return the report with the current attempts of its steps, as `pending_of` finds them. Raises: Unavailable."""
    explained = {name: step for name, step in report.steps.items() if step.why or report.step_outputs_omitted}
    pending = await pending_of(app, description, explained, prefix=prefix)
    steps = {
        name: step.model_copy(update={"why": (*step.why, *pending.words(name, step.resource_tag))})
        for name, step in report.steps.items()
    }
    return report.model_copy(update={"steps": steps})


async def _result(handle: Handle, description: WorkflowExecution) -> RunReport:
    try:
        with engine_errors("run", handle.id):
            return await handle.result(follow_runs=False, rpc_timeout=RPC_TIMEOUT)
    except WorkflowFailureError as error:
        if isinstance(error.cause, ApplicationError) and error.cause.type == RUN_FAILED:
            return EndReport.model_validate(error.cause.details[0])
        return await _bare(description, str(error.cause))


async def _in_full(handle: Handle, report: RunReport) -> RunReport:
    """Return a nested run's full report, which its outer run gets shortened, if a worker can replay it."""
    try:
        return await _ask(handle, report.run_id)
    except Unavailable:
        return report


async def _last_known(handle: Handle, description: WorkflowExecution) -> RunReport:
    """Return the steps of a run that ended without a result, if a worker can replay it."""
    reason = await end_of(handle, description)
    try:
        report = await _ask(handle, handle.id)
    except Unavailable:
        return await _bare(description, f"{reason}; its steps are shown while a worker runs")
    ended = description.close_time
    known: dict[str, object] = {"status": status_of(description), "reason": reason}
    if report.ended_at is None and ended is not None:
        known |= {"ended_at": ended.timestamp(), "duration_seconds": (ended - description.start_time).total_seconds()}
        known["why"] = (reason,)
    return report.model_copy(update=known)


async def end_of(handle: WorkflowHandle[Any, Any], description: WorkflowExecution) -> str:
    """Return why a run ended that could not record the reason itself."""
    if description.status is not WorkflowExecutionStatus.TERMINATED:
        return "timed out" if description.status is WorkflowExecutionStatus.TIMED_OUT else "cancelled"
    last = WorkflowHistoryEventFilterType.CLOSE_EVENT
    with engine_errors("run", handle.id):
        async for event in handle.fetch_history_events(event_filter_type=last, rpc_timeout=RPC_TIMEOUT):
            reason = event.workflow_execution_terminated_event_attributes.reason
            return f"terminated in Temporal: {shortened(reason) or 'no reason was given'}"
    return "terminated in Temporal"


async def _bare(description: WorkflowExecution, reason: str) -> RunReport:
    """Return the report that Temporal's server alone can provide."""
    memo = await description.memo()
    ended = description.close_time
    return RunReport(
        run_id=run_id_of(description.id),
        tenant_id=tenant_of(description.id),
        definition_id=memo["definition"],
        version=memo["version"],
        digest=memo["digest"],
        status=status_of(description),
        reason=reason,
        why=(reason,),
        started_at=description.start_time.timestamp(),
        ended_at=None if ended is None else ended.timestamp(),
        duration_seconds=None if ended is None else (ended - description.start_time).total_seconds(),
        overdue=description.typed_search_attributes.get(OVERDUE) is not None,
    )
