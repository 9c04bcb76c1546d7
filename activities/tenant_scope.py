"""Run every activity as the tenant of its call, with the call's ids in its log: no activity can do without."""

from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from docrail.adapters.log_context import become_busy_with
from docrail.adapters.postgres.tenants import enter_no_tenant, enter_tenant


class TenantScope(Interceptor):
    """Enters the tenant that the call's message names. An activity for all tenants enters none here."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - its name there
        """Return the interceptor of every activity."""
        return _Inbound(next)


class _Inbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - its name there
        # Temporal makes each call in a task of its own, whose context ends with it: nothing has to be restored.
        fields = getattr(input.args[0], "__dict__", {}) if input.args else {}
        tenant_id = fields.get("tenant_id")
        if tenant_id is None:
            enter_no_tenant()
        else:
            enter_tenant(tenant_id)
        become_busy_with(fields)
        return await self.next.execute_activity(input)
