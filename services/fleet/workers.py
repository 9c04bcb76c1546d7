"""Show the workers and their task queues, from the heartbeats that workers send to Temporal.

Temporal keeps each process's heartbeats apart, also of several processes with one host name, and describes its queues
itself: Docrail stores nothing about workers. A killed and a frozen process look alike: both are silent.
"""

import asyncio
import datetime as dt
from collections.abc import Iterable, Sequence
from itertools import chain, groupby

from temporalio.api.enums.v1 import TaskQueueType, WorkerStatus
from temporalio.api.taskqueue.v1 import TaskQueueStats
from temporalio.api.worker.v1 import WorkerHeartbeat, WorkerSlotsInfo
from temporalio.service import RPCError, RPCStatusCode

from docrail.services.app import App
from docrail.services.engine import engine_errors
from docrail.services.errors import Unavailable
from docrail.services.fleet.health import (
    LONGEST_HEARTBEAT_SECONDS,
    describe_queue,
    interval_of,
    is_lost,
    list_heartbeats,
)
from docrail.services.fleet.models import Fleet, QueueState, Slots, TaskKind, Worker, WorkerQueue, WorkerState
from docrail.workflows.contract.names import VERSION_PREFIX, batch_queue, tag_queue

SHOWN_SILENT = dt.timedelta(hours=1)
"""How long a worker is listed after its last heartbeat. One that stopped as it should is not listed at all."""

USUAL_HEARTBEAT_SECONDS = 5.0
"""Default of the setting: of a stopping worker, whose interval is not known."""

_KINDS = {
    TaskKind.RUNS: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    TaskKind.STEPS: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
}


async def show_fleet(app: App) -> Fleet:
    """Return all workers and task queues. Raises: Unavailable."""
    tags = _tags_of(app)
    with engine_errors("task queue", app.task_queue):
        beats = await asyncio.gather(*(_beats(app, queue) for queue in tags))
        workers = workers_of(chain.from_iterable(beats), tags, dt.datetime.now(dt.UTC))
        wanted = [(app.task_queue, TaskKind.RUNS), *((queue, TaskKind.STEPS) for queue in tags)]
        queues = await asyncio.gather(*(_queue(app, tags, each, workers) for each in wanted))
    return Fleet(workers, [*queues])


async def _beats(app: App, queue: str) -> Sequence[WorkerHeartbeat]:
    try:
        return await list_heartbeats(app.temporal, queue)
    except RPCError as error:
        if error.status not in {RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED}:
            raise
        raise Unavailable("Temporal", f"it does not list workers ({error.message})") from error


def _tags_of(app: App) -> dict[str, str | None]:
    """Return every task queue with its resource tag."""
    tagged = {tag_queue(app.task_queue, tag): tag for tag in app.resource_limits}
    return {app.task_queue: None, **tagged, batch_queue(app.task_queue): None}


async def _queue(
    app: App, tags: dict[str, str | None], wanted: tuple[str, TaskKind], workers: Iterable[Worker]
) -> QueueState:
    queue, kind = wanted
    stats: TaskQueueStats = (await describe_queue(app.temporal, queue, _KINDS[kind], stats=True)).stats
    takers = [each for each in workers if each.state is WorkerState.WORKING and _polls(each, queue)]
    return QueueState(
        queue=queue,
        tag=tags[queue],
        tasks=kind,
        waiting=stats.approximate_backlog_count,
        oldest_wait_seconds=stats.approximate_backlog_age.ToTimedelta().total_seconds(),
        added_per_second=round(stats.tasks_add_rate, 2),
        taken_per_second=round(stats.tasks_dispatch_rate, 2),
        workers=len(takers),
    )


def _polls(worker: Worker, queue: str) -> bool:
    return any(each.queue == queue for each in worker.queues)


