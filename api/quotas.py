"""Routes of quotas: list, set, reset. Only the operator's tenant changes them."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field

from docrail.adapters.postgres.tenants import of_tenant
from docrail.api.auth import MayAdministerAll, MayRead, may_administer_all
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.access.models import DEFAULT_TENANT, TENANT_PATTERN, Scope
from docrail.services.errors import Forbidden
from docrail.services.model_config import body
from docrail.services.quotas import service
from docrail.services.quotas.models import Quota, SetQuota, Value

router = PrefixRouter(prefix="/v1/quotas", tags=["quotas"])

KEY_PATTERN = "^[0-9a-f]{16}$"
Name = Annotated[Quota, Path(description="what is limited")]


class QuotaIn(BaseModel):
    """A quota of a tenant, or of one of its keys."""

    model_config = body({"tenant": "acme", "value": 1000})

    tenant: str = Field(pattern=TENANT_PATTERN)
    """The tenant."""
    key_id: str | None = Field(default=None, pattern=KEY_PATTERN)
    """Id of one of its API keys; null for the whole tenant."""
    value: Value = Field(strict=True)
    """How much may be used; 0 for nothing. For `highest_priority` 1, the first, to 5."""


class QuotaListOut(BaseModel):
    """The quotas of a tenant and its keys."""

    quotas: list[SetQuota] = Field(
        description="those that were set, and the defaults that apply; what is not listed is unlimited"
    )
    allowed: bool = Field(description="whether the caller may change them")


@router.get("", responses=problems())
async def list_quotas(
    who: MayRead,
    app: AppDep,
    tenant: Annotated[
        str | None, Query(pattern=TENANT_PATTERN, description="another tenant, for its operator; default: the caller's")
    ] = None,
) -> QuotaListOut:
    """List the quotas of a tenant and its keys."""
    allowed, wanted = may_administer_all(who), tenant or who.tenant_id
    if wanted != who.tenant_id and not allowed:
        raise Forbidden(Scope.ADMIN, tenant=DEFAULT_TENANT)
    with of_tenant(wanted):
        return QuotaListOut(quotas=await service.list_quotas(app.db, app.quotas, wanted), allowed=allowed)


@router.put("/{quota}", responses=problems())
async def set_quota(quota: Name, wanted: QuotaIn, who: MayAdministerAll, app: AppDep) -> SetQuota:
    """Set a quota. It applies within five seconds in every process."""
    with of_tenant(wanted.tenant):
        owner = service.Owner(wanted.tenant, wanted.key_id)
        return await service.set_quota(app.db, app.quotas, who, owner, quota, wanted.value)


@router.delete("/{quota}", status_code=204, responses=problems())
async def reset_quota(
    quota: Name,
    who: MayAdministerAll,
    app: AppDep,
    *,
    tenant: Annotated[str, Query(pattern=TENANT_PATTERN, description="the tenant")],
    key_id: Annotated[str | None, Query(pattern=KEY_PATTERN, description="id of one of its API keys")] = None,
) -> None:
    """Remove a quota, if one was set: the default applies again."""
    with of_tenant(tenant):
        await service.reset_quota(app.db, app.quotas, who, service.Owner(tenant, key_id), quota)
