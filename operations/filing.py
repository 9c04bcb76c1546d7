"""Have a worker tell the lake what people decided and corrected, by a sweep: none of it can be forgotten (ADR 21)."""

from temporalio.common import WorkflowIDConflictPolicy

from operations.app import App
from operations.engine import RPC_TIMEOUT, engine_errors
from storage.filing import is_anything_unfiled
from workflows.filing import FILING_TYPE


async def file_what_was_reviewed(app: App) -> None:
    """Start a round if there is anything to file; one that goes on already will do. Raises: Unavailable."""
    if not await is_anything_unfiled(app.db):
        return
    round_id = f"docrail-filing.{app.task_queue}"
    with engine_errors("workflow", round_id):
        await app.temporal.start_workflow(
            FILING_TYPE,
            id=round_id,
            task_queue=app.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            rpc_timeout=RPC_TIMEOUT,
        )
