"""Call Temporal for the other services: translate its errors into refusals and its statuses into run statuses."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from urllib.parse import quote

from google.protobuf.descriptor import Descriptor
from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure, WorkflowNotReadyFailure
from temporalio.client import (
    Client,
    RPCTimeoutOrCancelledError,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
)
from temporalio.service import RetryConfig, RPCError, RPCStatusCode

from docrail.adapters.temporal.codec import PayloadKeyError
from docrail.adapters.temporal.connection import Connection, connect
from docrail.adapters.temporal.keys import SETTING
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus
from docrail.services.app import App
from docrail.services.errors import InvalidInput, NotFound, Unavailable
from docrail.workflows.contract.names import (
    DEFINITION,
    SEARCH_ATTRIBUTES,
    STATUS,
    TENANT,
    WORKFLOW_TYPE,
    run_id_of,
    workflow_id,
)


def temporal_unreachable(error: Unavailable, connection: Connection) -> str:
    """Return the startup message for an unreachable Temporal: the address that was tried, and the cause."""
    cause = str(error.__cause__ or "no reason was given")
    reason = re.findall(r'message: "([^"]+)"', cause)  # the Rust core nests its errors around this part
    return (
        f"{error} (its address is {connection.address}): {reason[-1] if reason else cause}; "
        "is it running? `docrail up` starts one, and DOCRAIL_TEMPORAL_ADDRESS is its address"
    )


RPC_TIMEOUT = timedelta(seconds=3)
"""Timeout of a call to Temporal's server. It answers in milliseconds or not at all, and a caller learns within 5 s."""


WORKER_TIMEOUT = timedelta(seconds=10)
"""Timeout of a query or an update that a worker must answer."""


SERVER_RETRIES = RetryConfig(max_elapsed_time_millis=2000)
"""The SDK's own retries, shortened: an HTTP caller should learn quickly that Temporal is unavailable."""


MAX_REQUEST_BYTES = 1_900_000
"""Temporal accepts 2 MiB as a workflow's argument: larger definitions, inputs and states cannot be passed on."""


ALL_RUNS = f'WorkflowType = "{WORKFLOW_TYPE}" AND {TENANT.name} IS NOT NULL AND {DEFINITION.name} IS NOT NULL'
"""Query of the runs of all tenants. Others may use the namespace too, with workflows of the same name."""


WORKER = "worker"
"""Name of the service in `Unavailable` when no worker answers."""


CONNECT_FAILED = "Failed client connect"
"""Start of the SDK's RuntimeError when a lazy client cannot reach the server."""


_UNREACHABLE = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.UNKNOWN,  # the server's answer while its own database is unavailable
        RPCStatusCode.INTERNAL,
    }
)


_NO_ANSWER = frozenset({RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED})
"""FAILED_PRECONDITION: "no poller seen for task queue recently"."""


_STATUSES = {
    WorkflowExecutionStatus.RUNNING: RunStatus.RUNNING,
    WorkflowExecutionStatus.CONTINUED_AS_NEW: RunStatus.RUNNING,
    WorkflowExecutionStatus.COMPLETED: RunStatus.COMPLETED,
    WorkflowExecutionStatus.FAILED: RunStatus.FAILED,
    WorkflowExecutionStatus.TIMED_OUT: RunStatus.FAILED,
    WorkflowExecutionStatus.CANCELED: RunStatus.CANCELLED,
    WorkflowExecutionStatus.TERMINATED: RunStatus.FAILED,  # by the server itself, or by force
}


async def open_client(connection: Connection) -> Client:
    """Return a client that connects on first use: Temporal may start later, stop and come back."""
    return await connect(connection, lazy=True, retry_config=SERVER_RETRIES)


@contextmanager
def engine_errors(kind: str, wanted: str) -> Iterator[None]:
    """Translate Temporal's errors about one object into refusals. Raises: NotFound, InvalidInput, Unavailable."""
    try:
        yield
    except RPCError as error:
        if _is_unprepared(error):
            missing = error.message.rstrip(".")
            unprepared = f"its namespace is not prepared for runs, run `docrail server migrate` ({missing})"
            raise Unavailable("Temporal", unprepared) from error
        if error.status is RPCStatusCode.NOT_FOUND:
            raise NotFound(kind, wanted) from error
        if error.status is RPCStatusCode.INVALID_ARGUMENT:
            raise InvalidInput([InputProblem(kind, error.message)]) from error
        if error.status in _UNREACHABLE:
            raise Unavailable("Temporal", error.message) from error
        raise
    except (RPCTimeoutOrCancelledError, TimeoutError) as error:
        raise Unavailable("Temporal", "no answer in time") from error
    except PayloadKeyError as error:
        raise Unavailable("Temporal", str(error)) from error
    except RuntimeError as error:
        if not str(error).startswith(CONNECT_FAILED):
            raise
        raise Unavailable("Temporal", "it cannot be reached") from error


