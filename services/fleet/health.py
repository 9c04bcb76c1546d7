"""Check whether new work can be processed: Temporal, PostgreSQL with the shipped definitions, file store, worker."""

import asyncio
import datetime as dt
import json
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

import asyncpg
from pydantic import Field
from temporalio.api.deployment.v1 import WorkerDeploymentVersion
from temporalio.api.enums.v1 import TaskQueueType, WorkerStatus, WorkerVersioningMode
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue, TaskQueueVersioningInfo
from temporalio.api.worker.v1 import WorkerHeartbeat
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse, ListWorkersRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.services.app import App, within
from docrail.services.definitions.service import list_missing
from docrail.services.engine import POLL_SECONDS, RPC_TIMEOUT, engine_errors
from docrail.services.errors import Unavailable
from docrail.services.fleet.repository import ping
from docrail.services.fleet.store_identity import ANOTHER, WrongStore, check_store
from docrail.services.storage_problems import storage_problem

OK = "ok"

CHECK_SECONDS = 1.5
"""Timeout of a probe for one service: `/readyz` is right within two seconds, also if a service is frozen."""

LOST_AFTER = 2.5
"""Intervals without a heartbeat after which a worker counts as lost, as it has missed two: 12.5 s by default. Clocks
must agree that closely."""

LONGEST_HEARTBEAT_SECONDS = 60.0
"""The longest interval, and the SDK's default. A worker's actual interval is known from its second heartbeat."""

MOST_HEARTBEATS = 1000
"""Maximum number of heartbeats in one response. In a larger fleet the other workers are checked by their polls."""

_STOPPING = frozenset({WorkerStatus.WORKER_STATUS_SHUTTING_DOWN, WorkerStatus.WORKER_STATUS_SHUTDOWN})


@dataclass(frozen=True, slots=True)
class Readiness:
    """`ok` for each available service, else a description of the problem."""

    ready: bool
    temporal: Annotated[str, Field(examples=["ok"])]
    postgresql: Annotated[str, Field(examples=["ok"])]
    worker: Annotated[str, Field(examples=["no worker polls the task queue 'docrail'"])]
    store: Annotated[str, Field(examples=["ok"])]
    store_free_bytes: Annotated[int | None, Field(examples=[128_849_018_880])]


async def check_readiness(app: App) -> Readiness:
    """Check each service. Never raises if one is unavailable."""
    checks = _check_temporal(app), _check_postgresql(app), _check_store(app)
    (temporal, worker), postgresql, (store, free) = await asyncio.gather(*checks)
    return Readiness({temporal, postgresql, worker, store} == {OK}, temporal, postgresql, worker, store, free)


async def find_frozen(app: App) -> Unavailable | None:
    """Return the refusal for a service that does not answer; None if all do, with an answer or an error."""
    probes = {
        "PostgreSQL": ping(app.db),
        "Temporal": app.temporal.service_client.check_health(timeout=timedelta(seconds=CHECK_SECONDS)),
        "the file store": app.blobs.probe(),
    }
    frozen = await asyncio.gather(*(_is_frozen(probe) for probe in probes.values()))
    found = [name for name, is_frozen in zip(probes, frozen, strict=True) if is_frozen]
    return Unavailable(" and ".join(found), f"no answer within {CHECK_SECONDS:g} s") if found else None


async def _is_frozen(probe: Coroutine[Any, Any, object]) -> bool:
    try:
        await within(CHECK_SECONDS, probe)
    except TimeoutError:
        return True
    except RPCError as error:
        return error.status in (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)
    except (OSError, RuntimeError, *DATABASE_ERRORS):  # it refuses at once, and so it does to the request itself
        return False
    return False


