"""When review items' SLAs are looked at: by a schedule in Temporal, one for each task queue."""

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
from workflows.sla import SLA_TYPE

EVERY = timedelta(minutes=1)
"""An event comes at most this late, where SLAs are counted in hours."""

_NOT_KEPT = frozenset({RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})
"""Answers of clusters whose rules are not ours."""


async def apply_sla_schedule(connection: Connection, task_queue: str, every: timedelta = EVERY) -> str:
    """Make Temporal look at the SLAs every minute, and return what to say of it; empty if it did so already.

    Safe to repeat. One that a person paused stays paused. Raises: Unavailable.
    """
    client = await open_client(connection)
    name = schedule_id(task_queue)
    with engine_errors("schedule", name):
        try:
            await client.create_schedule(name, _schedule(task_queue, every), rpc_timeout=RPC_TIMEOUT)
        except ScheduleAlreadyRunningError:
            return ""
        except RPCError as error:
            if error.status not in _NOT_KEPT:
                raise
            return "this Temporal keeps no schedules for us: nobody is told of review items that become due"
    return "scheduled the look at review items that become due: every minute"


def schedule_id(task_queue: str) -> str:
    """Return the schedule's id, and what its workflows' ids begin with."""
    return f"docrail-sla.{task_queue}"


def _schedule(task_queue: str, every: timedelta) -> Schedule:
    name = schedule_id(task_queue)
    return Schedule(
        action=ScheduleActionStartWorkflow(
            SLA_TYPE, id=name, task_queue=task_queue, execution_timeout=timedelta(minutes=30)
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        # After an outage one look finds everything that became due meanwhile.
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=90)),
    )