def workers_of(beats: Iterable[WorkerHeartbeat], tags: dict[str, str | None], now: dt.datetime) -> list[Worker]:
    """Return a worker for each process; `tags` are the task queues with their tags.

    A process has a heartbeat for each of its queues.
    """
    ordered = sorted(beats, key=_process)
    processes = [_worker([*each], tags, now) for _, each in groupby(ordered, key=_process)]
    found = [each for each in processes if each is not None]
    return sorted(found, key=lambda each: (each.host, each.since, each.worker_id))


def _process(beat: WorkerHeartbeat) -> str:
    return beat.host_info.worker_grouping_key or beat.worker_identity


def _worker(beats: Sequence[WorkerHeartbeat], tags: dict[str, str | None], now: dt.datetime) -> Worker | None:
    """Return the process of these heartbeats; None if it has stopped, or is silent for too long."""
    interval = _interval(beats)
    running = [each for each in beats if not _has_stopped(each, now, interval)]
    if not running:
        return None
    last = max(running, key=lambda each: each.heartbeat_time.ToDatetime())
    silence = now - last.heartbeat_time.ToDatetime(dt.UTC)
    if silence > SHOWN_SILENT:
        return None
    state = _state(running, is_silent=is_lost(last, now, interval))
    return Worker(
        worker_id=_process(last),
        host=last.host_info.host_name,
        process_id=last.host_info.process_id,
        state=state,
        silent_seconds=round(silence.total_seconds(), 1) if state is WorkerState.SILENT else None,
        since=min(each.start_time.ToDatetime(dt.UTC) for each in running),
        last_heartbeat=last.heartbeat_time.ToDatetime(dt.UTC),
        version=_version(last),
        build=_build(last),
        queues=sorted((_worker_queue(each, tags) for each in running), key=lambda each: each.queue),
    )


def _interval(beats: Sequence[WorkerHeartbeat]) -> float:
    """Return the seconds between a process's heartbeats. The extra one that a stop sends comes earlier."""
    known = max(map(interval_of, beats))
    if all(each.status != WorkerStatus.WORKER_STATUS_RUNNING for each in beats):
        return max(known, USUAL_HEARTBEAT_SECONDS)
    return known or LONGEST_HEARTBEAT_SECONDS


def _has_stopped(beat: WorkerHeartbeat, now: dt.datetime, interval: float) -> bool:
    """Check whether a worker stopped as it should: it drained, and its heartbeats ended."""
    if beat.status == WorkerStatus.WORKER_STATUS_SHUTTING_DOWN:
        return is_lost(beat, now, interval)
    return beat.status == WorkerStatus.WORKER_STATUS_SHUTDOWN


def _state(running: Sequence[WorkerHeartbeat], *, is_silent: bool) -> WorkerState:
    if is_silent:
        return WorkerState.SILENT
    if any(each.status == WorkerStatus.WORKER_STATUS_SHUTTING_DOWN for each in running):
        return WorkerState.DRAINING
    return WorkerState.WORKING


def _version(beat: WorkerHeartbeat) -> str | None:
    names = (each.name for each in beat.plugins)
    return next((name.removeprefix(VERSION_PREFIX) for name in names if name.startswith(VERSION_PREFIX)), None)


def _build(beat: WorkerHeartbeat) -> str | None:
    """Return the build; None of an unversioned worker, for which the SDK makes up an id."""
    own = beat.deployment_version
    return own.build_id if own.deployment_name else None


def _worker_queue(beat: WorkerHeartbeat, tags: dict[str, str | None]) -> WorkerQueue:
    runs = beat.workflow_task_slots_info if tags[beat.task_queue] is None else None
    return WorkerQueue(
        queue=beat.task_queue,
        tag=tags[beat.task_queue],
        runs=None if runs is None else _slots(runs),
        steps=_slots(beat.activity_task_slots_info),
        done=beat.activity_task_slots_info.total_processed_tasks,
        failed=beat.activity_task_slots_info.total_failed_tasks,
    )


def _slots(found: WorkerSlotsInfo) -> Slots:
    used, free = found.current_used_slots, found.current_available_slots
    return Slots(used, None if free < 0 else used + free)