async def _check_temporal(app: App) -> tuple[str, str]:
    try:
        with engine_errors("task queue", app.task_queue):
            queue, heartbeats = await within(CHECK_SECONDS, _describe(app.temporal, app.task_queue))
    except Unavailable as error:
        return str(error), "unknown while Temporal does not answer"
    takers = [poller for poller in queue.pollers if gets_new_runs(poller, queue.versioning_info)]
    if queue.pollers and not takers:
        return OK, _builds_without_runs(app.task_queue, queue.pollers, queue.versioning_info)
    return OK, check_workers(app.task_queue, takers, heartbeats, dt.datetime.now(dt.UTC))


async def find_polling_fault(client: Client, task_queue: str) -> str | None:
    """Return why this process's own worker gets no work from the task queue; None: it polls. Never raises."""
    try:
        with engine_errors("task queue", task_queue):
            queue, heartbeats = await within(CHECK_SECONDS, _describe(client, task_queue))
    except Unavailable as error:
        return str(error)
    own = [poller for poller in queue.pollers if poller.identity == client.identity]
    if not own:
        return f"this worker does not poll the task queue {task_queue!r}"
    found = check_workers(task_queue, own, heartbeats, dt.datetime.now(dt.UTC))
    return None if found == OK else found


async def _describe(client: Client, task_queue: str) -> tuple[DescribeTaskQueueResponse, Sequence[WorkerHeartbeat]]:
    queue = await describe_queue(client, task_queue, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)
    return queue, await load_heartbeats(client, task_queue)


async def describe_queue(
    client: Client, task_queue: str, kind: TaskQueueType.ValueType, *, stats: bool = False
) -> DescribeTaskQueueResponse:
    """Return the pollers of a task queue, and the build that its new runs go to; with `stats`, what waits in it.

    Raises: RPCError.
    """
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=kind,
        report_stats=stats,
    )
    return await client.workflow_service.describe_task_queue(request, timeout=RPC_TIMEOUT)


async def load_heartbeats(client: Client, task_queue: str) -> Sequence[WorkerHeartbeat]:
    """Return the workers' heartbeats; empty if this Temporal does not provide them (older server, or not permitted)."""
    try:
        return await list_heartbeats(client, task_queue)
    except RPCError:
        return []


async def list_heartbeats(client: Client, task_queue: str) -> Sequence[WorkerHeartbeat]:
    """Return the last heartbeat of each worker of the queue. Raises: RPCError."""
    query = f"TaskQueue = {json.dumps(task_queue, ensure_ascii=False)}"
    request = ListWorkersRequest(namespace=client.namespace, query=query, page_size=MOST_HEARTBEATS)
    answer = await client.workflow_service.list_workers(request, timeout=RPC_TIMEOUT)
    return [worker.worker_heartbeat for worker in answer.workers_info]


def gets_new_runs(poller: PollerInfo, routing: TaskQueueVersioningInfo) -> bool:
    """Check whether a worker gets new runs: it is of a chosen build or, if none is chosen, unversioned."""
    own = poller.deployment_options
    if own.worker_versioning_mode != WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED:
        return not routing.current_deployment_version.build_id
    chosen: list[WorkerDeploymentVersion] = [routing.current_deployment_version]
    if routing.ramping_version_percentage:
        chosen.append(routing.ramping_deployment_version)
    return any((own.deployment_name, own.build_id) == (build.deployment_name, build.build_id) for build in chosen)


def _builds_without_runs(task_queue: str, pollers: Sequence[PollerInfo], routing: TaskQueueVersioningInfo) -> str:
    """Return why none of the polling workers gets new runs, and what to do."""
    polling = sorted({poller.deployment_options.build_id or "none" for poller in pollers})
    current = routing.current_deployment_version.build_id or "none"
    return (
        f"no worker that polls the task queue {task_queue!r} gets new runs: the current build is {current}, and those "
        f"that poll are of {', '.join(polling)}. Run `temporal worker deployment set-current-version`"
    )


