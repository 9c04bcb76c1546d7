"""Tell how a run stands: from its worker while it runs, from its result once it ended."""

from temporalio.client import (
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.exceptions import ApplicationError

from dag.report import RunReport
from operations.app import App
from operations.engine import RPC_TIMEOUT, WORKER_TIMEOUT, describe, engine_errors, status_of, worker_errors
from operations.errors import Unavailable
from operations.principal import Principal
from operations.runs import checked_run_id
from workflows.contract import RUN_FAILED, STATE, run_id_of

Handle = WorkflowHandle[object, RunReport]


async def show_run(app: App, principal: Principal, run_id: str) -> RunReport:
    """Return a run's steps and totals. Raises: NotFound, Unavailable."""
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id, result_type=RunReport)
    match description.status:
        case WorkflowExecutionStatus.COMPLETED | WorkflowExecutionStatus.FAILED:
            return await _result(handle, description)
        case WorkflowExecutionStatus.RUNNING:
            return await _ask(handle, run_id)
        case _:
            return await _last_known(handle, description)


async def _ask(handle: Handle, run_id: str) -> RunReport:
    with engine_errors("run", run_id), worker_errors():
        report: RunReport = await handle.query(STATE, result_type=RunReport, rpc_timeout=WORKER_TIMEOUT)
    return report


async def _result(handle: Handle, description: WorkflowExecutionDescription) -> RunReport:
    try:
        with engine_errors("run", handle.id):
            return await handle.result(follow_runs=False, rpc_timeout=RPC_TIMEOUT)
    except WorkflowFailureError as error:
        if isinstance(error.cause, ApplicationError) and error.cause.type == RUN_FAILED:
            return RunReport.model_validate(error.cause.details[0])
        return await _bare(description, str(error.cause))


async def _last_known(handle: Handle, description: WorkflowExecutionDescription) -> RunReport:
    """Return the steps of a cancelled run, which has no result, if a worker is there to replay it."""
    try:
        report = await _ask(handle, handle.id)
    except Unavailable:
        return await _bare(description, "cancelled; its steps are known while a worker runs")
    return report.model_copy(update={"status": status_of(description)})


async def _bare(description: WorkflowExecutionDescription, reason: str) -> RunReport:
    """Return what Temporal's server alone knows of a run."""
    memo = await description.memo()
    tenant_id = description.id.partition("/")[0]
    ended = description.close_time
    return RunReport(
        run_id=run_id_of(description.id),
        tenant_id=tenant_id,
        definition_id=memo["definition"],
        version=memo["version"],
        digest=memo["digest"],
        status=status_of(description),
        reason=reason,
        started_at=description.start_time.timestamp(),
        ended_at=None if ended is None else ended.timestamp(),
        duration_seconds=None if ended is None else (ended - description.start_time).total_seconds(),
    )
