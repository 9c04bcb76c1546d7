"""Routes of triggers: create, list, show, pause, resume, fire and delete what starts runs by itself."""

from typing import Annotated

from fastapi import Path, Response
from pydantic import BaseModel, Field

from docrail.api.auth import MayArrangeRuns, MayOperateRuns, MayRead
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.access.models import Scope
from docrail.services.errors import KeyConflict, NotFound
from docrail.services.model_config import Text, body
from docrail.services.triggers import service as triggers
from docrail.services.triggers.models import NAME_PATTERN, Trigger, TriggerList, TriggerOrder

router = PrefixRouter(prefix="/v1/triggers", tags=["triggers"])

Name = Annotated[str, Path(pattern=NAME_PATTERN, description="the trigger")]


class TriggerReason(BaseModel):
    """Why a trigger is paused or resumed."""

    model_config = body({"reason": "the scanner is being moved"})

    reason: Annotated[Text, Field(max_length=100)] = ""
    """Kept with the trigger, with the caller's name."""


@router.post("", status_code=201, responses=problems(NotFound, KeyConflict))
async def create_trigger(order: TriggerOrder, who: MayArrangeRuns, app: AppDep, response: Response) -> Trigger:
    """Start runs by schedule, or upload files of a watched folder or of mails. The same order again changes nothing.

    Needs the scopes `operate` and `submit`.
    """
    created = await triggers.create_trigger(app, who, order)
    response.headers["Location"] = f"/v1/triggers/{created.name}"
    return created


@router.get("", responses=problems())
async def list_triggers(who: MayRead, app: AppDep) -> TriggerList:
    """List the tenant's triggers, by name."""
    found = await triggers.list_triggers(app, who)
    return TriggerList(triggers=found, allowed=Scope.OPERATE in who.scopes)


@router.get("/{trigger}", responses=problems(NotFound))
async def show_trigger(trigger: Name, who: MayRead, app: AppDep) -> Trigger:
    """Show a trigger."""
    return await triggers.show_trigger(app, who, trigger)


@router.post("/{trigger}/pause", responses=problems(NotFound))
async def pause_trigger(
    trigger: Name, who: MayOperateRuns, app: AppDep, wanted: TriggerReason | None = None
) -> Trigger:
    """Pause a trigger: it does not fire by itself until it is resumed."""
    return await triggers.pause_trigger(app, who, trigger, (wanted or TriggerReason()).reason)


@router.post("/{trigger}/resume", responses=problems(NotFound))
async def resume_trigger(
    trigger: Name, who: MayOperateRuns, app: AppDep, wanted: TriggerReason | None = None
) -> Trigger:
    """Resume a paused trigger. Passes that were left out meanwhile are not made up for."""
    return await triggers.resume_trigger(app, who, trigger, (wanted or TriggerReason()).reason)


@router.post("/{trigger}/run", responses=problems(NotFound))
async def fire_trigger(trigger: Name, who: MayArrangeRuns, app: AppDep) -> Trigger:
    """Fire a trigger now, also a paused one. While a pass runs, no other starts.

    Needs the scopes `operate` and `submit`.
    """
    return await triggers.fire_trigger(app, who, trigger)


@router.delete("/{trigger}", responses=problems(NotFound))
async def delete_trigger(trigger: Name, who: MayOperateRuns, app: AppDep) -> Trigger:
    """Delete a trigger. What it has started goes on."""
    return await triggers.delete_trigger(app, who, trigger)
