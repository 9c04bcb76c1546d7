"""Manage the Temporal schedules of a task queue: file maintenance, the SLA watch and the background tasks.

File maintenance can also be run on demand.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowFailureError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.temporal.connection import Connection
from docrail.services.engine import RPC_TIMEOUT, engine_errors, open_client
from docrail.services.errors import OperationError
from docrail.workflows.contract.messages import MaintenanceReport, MaintenanceRequest
from docrail.workflows.contract.names import BACKGROUND_TYPE, MAINTENANCE_FAILED, MAINTENANCE_TYPE, SLA_TYPE

CATCH_UP = timedelta(hours=12)
"""A machine that was off at night runs maintenance in the morning, once."""


SLA_EVERY = timedelta(minutes=5)
"""Maximum delay of an event, while SLAs are counted in hours; each round is one more line in Temporal's list."""

BACKGROUND_EVERY = timedelta(minutes=1)
"""Maximum delay of what a killed process left to do."""


_NOT_ALLOWED = frozenset({RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})
"""Answers of clusters that do not let Docrail create schedules."""


class MaintenanceIncomplete(OperationError):  # noqa: N818  # named for its reason, like every refusal
    """Maintenance was incomplete. The text says what is missing; it is never sent over HTTP."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the maintenance of files {problem}")


async def apply_schedule(connection: Connection, task_queue: str, cron: str) -> str:
    """Schedule file maintenance by `cron` (in UTC; empty: never), and return a message about the change.

    Safe to repeat. A schedule paused by a person stays paused. Raises: Unavailable.
    """
    apply = partial(_replace, task_queue, cron)
    refused = "run `docrail lake compact` every night by other means"
    return await _apply(connection, schedule_id(task_queue), apply, refused)


async def apply_sla_schedule(connection: Connection, task_queue: str, every: timedelta = SLA_EVERY) -> str:
    """Schedule the SLA watch every five minutes, and return a message; empty if it was scheduled already.

    Safe to repeat. A schedule paused by a person stays paused. Raises: Unavailable.
    """
    schedule = _interval(SLA_TYPE, sla_schedule_id(task_queue), task_queue, every)
    message = "scheduled the check for review items that become due: every five minutes"
    refused = "no one is notified of review items that become due"
    return await _apply(connection, sla_schedule_id(task_queue), partial(_create, schedule, message), refused)


async def apply_background_schedule(
    connection: Connection, task_queue: str, every: timedelta = BACKGROUND_EVERY
) -> str:
    """Schedule the background tasks every minute; returns and raises as `apply_sla_schedule`."""
    schedule = _interval(BACKGROUND_TYPE, background_id(task_queue), task_queue, every)
    apply = partial(_create, schedule, "scheduled the background tasks: every minute")
    refused = "start the workflow BackgroundTasks every minute by other means"
    return await _apply(connection, background_id(task_queue), apply, refused)


async def run_maintenance(connection: Connection, task_queue: str) -> MaintenanceReport:
    """Run file maintenance now and return its report; concurrent callers share one run.

    Raises: MaintenanceIncomplete, Unavailable.
    """
    client = await open_client(connection)
    with engine_errors("workflow", schedule_id(task_queue)):
        handle = await client.start_workflow(
            MAINTENANCE_TYPE,
            MaintenanceRequest(),
            id=f"{schedule_id(task_queue)}.now",
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            result_type=MaintenanceReport,
            rpc_timeout=RPC_TIMEOUT,
        )
        try:
            report: MaintenanceReport = await handle.result()
        except WorkflowFailureError as error:
            raise MaintenanceIncomplete(_cause(error)) from error
    return report


def schedule_id(task_queue: str) -> str:
    """Return the id of the schedule of file maintenance; like the others, also the prefix of its workflows' ids."""
    return f"docrail-maintenance.{task_queue}"


def sla_schedule_id(task_queue: str) -> str:
    """Return the id of the SLA schedule."""
    return f"docrail-sla.{task_queue}"


def background_id(task_queue: str) -> str:
    """Return the id of the background schedule."""
    return f"docrail-background.{task_queue}"


async def _apply(
    connection: Connection, name: str, apply: Callable[[ScheduleHandle, Client], Awaitable[str]], refused: str
) -> str:
    """Return the message of `apply`, or what to do if this Temporal does not allow schedules. Raises: Unavailable."""
    client = await open_client(connection)
    with engine_errors("schedule", name):
        try:
            return await apply(client.get_schedule_handle(name), client)
        except RPCError as error:
            if error.status not in _NOT_ALLOWED:
                raise
            return f"this Temporal does not allow schedules: {refused}"


async def _create(schedule: Schedule, message: str, handle: ScheduleHandle, client: Client) -> str:
    try:
        await client.create_schedule(handle.id, schedule, rpc_timeout=RPC_TIMEOUT)
    except ScheduleAlreadyRunningError:
        return ""
    return message


async def _replace(task_queue: str, cron: str, handle: ScheduleHandle, client: Client) -> str:
    """Create the schedule of file maintenance, change it, or without `cron` delete it."""
    if not cron:
        try:
            await handle.delete(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return ""
        return "the lake is no longer compacted automatically"
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(MAINTENANCE_TYPE, MaintenanceRequest(), id=handle.id, task_queue=task_queue),
        spec=ScheduleSpec(cron_expressions=[cron]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
    )
    message = await _create(schedule, f"scheduled the lake's compaction: {cron} (UTC)", handle, client)
    if not message:
        await handle.update(lambda found: _updated(found, schedule), rpc_timeout=RPC_TIMEOUT)
    return message


def _updated(found: ScheduleUpdateInput, schedule: Schedule) -> ScheduleUpdate:
    schedule.state = found.description.schedule.state
    return ScheduleUpdate(schedule)


def _interval(workflow: str, name: str, task_queue: str, every: timedelta) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            workflow, id=name, task_queue=task_queue, execution_timeout=timedelta(minutes=30)
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        # After an outage one pass finds everything that became due meanwhile.
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=90)),
    )


def _cause(error: WorkflowFailureError) -> str:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == MAINTENANCE_FAILED:
        return cause.message
    of_activity = cause.cause if isinstance(cause, ActivityError) else None
    return f"ended as {of_activity or cause}"
