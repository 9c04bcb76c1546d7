"""The schedules in Temporal that run every minute, each once for a task queue: SLAs, and background tasks."""

from datetime import timedelta

from temporalio.client import (
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)
from temporalio.service import RPCError, RPCStatusCode

from operations.connection import Connection
from operations.engine import RPC_TIMEOUT, engine_errors, open_client
from workflows.background import BACKGROUND_TYPE
from workflows.sla import SLA_TYPE

EVERY = timedelta(minutes=1)
"""An event comes at most this late, where SLAs are counted in hours."""

_NOT_KEPT = frozenset({RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})
"""Answers of clusters whose rules are not ours."""


async def apply_sla_schedule(connection: Connection, task_queue: str, every: timedelta = EVERY) -> str:
    """Make Temporal look at the SLAs every minute, and return what to say of it; empty if it did so already.

    Safe to repeat. One that a person paused stays paused. Raises: Unavailable.
    """
    schedule = _schedule(SLA_TYPE, schedule_id(task_queue), task_queue, every)
    created = await _create(connection, schedule_id(task_queue), schedule)
    if created is None:
        return "this Temporal keeps no schedules for us: no one is notified of review items that become due"
    return "scheduled the look at review items that become due: every minute" if created else ""


async def apply_background_schedule(connection: Connection, task_queue: str, every: timedelta = EVERY) -> str:
    """Make Temporal run the background tasks every minute; returns and raises as `apply_sla_schedule`."""
    name = background_id(task_queue)
    created = await _create(connection, name, _schedule(BACKGROUND_TYPE, name, task_queue, every))
    if created is None:
        return "this Temporal keeps no schedules for us: start the workflow BackgroundTasks every minute by other means"
    return "scheduled the background tasks: every minute" if created else ""


def schedule_id(task_queue: str) -> str:
    """Return the id of the schedule of SLAs, and the start of its workflows' ids."""
    return f"docrail-sla.{task_queue}"


def background_id(task_queue: str) -> str:
    """Return the id of the schedule of background tasks, and the start of its workflows' ids."""
    return f"docrail-background.{task_queue}"


async def _create(connection: Connection, name: str, schedule: Schedule) -> bool | None:
    """Return whether the schedule was created now; None if this Temporal does not let us keep schedules."""
    client = await open_client(connection)
    with engine_errors("schedule", name):
        try:
            await client.create_schedule(name, schedule, rpc_timeout=RPC_TIMEOUT)
        except ScheduleAlreadyRunningError:
            return False
        except RPCError as error:
            if error.status not in _NOT_KEPT:
                raise
            return None
    return True


def _schedule(workflow: str, name: str, task_queue: str, every: timedelta) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            workflow, id=name, task_queue=task_queue, execution_timeout=timedelta(minutes=30)
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        # After an outage one look finds everything that became due meanwhile.
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=90)),
    )
