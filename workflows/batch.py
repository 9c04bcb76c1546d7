"""Keep a batch going until nothing waits or runs any more, then notify its owner.

The workflow decides nothing about single documents: one activity keeps the window for minutes, starts runs and sees
them end, so that a document costs this history no event (docs/adr/0040-batches.md).
"""

import asyncio
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from docrail.workflows.contract.names import (
    BATCH_TYPE,
    CHANGED,
    FAIL_BATCH_WEBHOOK,
    KEEP_WINDOW,
    NOTIFY_BATCH,
    batch_queue,
)

with workflow.unsafe.imports_passed_through():
    from docrail.workflows.contract.messages import BatchRequest, BatchRest, BatchRound, BatchWebhookFailure

LONGEST, HEARTBEAT = timedelta(minutes=30), timedelta(seconds=15)

GIVE_UP = timedelta(hours=24)
"""A receiver that is unavailable has a day."""

RETRIES = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))


@workflow.defn(name=BATCH_TYPE)
class Batch:
    """One batch."""

    @workflow.init
    def __init__(self, request: BatchRequest) -> None:
        """Create the state, so that a signal that arrives before `run` finds it."""
        self._request = request
        self._is_changed = False
        self._rounds = 0

    @workflow.run
    async def run(self, _: BatchRequest) -> None:
        """Keep the window until the batch is over. Continues as a new run before the history gets long."""
        while True:
            self._is_changed = False
            done = await self._round()
            match done.rest:
                case BatchRest.IDLE:
                    await self._rest(done.seconds)
                case BatchRest.OVER:
                    if done.has_webhook:
                        await self._notify()
                    if not self._is_changed:
                        return
                case BatchRest.MORE:
                    pass
            self._rounds += 1
            if self._rounds >= self._request.most_rounds or workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(self._request)

    @workflow.signal(name=CHANGED, description="Look at the batch: what people want of it has changed")
    def changed(self, what: str) -> None:  # noqa: ARG002 - for those who read the history
        """Look at the batch again."""
        self._is_changed = True

    async def _round(self) -> BatchRound:
        done: BatchRound = await workflow.execute_activity(
            KEEP_WINDOW,
            self._request,
            task_queue=batch_queue(workflow.info().task_queue),
            result_type=BatchRound,
            start_to_close_timeout=LONGEST,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRIES,
        )
        return done

    async def _rest(self, seconds: float | None) -> None:
        with suppress(asyncio.TimeoutError):
            timeout = None if seconds is None else timedelta(seconds=seconds)
            await workflow.wait_condition(lambda: self._is_changed, timeout=timeout)

    async def _notify(self) -> None:
        """Send the message of the completion. One that cannot be delivered is recorded, and the batch goes on."""
        try:
            await workflow.execute_activity(
                NOTIFY_BATCH,
                self._request,
                schedule_to_close_timeout=GIVE_UP,
                start_to_close_timeout=timedelta(minutes=2),
                retry_policy=RETRIES,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            failure = BatchWebhookFailure(
                tenant_id=self._request.tenant_id, batch_id=self._request.batch_id, error=_cause(error)
            )
            await workflow.execute_activity(
                FAIL_BATCH_WEBHOOK, failure, start_to_close_timeout=timedelta(minutes=1), retry_policy=RETRIES
            )


def _cause(error: ActivityError) -> str:
    cause = error.cause
    return cause.message if isinstance(cause, ApplicationError) else f"it was not delivered in time ({cause or error})"
