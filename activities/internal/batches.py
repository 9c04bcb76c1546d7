"""Activities of batches. Definitions cannot name them."""

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import activity

from docrail.activities.internal.final_errors import final_errors
from docrail.services.app import App
from docrail.services.batches import completion
from docrail.services.batches.window import Window
from docrail.services.tools import Outside
from docrail.workflows.contract.messages import BatchRequest, BatchRound, BatchWebhookFailure
from docrail.workflows.contract.names import FAIL_BATCH_WEBHOOK, KEEP_WINDOW, NOTIFY_BATCH


def window_activity(app: App) -> Callable[[BatchRequest], Awaitable[BatchRound]]:
    """Return the activity that keeps a batch's runs going, for minutes at a time. It is safe to repeat."""

    @activity.defn(name=KEEP_WINDOW)
    async def keep_window(request: BatchRequest) -> BatchRound:
        return await Window(app, request.tenant_id, request.batch_id).keep(activity.heartbeat)

    return keep_window


def batch_activities(app: App, outside: Outside) -> list[Callable[[Any], Awaitable[Any]]]:
    """Return the short activities of a batch. Each is safe to repeat."""

    @activity.defn(name=NOTIFY_BATCH)
    async def notify_batch(request: BatchRequest) -> None:
        with final_errors():
            await completion.notify(app, outside, request.tenant_id, request.batch_id)

    @activity.defn(name=FAIL_BATCH_WEBHOOK)
    async def fail_webhook(failure: BatchWebhookFailure) -> None:
        await completion.note_failure(app, failure.tenant_id, failure.batch_id, failure.error)

    return [notify_batch, fail_webhook]
