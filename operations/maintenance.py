"""When the round over the files runs: by a schedule in Temporal, one for each task queue, or now if somebody asks."""

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
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

from dag.maintenance import MaintenanceReport, MaintenanceRequest
from operations.connection import Connection
from operations.engine import RPC_TIMEOUT, engine_errors, open_client
from operations.errors import OperationError
from workflows.maintenance import MAINTENANCE_FAILED, MAINTENANCE_TYPE

CATCH_UP = timedelta(hours=12)
"""A machine that was off at night does the round in the morning, and once."""

_NOT_KEPT = frozenset(
    {RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}
)  # clusters whose rules are not ours


class MaintenanceIncomplete(OperationError):  # noqa: N818  # named for what it says, like every refusal
    """The round did not do all. Its text says what not; it never leaves over HTTP."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the round over the files {problem}")


async def apply_schedule(connection: Connection, task_queue: str, cron: str) -> str:
    """Make Temporal run the round as `cron` says (in UTC), never for an empty one, and return what to say of it.

    Safe to repeat. One that a person paused stays paused. Raises: Unavailable.
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
    """Do the round now and return its report; two who ask at once share one.

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
    """Return the schedule's id, and what its workflows' ids begin with."""
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
