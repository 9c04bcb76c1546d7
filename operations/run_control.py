"""Pause, resume and abort a run: asked of its worker, answered with the run's new status."""

import asyncio

from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from dag.state import RunStatus
from dag.values import Json
from operations.app import App
from operations.engine import WORKER_TIMEOUT, describe, engine_errors, status_of, worker_errors
from operations.errors import NotFound, WrongState
from operations.principal import Principal
from operations.runs import checked_run_id
from workflows.contract import ABORT, PAUSE, RESUME, WRONG_STATE, workflow_id


async def pause_run(app: App, principal: Principal, run_id: str) -> RunStatus:
    """Start no more steps of the run; what runs goes on. Raises: NotFound, WrongState, Unavailable."""
    return await _update(app, principal, run_id, PAUSE)


async def resume_run(app: App, principal: Principal, run_id: str) -> RunStatus:
    """Let a paused run go on. Raises: NotFound, WrongState, Unavailable."""
    return await _update(app, principal, run_id, RESUME)


async def abort_run(app: App, principal: Principal, run_id: str, reason: str) -> RunStatus:
    """End the run early; its running steps are still being stopped. Raises: NotFound, WrongState, Unavailable."""
    return await _update(app, principal, run_id, ABORT, reason)


async def _update(app: App, principal: Principal, run_id: str, action: str, *arguments: Json) -> RunStatus:
    handle = app.temporal.get_workflow_handle(workflow_id(principal.tenant_id, checked_run_id(run_id)))
    try:
        with engine_errors("run", run_id), worker_errors():
            async with asyncio.timeout(WORKER_TIMEOUT.total_seconds()):
                answer: str = await handle.execute_update(action, args=arguments, rpc_timeout=WORKER_TIMEOUT)
    except NotFound:  # Temporal says so of an ended run too
        ended = await describe(app, principal.tenant_id, run_id)
        raise WrongState(action, status_of(ended)) from None
    except WorkflowUpdateFailedError as error:
        raise WrongState(action, await _refusing_state(app, principal, run_id, error)) from error
    return RunStatus(answer)


async def _refusing_state(app: App, principal: Principal, run_id: str, error: WorkflowUpdateFailedError) -> str:
    """Return the state that refused: the run's own word, or how it ended while it was asked."""
    if isinstance(error.cause, ApplicationError) and error.cause.type == WRONG_STATE:
        return str(error.cause.details[0])
    return status_of(await describe(app, principal.tenant_id, run_id))
