"""What models cost against budgets, and the list of tenants: to the tenant, and to the operator of all."""

import datetime as dt
from decimal import Decimal

from docrail.adapters.postgres.tenants import of_tenant
from docrail.invoices.llm.prices import Cost, Tokens
from docrail.services.access.models import Scope, system_principal
from docrail.services.access.service import create_key
from docrail.services.app import Budgets
from docrail.services.usage.models import Use
from docrail.services.usage.repository import record_use
from tests.api.customer import unique
from tests.api.service import Service
from tests.security.callers import using

OPERATOR = {"X-Test-Scopes": "read admin"}


async def spend(service: Service, tenant: str, cost: str, outcome: str = "read") -> None:
    use = Use(tenant, "run.1", "ask", 1, "m-1", outcome, Tokens(100, 20, 5))
    with of_tenant(tenant):
        await record_use(
            service.app.db, use, Cost(Decimal(cost), "m"), currency="USD", prices_read_on=dt.date(2026, 11, 21)
        )


async def test_a_tenant_sees_what_its_models_cost_against_its_budget(service: Service) -> None:
    tenant = unique("acme").lower()
    await spend(service, tenant, "0.25")
    await spend(service, tenant, "0.50", "garbled")
    await spend(service, unique("globex").lower(), "4.00")
    with using(service, budgets=Budgets(Decimal(9), Decimal(2), "EUR")):
        answer = await service.http.get("/v1/usage", headers={"X-Test-Tenant": tenant, "X-Test-Scopes": "read"})
    found = answer.json()
    assert (answer.status_code, found["currency"], found["all_tenants"]) == (200, "EUR", None)
    assert {name: Decimal(value) for name, value in found["own"].items()} == {
        "spent_today": Decimal("0.75"),
        "budget_per_day": Decimal(2),
    }
    [day] = found["days"]
    assert day | {"cost": Decimal(day["cost"])} == {
        "day": str(dt.datetime.now(dt.UTC).date()),
        "model": "m-1",
        "answers": 2,
        "unusable": 1,
        "input_tokens": 200,
        "output_tokens": 40,
        "thinking_tokens": 10,
        "cost": Decimal("0.75"),
    }


async def test_a_quota_is_the_budget_of_its_tenant(service: Service) -> None:
    tenant = unique("acme").lower()
    wanted = {"tenant": tenant, "value": 7}
    assert (await service.http.put("/v1/quotas/model_budget_per_day", json=wanted)).status_code == 200
    found = (await service.http.get("/v1/usage", headers={"X-Test-Tenant": tenant})).json()
    assert Decimal(found["own"]["budget_per_day"]) == 7
    quotas = (await service.http.get("/v1/quotas", params={"tenant": tenant})).json()
    found = {each["quota"]: (each["tenant"], each["value"]) for each in quotas["quotas"]}
    assert found["model_budget_per_day"] == (tenant, 7)
    assert quotas["allowed"]


async def test_the_operator_sees_what_all_tenants_cost(service: Service) -> None:
    before = (await service.http.get("/v1/usage")).json()["all_tenants"]
    await spend(service, unique("acme").lower(), "0.25")
    with using(service, budgets=Budgets(Decimal(9))):
        now = (await service.http.get("/v1/usage")).json()["all_tenants"]
    assert Decimal(now["spent_today"]) - Decimal(before["spent_today"]) == Decimal("0.25")
    assert Decimal(now["budget_per_day"]) == 9


async def test_only_the_operator_sees_the_quotas_of_another_tenant(service: Service) -> None:
    for headers in ({"X-Test-Tenant": "acme"}, {"X-Test-Scopes": "read"}):
        answer = await service.http.get("/v1/quotas", params={"tenant": "globex"}, headers=headers)
        assert answer.status_code == 403
        assert (await service.http.get("/v1/quotas", headers=headers)).json()["allowed"] is False


async def test_the_operator_lists_tenants_with_their_keys_and_costs(service: Service) -> None:
    tenant = unique("acme").lower()
    with of_tenant(tenant):
        for name in ("ann", "bob"):
            await create_key(service.app.db, system_principal(tenant), name, [Scope.READ])
    await spend(service, tenant, "0.25")
    answer = await service.http.get("/v1/tenants", headers=OPERATOR)
    assert answer.status_code == 200
    tenants = {each["tenant"]: each for each in answer.json()["tenants"]}
    assert "default" in tenants
    found = tenants[tenant]
    assert (found["keys"], found["last_used_at"], found["documents"], found["failed"]) == (2, None, 0, 0)
    assert Decimal(found["spent_today"]) == Decimal("0.25")
