"""Routes of usage: the paid answers about a document, what models cost a tenant, and all tenants."""

from pydantic import BaseModel, Field

from docrail.api.auth import MayAdministerAll, MayRead
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.errors import NotFound
from docrail.services.usage import service as model_uses
from docrail.services.usage.models import DocumentUse, ModelUsage, TenantSummary

router = PrefixRouter(prefix="/v1/documents", tags=["documents"])
totals_router = PrefixRouter(prefix="/v1", tags=["usage"])


class TenantListOut(BaseModel):
    """The tenants, by name."""

    tenants: list[TenantSummary] = Field(description="the tenants")
    currency: str = Field(description="currency of the costs")


@router.get("/{document_id}/model-uses", responses=problems(NotFound))
async def list_model_uses(document_id: str, who: MayRead, app: AppDep) -> list[DocumentUse]:
    """List the model answers about the document, in order. Readings from the cache cost nothing."""
    return await model_uses.list_document_uses(app, who, document_id)


@totals_router.get("/usage", responses=problems())
async def show_usage(who: MayRead, app: AppDep) -> ModelUsage:
    """Show what models' answers cost the tenant today, against its budget, and on each of the last 31 days."""
    return await model_uses.show_usage(app, who)


@totals_router.get("/tenants", responses=problems())
async def list_tenants(_: MayAdministerAll, app: AppDep) -> TenantListOut:
    """List the tenants with their keys, documents and cost of today."""
    return TenantListOut(tenants=await model_uses.list_tenants(app), currency=app.budgets.currency)
