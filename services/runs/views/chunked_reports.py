"""Report a run that shares a workflow with others from there: to be looked at, it does not have to move."""

from contextlib import suppress
from dataclasses import dataclass

from temporalio.client import WorkflowQueryFailedError

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, WORKER, engine_errors, history_url, worker_errors, workflow_url
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.leaving import end_stuck
from docrail.services.runs.models import StoredChunkedRun
from docrail.services.runs.repository import load_chunked
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.reports import REPORT_TIMEOUT, show_run, with_pending
from docrail.workflows.contract.names import STATE, document_chunk_id

UNANSWERED = "no worker answers: the steps are shown while one runs"


@dataclass(frozen=True, slots=True)
class RunView:
    """A run's report, and where its history is."""

    report: RunReport
    history_url: str


async def view_run(app: App, principal: Principal, run_id: str) -> RunView:
    """Return a run's report to be shown, not to be decided on. Raises: NotFound, Unavailable.

    It may come from the run's chunk, or, if no worker answers, from what Temporal or the run's row has recorded.
    """
    checked_run_id(run_id)
    row = None if "~" in run_id else await load_chunked(app.db, principal.tenant_id, run_id)
    if row is not None and row.moved_at is None:
        report = await _report_in(app, principal.tenant_id, row)
        if report is not None:
            return RunView(report, workflow_url(app, document_chunk_id(principal.tenant_id, row.chunk_id)))
    report = await show_run(app, principal, run_id, or_recorded=True)
    return RunView(report, history_url(app, principal.tenant_id, run_id))


async def _report_in(app: App, tenant_id: str, row: StoredChunkedRun) -> RunReport | None:
    """Return the report of a run in a chunk; None if it has left or must. Raises: Unavailable."""
    run_id = row.run_id
    handle = app.temporal.get_workflow_handle(document_chunk_id(tenant_id, row.chunk_id))
    try:
        with engine_errors("run", run_id), worker_errors():
            report: RunReport = await handle.query(STATE, run_id, result_type=RunReport, rpc_timeout=REPORT_TIMEOUT)
            if report.ended_at is not None:
                return report
            description = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        return await with_pending(app, description, report, prefix=f"{run_id}/")
    except (NotFound, WorkflowQueryFailedError):  # Temporal has deleted it, or the run is not in it any more
        return None
    except Unavailable as error:
        with suppress(NotFound):
            if await end_stuck(app, tenant_id, row.chunk_id):
                return None
        if error.service != WORKER:
            raise
        return _recorded(tenant_id, row)


def _recorded(tenant_id: str, row: StoredChunkedRun) -> RunReport:
    """Return what a run's row alone says."""
    return RunReport(
        run_id=row.run_id,
        tenant_id=tenant_id,
        definition_id=row.run_id.partition(".")[0],
        version=row.version,
        digest="",
        status=RunStatus(row.status or RunStatus.RUNNING),
        why=(UNANSWERED,),
    )
