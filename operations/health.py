"""Tell whether work that comes in now can be done: Temporal, PostgreSQL with what we ship, a polling worker."""

import asyncio
import datetime as dt
from dataclasses import dataclass

import asyncpg
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse

from operations.app import App
from operations.definitions import shipped_files
from operations.engine import RPC_TIMEOUT, engine_errors
from operations.errors import Unavailable
from operations.principal import DEFAULT_TENANT
from storage.definitions import load_definition

OK = "ok"

CHECK_SECONDS = 5.0
"""Most that a probe waits for one service; load balancers give up after about ten seconds."""

POLL_SECONDS = 90.0
"""An idle worker polls anew every 60 s (Temporal's long poll), so one that was not seen for longer is gone."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """`ok` for each thing that is there, else what is wrong with it in words."""

    temporal: str
    postgresql: str
    worker: str

    @property
    def ready(self) -> bool:
        """Tell whether everything is there."""
        return {self.temporal, self.postgresql, self.worker} == {OK}


async def check_readiness(app: App) -> Readiness:
    """Ask each service. Never raises for one that is away."""
    (temporal, worker), postgresql = await asyncio.gather(_check_temporal(app), _check_postgresql(app))
    return Readiness(temporal, postgresql, worker)


async def _check_temporal(app: App) -> tuple[str, str]:
    queue = TaskQueue(name=app.task_queue)
    request = DescribeTaskQueueRequest(
        namespace=app.temporal.namespace, task_queue=queue, task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
    )
    try:
        with engine_errors("task queue", app.task_queue):
            async with asyncio.timeout(CHECK_SECONDS):
                answer = await app.temporal.workflow_service.describe_task_queue(request, timeout=RPC_TIMEOUT)
    except Unavailable as error:
        return str(error), "unknown: Temporal tells which workers poll"
    return OK, _check_pollers(app.task_queue, answer)


def _check_pollers(task_queue: str, answer: DescribeTaskQueueResponse) -> str:
    now = dt.datetime.now(dt.UTC)
    seen = [poller.last_access_time.ToDatetime(dt.UTC) for poller in answer.pollers]
    if not seen:
        return f"no worker polls the task queue {task_queue!r}"
    silent = (now - max(seen)).total_seconds()
    return OK if silent <= POLL_SECONDS else f"no worker polled the task queue {task_queue!r} for {silent:.0f} s"


async def _check_postgresql(app: App) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            missing = [
                path.stem
                for path in shipped_files()
                if await load_definition(app.db, DEFAULT_TENANT, path.stem) is None
            ]
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return f"PostgreSQL is not available: {type(error).__name__}"
    return f"not published yet: {', '.join(missing)}" if missing else OK
