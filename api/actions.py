"""What people did to runs and about their failed steps, also of those that are no longer in the dead-letter inbox."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayRead
from api.errors import problems
from api.parameters import After, AppDep, Limit
from dag.kinds import ID_PATTERN
from dag.values import Json
from operations import run_actions
from operations.errors import NotFound

StepId = Annotated[
    str | None,
    Query(max_length=64, pattern=ID_PATTERN, description="only what was done about this step, or to the whole run"),
]

router = APIRouter(prefix="/v1/runs/{run_id}/actions", tags=["runs"])


class ActionOut(BaseModel):
    """What somebody did about a step, or (`step_id` null) about its run."""

    model_config = ConfigDict(from_attributes=True)

    action: str = Field(
        examples=["retry_run"],
        description="to the run pause, resume, abort or retry_run; about a step retry, skip, output, abort or dismiss",
    )
    step_id: str | None
    details: dict[str, Json] = Field(
        description="what was given by hand, and why; `outcome` if no worker answered: it may not have been done"
    )
    acted_by: str
    acted_at: dt.datetime


class ActionListOut(BaseModel):
    """A page of actions, newest first."""

    model_config = ConfigDict(from_attributes=True)

    actions: list[ActionOut]
    after: str | None


@router.get("", responses=problems(NotFound))
async def list_actions(
    run_id: str,
    who: MayRead,
    app: AppDep,
    *,
    step: StepId = None,
    limit: Limit = 100,
    after: After = None,
) -> ActionListOut:
    """Tell what people did to a run and about its failed steps, newest first.

    Pauses, resumptions, aborts, retries; of a step skips, outputs by hand, dismissals. Nothing that was refused.
    """
    page = await run_actions.list_run_actions(app, who, run_id, step_id=step, limit=limit, after=after)
    return ActionListOut.model_validate(page)
