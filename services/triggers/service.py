"""Create, list, pause, resume, fire and delete triggers: Temporal schedules that start runs or upload files."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from pydantic import TypeAdapter
from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    WorkflowFailureError,
)
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ActivityError
from temporalio.service import RPCError, RPCStatusCode

from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.batches.of_triggers import last_batch_of
from docrail.services.definitions.checks import check_inputs, check_some
from docrail.services.definitions.routing import check_brought
from docrail.services.definitions.service import resolve
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.services.errors import InvalidInput, KeyConflict, NotFound, Unavailable
from docrail.services.maintenance.models import ScheduleName
from docrail.services.maintenance.schedules import last_pass, note_of
from docrail.services.triggers.models import MOST_TRIGGERS, Trigger, TriggerOrder
from docrail.services.triggers.repository import forget_folder
from docrail.workflows.contract.messages import TriggerReport, TriggerRequest
from docrail.workflows.contract.names import TENANT, TRIGGER_TYPE, trigger_id

CATCH_UP = timedelta(minutes=10)
"""Passes that an outage has left out longer ago are not made up for."""
LONGEST_PASS = timedelta(hours=1)
LISTED_TRIES, LISTED_PAUSE_SECONDS = 50, 0.1
"""How often a new trigger is looked for in Temporal's list, where it usually is after a tenth of a second."""

_ORDER = TypeAdapter(TriggerOrder)


async def create_trigger(app: App, principal: Principal, order: TriggerOrder) -> Trigger:
    """Create a trigger; the same order again returns it.

    Raises: InvalidInput, NotFound (the definition), KeyConflict (another trigger has the name), Unavailable.
    """
    await _check(app, principal, order)
    if len({*await _names(app, principal)} - {order.name}) >= MOST_TRIGGERS:
        raise InvalidInput([InputProblem("name", f"the tenant has {MOST_TRIGGERS} triggers: delete one first")])
    if await _create_or_find(app, principal, order):
        await _delete_if_too_many(app, principal, order.name)
    return await show_trigger(app, principal, order.name)


async def _create_or_find(app: App, principal: Principal, order: TriggerOrder) -> bool:
    """Create the trigger and return True; False if there is one of the same order. Raises: as `create_trigger`."""
    handle = _handle(app, principal, order.name)
    with engine_errors("trigger", order.name):
        try:
            await app.temporal.create_schedule(
                handle.id,
                _schedule(app, principal, order),
                search_attributes=TypedSearchAttributes([SearchAttributePair(TENANT, principal.tenant_id)]),
                rpc_timeout=RPC_TIMEOUT,
            )
        except ScheduleAlreadyRunningError:
            known = await _describe(app, principal, order.name)
            if (await _request_of(app, known)).order != _ORDER.dump_python(order, mode="json"):
                raise KeyConflict(order.name, ["body"]) from None
            return False
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            raise InvalidInput([InputProblem("cron", f"is not a calendar: {error.message}")]) from None
    return True


async def _delete_if_too_many(app: App, principal: Principal, name: str) -> None:
    """Delete the trigger that was just created unless the tenant may have it. Raises: InvalidInput, Unavailable.

    Of triggers that are created at once, each counts the others once it is listed itself. Of two, one at least sees
    both, so no more than MOST_TRIGGERS stay; all may be refused.
    """
    names = await _names(app, principal)
    for _ in range(LISTED_TRIES):
        if name in names:
            break
        await asyncio.sleep(LISTED_PAUSE_SECONDS)
        names = await _names(app, principal)
    if name in names and len(names) <= MOST_TRIGGERS:
        return
    with engine_errors("trigger", name):
        await _handle(app, principal, name).delete(rpc_timeout=RPC_TIMEOUT)
    if name not in names:
        raise Unavailable("Temporal", "it does not list the trigger that was created, which was deleted again")
    many = f"the tenant has {MOST_TRIGGERS} triggers, with those that are created just now: delete one, or try again"
    raise InvalidInput([InputProblem("name", many)])


