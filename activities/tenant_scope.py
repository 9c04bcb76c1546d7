"""Run every activity as the tenant of its call, with the call's ids in its log: no activity can do without."""

from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from docrail.adapters.log_context import ID_NAMES, busy_with
from docrail.adapters.postgres.tenants import no_tenant, of_tenant


class TenantScope(Interceptor):
    """Enters the tenant that the call's message names. An activity for all tenants enters none here."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - its name there
        """Return the interceptor of every activity."""
        return _Inbound(next)


class _Inbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - its name there
        call = input.args[0] if input.args else None
        tenant_id = getattr(call, "tenant_id", None)
        ids = {name: getattr(call, name, None) for name in ID_NAMES}
        with no_tenant() if tenant_id is None else of_tenant(tenant_id), busy_with(ids):
            return await super().execute_activity(input)
