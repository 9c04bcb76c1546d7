"""Make an export's file, send it if it is for a webhook, and record why if that cannot be done."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from docrail.workflows.contract.names import EXPORT_TYPE, FAIL_EXPORT, MAKE_EXPORT, SEND_EXPORT

with workflow.unsafe.imports_passed_through():
    from docrail.workflows.contract.messages import ExportFailure, ExportRequest

LONGEST, HEARTBEAT = timedelta(hours=1), timedelta(minutes=1)

GIVE_UP = timedelta(hours=24)
"""A full disk or an unavailable receiver has a day; then the documents are new again."""

RETRIES = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=5))


@workflow.defn(name=EXPORT_TYPE)
class Export:
    """One export."""

    @workflow.run
    async def run(self, request: ExportRequest) -> None:
        """Make it, and send it. Never fails: the export's row has its error."""
        try:
            if await self._perform(MAKE_EXPORT, request):
                await self._perform(SEND_EXPORT, request)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            failure = ExportFailure(tenant_id=request.tenant_id, export_id=request.export_id, error=_cause(error))
            await workflow.execute_activity(
                FAIL_EXPORT, failure, start_to_close_timeout=HEARTBEAT, retry_policy=RETRIES
            )

    async def _perform(self, activity: str, request: ExportRequest) -> bool:
        done: bool = await workflow.execute_activity(
            activity,
            request,
            result_type=bool,
            schedule_to_close_timeout=GIVE_UP,
            start_to_close_timeout=LONGEST,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRIES,
        )
        return done


def _cause(error: ActivityError) -> str:
    cause = error.cause
    return cause.message if isinstance(cause, ApplicationError) else f"it did not end in time ({cause or error})"