def _is_unprepared(error: RPCError) -> bool:
    """Check whether the namespace or a search attribute that `docrail server migrate` registers is missing."""
    if error.status is RPCStatusCode.INVALID_ARGUMENT:
        # Only the text shows it, as "no mapping defined for search attribute DocrailTenant".
        return any(key.name in error.message for key in SEARCH_ATTRIBUTES)
    return _has_detail(error, NamespaceNotFoundFailure.DESCRIPTOR)


def is_not_ready(refusal: Unavailable) -> bool:
    """Return whether Temporal passes no query on, as the workflow's task fails, or failed when it was terminated."""
    cause = refusal.__cause__
    return isinstance(cause, RPCError) and _has_detail(cause, WorkflowNotReadyFailure.DESCRIPTOR)


def _has_detail(error: RPCError, kind: Descriptor) -> bool:
    details = () if error.grpc_status is None else error.grpc_status.details
    return any(detail.Is(kind) for detail in details)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Translate missing answers of workers into a refusal, for calls that a worker must answer. Raises: Unavailable."""
    try:
        yield
    except RPCError as error:
        if error.status not in _NO_ANSWER:
            raise
        raise Unavailable(WORKER, error.message) from error
    except WorkflowQueryFailedError as error:
        if SETTING not in str(error):
            raise
        raise Unavailable(WORKER, str(error)) from error  # our own question was encrypted with a key that it lacks
    except (RPCTimeoutOrCancelledError, TimeoutError) as error:
        raise Unavailable(WORKER, "no worker answered in time") from error


async def describe(app: App, tenant_id: str, run_id: str) -> WorkflowExecutionDescription:
    """Return what Temporal's server knows about a run, without asking a worker. Raises: NotFound, Unavailable."""
    with engine_errors("run", run_id):
        handle = app.temporal.get_workflow_handle(workflow_id(tenant_id, run_id))
        return await handle.describe(rpc_timeout=RPC_TIMEOUT)


def failed_tasks(description: WorkflowExecutionDescription) -> int:
    """Return how many times in a row the current workflow task of a workflow has failed."""
    return max(description.raw_description.pending_workflow_task.attempt - 1, 0)


def blocked(app: App, description: WorkflowExecutionDescription) -> Unavailable | None:
    """Return the refusal for a run whose workflow task fails, so that no worker can continue it or answer for it.

    None: it does not fail.
    """
    failures = failed_tasks(description)
    if failures < 1:
        return None
    tenant_id, run_id = description.id.partition("/")[0], run_id_of(description.id)
    times = f"{failures} times in a row" if failures > 1 else "once"
    where = history_url(app, tenant_id, run_id) or "the worker's log does too"
    text = f"its workflow task has failed {times}, its history shows why: {where}"
    ends = f"`docrail run abort {run_id} --reason TEXT --force`, or an abort with `force: true` in the API, ends it"
    return Unavailable("the run", f"{text}; it continues once the cause is fixed; {ends}")


@asynccontextmanager
async def worker_answers(app: App, tenant_id: str, run_id: str) -> AsyncIterator[None]:
    """Translate errors of a call to a run's worker in the block.

    Raises: NotFound; Unavailable, with the reason if the run's workflow task fails.
    """
    try:
        with engine_errors("run", run_id), worker_errors():
            yield
    except Unavailable as error:
        # Describe the run only now: its task may have failed since the call was made.
        raise blocked(app, await describe(app, tenant_id, run_id)) or error from error


def status_of(execution: WorkflowExecution) -> RunStatus:
    """Return a run's status as users see it: Temporal's, refined by the interpreter's status attribute if set."""
    assert execution.status is not None, "Temporal always returns a status"
    status = _STATUSES[execution.status]
    own = execution.typed_search_attributes.get(STATUS)
    if status is RunStatus.RUNNING:
        return RunStatus(own) if own in (RunStatus.PAUSED, RunStatus.WAITING) else status
    return RunStatus.ABORTED if own == RunStatus.ABORTED else status


def history_url(app: App, tenant_id: str, run_id: str) -> str:
    """Return the address of the run's history in Temporal's web UI; empty if there is none."""
    return workflow_url(app, workflow_id(tenant_id, run_id))


def workflow_url(app: App, workflow: str) -> str:
    """Return the address of a workflow's history in Temporal's web UI; empty if there is none."""
    if not app.temporal_ui_url:
        return ""
    escaped = quote(workflow, safe="")
    return f"{app.temporal_ui_url.rstrip('/')}/namespaces/{app.temporal.namespace}/workflows/{escaped}"


POLL_SECONDS = 90.0
"""Age in seconds after which a poller counts as gone: an idle worker polls every 60 s (Temporal's long poll)."""
