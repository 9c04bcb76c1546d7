"""Routes of resource limits, which the whole fleet shares: list, set, reset."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayAdminister, MayRead
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.dag.language.rates import HIGHEST_RATE
from docrail.services.errors import NotFound
from docrail.services.limits import service as rate_limits

PerSecond = Annotated[
    float,
    Field(
        strict=True,
        ge=0,
        le=HIGHEST_RATE,
        allow_inf_nan=False,
        description="uses a second of the whole fleet; 0 stops it",
    ),
]

router = APIRouter(prefix="/v1/limits", tags=["limits"])


class LimitIn(BaseModel):
    """A limit, and the reason for changing it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"per_second": 5, "reason": "quota"}]})

    per_second: PerSecond
    reason: str = Field(default="", max_length=500, pattern=r"^[^\x00]*$")


class LimitOut(BaseModel):
    """A limited resource. Author, time and reason of a change are kept until it is reset."""

    model_config = ConfigDict(from_attributes=True)

    tag: str = Field(examples=["gemini_api"])
    per_second: PerSecond
    initial_per_second: PerSecond
    changed_by: str | None
    changed_at: dt.datetime | None
    reason: str | None
    waiting: int = Field(description="attempts that wait for their turn, about")
    workers: int = Field(description="processes that take its steps; with none, they wait")
    task_queue: str


class LimitListOut(BaseModel):
    """Every resource tag that a step may have."""

    limits: list[LimitOut]


@router.get("", responses=problems())
async def list_limits(who: MayRead, app: AppDep) -> LimitListOut:
    """List the limited resources."""
    found = await rate_limits.list_limits(app, who)
    return LimitListOut(limits=[LimitOut.model_validate(limit) for limit in found])


@router.put("/{tag}", responses=problems(NotFound))
async def set_limit(tag: str, wanted: LimitIn, who: MayAdminister, app: AppDep) -> LimitOut:
    """Change a limit. It applies immediately, to the whole fleet, and survives restarts."""
    return LimitOut.model_validate(await rate_limits.set_limit(app, who, tag, wanted.per_second, wanted.reason))


@router.delete("/{tag}", responses=problems(NotFound))
async def reset_limit(tag: str, who: MayAdminister, app: AppDep) -> LimitOut:
    """Reset a resource to the limit of the settings."""
    return LimitOut.model_validate(await rate_limits.reset_limit(app, who, tag))
