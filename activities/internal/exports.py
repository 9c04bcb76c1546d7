"""Activities that make and send exports. Definitions cannot name them."""

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import activity

from docrail.activities.internal.final_errors import final_errors
from docrail.services.app import App
from docrail.services.exports import making
from docrail.services.tools import Outside
from docrail.workflows.contract.messages import ExportFailure, ExportRequest
from docrail.workflows.contract.names import FAIL_EXPORT, MAKE_EXPORT, SEND_EXPORT


def export_activities(app: App, outside: Outside) -> list[Callable[[Any], Awaitable[Any]]]:
    """Return the activities. Each is safe to repeat."""

    @activity.defn(name=MAKE_EXPORT)
    async def make_export(request: ExportRequest) -> bool:
        with final_errors():
            return await making.make_export(app, request.tenant_id, request.export_id, activity.heartbeat)

    @activity.defn(name=SEND_EXPORT)
    async def send_export(request: ExportRequest) -> bool:
        with final_errors():
            await making.send_export(app, outside, request.tenant_id, request.export_id, activity.heartbeat)
        return True

    @activity.defn(name=FAIL_EXPORT)
    async def fail_export(failure: ExportFailure) -> None:
        await making.fail_export(app, failure.tenant_id, failure.export_id, failure.error)

    return [make_export, send_export, fail_export]
