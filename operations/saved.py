"""What an ended run leaves for a retry: the request it was started with, and the state in which it ended."""

from temporalio.client import WorkflowExecutionDescription, WorkflowQueryFailedError

from dag.values import Json
from operations.app import App
from operations.engine import MAX_REQUEST_BYTES, RPC_TIMEOUT, WORKER_TIMEOUT, engine_errors, worker_errors
from operations.errors import TooLarge
from workflows.contract import SAVED, RunRequest, run_id_of


async def request_of(app: App, description: WorkflowExecutionDescription) -> RunRequest:
    """Return what a run was started with, out of the first event of its history. Raises: NotFound, Unavailable."""
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    with engine_errors("run", run_id_of(description.id)):
        first = await anext(handle.fetch_history_events(page_size=1, rpc_timeout=RPC_TIMEOUT))
    payloads = first.workflow_execution_started_event_attributes.input.payloads
    [request] = await app.temporal.data_converter.decode(payloads, [RunRequest])
    assert isinstance(request, RunRequest)
    return request


async def saved_state(app: App, description: WorkflowExecutionDescription) -> dict[str, Json]:
    """Return the state in which a run ended: a worker replays it. Raises: NotFound, Unavailable, TooLarge."""
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    try:
        with engine_errors("run", run_id_of(description.id)), worker_errors():
            saved: dict[str, Json] = await handle.query(SAVED, rpc_timeout=WORKER_TIMEOUT)
    except WorkflowQueryFailedError as error:  # a state can always be told, unless Temporal cannot carry it
        raise TooLarge(MAX_REQUEST_BYTES) from error
    return saved
