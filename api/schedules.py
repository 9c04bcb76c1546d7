"""Routes of the schedules of Docrail's own work: list, pause, resume, run now."""

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from docrail.api.auth import MayAdministerAll, MayOperateAll, may_administer_all
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.errors import NotFound
from docrail.services.maintenance import schedules
from docrail.services.maintenance.models import ScheduleName, ShownSchedule
from docrail.services.model_config import Text, body

router = PrefixRouter(prefix="/v1/schedules", tags=["fleet"])

Name = Annotated[ScheduleName, Path(description="the schedule")]


class ScheduleReason(BaseModel):
    """Why a schedule is paused or resumed."""

    model_config = body({"reason": "the disk is being exchanged"})

    reason: Annotated[Text, Field(max_length=100)] = ""
    """Kept with the schedule, with the caller's name."""


class ScheduleListOut(BaseModel):
    """The schedules of Docrail's own work."""

    schedules: list[ShownSchedule] = Field(description="those that exist")
    allowed: bool = Field(description="whether the caller may pause, resume and run them")


@router.get("", responses=problems())
async def list_schedules(who: MayOperateAll, app: AppDep) -> ScheduleListOut:
    """List the schedules by which Docrail works on its own."""
    return ScheduleListOut(schedules=await schedules.list_schedules(app), allowed=may_administer_all(who))


@router.post("/{schedule}/pause", responses=problems(NotFound))
async def pause_schedule(
    schedule: Name, who: MayAdministerAll, app: AppDep, wanted: ScheduleReason | None = None
) -> ShownSchedule:
    """Pause a schedule: no pass starts by itself, also after a restart of the servers."""
    return await schedules.pause_schedule(app, who, schedule, (wanted or ScheduleReason()).reason)


@router.post("/{schedule}/resume", responses=problems(NotFound))
async def resume_schedule(
    schedule: Name, who: MayAdministerAll, app: AppDep, wanted: ScheduleReason | None = None
) -> ShownSchedule:
    """Resume a paused schedule. Passes that were left out meanwhile are not made up for."""
    return await schedules.resume_schedule(app, who, schedule, (wanted or ScheduleReason()).reason)


@router.post("/{schedule}/run", responses=problems(NotFound))
async def run_schedule(schedule: Name, _: MayAdministerAll, app: AppDep) -> ShownSchedule:
    """Start a pass now, also of a paused schedule. While one runs, no other starts."""
    return await schedules.run_schedule(app, schedule)