async def list_triggers(app: App, principal: Principal) -> list[Trigger]:
    """Return the tenant's triggers, by name. Raises: Unavailable."""
    names = await _names(app, principal)
    found = await asyncio.gather(*(_shown_or_none(app, principal, name) for name in names))
    return [each for each in found if each is not None]


async def _names(app: App, principal: Principal) -> list[str]:
    prefix, names = trigger_id(app.task_queue, principal.tenant_id, ""), list[str]()
    with engine_errors("tenant", principal.tenant_id):
        query = f'{TENANT.name} = "{principal.tenant_id}"'
        async for each in await app.temporal.list_schedules(query, rpc_timeout=RPC_TIMEOUT):
            names += [each.id.removeprefix(prefix)] if each.id.startswith(prefix) else []
    return sorted(names)


async def show_trigger(app: App, principal: Principal, name: str) -> Trigger:
    """Return a trigger. Raises: NotFound, Unavailable."""
    async with _known(app, principal, name):
        return await _show(app, principal, name)


async def _show(app: App, principal: Principal, name: str) -> Trigger:
    found = await _describe(app, principal, name)
    with engine_errors("trigger", name):
        last = await last_pass(app, found)
        problems = await _problems_of_last(app, found)
    request, state = await _request_of(app, found), found.schedule.state
    coming = () if state.paused else found.info.next_action_times
    order = order_of(request)
    shown = {each.name: getattr(order, each.name) for each in dataclasses.fields(TriggerOrder)}
    return Trigger(
        **shown,
        created_by=request.created_by,
        paused=state.paused,
        note=state.note or "",
        next_at=coming[0] if coming else None,
        last=last,
        problems=problems,
        last_batch=await last_batch_of(app, principal, name) if order.batch else None,
    )


async def _problems_of_last(app: App, found: ScheduleDescription) -> list[str]:
    """Return what the latest pass has refused, or why it failed; none while it runs. Raises: RPCError."""
    if not found.info.recent_actions:
        return []
    latest = found.info.recent_actions[-1].action
    assert isinstance(latest, ScheduleActionExecutionStartWorkflow), "all of Docrail's schedules start a workflow"
    handle = app.temporal.get_workflow_handle(
        latest.workflow_id, run_id=latest.first_execution_run_id, result_type=TriggerReport
    )
    try:
        if (await handle.describe(rpc_timeout=RPC_TIMEOUT)).close_time is None:
            return []
        return list((await handle.result(follow_runs=False, rpc_timeout=RPC_TIMEOUT)).refused)
    except WorkflowFailureError as error:
        cause = error.cause.cause if isinstance(error.cause, ActivityError) else error.cause
        return [str(cause or error)]
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return []


async def pause_trigger(app: App, who: Principal, name: str, reason: str) -> Trigger:
    """Let the trigger not fire by itself until it is resumed. Safe to repeat. Raises: NotFound, Unavailable."""
    async with _known(app, who, name) as handle:
        await handle.pause(note=note_of("paused", who, reason), rpc_timeout=RPC_TIMEOUT)
    return await show_trigger(app, who, name)


async def resume_trigger(app: App, who: Principal, name: str, reason: str) -> Trigger:
    """Resume a paused trigger. Safe to repeat. Raises: NotFound, Unavailable."""
    async with _known(app, who, name) as handle:
        await handle.unpause(note=note_of("resumed", who, reason), rpc_timeout=RPC_TIMEOUT)
    return await show_trigger(app, who, name)


async def fire_trigger(app: App, who: Principal, name: str) -> Trigger:
    """Fire the trigger now, also a paused one; while a pass runs, no other starts. Raises: NotFound, Unavailable."""
    async with _known(app, who, name) as handle:
        await handle.trigger(overlap=ScheduleOverlapPolicy.SKIP, rpc_timeout=RPC_TIMEOUT)
    return await show_trigger(app, who, name)


async def delete_trigger(app: App, who: Principal, name: str) -> Trigger:
    """Delete a trigger and return what it was; what it has started goes on. Raises: NotFound, Unavailable."""
    shown = await show_trigger(app, who, name)
    with engine_errors("trigger", name):
        await _handle(app, who, name).delete(rpc_timeout=RPC_TIMEOUT)
    if shown.folder is not None:
        await forget_folder(app.db, who.tenant_id, shown.folder)
    return shown


