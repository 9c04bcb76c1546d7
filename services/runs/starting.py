"""Start the workflow of a run."""

from temporalio.common import Priority, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from docrail.dag.values.json_values import Json
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.workflows.contract.names import WORKFLOW_TYPE, RunRequest, attributes_of, workflow_id


async def start_workflow(
    app: App,
    request: RunRequest,
    memo: dict[str, Json],
    priority: Priority,
    policy: WorkflowIDReusePolicy = WorkflowIDReusePolicy.REJECT_DUPLICATE,
) -> bool:
    """Start the workflow and return whether this call created it."""
    with engine_errors("run", request.run_id):
        try:
            await app.temporal.start_workflow(
                WORKFLOW_TYPE,
                request,
                id=workflow_id(request.tenant_id, request.run_id),
                task_queue=app.task_queue,
                id_reuse_policy=policy,
                memo=memo,
                search_attributes=attributes_of(request),
                static_summary=request.definition.get("title") or request.definition["id"],
                priority=priority,
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            return False
    return True
