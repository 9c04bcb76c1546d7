"""Show, pause and resume the schedules of Docrail's own work, and run one now. Temporal keeps them and their state."""

import asyncio

from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    WorkflowExecutionStatus,
)
from temporalio.service import RPCError, RPCStatusCode

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.services.errors import NotFound
from docrail.services.maintenance.models import LastPass, PassState, ScheduleName, ShownSchedule
from docrail.services.maintenance.service import background_id, schedule_id, sla_schedule_id

_IDS = {
    ScheduleName.MAINTENANCE: schedule_id,
    ScheduleName.SLA: sla_schedule_id,
    ScheduleName.BACKGROUND: background_id,
}

_STATES = {
    WorkflowExecutionStatus.RUNNING: PassState.RUNNING,
    WorkflowExecutionStatus.CONTINUED_AS_NEW: PassState.RUNNING,
    WorkflowExecutionStatus.COMPLETED: PassState.COMPLETED,
}
"""Every other status is a failure."""


async def list_schedules(app: App) -> list[ShownSchedule]:
    """Return the schedules that exist, in the order of their names' definition. Raises: Unavailable."""
    found = await asyncio.gather(*(_load(app, name) for name in ScheduleName))
    return [each for each in found if each is not None]


async def pause_schedule(app: App, who: Principal, name: ScheduleName, reason: str) -> ShownSchedule:
    """Let no pass start by itself until the schedule is resumed. Safe to repeat. Raises: NotFound, Unavailable."""
    with engine_errors("schedule", name.value):
        await _handle(app, name).pause(note=note_of("paused", who, reason), rpc_timeout=RPC_TIMEOUT)
    return await _show(app, name)


async def resume_schedule(app: App, who: Principal, name: ScheduleName, reason: str) -> ShownSchedule:
    """Resume a paused schedule. Safe to repeat. Raises: NotFound, Unavailable."""
    with engine_errors("schedule", name.value):
        await _handle(app, name).unpause(note=note_of("resumed", who, reason), rpc_timeout=RPC_TIMEOUT)
    return await _show(app, name)


async def run_schedule(app: App, name: ScheduleName) -> ShownSchedule:
    """Start a pass now, also of a paused schedule; while one runs, no other starts. Raises: NotFound, Unavailable."""
    with engine_errors("schedule", name.value):
        await _handle(app, name).trigger(overlap=ScheduleOverlapPolicy.SKIP, rpc_timeout=RPC_TIMEOUT)
    return await _show(app, name)


def _handle(app: App, name: ScheduleName) -> ScheduleHandle:
    return app.temporal.get_schedule_handle(_IDS[name](app.task_queue))


def note_of(act: str, who: Principal, reason: str) -> str:
    """Return the note of a schedule that a person has paused or resumed."""
    return f"{act} by {who.name}" + (f": {reason}" if reason else "")


async def _show(app: App, name: ScheduleName) -> ShownSchedule:
    found = await _load(app, name)
    if found is None:
        raise NotFound("schedule", name.value)
    return found


async def _load(app: App, name: ScheduleName) -> ShownSchedule | None:
    """Return the schedule; None if there is none, as without DOCRAIL_MAINTENANCE_SCHEDULE. Raises: Unavailable."""
    with engine_errors("schedule", name.value):
        try:
            found = await _handle(app, name).describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return None
        last = await last_pass(app, found)
    return _shown(name, found, last)


def _shown(name: ScheduleName, found: ScheduleDescription, last: LastPass | None) -> ShownSchedule:
    schedule: Schedule = found.schedule
    every = [interval.every.total_seconds() for interval in schedule.spec.intervals]
    coming = () if schedule.state.paused else found.info.next_action_times
    return ShownSchedule(
        name=name,
        every_seconds=every[0] if every else None,
        paused=schedule.state.paused,
        note=schedule.state.note or "",
        next_at=coming[0] if coming else None,
        last=last,
        passes=found.info.num_actions,
    )


async def last_pass(app: App, found: ScheduleDescription) -> LastPass | None:
    """Return the latest pass of a schedule; None if there was none. Raises: RPCError."""
    if not found.info.recent_actions:
        return None
    latest = found.info.recent_actions[-1]
    started = latest.action
    assert isinstance(started, ScheduleActionExecutionStartWorkflow), "all of Docrail's schedules start a workflow"
    handle = app.temporal.get_workflow_handle(started.workflow_id, run_id=started.first_execution_run_id)
    try:
        status = (await handle.describe(rpc_timeout=RPC_TIMEOUT)).status
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return LastPass(latest.started_at, None)
    return LastPass(latest.started_at, PassState.FAILED if status is None else _STATES.get(status, PassState.FAILED))