def order_of(request: TriggerRequest) -> TriggerOrder:
    """Return what a trigger was ordered to do."""
    return _ORDER.validate_python(request.order)


async def _request_of(app: App, found: ScheduleDescription) -> TriggerRequest:
    action = found.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow), "all of Docrail's schedules start a workflow"
    [request] = await app.temporal.data_converter.decode(action.args, [TriggerRequest])
    assert isinstance(request, TriggerRequest)
    return request


async def _check(app: App, principal: Principal, order: TriggerOrder) -> None:
    if problems := [*_problems(order)]:
        raise InvalidInput(problems)
    brings = order.folder is not None or order.mailbox is not None
    if brings:
        check_brought(order.inputs)
    if order.definition is not None:
        stored = await resolve(app, principal, order.definition, key=order.name)
        check = check_some if brings else check_inputs
        await check(app, stored.body, order.inputs)


def _problems(order: TriggerOrder) -> list[InputProblem]:
    problems = []
    if (order.cron is None) is (order.every_seconds is None):
        problems.append(InputProblem("cron", "expected exactly one of 'cron' and 'every_seconds'"))
    if order.name in tuple(ScheduleName):
        problems.append(InputProblem("name", "is that of a schedule of Docrail's own work: take another"))
    if order.definition is None and order.folder is None and order.mailbox is None:
        problems.append(InputProblem("definition", "is required, as the trigger watches no folder and no mailbox"))
    if order.folder is not None and order.mailbox is not None:
        problems.append(InputProblem("mailbox", "expected at most one of 'folder' and 'mailbox'"))
    if order.batch and order.folder is None and order.mailbox is None:
        problems.append(InputProblem("batch", "needs a folder or a mailbox, whose files become a batch"))
    if order.folder is not None and ".." in order.folder.split("/"):
        problems.append(InputProblem("folder", "leads out of the tenant's folder"))
    return problems


def _schedule(app: App, principal: Principal, order: TriggerOrder) -> Schedule:
    request = TriggerRequest(
        tenant_id=principal.tenant_id,
        created_by=principal.name,
        key_id=principal.key_id,
        order=_ORDER.dump_python(order, mode="json"),
    )
    every = [] if order.every_seconds is None else [ScheduleIntervalSpec(every=timedelta(seconds=order.every_seconds))]
    return Schedule(
        action=ScheduleActionStartWorkflow(
            TRIGGER_TYPE,
            request,
            id=trigger_id(app.task_queue, principal.tenant_id, order.name),
            task_queue=app.task_queue,
            execution_timeout=LONGEST_PASS,
        ),
        spec=ScheduleSpec(intervals=every, cron_expressions=[] if order.cron is None else [order.cron]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
    )


def _handle(app: App, principal: Principal, name: str) -> ScheduleHandle:
    return app.temporal.get_schedule_handle(trigger_id(app.task_queue, principal.tenant_id, name))


@asynccontextmanager
async def _known(app: App, principal: Principal, name: str) -> AsyncIterator[ScheduleHandle]:
    """Yield a trigger's handle. An unknown name is answered with those that there are, Docrail's own included.

    Raises: NotFound, Unavailable.
    """
    try:
        with engine_errors("trigger", name):
            yield _handle(app, principal, name)
    except NotFound as error:
        names = [*await _names(app, principal), *(own.value for own in ScheduleName)]
        known = [each for each in names if each != name]  # the list may lag
        raise NotFound("trigger", name, known=known) from error


async def _describe(app: App, principal: Principal, name: str) -> ScheduleDescription:
    with engine_errors("trigger", name):
        return await _handle(app, principal, name).describe(rpc_timeout=RPC_TIMEOUT)


async def _shown_or_none(app: App, principal: Principal, name: str) -> Trigger | None:
    try:
        return await _show(app, principal, name)
    except NotFound:  # deleted since it was listed
        return None
