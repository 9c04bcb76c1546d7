"""Find the workflow of a run. One that shares a workflow with others moves to one of its own when it is looked for."""

from typing import Any

from temporalio.client import WorkflowExecutionDescription, WorkflowHandle

from docrail.services import engine
from docrail.services.app import App
from docrail.services.errors import NotFound
from docrail.services.runs.ended_runs import load_ended
from docrail.services.runs.leaving import move_out
from docrail.workflows.contract.names import workflow_id


async def describe(app: App, tenant_id: str, run_id: str) -> WorkflowExecutionDescription:
    """Return what Temporal's server knows about a run. Raises: NotFound, Unavailable."""
    try:
        return await engine.describe(app, tenant_id, run_id)
    except NotFound:
        try:
            has_moved = await move_out(app, tenant_id, run_id)
        except NotFound:  # its chunk is gone
            has_moved = False
        if not has_moved:
            if ended := await load_ended(app.db, tenant_id, run_id):
                raise NotFound("run", run_id, ended_at=ended.ended_at) from None
            raise
    return await engine.describe(app, tenant_id, run_id)


async def handle_of(app: App, tenant_id: str, run_id: str) -> WorkflowHandle[Any, Any]:
    """Return the handle of a run's workflow, for a query or an update. Raises: NotFound, Unavailable."""
    await move_out(app, tenant_id, run_id)
    return app.temporal.get_workflow_handle(workflow_id(tenant_id, run_id))
