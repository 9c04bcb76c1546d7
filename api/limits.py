"""Routes of resource limits, which the whole fleet shares: list, set, reset."""

from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayAdministerAll, MayRead, may_administer_all
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.errors import NotFound
from docrail.services.limits import service as rate_limits
from docrail.services.limits.models import PerSecond, TagLimit

router = PrefixRouter(prefix="/v1/limits", tags=["limits"])


class LimitIn(BaseModel):
    """A limit, and the reason for changing it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"per_second": 5, "reason": "quota"}]})

    per_second: PerSecond
    reason: str = Field(default="", max_length=500, pattern=r"^[^\x00]*$")


class LimitListOut(BaseModel):
    """Every resource tag that a step may have."""

    limits: list[TagLimit]
    allowed: bool = Field(description="whether the caller may change them")


@router.get("", responses=problems())
async def list_limits(who: MayRead, app: AppDep) -> LimitListOut:
    """List the limited resources."""
    return LimitListOut(limits=await rate_limits.list_limits(app, who), allowed=may_administer_all(who))


@router.put("/{tag}", responses=problems(NotFound))
async def set_limit(tag: str, wanted: LimitIn, who: MayAdministerAll, app: AppDep) -> TagLimit:
    """Change a limit. It applies immediately, to the whole fleet, and survives restarts."""
    return await rate_limits.set_limit(app, who, tag, wanted.per_second, wanted.reason)


@router.delete("/{tag}", responses=problems(NotFound))
async def reset_limit(tag: str, who: MayAdministerAll, app: AppDep) -> TagLimit:
    """Reset a resource to the limit of the settings."""
    return await rate_limits.reset_limit(app, who, tag)