def check_workers(
    task_queue: str, pollers: Sequence[PollerInfo], heartbeats: Sequence[WorkerHeartbeat], now: dt.datetime
) -> str:
    """Return `ok` if a polling worker is alive, else what happened to the last one.

    A killed worker remains listed as a poller for minutes, and a live one's last poll may be a minute old: heartbeats
    are more current. Heartbeats are only used to rule a poller out. A poller without one counts as alive, because
    Temporal loses all heartbeats when it restarts and old servers and workers have none.
    """
    if not pollers:
        return f"no worker polls the task queue {task_queue!r}"
    latest_first = sorted(pollers, key=lambda poller: poller.last_access_time.ToDatetime(), reverse=True)
    faults = [_fault(poller, heartbeats, now) for poller in latest_first]
    return OK if None in faults else f"no worker polls the task queue {task_queue!r}: the last one {faults[0]}"


def _fault(poller: PollerInfo, heartbeats: Sequence[WorkerHeartbeat], now: dt.datetime) -> str | None:
    silent = (now - poller.last_access_time.ToDatetime(dt.UTC)).total_seconds()
    if silent > POLL_SECONDS:
        return f"polled {silent:.0f} s ago"
    # Several workers may share an identity, process@host: a container's next worker has that of its dead predecessor,
    # and polls before its own first heartbeat. A worker that stops does not poll again.
    beats = (beat for beat in heartbeats if beat.worker_identity == poller.identity)
    faults = [_heartbeat_fault(beat, now) for beat in beats if not _stopped_before(beat, poller)]
    return None if not faults or None in faults else faults[-1]


def _stopped_before(heartbeat: WorkerHeartbeat, poller: PollerInfo) -> bool:
    last_poll, last_beat = poller.last_access_time.ToDatetime(), heartbeat.heartbeat_time.ToDatetime()
    return heartbeat.status in _STOPPING and last_beat < last_poll


def _heartbeat_fault(heartbeat: WorkerHeartbeat, now: dt.datetime) -> str | None:
    if heartbeat.status in _STOPPING:
        return "is stopping"
    if not is_lost(heartbeat, now):
        return None
    return f"sent its last heartbeat {_age(heartbeat, now):.0f} s ago"


def is_lost(heartbeat: WorkerHeartbeat, now: dt.datetime, interval: float | None = None) -> bool:
    """Check whether the next heartbeats should have arrived; `interval` is that of its process, if known."""
    interval = interval or interval_of(heartbeat) or LONGEST_HEARTBEAT_SECONDS
    return _age(heartbeat, now) > LOST_AFTER * interval


def interval_of(heartbeat: WorkerHeartbeat) -> float:
    """Return the seconds since the heartbeat before it; 0 if there was none, or for the one that a stop sends."""
    return heartbeat.elapsed_since_last_heartbeat.ToTimedelta().total_seconds()


def _age(heartbeat: WorkerHeartbeat, now: dt.datetime) -> float:
    return (now - heartbeat.heartbeat_time.ToDatetime(dt.UTC)).total_seconds()


async def _check_postgresql(app: App) -> str:
    try:
        missing = await within(CHECK_SECONDS, list_missing(app))
    except (asyncpg.InvalidParameterValueError, asyncpg.UndefinedTableError):  # no role to become, no table
        return "the database is not migrated: run `docrail server migrate`"
    except (OSError, TimeoutError, *DATABASE_ERRORS) as error:
        return f"PostgreSQL is not available: {storage_problem(error)}"
    return f"not published yet: {', '.join(missing)}; run `docrail server migrate`" if missing else OK


async def _check_store(app: App) -> tuple[str, int | None]:
    """Return the store's state, and its free space if that is known."""
    try:
        free = await within(CHECK_SECONDS, app.blobs.probe())
    except TimeoutError:
        return f"the file store does not answer within {CHECK_SECONDS:g} s", None
    except OSError as error:
        return f"the file store is not available: {storage_problem(error)}", None
    try:
        await within(CHECK_SECONDS, check_store(app.db, app.store))
    except WrongStore:
        return ANOTHER, None
    except (OSError, *DATABASE_ERRORS):  # of the database, as the store has just answered: `postgresql` says so
        return OK, free
    return OK, free
