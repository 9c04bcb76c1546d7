"""Record what model answers cost, enforce the daily budgets, and report usage for one document or in total."""

import asyncio
import datetime as dt
import logging
from decimal import Decimal

from docrail.adapters.http.errors import TryAgainLaterError
from docrail.adapters.postgres.pool import DATABASE_ERRORS, StorageError
from docrail.adapters.postgres.tenants import all_tenants
from docrail.services.access.models import DEFAULT_TENANT, Principal
from docrail.services.access.service import load_tenants
from docrail.services.app import App
from docrail.services.documents.service import load_tenant_counts, show_document
from docrail.services.quotas.service import Quotas
from docrail.services.tools import Tools
from docrail.services.usage.models import DocumentUse, ModelUsage, Spending, TenantSummary, Use
from docrail.services.usage.repository import (
    load_days,
    load_document_uses,
    load_key_spent_today,
    load_model_totals,
    load_spent_by_tenants,
    load_spent_today,
    load_tenant_spent_today,
    record_use,
)

__all__ = [
    "BudgetUsedError",
    "check_budget",
    "keep_use",
    "list_document_uses",
    "list_tenants",
    "load_model_totals",
    "load_spent_today",
    "show_usage",
]

LONGEST_SECONDS = 5.0
"""Timeout for recording an answer's cost. PostgreSQL takes milliseconds, or it is unavailable."""

log = logging.getLogger(__name__)


class BudgetUsedError(TryAgainLaterError):
    """Today's budget for models is used up. The next one starts at midnight UTC, which is when to retry."""

    def __init__(self, budget: str, variable: str, now: dt.datetime) -> None:
        message = f"today's budget for Gemini, {budget}, is used up: wait until midnight UTC, or raise {variable}"
        Exception.__init__(self, message)
        self.status = 0
        midnight = (now + dt.timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        self.retry_after_seconds = (midnight - now).total_seconds()


async def check_budget(tools: Tools, tenant_id: str, key_id: str | None) -> None:
    """Refuse to ask a model once today's answers have used up the budget of all tenants, of this one, or of the key.

    Answers still in progress may exceed it.

    Raises: BudgetUsedError.
    """
    access = tools.outside.gemini
    now, currency = dt.datetime.now(dt.UTC), access.prices.currency
    all_may, one_may = access.budget_per_day, await _budget_of(tools, tenant_id)
    if all_may is not None and await _spent_by_all(tools) >= all_may:
        raise BudgetUsedError(f"{all_may:f} {currency}", "DOCRAIL_GEMINI_BUDGET_PER_DAY", now)
    if one_may is not None and await load_tenant_spent_today(tools.db, tenant_id) >= one_may:
        variable = "DOCRAIL_GEMINI_BUDGET_PER_TENANT or the tenant's quota"
        raise BudgetUsedError(f"{one_may:f} {currency} for one tenant", variable, now)
    if key_id is None:
        return
    key_may = await Quotas().key_model_budget(tools.db, tenant_id, key_id)
    if key_may is not None and await load_key_spent_today(tools.db, tenant_id, key_id) >= key_may:
        raise BudgetUsedError(f"{key_may:f} {currency} for the key {key_id}", "the key's quota", now)


async def _budget_of(tools: Tools, tenant_id: str) -> Decimal | None:
    """Return the operator's budget for the tenant, else that of the settings."""
    own = await Quotas().model_budget(tools.db, tenant_id)
    return tools.outside.gemini.budget_per_tenant if own is None else Decimal(str(own))


async def _spent_by_all(tools: Tools) -> Decimal:
    with all_tenants():
        return await load_spent_today(tools.db)


async def keep_use(tools: Tools, use: Use) -> None:
    """Record the cost of an answer. If that fails it is only logged: the answer itself is paid for."""
    prices = tools.outside.gemini.prices
    cost = prices.cost(use.model, use.tokens, dt.datetime.now(dt.UTC).date())
    tools.metrics.record_answer(use.model, use.outcome, use.tokens, cost.amount)
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await record_use(tools.db, use, cost, currency=prices.currency, prices_read_on=prices.read_on)
    except (OSError, StorageError, *DATABASE_ERRORS) as error:
        log.warning(
            "%s %s for an answer of %s could not be counted for step %s of %s: %s: %s",
            *(cost.amount, prices.currency, use.model, use.step_id, use.run_id, type(error).__name__, error),
        )


async def show_usage(app: App, principal: Principal) -> ModelUsage:
    """Return what models cost the principal's tenant; for the operator also what they cost all tenants."""
    tenant_id = principal.tenant_id
    own = Spending(await load_tenant_spent_today(app.db, tenant_id), await _allowed(app, tenant_id))
    everyone = None
    if tenant_id == DEFAULT_TENANT:
        with all_tenants():
            everyone = Spending(await load_spent_today(app.db), app.budgets.per_day)
    return ModelUsage(app.budgets.currency, own, everyone, await load_days(app.db, tenant_id))


async def _allowed(app: App, tenant_id: str) -> Decimal | None:
    own = await app.quotas.model_budget(app.db, tenant_id)
    return app.budgets.per_tenant if own is None else Decimal(str(own))


async def list_tenants(app: App) -> list[TenantSummary]:
    """Return every tenant with its keys, documents and cost of today, by name. For the operator only."""
    with all_tenants():
        keys, documents, spent = await asyncio.gather(
            load_tenants(app.db), load_tenant_counts(app.db), load_spent_by_tenants(app.db)
        )
    return [
        TenantSummary(
            tenant=each.tenant,
            keys=each.keys,
            last_used_at=each.last_used_at,
            documents=sum(documents.get(each.tenant, {}).values()),
            failed=documents.get(each.tenant, {}).get("failed", 0),
            spent_today=spent.get(each.tenant, Decimal(0)),
        )
        for each in keys
    ]


async def list_document_uses(app: App, principal: Principal, document_id: str) -> list[DocumentUse]:
    """Return every paid model answer about this document, in order. Raises: NotFound."""
    await show_document(app, principal, document_id)
    return await load_document_uses(app.db, principal.tenant_id, document_id)
