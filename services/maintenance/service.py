"""Manage the Temporal schedules of a task queue: file maintenance, the SLA watch and the background tasks.

File maintenance can also be run on demand.
"""

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowFailureError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.temporal.connection import Connection
from docrail.services.engine import RPC_TIMEOUT, engine_errors, open_client
from docrail.services.errors import OperationError
from docrail.workflows.contract.messages import MaintenanceReport, MaintenanceRequest
from docrail.workflows.contract.names import BACKGROUND_TYPE, MAINTENANCE_FAILED, MAINTENANCE_TYPE, SLA_TYPE

CATCH_UP = timedelta(hours=12)
"""A machine that was off at night runs maintenance in the morning, once."""


_NOT_KEPT = frozenset(
    {RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}
)  # clusters that do not let Docrail keep schedules


class MaintenanceIncomplete(OperationError):  # noqa: N818  # named for what it says, like every refusal
    """Maintenance was incomplete. The text says what is missing; it is never sent over HTTP."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the round over the files {problem}")


async def apply_schedule(connection: Connection, task_queue: str, cron: str) -> str:
    """Schedule file maintenance by `cron` (in UTC; empty: never), and return a message about the change.

    Safe to repeat. A schedule paused by a person stays paused. Raises: Unavailable.
    """
    client = await open_client(connection)
    with engine_errors("schedule", schedule_id(task_queue)):
        try:
            return await _apply(client, task_queue, cron)
        except RPCError as error:
            if error.status not in _NOT_KEPT:
                raise
            return "this Temporal keeps no schedules for us: run `docrail lake compact` every night by other means"


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
            raise MaintenanceIncomplete(_told(error)) from error
    return report


def schedule_id(task_queue: str) -> str:
    """Return the schedule's id, which is also the prefix of its workflows' ids."""
    return f"docrail-maintenance.{task_queue}"


async def _apply(client: Client, task_queue: str, cron: str) -> str:
    handle = client.get_schedule_handle(schedule_id(task_queue))
    if not cron:
        try:
            await handle.delete(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return ""
        return "the lake is no longer compacted by itself"
    schedule = _schedule(task_queue, cron)
    try:
        await client.create_schedule(schedule_id(task_queue), schedule, rpc_timeout=RPC_TIMEOUT)
    except ScheduleAlreadyRunningError:
        await handle.update(lambda found: _updated(found, schedule), rpc_timeout=RPC_TIMEOUT)
        return ""
    return f"scheduled the lake's compaction: {cron} (UTC)"


def _schedule(task_queue: str, cron: str) -> Schedule:
    name = schedule_id(task_queue)
    return Schedule(
        action=ScheduleActionStartWorkflow(MAINTENANCE_TYPE, MaintenanceRequest(), id=name, task_queue=task_queue),
        spec=ScheduleSpec(cron_expressions=[cron]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
    )


def _updated(found: ScheduleUpdateInput, schedule: Schedule) -> ScheduleUpdate:
    schedule.state = found.description.schedule.state
    return ScheduleUpdate(schedule)


def _told(error: WorkflowFailureError) -> str:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == MAINTENANCE_FAILED:
        return cause.message
    return f"ended as {cause}"


EVERY = timedelta(minutes=1)
"""Maximum delay of an event, while SLAs are counted in hours."""


async def apply_sla_schedule(connection: Connection, task_queue: str, every: timedelta = EVERY) -> str:
    """Schedule the SLA watch every minute, and return a message; empty if it was scheduled already.

    Safe to repeat. A schedule paused by a person stays paused. Raises: Unavailable.
    """
    schedule = _sla_schedule(SLA_TYPE, sla_schedule_id(task_queue), task_queue, every)
    created = await _create(connection, sla_schedule_id(task_queue), schedule)
    if created is None:
        return "this Temporal keeps no schedules for us: no one is notified of review items that become due"
    return "scheduled the look at review items that become due: every minute" if created else ""


async def apply_background_schedule(connection: Connection, task_queue: str, every: timedelta = EVERY) -> str:
    """Schedule the background tasks every minute; returns and raises as `apply_sla_schedule`."""
    name = background_id(task_queue)
    created = await _create(connection, name, _sla_schedule(BACKGROUND_TYPE, name, task_queue, every))
    if created is None:
        return "this Temporal keeps no schedules for us: start the workflow BackgroundTasks every minute by other means"
    return "scheduled the background tasks: every minute" if created else ""


def sla_schedule_id(task_queue: str) -> str:
    """Return the id of the SLA schedule, which is also the prefix of its workflows' ids."""
    return f"docrail-sla.{task_queue}"


def background_id(task_queue: str) -> str:
    """Return the id of the background schedule, which is also the prefix of its workflows' ids."""
    return f"docrail-background.{task_queue}"


async def _create(connection: Connection, name: str, schedule: Schedule) -> bool | None:
    """Return whether the schedule was created now; None if this Temporal does not let Docrail keep schedules."""
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


def _sla_schedule(workflow: str, name: str, task_queue: str, every: timedelta) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            workflow, id=name, task_queue=task_queue, execution_timeout=timedelta(minutes=30)
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        # After an outage one pass finds everything that became due meanwhile.
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=90)),
    )
